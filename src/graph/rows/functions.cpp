// Rows of the functions of one number: exponentials, powers, trigonometry, special functions.
#include <cmath>

#include <adit/kernel/math.hpp>

#include "graph/op.hpp"
#include "graph/rows/complex.hpp"
#include "graph/rows/elementwise.hpp"
#include "graph/special.hpp"
#include "kernel/error_function.hpp"

namespace adit::graph {

namespace {

constexpr double two_over_root_pi = 1.12837916709551257390;
constexpr double half_root_pi = 0.88622692545275801365;
constexpr std::string_view normwise = "complex: 8 of the length";

template <auto rule>
constexpr Vjp vjp = vjp_of<rule>;

// A function of floats.
Row of_floats(Op op, std::string_view name, ScalarMeaning meaning, Vjp rule, double ulp, int cost,
              std::string_view doc) {
  return {.op = op,
          .name = name,
          .kind = Kind::elementwise,
          .arity = 1,
          .types = "float: same",
          .type = same_float,
          .shape = same_shape,
          .scalar = meaning,
          .vjp = rule,
          .bound = {ulp, {}},
          .cost = cost,
          .doc = doc};
}

// A function of floats and complex numbers.
Row of_both(Op op, std::string_view name, ScalarMeaning meaning, Vjp rule, double ulp, int cost,
            std::string_view doc) {
  Row row = of_floats(op, name, meaning, rule, ulp, cost, doc);
  row.types = "float, complex: same";
  row.type = same_inexact;
  row.bound.note = normwise;
  return row;
}

// 1 / sqrt(1 - x^2) on the principal branch, without the loss near 1.
Tensor inverse_of_roots(const Tensor& x) { return multiply(rsqrt(minus_from(1, x)), rsqrt(plus(x, 1))); }
Tensor gauss(const Tensor& x) { return exp(negate(square(x))); }

// Real numbers by hypot, whose square does not overflow.
Tensor asinh_rule(Unary h) {
  if (is_complex(h.x.dtype())) return multiply(h.g, rsqrt(plus(square(h.x), 1)));
  return divide(h.g, hypot(h.x, constant(h.x.dtype(), 1)));
}

std::vector<Row> exponential_rows() {
  return {
      of_both(Op::exp, "exp", of_number<kernel::exp, pairs::exp>,
              vjp<[](Unary h) { return multiply(h.g, h.y); }>, 2, 20, "e^x."),
      of_both(Op::exp2, "exp2", of_number<kernel::exp2, pairs::exp2>,
              vjp<[](Unary h) { return times(multiply(h.g, h.y), M_LN2); }>, 2, 20, "2^x."),
      of_both(Op::expm1, "expm1", of_number<kernel::expm1, pairs::expm1>,
              vjp<[](Unary h) { return multiply(h.g, exp(h.x)); }>, 2, 20, "e^x - 1, sharp near 0."),
      of_both(Op::log, "log", of_number<kernel::log, pairs::log>,
              vjp<[](Unary h) { return divide(h.g, h.x); }>, 2, 20, "The natural logarithm."),
      of_both(Op::log2, "log2", of_number<kernel::log2, pairs::log2>,
              vjp<[](Unary h) { return divide(h.g, times(h.x, M_LN2)); }>, 2, 20, "The logarithm to base 2."),
      of_both(Op::log10, "log10", of_number<kernel::log10, pairs::log10>,
              vjp<[](Unary h) { return divide(h.g, times(h.x, M_LN10)); }>, 2, 20,
              "The logarithm to base 10."),
      of_both(Op::log1p, "log1p", of_number<kernel::log1p, pairs::log1p>,
              vjp<[](Unary h) { return divide(h.g, plus(h.x, 1)); }>, 2, 20, "log(1 + x), sharp near 0."),
      of_both(Op::sqrt, "sqrt", of_number<kernel::sqrt, pairs::sqrt>,
              vjp<[](Unary h) { return divide(times(h.g, 0.5), h.y); }>, 1, 6, "The square root."),
      of_both(Op::rsqrt, "rsqrt", of_number<kernel::rsqrt, pairs::rsqrt>,
              vjp<[](Unary h) { return divide(times(multiply(h.g, h.y), -0.5), h.x); }>, 2, 8,
              "1 over the square root."),
      of_floats(Op::cbrt, "cbrt", of_real<kernel::cbrt>,
                vjp<[](Unary h) { return divide(h.g, times(square(h.y), 3)); }>, 2, 15, "The cube root."),
      of_both(Op::sigmoid, "sigmoid", of_number<kernel::sigmoid, pairs::sigmoid>,
              vjp<[](Unary h) { return multiply(h.g, multiply(h.y, minus_from(1, h.y))); }>, 3, 25,
              "1 / (1 + e^-x)."),
      of_floats(Op::softplus, "softplus", of_real<kernel::softplus>,
                vjp<[](Unary h) { return multiply(h.g, sigmoid(h.x)); }>, 3, 35, "log(1 + e^x)."),
      of_floats(Op::log_sigmoid, "log_sigmoid", of_real<kernel::log_sigmoid>,
                vjp<[](Unary h) { return multiply(h.g, sigmoid(negate(h.x))); }>, 3, 35,
                "The logarithm of sigmoid(x).")};
}

std::vector<Row> trigonometric_rows() {
  return {
      of_both(Op::sin, "sin", of_number<kernel::sin, pairs::sin>,
              vjp<[](Unary h) { return multiply(h.g, cos(h.x)); }>, 2, 25, "The sine, of any argument."),
      of_both(Op::cos, "cos", of_number<kernel::cos, pairs::cos>,
              vjp<[](Unary h) { return negate(multiply(h.g, sin(h.x))); }>, 2, 25,
              "The cosine, of any argument."),
      of_both(Op::tan, "tan", of_number<kernel::tan, pairs::tan>,
              vjp<[](Unary h) { return multiply(h.g, plus(square(h.y), 1)); }>, 2, 30,
              "The tangent, of any argument."),
      of_both(Op::asin, "asin", of_number<kernel::asin, pairs::asin>,
              vjp<[](Unary h) { return multiply(h.g, inverse_of_roots(h.x)); }>, 2, 20, "The inverse sine."),
      of_both(Op::acos, "acos", of_number<kernel::acos, pairs::acos>,
              vjp<[](Unary h) { return negate(multiply(h.g, inverse_of_roots(h.x))); }>, 2, 20,
              "The inverse cosine."),
      of_both(Op::atan, "atan", of_number<kernel::atan, pairs::atan>,
              vjp<[](Unary h) { return divide(h.g, plus(square(h.x), 1)); }>, 2, 20, "The inverse tangent."),
      of_both(Op::sinh, "sinh", of_number<kernel::sinh, pairs::sinh>,
              vjp<[](Unary h) { return multiply(h.g, cosh(h.x)); }>, 2, 25, "The hyperbolic sine."),
      of_both(Op::cosh, "cosh", of_number<kernel::cosh, pairs::cosh>,
              vjp<[](Unary h) { return multiply(h.g, sinh(h.x)); }>, 2, 25, "The hyperbolic cosine."),
      of_both(Op::tanh, "tanh", of_number<kernel::tanh, pairs::tanh>,
              vjp<[](Unary h) { return multiply(h.g, minus_from(1, square(h.y))); }>, 2, 25,
              "The hyperbolic tangent."),
      of_both(Op::asinh, "asinh", of_number<kernel::asinh, pairs::asinh>, vjp<asinh_rule>, 2, 30,
              "The inverse hyperbolic sine."),
      of_both(Op::acosh, "acosh", of_number<kernel::acosh, pairs::acosh>,
              vjp<[](Unary h) { return multiply(h.g, multiply(rsqrt(plus(h.x, -1)), rsqrt(plus(h.x, 1)))); }>,
              2, 30, "The inverse hyperbolic cosine."),
      of_both(Op::atanh, "atanh", of_number<kernel::atanh, pairs::atanh>,
              vjp<[](Unary h) { return divide(h.g, multiply(minus_from(1, h.x), plus(h.x, 1))); }>, 2, 25,
              "The inverse hyperbolic tangent.")};
}

std::vector<Row> special_rows() {
  return {
      of_floats(Op::erf, "erf", of_real<kernel::erf>,
                vjp<[](Unary h) { return times(multiply(h.g, gauss(h.x)), two_over_root_pi); }>, 3, 30,
                "The error function."),
      of_floats(Op::erfc, "erfc", of_real<kernel::erfc>,
                vjp<[](Unary h) { return times(multiply(h.g, gauss(h.x)), -two_over_root_pi); }>, 7, 40,
                "1 - erf(x), sharp where it is small."),
      of_floats(
          Op::erfcx, "erfcx", of_real<kernel::erfcx>,
          vjp<[](Unary h) { return multiply(h.g, plus(times(multiply(h.x, h.y), 2), -two_over_root_pi)); }>,
          7, 30, "exp(x^2) erfc(x): erfc without its exponential."),
      of_floats(Op::erf_inv, "erf_inv", of_real<kernel::erf_inv>,
                vjp<[](Unary h) { return times(multiply(h.g, exp(square(h.y))), half_root_pi); }>, 5, 40,
                "The inverse of erf."),
      of_floats(Op::lgamma, "lgamma", of_real<kernel::lgamma>,
                vjp<[](Unary h) { return multiply(h.g, digamma(h.x)); }>, 7, 60, "log |gamma(x)|."),
      of_floats(Op::digamma, "digamma", of_real<kernel::digamma>,
                vjp<[](Unary h) { return multiply(h.g, trigamma(h.x)); }>, 8, 50,
                "The derivative of lgamma."),
      of_floats(Op::trigamma, "trigamma", of_real<kernel::trigamma>, nullptr, 8, 50,
                "The derivative of digamma; it has no derivative of its own here.")};
}

}  // namespace

std::vector<Row> function_rows() {
  std::vector<Row> rows = exponential_rows();
  append_rows(rows, trigonometric_rows());
  append_rows(rows, special_rows());
  return rows;
}

}  // namespace adit::graph
