// Calls of the functions of einsum.hpp and network.hpp.
#include <adit/einsum.hpp>
#include <adit/network.hpp>

#include "ops/call.hpp"

namespace adit::ops {
namespace {

using Operands = std::vector<Tensor>;

// Operands that are not given are empty, as in C++.
Tensor given(const Operands& x, size_t i) { return i < x.size() ? x[i] : Tensor(); }
Dims numbers(const Json& a, const char* name) {
  return a.contains(name) ? Dims(a.at(name).get<std::vector<int64_t>>()) : Dims();
}
std::optional<double> number(const Json& a, const char* name) {
  return a.contains(name) ? std::optional<double>(a.at(name).get<double>()) : std::nullopt;
}

template <Tensor (*f)(const Tensor&, const Tensor&, const Tensor&, const Axes&, double)>
Tensor norm(const Operands& x, const Json& a) {
  const bool shift_only = a.value("shift_only", false);
  return f(given(x, 0), shift_only ? Tensor() : given(x, 1), given(x, shift_only ? 1 : 2),
           a.contains("axes") ? numbers(a, "axes") : Axes{-1}, a.value("epsilon", 1e-5));
}
Tensor call_attention(const Operands& x, const Json& a) {
  AttentionOptions options{given(x, 3), a.value("causal", false), number(a, "scale"), {}};
  if (a.contains("fused")) options.fused = a.at("fused").get<bool>();
  return attention(given(x, 0), given(x, 1), given(x, 2), options);
}
Tensor call_einsum(const Operands& x, const Json& a) {
  return einsum(a.at("subscripts").get<std::string>(), std::span(x));
}
Tensor call_kron(const Operands& x, const Json&) { return kron(given(x, 0), given(x, 1)); }
Tensor call_tensordot(const Operands& x, const Json& a) {
  if (!a.contains("axes_a")) return tensordot(given(x, 0), given(x, 1), a.value("count", 2));
  return tensordot(given(x, 0), given(x, 1), numbers(a, "axes_a"), numbers(a, "axes_b"));
}
Tensor call_covariance(const Operands& x, const Json& a) {
  CovarianceOptions options{.variables_in_rows = a.value("variables_in_rows", true),
                            .ddof = a.value("ddof", 1)};
  size_t next = 1;
  if (a.value("frequencies", false)) options.frequencies = given(x, next++);
  if (a.value("weights", false)) options.weights = given(x, next);
  return covariance(given(x, 0), options);
}
Tensor call_corrcoef(const Operands& x, const Json& a) {
  return corrcoef(given(x, 0), a.value("variables_in_rows", true));
}
Tensor call_cdist(const Operands& x, const Json& a) {
  const std::map<std::string, Distance> names{{"euclidean", Distance::euclidean},
                                              {"squared", Distance::squared},
                                              {"manhattan", Distance::manhattan},
                                              {"chebyshev", Distance::chebyshev}};
  return cdist(given(x, 0), given(x, 1), names.at(a.value("distance", "euclidean")));
}
Tensor call_searchsorted(const Operands& x, const Json& a) {
  return searchsorted(given(x, 0), given(x, 1),
                      a.value("side", "left") == "right" ? Side::right : Side::left);
}
Tensor call_bincount(const Operands& x, const Json& a) {
  return bincount(given(x, 0), a.at("length").get<int64_t>(), given(x, 1));
}
Tensor call_histogram(const Operands& x, const Json& a) {
  const bool density = a.value("density", false);
  if (!a.contains("bins")) return histogram(given(x, 0), given(x, 1), given(x, 2), density);
  return histogram(given(x, 0), a.at("bins").get<int64_t>(), a.at("low").get<double>(),
                   a.at("high").get<double>(), given(x, 1), density);
}
Tensor call_histogram_edges(const Operands&, const Json& a) {
  return histogram_edges(a.at("bins").get<int64_t>(), a.at("low").get<double>(), a.at("high").get<double>(),
                         dtype_named(a.value("type", "f32")));
}
Tensor call_interpolate(const Operands& x, const Json& a) {
  return interpolate(given(x, 0), given(x, 1), given(x, 2), {number(a, "left"), number(a, "right")});
}
Tensor call_resize_linear(const Operands& x, const Json& a) {
  return resize_linear(given(x, 0), numbers(a, "axes"), numbers(a, "lengths"), a.value("align_ends", false));
}

}  // namespace

std::map<std::string, Caller, std::less<>> composite_callers() {
  return {{"layer_norm", norm<layer_norm>},
          {"rms_norm", norm<rms_norm>},
          {"attention", call_attention},
          {"einsum", call_einsum},
          {"kron", call_kron},
          {"tensordot", call_tensordot},
          {"covariance", call_covariance},
          {"corrcoef", call_corrcoef},
          {"cdist", call_cdist},
          {"searchsorted", call_searchsorted},
          {"bincount", call_bincount},
          {"histogram", call_histogram},
          {"histogram_edges", call_histogram_edges},
          {"interpolate", call_interpolate},
          {"resize_linear", call_resize_linear}};
}

}  // namespace adit::ops
