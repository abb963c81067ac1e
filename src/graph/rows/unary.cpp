// Rows of one operand that are no functions of analysis: signs and roundings. unary_rows() joins all unary
// ones.
#include <adit/kernel/math.hpp>

#include "graph/op.hpp"
#include "graph/rows/complex.hpp"
#include "graph/rows/elementwise.hpp"
#include "graph/rows/integer.hpp"

namespace adit::graph {

namespace {

using kernel::Value;

Scalar negate_meaning(std::span<const Scalar> x, const Node&) {
  return x[0].is_complex ? pairs::negate(x[0]) : scalar(-x[0].re);
}

Scalar abs_meaning(std::span<const Scalar> x, const Node&) {
  return scalar(x[0].is_complex ? pairs::length(x[0]) : kernel::abs(x[0].re));
}

Scalar sign_meaning(std::span<const Scalar> x, const Node&) {
  if (x[0].is_complex) return pairs::sign(x[0]);
  return scalar(kernel::is_integer(x[0].re.type()) ? integers::sign(x[0].re) : kernel::sign(x[0].re));
}

template <Value (*function)(Value)>
Scalar rounding(std::span<const Scalar> x, const Node&) {
  return kernel::is_integer(x[0].re.type()) ? x[0] : scalar(function(x[0].re));
}

// |z|: g conj(z) / |z|, and 0 at 0, as for real numbers.
Tensor abs_rule(Unary h) {
  if (!is_complex(h.x.dtype())) return multiply(h.g, sign(h.x));
  const Tensor by = divide(h.g, not_zero(h.y));
  return adit::complex(multiply(by, real(h.x)), negate(multiply(by, imag(h.x))));
}

// z / |z| turns with z and ignores its length: with z = x + iy, g = p - iq it is (p y - q x) (y + ix) /
// |z|^3.
Tensor sign_rule(Unary h) {
  if (!is_complex(h.x.dtype())) return {};
  const Tensor size = not_zero(abs(h.x)), x = divide(real(h.x), size), y = divide(imag(h.x), size);
  const Tensor turn = divide(add(multiply(real(h.g), y), multiply(imag(h.g), x)), size);
  return adit::complex(multiply(turn, y), multiply(turn, x));
}

Row rounding_row(Op op, std::string_view name, ScalarMeaning meaning, std::string_view doc) {
  return {.op = op,
          .name = name,
          .kind = Kind::elementwise,
          .arity = 1,
          .types = "integer, float: same",
          .type = same_real,
          .shape = same_shape,
          .scalar = meaning,
          .vjp = no_gradient,
          .cost = 2,
          .doc = doc};
}

}  // namespace

std::vector<Row> unary_rows() {
  std::vector<Row> rows = {
      {.op = Op::negate,
       .name = "negate",
       .kind = Kind::elementwise,
       .arity = 1,
       .types = "any: same",
       .type = same_any,
       .shape = same_shape,
       .scalar = negate_meaning,
       .vjp = vjp_of<[](Unary h) { return negate(h.g); }>,
       .doc = "-x; integers wrap."},
      {.op = Op::abs,
       .name = "abs",
       .kind = Kind::elementwise,
       .arity = 1,
       .types = "any: same; complex: its float",
       .type = part_of_any,
       .shape = same_shape,
       .scalar = abs_meaning,
       .vjp = vjp_of<abs_rule>,
       .bound = {0, "complex: 2"},
       .cost = 2,
       .doc = "|x|, the length of a complex number; the derivative at 0 is 0, the lowest integer stays."},
      {.op = Op::sign,
       .name = "sign",
       .kind = Kind::elementwise,
       .arity = 1,
       .types = "any: same",
       .type = same_any,
       .shape = same_shape,
       .scalar = sign_meaning,
       .vjp = vjp_of<sign_rule>,
       .bound = {0, "complex: 3"},
       .cost = 2,
       .doc = "-1, 0 or 1, NaN stays; of a complex number z / |z|."},
      rounding_row(Op::floor, "floor", rounding<kernel::floor>,
                   "The largest whole number that is not above x."),
      rounding_row(Op::ceil, "ceil", rounding<kernel::ceil>,
                   "The smallest whole number that is not below x."),
      rounding_row(Op::round, "round", rounding<kernel::round>,
                   "The nearest whole number, halves away from zero."),
      rounding_row(Op::trunc, "trunc", rounding<kernel::trunc>, "The whole number next to x toward zero.")};
  append_rows(rows, function_rows());
  append_rows(rows, conversion_rows());
  return rows;
}

}  // namespace adit::graph
