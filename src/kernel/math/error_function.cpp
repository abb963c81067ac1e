#include "kernel/error_function.hpp"

#include <cmath>

#include <adit/kernel/math.hpp>

#include "kernel/math/quotient.hpp"
#include "kernel/math/twofold.hpp"

namespace adit::kernel {

Value erf(Value x, const ErfParts& parts) {
  Value a = abs(x);
  Value centre = fma(x, parts.centre(x * x), x);
  Value side = 1 - exp(-parts.exponent(min(a, parts.last)));
  return select(a < 1, centre, flip_sign(side, sign_bit(x)));
}

namespace {

// Both quotients of erfc by one division: each divisor's inverse is that of their product times the other.
Value factor_of(Value a, const ErfcParts& parts) {
  Value sum = a + parts.pivot, divisor = fma(a, 2, 1.0);
  Value inverse = 1 / (sum * divisor);
  Value t = quotient(a - parts.pivot, sum, inverse * divisor);
  return quotient(parts.core(t), divisor, inverse * sum);
}

}  // namespace

// erfc(a) = exp(-a^2) core / (1 + 2 a) for a >= 0 (Shepherd and Laframboise, 1981). What a * a loses in
// rounding is a factor 1 - low. The exponential comes last, so a subnormal one costs nothing: its factor is
// below 1. It is the one of erfc's derivative, written alike: a kernel that computes both has it once.
Value erfc(Value x, const ErfcParts& parts) {
  Value a = min(abs(x), parts.last);
  Value low = two_product(a, a).low;
  Value factor = factor_of(a, parts);
  Value right = exp(-(x * x)) * fma(-low, factor, factor);
  return select(x < 0, 2 - right, right);
}

// As in erfc, without its exponential. Below 0 it is 2 exp(x^2) less that of -x, which few ask for.
Value erfcx(Value x, const ErfcxParts& parts) {
  Value a = abs(x), near = min(a, parts.far);
  Value t = quotient(near - parts.pivot, near + parts.pivot);
  // The divisor's inverse stays a normal number, whatever x.
  Value scaled = quotient(parts.core(t) * 0.125, min(a, parts.most) * 0.25 + 0.125);
  Variable result = x.builder().variable(select(a > parts.most, x.like(0), scaled));
  x.builder().if_(x < 0, [&] {
    Twofold square = two_product(a, a);
    Value growth = exp(square.high);
    Value whole = select(growth < x.like(INFINITY), fma(growth, square.low, growth), growth);
    result = fma(whole, 2, -result);
  });
  return result;
}

}  // namespace adit::kernel
