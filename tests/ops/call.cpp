#include "ops/call.hpp"

#include <fmt/format.h>

#include <adit/fft.hpp>

#include "graph/op.hpp"
#include "graph/row.hpp"
#include "graph/special.hpp"
#include "ops/call_linear.hpp"

namespace adit::ops {
namespace {

using Operands = std::vector<Tensor>;
using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

const Tensor& operand(const Operands& x, size_t i) {
  if (i >= x.size())
    throw Error(ErrorKind::bad_argument,
                fmt::format("[call] operands: expected at least {}, got {}", i + 1, x.size()));
  return x[i];
}

template <Unary f>
Tensor one(const Operands& x, const Json&) {
  return f(operand(x, 0));
}
template <Binary f>
Tensor two(const Operands& x, const Json&) {
  return f(operand(x, 0), operand(x, 1));
}

// --- Attributes --------------------------------------------------------------------------------------------
Dims dims(const Json& a, const char* name) {
  return a.contains(name) ? Dims(a.at(name).get<std::vector<int64_t>>()) : Dims();
}
DType type(const Json& a, DType otherwise) {
  return a.contains("type") ? dtype_named(a.at("type").get<std::string>()) : otherwise;
}
std::optional<int> axis(const Json& a) {
  return a.contains("axis") ? std::optional<int>(a.at("axis").get<int>()) : std::nullopt;
}
TieBreak tie_break(const Json& a) {
  return a.value("tie_break", "low") == "high" ? TieBreak::high : TieBreak::low;
}

// --- By shape of the call ----------------------------------------------------------------------------------
template <Tensor (*f)(const Tensor&, const Axes&, bool)>
Tensor reduction(const Operands& x, const Json& a) {
  return f(operand(x, 0), dims(a, "axes"), a.value("keep_axes", false));
}
template <Tensor (*f)(const Tensor&, std::optional<int>, bool, TieBreak)>
Tensor place(const Operands& x, const Json& a) {
  return f(operand(x, 0), axis(a), a.value("keep_axis", false), tie_break(a));
}
template <Tensor (*f)(const Tensor&, int, bool)>
Tensor cumulative(const Operands& x, const Json& a) {
  return f(operand(x, 0), axis(a).value_or(0), a.value("reverse", false));
}
template <Tensor (*f)(const Tensor&, int, std::optional<int64_t>)>
Tensor fourier(const Operands& x, const Json& a) {
  std::optional<int64_t> length;
  if (a.contains("length")) length = a.at("length").get<int64_t>();
  return f(operand(x, 0), axis(a).value_or(-1), length);
}
template <Tensor (*f)(const Tensor&, const Axes&, const Dims&)>
Tensor fourier_of_axes(const Operands& x, const Json& a) {
  const bool two_axes = f == fft2 || f == ifft2;
  const Axes axes = a.contains("axes") || !two_axes ? dims(a, "axes") : Axes{-2, -1};
  return f(operand(x, 0), axes, dims(a, "lengths"));
}
template <Tensor (*f)(const Tensor&, const Axes&)>
Tensor over_axes(const Operands& x, const Json& a) {
  return a.contains("axes") ? f(operand(x, 0), dims(a, "axes")) : f(operand(x, 0), {});
}
template <Tensor (*f)(const Tensor&, const Axes&)>
Tensor over_last(const Operands& x, const Json& a) {
  return f(operand(x, 0), a.contains("axes") ? dims(a, "axes") : Axes{-1});
}
template <Tensor (*f)(const Tensor&, const Shape&)>
Tensor to_shape(const Operands& x, const Json& a) {
  return f(operand(x, 0), dims(a, "shape"));
}
template <Tensor (*f)(const Tensor&, const Tensor&, const Tensor&, const Axes&)>
Tensor update(const Operands& x, const Json& a) {
  return f(operand(x, 0), operand(x, 1), operand(x, 2), dims(a, "axes"));
}

// --- One by one --------------------------------------------------------------------------------------------
Tensor call_full(const Operands&, const Json& a) {
  return full(dims(a, "shape"), a.at("number").get<double>(), type(a, DType::f32));
}
Tensor call_full_integer(const Operands&, const Json& a) {
  return full_integer(dims(a, "shape"), a.at("number").get<int64_t>(), type(a, DType::i64));
}
Tensor call_iota(const Operands&, const Json& a) {
  return iota(dims(a, "shape"), type(a, DType::i64), axis(a));
}
Tensor call_arange(const Operands&, const Json& a) {
  return arange(a.at("end").get<int64_t>(), type(a, DType::i64));
}
Tensor call_linspace(const Operands&, const Json& a) {
  return linspace(a.at("first").get<double>(), a.at("last").get<double>(), a.at("count").get<int64_t>(),
                  type(a, DType::f32));
}
Tensor call_eye(const Operands&, const Json& a) {
  return eye(a.at("rows").get<int64_t>(), a.value("columns", int64_t{-1}), type(a, DType::f32));
}
Tensor call_as_type(const Operands& x, const Json& a) { return as_type(operand(x, 0), type(a, DType::f32)); }
Tensor call_bitcast(const Operands& x, const Json& a) { return bitcast(operand(x, 0), type(a, DType::u32)); }
Tensor call_select(const Operands& x, const Json&) {
  return select(operand(x, 0), operand(x, 1), operand(x, 2));
}
Tensor call_clip(const Operands& x, const Json&) { return clip(operand(x, 0), operand(x, 1), operand(x, 2)); }
Tensor call_expand_dims(const Operands& x, const Json& a) {
  return expand_dims(operand(x, 0), a.at("axis").get<int>());
}
Tensor call_broadcast_in(const Operands& x, const Json& a) {
  return broadcast_in(operand(x, 0), dims(a, "shape"), dims(a, "axes"));
}
Tensor call_slice(const Operands& x, const Json& a) {
  return slice(operand(x, 0), dims(a, "starts"), dims(a, "lengths"), dims(a, "strides"));
}
Tensor call_dynamic_slice(const Operands& x, const Json& a) {
  return dynamic_slice(operand(x, 0), Operands(x.begin() + 1, x.end()), dims(a, "lengths"));
}
Tensor call_put_slice(const Operands& x, const Json& a) {
  if (a.contains("starts")) return put_slice(operand(x, 0), operand(x, 1), dims(a, "starts"));
  operand(x, 1);
  return put_slice(x[0], x[1], Operands(x.begin() + 2, x.end()));
}
Tensor call_pad(const Operands& x, const Json& a) {
  const Dims low = dims(a, "low"), high = dims(a, "high"), interior = dims(a, "interior");
  std::vector<Padding> padding;
  for (int i = 0; i < low.size(); ++i)
    padding.push_back({low[i], i < high.size() ? high[i] : 0, i < interior.size() ? interior[i] : 0});
  return pad(operand(x, 0), operand(x, 1), padding);
}
Tensor call_concatenate(const Operands& x, const Json& a) {
  return concatenate(std::span(x), a.value("axis", 0));
}
Tensor call_stack(const Operands& x, const Json& a) { return stack(std::span(x), a.value("axis", 0)); }
Tensor call_tile(const Operands& x, const Json& a) { return tile(operand(x, 0), dims(a, "repeats")); }
Tensor call_take(const Operands& x, const Json& a) {
  return take(operand(x, 0), operand(x, 1), a.value("axis", 0));
}
Tensor call_take_along_axis(const Operands& x, const Json& a) {
  return take_along_axis(operand(x, 0), operand(x, 1), a.value("axis", 0));
}
Tensor call_gather(const Operands& x, const Json& a) {
  return gather(operand(x, 0), operand(x, 1), dims(a, "axes"));
}
Tensor call_variance(const Operands& x, const Json& a) {
  return variance(operand(x, 0), dims(a, "axes"), a.value("keep_axes", false), a.value("ddof", 0));
}
Tensor call_dot(const Operands& x, const Json& a) {
  if (!a.contains("contract_a")) return dot(operand(x, 0), operand(x, 1));
  return dot(operand(x, 0), dims(a, "contract_a"), dims(a, "batch_a"), operand(x, 1), dims(a, "contract_b"),
             dims(a, "batch_b"));
}
Tensor call_triangular_solve(const Operands& x, const Json& a) {
  return triangular_solve(operand(x, 0), operand(x, 1),
                          {a.value("lower", true), a.value("left_side", true), a.value("transpose", false)});
}
// Random bits: a word of what a key and a counter give.
template <graph::Op op>
Tensor random_word(const Operands& x, const Json& a) {
  return graph::make(op, x, graph::Which{a.value("word", 0)});
}
// A function cannot stand in JSON: a few are known by name.
Tensor call_reduce(const Operands& x, const Json& a) {
  const std::string name = a.at("combine").get<std::string>();
  const std::map<std::string, std::function<Tensor(Tensor, Tensor)>> functions{
      {"add", [](Tensor s, Tensor e) { return s + e; }},
      {"multiply", [](Tensor s, Tensor e) { return s * e; }},
      {"maximum", [](Tensor s, Tensor e) { return maximum(s, e); }},
      {"minimum", [](Tensor s, Tensor e) { return minimum(s, e); }},
      {"horner", [](Tensor s, Tensor e) { return s * 3 - e; }}};
  const auto found = functions.find(name);
  if (found == functions.end()) throw Error(ErrorKind::not_found, "[reduce] combine: no function " + name);
  return reduce(operand(x, 0), operand(x, 1), dims(a, "axes"), found->second, a.value("keep_axes", false));
}

std::map<std::string, Caller, std::less<>> elementwise() {
  return {{"negate", one<negate>},
          {"abs", one<abs>},
          {"sign", one<sign>},
          {"floor", one<floor>},
          {"ceil", one<ceil>},
          {"round", one<round>},
          {"trunc", one<trunc>},
          {"exp", one<exp>},
          {"exp2", one<exp2>},
          {"expm1", one<expm1>},
          {"log", one<log>},
          {"log2", one<log2>},
          {"log10", one<log10>},
          {"log1p", one<log1p>},
          {"sqrt", one<sqrt>},
          {"rsqrt", one<rsqrt>},
          {"cbrt", one<cbrt>},
          {"sin", one<sin>},
          {"cos", one<cos>},
          {"tan", one<tan>},
          {"asin", one<asin>},
          {"acos", one<acos>},
          {"atan", one<atan>},
          {"sinh", one<sinh>},
          {"cosh", one<cosh>},
          {"tanh", one<tanh>},
          {"asinh", one<asinh>},
          {"acosh", one<acosh>},
          {"atanh", one<atanh>},
          {"erf", one<erf>},
          {"erfc", one<erfc>},
          {"erfcx", one<erfcx>},
          {"erf_inv", one<erf_inv>},
          {"lgamma", one<lgamma>},
          {"digamma", one<digamma>},
          {"trigamma", one<trigamma>},
          {"sigmoid", one<sigmoid>},
          {"softplus", one<softplus>},
          {"log_sigmoid", one<log_sigmoid>},
          {"square", one<square>},
          {"reciprocal", one<reciprocal>},
          {"relu", one<relu>},
          {"bitwise_not", one<bitwise_not>},
          {"logical_not", one<logical_not>},
          {"conjugate", one<conjugate>},
          {"real", one<real>},
          {"imag", one<imag>},
          {"phase", one<phase>},
          {"is_nan", one<is_nan>},
          {"is_infinity", one<is_infinity>},
          {"count_leading_zeros", one<count_leading_zeros>},
          {"population_count", one<population_count>},
          {"stop_gradient", one<stop_gradient>},
          {"as_type", call_as_type},
          {"bitcast", call_bitcast},
          {"add", two<add>},
          {"subtract", two<subtract>},
          {"multiply", two<multiply>},
          {"divide", two<divide>},
          {"quotient", two<quotient>},
          {"remainder", two<remainder>},
          {"pow", two<pow>},
          {"atan2", two<atan2>},
          {"hypot", two<hypot>},
          {"minimum", two<minimum>},
          {"maximum", two<maximum>},
          {"bitwise_and", two<bitwise_and>},
          {"bitwise_or", two<bitwise_or>},
          {"bitwise_xor", two<bitwise_xor>},
          {"left_shift", two<left_shift>},
          {"right_shift", two<right_shift>},
          {"equal", two<equal>},
          {"not_equal", two<not_equal>},
          {"less", two<less>},
          {"less_equal", two<less_equal>},
          {"greater", two<greater>},
          {"greater_equal", two<greater_equal>},
          {"logical_and", two<logical_and>},
          {"logical_or", two<logical_or>},
          {"logical_xor", two<logical_xor>},
          {"complex", two<complex>},
          {"select", call_select},
          {"threefry", random_word<graph::Op::threefry>},
          {"philox", random_word<graph::Op::philox>},
          {"clip", call_clip}};
}

std::map<std::string, Caller, std::less<>> arrays() {
  return {{"full", call_full},
          {"full_integer", call_full_integer},
          {"iota", call_iota},
          {"arange", call_arange},
          {"linspace", call_linspace},
          {"eye", call_eye},
          {"zeros_like", one<zeros_like>},
          {"ones_like", one<ones_like>},
          {"reshape", to_shape<reshape>},
          {"flatten", one<flatten>},
          {"squeeze", over_axes<squeeze>},
          {"expand_dims", call_expand_dims},
          {"transpose", over_axes<transpose>},
          {"broadcast_to", to_shape<broadcast_to>},
          {"broadcast_in", call_broadcast_in},
          {"slice", call_slice},
          {"dynamic_slice", call_dynamic_slice},
          {"put_slice", call_put_slice},
          {"pad", call_pad},
          {"concatenate", call_concatenate},
          {"stack", call_stack},
          {"reverse", over_axes<reverse>},
          {"tile", call_tile},
          {"take", call_take},
          {"take_along_axis", call_take_along_axis},
          {"gather", call_gather},
          {"indexed_add", update<indexed_add>},
          {"indexed_put", update<indexed_put>}};
}

std::map<std::string, Caller, std::less<>> reductions() {
  return {{"sum", reduction<sum>},
          {"product", reduction<product>},
          {"reduce_max", reduction<reduce_max>},
          {"reduce_min", reduction<reduce_min>},
          {"argmax", place<argmax>},
          {"argmin", place<argmin>},
          {"all", reduction<all>},
          {"any", reduction<any>},
          {"mean", reduction<mean>},
          {"variance", call_variance},
          {"logsumexp", reduction<logsumexp>},
          {"softmax", over_last<softmax>},
          {"log_softmax", over_last<log_softmax>},
          {"reduce", call_reduce},
          {"cumulative_sum", cumulative<cumulative_sum>},
          {"cumulative_product", cumulative<cumulative_product>},
          {"cumulative_min", cumulative<cumulative_min>},
          {"cumulative_max", cumulative<cumulative_max>},
          {"fft", fourier<fft>},
          {"ifft", fourier<ifft>},
          {"rfft", fourier<rfft>},
          {"irfft", fourier<irfft>},
          {"fft2", fourier_of_axes<fft2>},
          {"ifft2", fourier_of_axes<ifft2>},
          {"fftn", fourier_of_axes<fftn>},
          {"ifftn", fourier_of_axes<ifftn>},
          {"dot", call_dot},
          {"matmul", two<matmul>},
          {"outer", two<outer>},
          {"cholesky", one<cholesky>},
          {"triangular_solve", call_triangular_solve}};
}

}  // namespace

const std::map<std::string, Caller, std::less<>>& callers() {
  static const auto all_of_them = [] {
    auto joined = elementwise();
    joined.merge(arrays());
    joined.merge(reductions());
    joined.merge(linear_callers());
    joined.merge(window_callers());
    joined.merge(composite_callers());
    return joined;
  }();
  return all_of_them;
}

Tensor call(std::string_view op, const std::vector<Tensor>& operands, const Json& attributes) {
  const auto found = callers().find(op);
  if (found == callers().end())
    throw Error(ErrorKind::not_found,
                fmt::format("[call] op: expected the name of an operation, got {}", op));
  return found->second(operands, attributes);
}

}  // namespace adit::ops
