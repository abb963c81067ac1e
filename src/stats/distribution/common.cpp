#include "stats/distribution/common.hpp"

#include <cmath>
#include <fmt/format.h>

#include "graph/operands.hpp"
#include "graph/row.hpp"

namespace adit::stats {

using graph::fail;

namespace {

// Throws where x is a number that `accepts` refuses.
template <class F>
Tensor checked(std::string_view where, std::string_view argument, const Parameter& x, const char* expected,
               F accepts) {
  const auto value = literal_of(x);
  if (value && !accepts(*value)) fail(where, argument, fmt::format("expected {}, got {}", expected, *value));
  return x;
}

// The frame of functions of x.
std::function<Tensor(const Tensor&)> of_reals(const std::string& name,
                                              std::function<Tensor(const Tensor&)> formula) {
  if (!formula) return {};
  return [name, formula = std::move(formula)](const Tensor& x) {
    if (!x) fail(name, "x", "expected a tensor, got none");
    if (is_complex(x.dtype()))
      fail(name, "x", fmt::format("expected real numbers, got {}", name_of(x.dtype())));
    return formula(as_type(x, DType::f64));
  };
}

std::function<Tensor()> of_shape(const Shape& shape, std::function<Tensor()> formula) {
  if (!formula) return {};
  return [shape, formula = std::move(formula)] { return broadcast_to(formula(), shape); };
}

// Whether the last axes of `shape` are those of `end`, extents of 1 in `end` aside.
bool ends_with(const Shape& shape, const Shape& end) {
  if (end.size() > shape.size()) return false;
  for (int axis = 0; axis < end.size(); ++axis) {
    const int64_t wanted = end[end.size() - 1 - axis];
    if (wanted != 1 && wanted != shape[shape.size() - 1 - axis]) return false;
  }
  return true;
}

}  // namespace

bool is_literal(const Tensor& x, double value) {
  const auto literal = literal_of(x);
  return literal && *literal == value;
}

Tensor finite(std::string_view where, std::string_view argument, const Parameter& x) {
  return checked(where, argument, x, "a finite number", [](double v) { return std::isfinite(v); });
}
Tensor positive(std::string_view where, std::string_view argument, const Parameter& x) {
  return checked(where, argument, x, "a positive number", [](double v) { return v > 0 && std::isfinite(v); });
}
Tensor not_nan(std::string_view where, std::string_view argument, const Parameter& x) {
  return checked(where, argument, x, "a number", [](double v) { return !std::isnan(v); });
}
Tensor probability(std::string_view where, std::string_view argument, const Parameter& x) {
  return checked(where, argument, x, "a number from 0 to 1", [](double v) { return v >= 0 && v <= 1; });
}
Tensor count(std::string_view where, std::string_view argument, const Parameter& x) {
  return checked(where, argument, x, "a whole number of at least 0",
                 [](double v) { return v >= 0 && std::isfinite(v) && std::trunc(v) == v; });
}

void expect_ordered(std::string_view where, const Tensor& low, const Tensor& high) {
  const auto from = literal_of(low), to = literal_of(high);
  if (from && to && !(*from < *to))
    fail(where, "high", fmt::format("expected above low, {}, got {}", *from, *to));
}

Shape batch_of(std::string_view where, const std::vector<Named>& parameters) {
  Shape batch;
  for (const auto& [name, value] : parameters)
    batch = graph::broadcast_shapes(where, name, batch, value.shape());
  return batch;
}

Shape joined(const Shape& batch, const Shape& event) {
  Shape all = batch;
  for (const int64_t extent : event) all.push_back(extent);
  return all;
}

Distribution make_distribution(std::string name, const Shape& batch, const Shape& event, Constraint support,
                               Formulas formulas) {
  const Shape whole = joined(batch, event);
  Distribution made;
  made.batch = batch;
  made.event = event;
  made.support = std::move(support);
  made.log_density = of_reals(name, std::move(formulas.log_density));
  made.log_cdf = of_reals(name, std::move(formulas.log_cdf));
  made.log_survival = of_reals(name, std::move(formulas.log_survival));
  made.mean = of_shape(whole, std::move(formulas.mean));
  made.variance = of_shape(whole, std::move(formulas.variance));
  if (formulas.draw)
    made.draw = [name, whole, formula = std::move(formulas.draw)](const Tensor& key, const Shape& shape) {
      if (!ends_with(shape, whole))
        fail(name, "shape",
             fmt::format("expected one that ends with {}, got {}", to_string(whole), to_string(shape)));
      return broadcast_to(formula(key, shape), shape);
    };
  made.name = std::move(name);
  return made;
}

Distribution make_distribution(std::string name, const std::vector<Named>& parameters, Constraint support,
                               Formulas formulas) {
  const Shape batch = batch_of(name, parameters);
  return make_distribution(std::move(name), batch, {}, std::move(support), std::move(formulas));
}

Tensor draw_uniform(const Tensor& key, const Shape& shape) {
  return random::uniform(key, shape, 0, 1, DType::f64);
}
// The draws are multiples of 2^-52 from 0 on: half a step further they lie inside, and 1 - u has the same
// law.
Tensor draw_open_uniform(const Tensor& key, const Shape& shape) {
  return draw_uniform(key, shape) + real(0x1p-53);
}
Tensor draw_normal(const Tensor& key, const Shape& shape) {
  return random::normal(key, shape, 0, 1, DType::f64);
}
Tensor draw_exponential(const Tensor& key, const Shape& shape) {
  return random::exponential(key, shape, 1, DType::f64);
}
Tensor draw_gamma(const Tensor& key, const Tensor& alpha, const Shape& shape) {
  return random::gamma(key, alpha, shape);
}
// A draw for alpha is one for alpha + 1 times u^(1 / alpha).
Tensor draw_log_gamma(const Tensor& key, const Tensor& alpha, const Shape& shape) {
  const Tensor keys = random::split(key);
  return log(draw_gamma(random::row(keys, 0), alpha + real(1), shape)) +
         log(draw_open_uniform(random::row(keys, 1), shape)) * reciprocal(alpha);
}

}  // namespace adit::stats
