// Division and roots. The device's own division and root may be several ULP off: one step with the exact
// residual mends them, in a range where the residual cannot underflow.
#include "kernel/math/f64/parts.hpp"

namespace adit::kernel::f64 {

Value sqrt(Value x) {
  Value tiny = x < 0x1p-800;
  Twofold s = root(select(tiny, x * 0x1p200, x), x.like(0));
  Value result = sum(s) * select(tiny, x.like(0x1p-100), x.like(1));
  Value edge = select(x == 0.0 || x == infinity(x), x, not_a_number(x));
  return select(x > 0.0 && x < infinity(x), result, edge);
}

Value rsqrt(Value x) {
  Value small = x<0x1p-500, large = x> 0x1p500;
  Value scaled = x * select(small, x.like(0x1p600), select(large, x.like(0x1p-600), x.like(1)));
  Value r = 1.0 / sqrt_device(scaled);
  Twofold square = two_product(r, r);
  Value residual = fma(-scaled, square.high, 1.0) - scaled * square.low;
  Value result =
      fma(0.5 * r, residual, r) * select(small, x.like(0x1p300), select(large, x.like(0x1p-300), x.like(1)));
  Value edge = select(x == 0.0, with_sign(infinity(x), sign_bit(x)),
                      select(x == infinity(x), x.like(0), not_a_number(x)));
  return select(x > 0.0 && x < infinity(x), result, edge);
}

namespace {

// From r = x^(-1/3) (1 + e) to an error of order e^4, without division.
Value refine_inverse_cube_root(Value x, Value r) {
  Value h = fma(-(x * r) * r, r, 1.0);
  return fma(r * h, polynomial(h, {1.0 / 3, 2.0 / 9, 14.0 / 81}), r);
}

}  // namespace

// The first guess divides the exponent by -3 on the bits: 3.5 % off at most. Two steps make it 2^-50, and the
// root itself is mended with its exact residual.
Value cbrt(Value x) {
  // Away from the ends of the range: a product beyond it spoils an fma that the device composes.
  Value magnitude = abs(x), tiny = magnitude < 0x1p-800, huge = magnitude >= 0x1p1000;
  Value m = magnitude * select(tiny, x.like(0x1p300), select(huge, x.like(0x1p-300), x.like(1)));
  Value upper = convert(bits(m) >> 32, Type::u32);
  Value guess = upper.like(0x553ef084) - mul_high(upper, upper.like(0x55555556));
  Value r = bitcast(convert(guess, Type::u64) << 32, Type::f64);
  r = refine_inverse_cube_root(m, refine_inverse_cube_root(m, r));
  Value square = r * r;
  Value root = m * square;
  Twofold power = two_product(root, root);
  Value residual = fma(-power.high, root, m) - power.low * root;
  Value result = fma(residual, square * (1.0 / 3), root);
  result = result * select(tiny, x.like(0x1p-100), select(huge, x.like(0x1p100), x.like(1)));
  return select(magnitude > 0.0 && magnitude < infinity(x), with_sign(result, sign_bit(x)), x);
}

// The squares and their sum are kept in two parts; NaN stays in one of a and b.
Value hypot(Value x, Value y) {
  Value absolute_x = abs(x), absolute_y = abs(y), swap = absolute_x < absolute_y;
  Value a = select(swap, absolute_y, absolute_x), b = select(swap, absolute_x, absolute_y);
  Value small = a<0x1p-400, large = a> 0x1p500;
  Value up = select(small, x.like(0x1p700), select(large, x.like(0x1p-600), x.like(1)));
  Value down = select(small, x.like(0x1p-700), select(large, x.like(0x1p600), x.like(1)));
  Twofold square_a = two_product(a * up, a * up), square_b = two_product(b * up, b * up);
  Twofold total = fast_two_sum(square_a.high, square_b.high);
  Value result = sum(root(total.high, total.low + (square_a.low + square_b.low))) * down;
  Value infinite = absolute_x == infinity(x) || absolute_y == infinity(x);
  return select(infinite, infinity(x), select(a == 0.0, a + b, result));
}

namespace {

Value balance(Value magnitude, double small, double large) {
  return select(magnitude < 0x1p-500, magnitude.like(small),
                select(magnitude > 0x1p500, magnitude.like(large), magnitude.like(1)));
}

// x / y for x and y > 0, neither near the ends of the range.
Value corrected_quotient(Value x, Value y) {
  Value q = x / y;
  return fma(fma(-q, y, x), 2.0 * half_reciprocal(y), q);
}

// Any magnitudes. The scale goes back in two equal factors: only the last product can round.
Value scaled_quotient(Value x, Value y) {
  Value q = corrected_quotient(x * balance(x, 0x1p600, 0x1p-600), y * balance(y, 0x1p600, 0x1p-600));
  Value back = balance(y, 0x1p300, 0x1p-300) * balance(x, 0x1p-300, 0x1p300);
  // Flipping the exponent bits turns 0 into infinity and back: then x / y is x times that.
  Value pole = y == 0.0 || y == infinity(y);
  Value inverse = float_of_bits(bits(y) ^ select(pole, bits(infinity(y)), bits(y).like(0)));
  Value regular = x > 0.0 && x < infinity(x) && y > 0.0 && y < infinity(y);
  return select(regular, (q * back) * back, x * inverse);
}

}  // namespace

Value divide(Value x, Value y) {
  Value a = abs(x), b = abs(y);
  Value moderate = a >= 0x1p-500 && a <= 0x1p500 && b >= 0x1p-500 && b <= 0x1p500;
  Variable result = x.builder().variable(corrected_quotient(a, b));
  x.builder().if_(!moderate, [&] { result = scaled_quotient(a, b); });
  return flip_sign(result, bits(x) ^ bits(y));
}

}  // namespace adit::kernel::f64
