// Hyperbolic functions and their inverses: polynomials near 0, exponentials and logarithms beyond.
#include "kernel/math/f32/internal.hpp"

namespace adit::kernel::f32 {

namespace {

// exp(|x|) / 2, which overflows only where sinh and cosh do.
Value half_exp(Value size) {
  ExpParts parts = exp_parts(size);
  return scale(parts.value, parts.exponent - 1);
}

// exp(-|x|) / 2 from it. Division is only good within the range, and where it counts this changes nothing.
Value half_exp_of_negative(Value half) { return 0.25 / min(half, 0x1p100); }

// x + x^3 p(x^2)
Value odd_polynomial(Value x, std::initializer_list<double> coefficients) {
  Value z = x * x;
  return fma(x * z, polynomial(z, coefficients), x);
}

}  // namespace

Value sinh(Value x) {
  Value size = abs(x);
  // sinh on [0, 1], relative error 2^-31.4
  Value near = odd_polynomial(size, {0x1.555556p-3, 0x1.1110eap-7, 0x1.a01c22p-13, 0x1.76771ep-19});
  Value half = half_exp(size);
  Value y = select(size < 1.0, near, half - half_exp_of_negative(half));
  return with_sign(y, bits(x));
}

Value cosh(Value x) {
  Value half = half_exp(abs(x));
  return half + half_exp_of_negative(half);
}

// h / (h + 1) with h = (exp(2 |x|) - 1) / 2. For |x| = k ln(2) / 2 + r this h is
// 2^k (r + r^2 q) + (2^k - 1) / 2.
Value tanh(Value x) {
  Value size = min(abs(x), 10.0);
  Rounded k = round_product(size, 2 * log2_e, 127);
  Value r = fma(k.as_float, -rest_of_ln2 / 2, fma(k.as_float, -short_ln2 / 2, size));
  // (exp(2r) - 1) / 2 = r + r^2 q on [-0.1738, 0.1738], relative error 2^-31
  Value q = polynomial(r, {1, 0x1.555554p-1, 0x1.5554f2p-2, 0x1.11130cp-3, 0x1.6d4174p-5, 0x1.9e0038p-7});
  Value power = bitcast(k.as_integer << 23, Type::f32);
  Value half = fma(power, fma(r * r, q, r), fma(power, 0.5, -0.5));
  // The quotient's residual counts what half + 1 loses: the largest error is then 1.6 ULP, not 2.4.
  Value below = half + 1.0, lost = half - (below - 1.0), inverse = 1.0 / below;
  Value y = half * inverse;
  Value rest = fma(-y, lost, fma(-y, below, half));
  return with_sign(fma(rest, inverse, y), bits(x));
}

// Beyond 1/2: log(|x| + sqrt(x^2 + 1)), the argument in two parts. From 2^40 on the root is |x|.
Value asinh(Value x) {
  Value size = abs(x);
  // asinh on [0, 0.5], relative error 2^-33.9
  Value near = odd_polynomial(
      size, {-0x1.555554p-3, 0x1.33323ap-4, -0x1.6d7ebcp-5, 0x1.ec11eap-6, -0x1.487dfcp-6, 0x1.2f51eep-7});
  Value bounded = min(size, 0x1p40);
  Twofold square = two_product(bounded, bounded);
  Twofold more = two_sum(square.high, x.like(1));
  Twofold square_root = root({more.high, more.low + square.low});
  Twofold total = fast_two_sum(square_root.high, bounded);
  Value huge = size > 0x1p40;
  // log(2 |x|) = log(|x| / 4) + 3 ln 2 for the huge: |x| / 4 stays below the range that log_of takes.
  Value far = log_of({select(huge, size * 0.25, total.high), select(huge, 0.0, total.low + square_root.low)});
  far = far + select(huge, x.like(0x1.0a2b24p1), x.like(0));
  Value y = select(size < 0.5, near, far);
  y = select(is_finite(x), y, size);
  return with_sign(y, bits(x));
}

// log(x + sqrt(x^2 - 1)), the argument in two parts.
Value acosh(Value x) {
  Value bounded = min(x, 0x1p40);
  Twofold square = two_product(bounded, bounded);
  Twofold less = two_sum(square.high, x.like(-1));
  Twofold square_root = root({max(less.high, 0.0), less.low + square.low});
  Twofold argument = fast_two_sum(bounded, square_root.high);
  Value huge = x > 0x1p40;
  Value y =
      log_of({select(huge, x * 0.25, argument.high), select(huge, 0.0, argument.low + square_root.low)});
  y = y + select(huge, x.like(0x1.0a2b24p1), x.like(0));
  y = select(x >= 1.0, y, not_a_number(x));
  return select(is_infinite(x) && x > 0.0, x, y);
}

// Beyond 1/2: log((1 + |x|) / (1 - |x|)) / 2, the quotient in two parts; 1 - |x| is exact there.
Value atanh(Value x) {
  Value size = abs(x);
  // atanh on [0, 0.5], relative error 2^-32.7
  Value near = odd_polynomial(size, {0x1.555558p-2, 0x1.9997c4p-3, 0x1.24cb4ap-3, 0x1.c0741cp-4,
                                     0x1.a96c0cp-4, 0x1.627f1ep-6, 0x1.6ed784p-3});
  Value bounded = min(size, 0x1.fffffep-1);
  Twofold ratio = divide(fast_two_sum(x.like(1), bounded), Twofold{1.0 - bounded, x.like(0)});
  Value far = 0.5 * log_of(ratio);
  Value y = with_sign(select(size < 0.5, near, far), bits(x));
  Value edge = select(size == 1.0, with_sign(infinity(x), bits(x)), not_a_number(x));
  return select(size < 1.0, y, edge);
}

}  // namespace adit::kernel::f32
