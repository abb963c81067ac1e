// Constants and operations of elements.
#include <fmt/format.h>

#include <adit/ops.hpp>

#include "door/call.hpp"
#include "graph/special.hpp"

namespace adit::door {

namespace {

Tensors full_of(const Call& c) {
  const Shape shape = c.dims("shape", {});
  const adit_attribute* value = c.find("value");
  if (!value) fail("full", "value", "expected a number, got none");
  if (value->kind == ADIT_INTEGER) {
    const DType type = c.dtype("type", DType::i64);
    if (is_integer(type)) return {full_integer(shape, value->integer, type)};
    return {full(shape, static_cast<double>(value->integer), type)};
  }
  if (value->kind != ADIT_REAL) fail("full", "value", "expected a number, got another kind");
  const DType type = c.dtype("type", DType::f32);
  if (is_complex(type)) return {full(shape, std::complex<double>(value->real, value->imag), type)};
  return {full(shape, value->real, type)};
}

std::optional<int> optional_axis(const Call& c) {
  if (!c.has("axis")) return std::nullopt;
  return c.axis("axis", 0);
}

}  // namespace

std::vector<Operation> elementwise_operations() {
  std::vector<Operation> all = {
      {{"full", "", "value, shape=[], type"}, 0, 0, full_of},
      {{"iota", "", "shape, type=i64, axis"},
       0,
       0,
       [](const Call& c) -> Tensors {
         return {iota(c.dims("shape"), c.dtype("type", DType::i64), optional_axis(c))};
       }},
      {{"linspace", "", "first, last, count, type=f32"},
       0,
       0,
       [](const Call& c) -> Tensors {
         return {linspace(c.real("first"), c.real("last"), c.integer("count"), c.dtype("type", DType::f32))};
       }},
      {{"eye", "", "rows, columns=rows, type=f32"},
       0,
       0,
       [](const Call& c) -> Tensors {
         return {eye(c.integer("rows"), c.integer("columns", -1), c.dtype("type", DType::f32))};
       }},
      {{"as_type", "x", "type"},
       1,
       1,
       [](const Call& c) -> Tensors { return {as_type(c[0], c.dtype("type"))}; }},
      {{"bitcast", "x", "type"},
       1,
       1,
       [](const Call& c) -> Tensors { return {bitcast(c[0], c.dtype("type"))}; }},
      {{"select", "predicate, on_true, on_false", ""},
       3,
       3,
       [](const Call& c) -> Tensors { return {select(c[0], c[1], c[2])}; }},
      {{"clip", "x, low, high", ""}, 3, 3, [](const Call& c) -> Tensors { return {clip(c[0], c[1], c[2])}; }},
  };
  for (const auto& [name, f] :
       std::initializer_list<std::pair<const char*, Unary>>{{"negate", negate},
                                                            {"abs", abs},
                                                            {"sign", sign},
                                                            {"floor", floor},
                                                            {"ceil", ceil},
                                                            {"round", round},
                                                            {"trunc", trunc},
                                                            {"exp", exp},
                                                            {"exp2", exp2},
                                                            {"expm1", expm1},
                                                            {"log", log},
                                                            {"log2", log2},
                                                            {"log10", log10},
                                                            {"log1p", log1p},
                                                            {"sqrt", sqrt},
                                                            {"rsqrt", rsqrt},
                                                            {"cbrt", cbrt},
                                                            {"sin", sin},
                                                            {"cos", cos},
                                                            {"tan", tan},
                                                            {"asin", asin},
                                                            {"acos", acos},
                                                            {"atan", atan},
                                                            {"sinh", sinh},
                                                            {"cosh", cosh},
                                                            {"tanh", tanh},
                                                            {"asinh", asinh},
                                                            {"acosh", acosh},
                                                            {"atanh", atanh},
                                                            {"erf", erf},
                                                            {"erfc", erfc},
                                                            {"erfcx", erfcx},
                                                            {"erf_inv", erf_inv},
                                                            {"lgamma", lgamma},
                                                            {"digamma", digamma},
                                                            {"trigamma", trigamma},
                                                            {"sigmoid", sigmoid},
                                                            {"softplus", softplus},
                                                            {"log_sigmoid", log_sigmoid},
                                                            {"square", square},
                                                            {"reciprocal", reciprocal},
                                                            {"relu", relu},
                                                            {"bitwise_not", bitwise_not},
                                                            {"logical_not", logical_not},
                                                            {"conjugate", conjugate},
                                                            {"real", real},
                                                            {"imag", imag},
                                                            {"phase", phase},
                                                            {"is_nan", is_nan},
                                                            {"is_infinity", is_infinity},
                                                            {"count_leading_zeros", count_leading_zeros},
                                                            {"population_count", population_count},
                                                            {"stop_gradient", stop_gradient}})
    all.push_back(unary(name, f));
  for (const auto& [name, f] :
       std::initializer_list<std::pair<const char*, Binary>>{{"add", add},
                                                             {"subtract", subtract},
                                                             {"multiply", multiply},
                                                             {"divide", divide},
                                                             {"quotient", quotient},
                                                             {"remainder", remainder},
                                                             {"pow", pow},
                                                             {"atan2", atan2},
                                                             {"hypot", hypot},
                                                             {"minimum", minimum},
                                                             {"maximum", maximum},
                                                             {"bitwise_and", bitwise_and},
                                                             {"bitwise_or", bitwise_or},
                                                             {"bitwise_xor", bitwise_xor},
                                                             {"left_shift", left_shift},
                                                             {"right_shift", right_shift},
                                                             {"equal", equal},
                                                             {"not_equal", not_equal},
                                                             {"less", less},
                                                             {"less_equal", less_equal},
                                                             {"greater", greater},
                                                             {"greater_equal", greater_equal},
                                                             {"logical_and", logical_and},
                                                             {"logical_or", logical_or},
                                                             {"logical_xor", logical_xor},
                                                             {"complex", complex}})
    all.push_back(binary(name, f));
  return all;
}

}  // namespace adit::door
