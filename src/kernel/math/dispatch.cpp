// The public functions: the type is checked, the f32 or f64 function called. The short ones serve both types
// here.
#include <string>

#include <adit/error.hpp>
#include <adit/kernel/math.hpp>

#include "kernel/error_function.hpp"
#include "kernel/math/f32.hpp"
#include "kernel/math/f64.hpp"
#include "kernel/math/f64/loose.hpp"
#include "kernel/math/twofold.hpp"

namespace adit::kernel {

namespace {

using Unary = Value (*)(Value);
using Binary = Value (*)(Value, Value);

[[noreturn]] void refuse(const char* name, const char* argument, const std::string& expected, Type got) {
  throw Error(ErrorKind::bad_argument, std::string("[") + name + "] " + argument + ": expected " + expected +
                                           ", got " + std::string(name_of(got)));
}

void check_float(const char* name, const char* argument, Value x) {
  if (x.type() != Type::f32 && x.type() != Type::f64) refuse(name, argument, "f32 or f64", x.type());
  if (x.width() != 1)
    throw Error(ErrorKind::bad_argument, std::string("[") + name + "] " + argument +
                                             ": expected a scalar, got " + std::to_string(x.width()) +
                                             " elements");
}

void check_pair(const char* name, const char* first, Value x, const char* second, Value y) {
  check_float(name, first, x);
  check_float(name, second, y);
  if (x.type() != y.type()) refuse(name, second, std::string(name_of(x.type())), y.type());
}

// The functions are written to the last bit.
Value apply(const char* name, Unary single, Unary twice, Value x) {
  check_float(name, "x", x);
  const Loose exact(x.builder(), false);
  return x.type() == Type::f32 ? single(x) : twice(x);
}

Value apply(const char* name, Binary single, Binary twice, Value x, Value y) {
  check_pair(name, "x", x, "y", y);
  const Loose exact(x.builder(), false);
  return x.type() == Type::f32 ? single(x, y) : twice(x, y);
}

// One with a loose form in f64.
Value apply(const char* name, Unary single, Unary twice, Unary loose, Value x) {
  return apply(name, single, x.builder().has_loose_functions() ? loose : twice, x);
}

}  // namespace

Value exp(Value x) { return apply("exp", f32::exp, f64::exp, f64::loose::exp, x); }
Value exp2(Value x) { return apply("exp2", f32::exp2, f64::exp2, x); }
Value expm1(Value x) { return apply("expm1", f32::expm1, f64::expm1, x); }
Value log(Value x) { return apply("log", f32::log, f64::log, f64::loose::log, x); }
Value log2(Value x) { return apply("log2", f32::log2, f64::log2, x); }
Value log10(Value x) { return apply("log10", f32::log10, f64::log10, x); }
Value log1p(Value x) { return apply("log1p", f32::log1p, f64::log1p, f64::loose::log1p, x); }
Value sqrt(Value x) {
  if (x.builder().rounds_exactly()) return apply("sqrt", sqrt_device, sqrt_device, x);
  return apply("sqrt", f32::sqrt, f64::sqrt, x);
}
Value rsqrt(Value x) { return apply("rsqrt", f32::rsqrt, f64::rsqrt, x); }
Value cbrt(Value x) { return apply("cbrt", f32::cbrt, f64::cbrt, x); }
Value sin(Value x) { return apply("sin", f32::sin, f64::sin, x); }
Value cos(Value x) { return apply("cos", f32::cos, f64::cos, x); }
Value tan(Value x) { return apply("tan", f32::tan, f64::tan, x); }
Value asin(Value x) { return apply("asin", f32::asin, f64::asin, x); }
Value acos(Value x) { return apply("acos", f32::acos, f64::acos, x); }
Value atan(Value x) { return apply("atan", f32::atan, f64::atan, x); }
Value sinh(Value x) { return apply("sinh", f32::sinh, f64::sinh, x); }
Value cosh(Value x) { return apply("cosh", f32::cosh, f64::cosh, x); }
Value tanh(Value x) { return apply("tanh", f32::tanh, f64::tanh, x); }
Value asinh(Value x) { return apply("asinh", f32::asinh, f64::asinh, x); }
Value acosh(Value x) { return apply("acosh", f32::acosh, f64::acosh, x); }
Value atanh(Value x) { return apply("atanh", f32::atanh, f64::atanh, x); }
Value erf(Value x) { return apply("erf", f32::erf, f64::erf, x); }
Value erfc(Value x) { return apply("erfc", f32::erfc, f64::erfc, x); }
Value erfcx(Value x) { return apply("erfcx", f32::erfcx, f64::erfcx, x); }
Value erf_inv(Value x) { return apply("erf_inv", f32::erf_inv, f64::erf_inv, x); }
Value lgamma(Value x) { return apply("lgamma", f32::lgamma, f64::lgamma, f64::loose::lgamma, x); }
Value digamma(Value x) { return apply("digamma", f32::digamma, f64::digamma, f64::loose::digamma, x); }
Value trigamma(Value x) { return apply("trigamma", f32::trigamma, f64::trigamma, x); }
Value sigmoid(Value x) { return apply("sigmoid", f32::sigmoid, f64::sigmoid, f64::loose::sigmoid, x); }
Value softplus(Value x) { return apply("softplus", f32::softplus, f64::softplus, f64::loose::softplus, x); }
Value log_sigmoid(Value x) {
  return apply("log_sigmoid", f32::log_sigmoid, f64::log_sigmoid, f64::loose::log_sigmoid, x);
}

Value pow(Value x, Value y) { return apply("pow", f32::pow, f64::pow, x, y); }
Value hypot(Value x, Value y) { return apply("hypot", f32::hypot, f64::hypot, x, y); }
Value divide(Value x, Value y) {
  constexpr auto plain = [](Value a, Value b) { return a / b; };
  if (x.builder().rounds_exactly()) return apply("divide", plain, plain, x, y);
  return apply("divide", f32::divide, f64::divide, x, y);
}
Value fmod(Value x, Value y) { return apply("fmod", f32::fmod, f64::fmod, x, y); }
Value remainder(Value x, Value y) { return apply("remainder", f32::remainder, f64::remainder, x, y); }

Value atan2(Value y, Value x) {
  check_pair("atan2", "y", y, "x", x);
  const Loose exact(x.builder(), false);
  return y.type() == Type::f32 ? f32::atan2(y, x) : f64::atan2(y, x);
}

// Python's: a result of 0 has the sign of y too.
Value floor_mod(Value x, Value y) {
  check_pair("floor_mod", "x", x, "y", y);
  const Loose exact(x.builder(), false);
  Value rest = fmod(x, y);
  Value zero = rest == 0.0;
  Value other_side = is_negative(rest) != is_negative(y);
  return select(zero, with_sign(x.like(0), bits(y)), select(other_side, rest + y, rest));
}

// The fraction decides: |x| - trunc |x| is exact. Large numbers have none.
Value round(Value x) {
  check_float("round", "x", x);
  Value size = abs(x), whole = trunc(size);
  return with_sign(select(size - whole >= 0.5, whole + 1.0, whole), bits(x));
}

Value sign(Value x) {
  check_float("sign", "x", x);
  Value one = with_sign(x.like(1), bits(x));
  return select(abs(x) > 0.0, one, x);
}

Value copysign(Value magnitude, Value sign) {
  check_pair("copysign", "magnitude", magnitude, "sign", sign);
  return with_sign(abs(magnitude), bits(sign));
}

}  // namespace adit::kernel
