// The operations of one operand.
#include "graph/build/arguments.hpp"
#include "graph/op.hpp"
#include "graph/operands.hpp"
#include "graph/special.hpp"

namespace adit {

using graph::as_float;
using graph::constant;
using graph::expect_tensor;
using graph::make;
using graph::name_of;
using graph::Op;

namespace {

Tensor of_any(Op op, const Tensor& x) {
  expect_tensor(name_of(op), "x", x);
  return make(op, {x});
}

// A function of floats; integers become f32.
Tensor of_float(Op op, const Tensor& x) {
  expect_tensor(name_of(op), "x", x);
  return make(op, {as_float(x)});
}

// Integers are whole already.
Tensor rounded(Op op, const Tensor& x) {
  expect_tensor(name_of(op), "x", x);
  return is_integer(x.dtype()) ? x : make(op, {x});
}

graph::Which named(DType type) { return {static_cast<int>(type)}; }

}  // namespace

Tensor negate(const Tensor& x) { return of_any(Op::negate, x); }
Tensor sign(const Tensor& x) { return of_any(Op::sign, x); }
Tensor abs(const Tensor& x) {
  expect_tensor("abs", "x", x);
  return is_unsigned(x.dtype()) ? x : make(Op::abs, {x});
}

Tensor floor(const Tensor& x) { return rounded(Op::floor, x); }
Tensor ceil(const Tensor& x) { return rounded(Op::ceil, x); }
Tensor round(const Tensor& x) { return rounded(Op::round, x); }
Tensor trunc(const Tensor& x) { return rounded(Op::trunc, x); }

Tensor exp(const Tensor& x) { return of_float(Op::exp, x); }
Tensor exp2(const Tensor& x) { return of_float(Op::exp2, x); }
Tensor expm1(const Tensor& x) { return of_float(Op::expm1, x); }
Tensor log(const Tensor& x) { return of_float(Op::log, x); }
Tensor log2(const Tensor& x) { return of_float(Op::log2, x); }
Tensor log10(const Tensor& x) { return of_float(Op::log10, x); }
Tensor log1p(const Tensor& x) { return of_float(Op::log1p, x); }
Tensor sqrt(const Tensor& x) { return of_float(Op::sqrt, x); }
Tensor rsqrt(const Tensor& x) { return of_float(Op::rsqrt, x); }
Tensor cbrt(const Tensor& x) { return of_float(Op::cbrt, x); }
Tensor sin(const Tensor& x) { return of_float(Op::sin, x); }
Tensor cos(const Tensor& x) { return of_float(Op::cos, x); }
Tensor tan(const Tensor& x) { return of_float(Op::tan, x); }
Tensor asin(const Tensor& x) { return of_float(Op::asin, x); }
Tensor acos(const Tensor& x) { return of_float(Op::acos, x); }
Tensor atan(const Tensor& x) { return of_float(Op::atan, x); }
Tensor sinh(const Tensor& x) { return of_float(Op::sinh, x); }
Tensor cosh(const Tensor& x) { return of_float(Op::cosh, x); }
Tensor tanh(const Tensor& x) { return of_float(Op::tanh, x); }
Tensor asinh(const Tensor& x) { return of_float(Op::asinh, x); }
Tensor acosh(const Tensor& x) { return of_float(Op::acosh, x); }
Tensor atanh(const Tensor& x) { return of_float(Op::atanh, x); }
Tensor erf(const Tensor& x) { return of_float(Op::erf, x); }
Tensor erfc(const Tensor& x) { return of_float(Op::erfc, x); }
Tensor erfcx(const Tensor& x) { return of_float(Op::erfcx, x); }
Tensor erf_inv(const Tensor& x) { return of_float(Op::erf_inv, x); }
Tensor lgamma(const Tensor& x) { return of_float(Op::lgamma, x); }
Tensor digamma(const Tensor& x) { return of_float(Op::digamma, x); }
Tensor trigamma(const Tensor& x) { return of_float(Op::trigamma, x); }
Tensor sigmoid(const Tensor& x) { return of_float(Op::sigmoid, x); }
Tensor softplus(const Tensor& x) { return of_float(Op::softplus, x); }
Tensor log_sigmoid(const Tensor& x) { return of_float(Op::log_sigmoid, x); }

Tensor square(const Tensor& x) { return multiply(x, x); }
Tensor reciprocal(const Tensor& x) {
  expect_tensor("reciprocal", "x", x);
  return divide(constant(float_of(x.dtype()), 1), x);
}
// 0 has the derivative 0; NaN stays.
Tensor relu(const Tensor& x) {
  expect_tensor("relu", "x", x);
  const Tensor zero = constant(x.dtype(), 0);
  return select(less_equal(x, zero), zero, x);
}

Tensor bitwise_not(const Tensor& x) { return of_any(Op::bitwise_not, x); }
Tensor logical_not(const Tensor& x) { return of_any(Op::logical_not, x); }
Tensor is_nan(const Tensor& x) { return of_any(Op::is_nan, x); }
Tensor is_infinity(const Tensor& x) { return of_any(Op::is_infinity, x); }
Tensor count_leading_zeros(const Tensor& x) { return of_any(Op::count_leading_zeros, x); }
Tensor population_count(const Tensor& x) { return of_any(Op::population_count, x); }
Tensor stop_gradient(const Tensor& x) { return of_any(Op::stop_gradient, x); }

// As in Nx the conjugate is complex whatever x is, and the parts are floats.
Tensor conjugate(const Tensor& x) {
  expect_tensor("conjugate", "x", x);
  return make(Op::conjugate, {as_type(x, complex_of(x.dtype()))});
}
Tensor real(const Tensor& x) {
  expect_tensor("real", "x", x);
  return is_complex(x.dtype()) ? make(Op::real, {x}) : as_float(x);
}
Tensor imag(const Tensor& x) {
  expect_tensor("imag", "x", x);
  return is_complex(x.dtype()) ? make(Op::imag, {x})
                               : broadcast_to(constant(float_of(x.dtype()), 0), x.shape());
}
Tensor phase(const Tensor& x) {
  expect_tensor("phase", "x", x);
  return atan2(imag(x), real(x));
}

Tensor as_type(const Tensor& x, DType type) {
  expect_tensor("as_type", "x", x);
  return x.dtype() == type ? x : make(Op::as_type, {x}, named(type));
}
Tensor bitcast(const Tensor& x, DType type) {
  expect_tensor("bitcast", "x", x);
  return x.dtype() == type && !is_complex(type) ? x : make(Op::bitcast, {x}, named(type));
}

}  // namespace adit
