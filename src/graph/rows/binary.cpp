// Rows of arithmetic on two operands. binary_rows() joins all rows of two operands and more.
#include <fmt/format.h>

#include <adit/kernel/math.hpp>

#include "graph/op.hpp"
#include "graph/rows/complex.hpp"
#include "graph/rows/elementwise.hpp"
#include "graph/rows/integer.hpp"

namespace adit::graph {

namespace {

using kernel::Value;

Value plain_add(Value a, Value b) { return a + b; }
Value plain_subtract(Value a, Value b) { return a - b; }
Value plain_multiply(Value a, Value b) { return a * b; }
Value plain_remainder(Value a, Value b) {
  return kernel::is_integer(a.type()) ? integers::remainder(a, b) : kernel::fmod(a, b);
}
Value plain_pow(Value a, Value b) {
  return kernel::is_integer(a.type()) ? integers::power(a, b) : kernel::pow(a, b);
}
Value smaller(Value a, Value b) {
  return kernel::is_float(a.type()) ? kernel::min_or_nan(a, b) : kernel::min(a, b);
}
Value larger(Value a, Value b) {
  return kernel::is_float(a.type()) ? kernel::max_or_nan(a, b) : kernel::max(a, b);
}
Scalar complex_meaning(std::span<const Scalar> x, const Node&) { return pair(x[0].re, x[1].re); }

DType complex_type(std::string_view op, const Operands& x, const Attributes& attributes) {
  const DType type = same_float(op, x, attributes);
  if (size_of(type) < 4) fail(op, "a", fmt::format("expected f32 or f64, got {}", name_of(type)));
  return complex_of(type);
}

Operands divide_rule(Binary h) {
  const Tensor part = divide(h.g, h.b);
  return {part, negate(multiply(part, h.y))};
}

// a - n b with n whole: n is (a - y) / b.
Operands remainder_rule(Binary h) {
  if (is_integer(h.y.dtype())) return Operands(2);
  return {h.g, negate(multiply(h.g, round(divide(subtract(h.a, h.y), h.b))))};
}

// b a^(b - 1), 0 where b is 0; log(a) a^b, 0 where a is 0.
Operands pow_rule(Binary h) {
  if (is_integer(h.y.dtype())) return Operands(2);
  const Tensor one = constant(h.b.dtype(), 1), zero = zero_like(h.b);
  const Tensor exponent = select(equal(h.b, zero), one, plus(h.b, -1));
  return {multiply(h.g, multiply(h.b, pow(h.a, exponent))), multiply(h.g, multiply(log(not_zero(h.a)), h.y))};
}

// b / (a^2 + b^2) and -a / (a^2 + b^2), without squares that overflow; 0 at the origin.
Operands atan2_rule(Binary h) {
  const Tensor size = not_zero(hypot(h.a, h.b)), part = divide(h.g, size);
  return {multiply(part, divide(h.b, size)), negate(multiply(part, divide(h.a, size)))};
}

Operands hypot_rule(Binary h) {
  const Tensor part = divide(h.g, not_zero(h.y));
  return {multiply(part, h.a), multiply(part, h.b)};
}

// The operand that was taken; half to each where they are equal.
Operands choice_rule(const Tensor& a, const Tensor& b, const Tensor& g) {  // a or b, whichever is larger
  const Tensor zero = zero_like(g), half = times(g, 0.5);
  const Tensor other = select(equal(a, b), half, zero);
  return {select(greater(a, b), g, other), select(less(a, b), g, other)};
}

Row row(Op op, std::string_view name, std::string_view types, TypeRule type, ScalarMeaning meaning, Vjp vjp,
        Bound bound, int cost, std::string_view doc) {
  return {.op = op,
          .name = name,
          .kind = Kind::elementwise,
          .arity = 2,
          .types = types,
          .type = type,
          .shape = same_shape,
          .scalar = meaning,
          .vjp = vjp,
          .bound = bound,
          .cost = cost,
          .doc = doc};
}

}  // namespace

std::vector<Row> binary_rows() {
  std::vector<Row> rows = {
      row(Op::add, "add", "any: same", same_any, of_numbers<plain_add, pairs::add>, vjp_of_two<[](Binary h) {
            return Operands{h.g, h.g};
          }>,
          {}, 1, "a + b; integers wrap."),
      row(Op::subtract, "subtract", "any: same", same_any, of_numbers<plain_subtract, pairs::subtract>,
          vjp_of_two<[](Binary h) {
            return Operands{h.g, negate(h.g)};
          }>,
          {}, 1, "a - b; integers wrap."),
      row(Op::multiply, "multiply", "any: same", same_any, of_numbers<plain_multiply, pairs::multiply>,
          vjp_of_two<[](Binary h) {
            return Operands{multiply(h.g, h.b), multiply(h.g, h.a)};
          }>,
          {0, "complex: 3 of the length"}, 1, "a b; integers wrap."),
      row(Op::divide, "divide", "float, complex: same", same_inexact,
          of_numbers<kernel::divide, pairs::divide>, vjp_of_two<divide_rule>, {1, "complex: 8 of the length"},
          4, "a / b; integers become f32."),
      row(Op::quotient, "quotient", "integer: same", same_integer, of_reals<integers::quotient>, no_gradient,
          {}, 8, "The whole part of a / b, toward zero; 0 where b is 0."),
      row(Op::remainder, "remainder", "integer, float: same", same_real, of_reals<plain_remainder>,
          vjp_of_two<remainder_rule>, {}, 10,
          "What is left of a / b, with the sign of a; integers: 0 where b is 0."),
      row(Op::pow, "pow", "any: same", same_any, of_numbers<plain_pow, pairs::pow>, vjp_of_two<pow_rule>,
          {2, "integers wrap; complex: 8 of the length times 1 + |b log a|"}, 40,
          "a to the power of b; an integer to a negative power is 1 / a^|b| toward zero, 0 for 0."),
      row(Op::atan2, "atan2", "float: same", same_float, of_reals<kernel::atan2>, vjp_of_two<atan2_rule>,
          {2, {}}, 25, "The angle of the point with ordinate a and abscissa b."),
      row(Op::hypot, "hypot", "float: same", same_float, of_reals<kernel::hypot>, vjp_of_two<hypot_rule>,
          {2, {}}, 10, "sqrt(a^2 + b^2) without overflow; the derivative at the origin is 0."),
      row(Op::min, "minimum", "integer, float: same", same_real, of_reals<smaller>,
          vjp_of_two<[](Binary h) { return choice_rule(negate(h.a), negate(h.b), h.g); }>, {}, 2,
          "The smaller one, NaN where either is; equal ones share the derivative."),
      row(Op::max, "maximum", "integer, float: same", same_real, of_reals<larger>,
          vjp_of_two<[](Binary h) { return choice_rule(h.a, h.b, h.g); }>, {}, 2,
          "The larger one, NaN where either is; equal ones share the derivative."),
      row(Op::complex, "complex", "f32, f64: complex", complex_type, complex_meaning,
          vjp_of_two<[](Binary h) {
            return Operands{real(h.g), negate(imag(h.g))};
          }>,
          {}, 1, "a + ib.")};
  append_rows(rows, comparison_rows());
  append_rows(rows, bitwise_rows());
  append_rows(rows, more_rows());
  return rows;
}

}  // namespace adit::graph
