// What elementwise rows share: type rules, the shape rule, small helpers of meanings and of derivatives.
#pragma once

#include "graph/row.hpp"

namespace adit::graph {

using Operands = std::vector<Tensor>;

// --- Shapes: all operands have the same -------------------------------------------------------------------
Shape same_shape(std::string_view op, const Operands& operands, const Attributes& attributes);

// --- Types. All operands have one type; `same` yields it
// ----------------------------------------------------
DType same_any(std::string_view op, const Operands& operands, const Attributes& attributes);
DType same_real(std::string_view op, const Operands& operands, const Attributes& attributes);  // no complex
DType same_float(std::string_view op, const Operands& operands, const Attributes& attributes);
DType same_inexact(std::string_view op, const Operands& operands,
                   const Attributes& attributes);  // or complex
DType same_integer(std::string_view op, const Operands& operands, const Attributes& attributes);
DType same_complex(std::string_view op, const Operands& operands, const Attributes& attributes);
DType same_u32(std::string_view op, const Operands& operands, const Attributes& attributes);
DType part_of_any(std::string_view op, const Operands& operands, const Attributes& attributes);  // c64 -> f32
DType part_of_complex(std::string_view op, const Operands& operands,
                      const Attributes& attributes);                                             // c64 -> f32
DType flag_of_any(std::string_view op, const Operands& operands, const Attributes& attributes);  // u8
DType flag_of_same(std::string_view op, const Operands& operands, const Attributes& attributes);  // u8
DType flag_of_same_real(std::string_view op, const Operands& operands, const Attributes& attributes);

// The name of an operand in errors: x, or a and b, or what the operation calls it.
std::string_view operand_name(std::string_view op, size_t count, size_t which);

// --- Meanings
// ------------------------------------------------------------------------------------------------
inline Scalar scalar(kernel::Value value) { return {value, {}, false}; }
inline Scalar flag(kernel::Value condition) {  // 1 or 0 in u8
  kernel::Builder& b = condition.builder();
  return scalar(select(condition, b.constant(kernel::Type::u8, 1), b.constant(kernel::Type::u8, 0)));
}
// As a condition: not 0. NaN is not 0.
inline kernel::Value truth(const Scalar& x) { return x.is_complex ? (x.re != 0) || (x.im != 0) : x.re != 0; }
// Infinite of either sign, by the bits.
kernel::Value is_infinite(kernel::Value x);
kernel::Value infinity_like(kernel::Value x);

template <kernel::Value (*function)(kernel::Value)>
Scalar of_real(std::span<const Scalar> x, const Node&) {
  return scalar(function(x[0].re));
}
template <kernel::Value (*function)(kernel::Value), Scalar (*of_pair)(Scalar)>
Scalar of_number(std::span<const Scalar> x, const Node&) {
  return x[0].is_complex ? of_pair(x[0]) : scalar(function(x[0].re));
}
template <kernel::Value (*function)(kernel::Value, kernel::Value)>
Scalar of_reals(std::span<const Scalar> x, const Node&) {
  return scalar(function(x[0].re, x[1].re));
}
template <kernel::Value (*function)(kernel::Value, kernel::Value), Scalar (*of_pairs)(Scalar, Scalar)>
Scalar of_numbers(std::span<const Scalar> x, const Node&) {
  return x[0].is_complex ? of_pairs(x[0], x[1]) : scalar(function(x[0].re, x[1].re));
}

// --- Derivatives
// --------------------------------------------------------------------------------------------- Constants of
// a rule are part of the structure.
inline Tensor times(const Tensor& x, double number) { return multiply(x, constant(x.dtype(), number)); }
inline Tensor plus(const Tensor& x, double number) { return add(x, constant(x.dtype(), number)); }
inline Tensor minus_from(double number, const Tensor& x) { return subtract(constant(x.dtype(), number), x); }
inline Tensor zero_like(const Tensor& x) { return constant(x.dtype(), 0); }
// x, or 1 where x is 0: a divisor for quotients whose dividend is then 0.
inline Tensor not_zero(const Tensor& x) { return select(equal(x, zero_like(x)), constant(x.dtype(), 1), x); }
// Constant almost everywhere, or of integers: nothing flows back.
inline Operands no_gradient(const Tensor&, const Operands& operands, const Tensor&) {
  return Operands(operands.size());
}

struct Unary {
  const Tensor &y, &x, &g;  // result, operand, gradient of the result
};
template <auto rule>
Operands vjp_of(const Tensor& y, const Operands& x, const Tensor& g) {
  return {rule(Unary{y, x[0], g})};
}
struct Binary {
  const Tensor &y, &a, &b, &g;
};
template <auto rule>
Operands vjp_of_two(const Tensor& y, const Operands& x, const Tensor& g) {
  return rule(Binary{y, x[0], x[1], g});
}

// --- Groups of rows, by file
// -----------------------------------------------------------------------------------
std::vector<Row> function_rows();    // exp, sin, ...
std::vector<Row> conversion_rows();  // as_type, bitcast, parts of complex numbers, bits
std::vector<Row> comparison_rows();
std::vector<Row> bitwise_rows();
std::vector<Row> more_rows();  // three operands and more
inline void append_rows(std::vector<Row>& rows, const std::vector<Row>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

}  // namespace adit::graph
