// asin, acos, atan, atan2: odd polynomials, and the far half of each range folded onto the near one.
#include "kernel/math/f32/internal.hpp"

namespace adit::kernel::f32 {

namespace {

constexpr double half_pi_high = 0x1.921fb6p0, half_pi_low = -0x1.777a5cp-25;

// |x| <= 1/2: size itself. Above: asin |x| = pi/2 - 2 asin(s) with s = sqrt((1 - |x|) / 2).
struct Folded {
  Value far;     // whether it was folded
  Value s;       // the argument in [0, 1/2]
  Value excess;  // asin(s) - s, and what s itself lacks
};
Folded fold(Value x) {
  Value size = abs(x);
  Value far = size > 0.5;
  Value half = fma(size, -0.5, 0.5);  // exact where it is used
  Value z = select(far, half, size * size);
  Twofold square_root = root({max(half, 0.0), x.like(0)});
  Value s = select(far, square_root.high, size), low = select(far, square_root.low, 0.0);
  // asin on [0, 0.5], relative error 2^-27.6
  Value p = polynomial(z, {0x1.5555c8p-3, 0x1.3301fep-4, 0x1.747cbep-5, 0x1.8c30b4p-6, 0x1.596a7ep-5});
  return {far, s, fma(s * z, p, low)};
}

}  // namespace

Value asin(Value x) {
  Folded a = fold(x);
  Value near = a.s + a.excess;
  Value far = fma(a.s, -2.0, half_pi_high) + fma(a.excess, -2.0, half_pi_low);
  Value y = with_sign(select(a.far, far, near), bits(x));
  return select(abs(x) <= 1.0, y, not_a_number(x));
}

// Above 1/2: 2 asin(s); below -1/2: pi - 2 asin(s); between: pi/2 - asin(x).
Value acos(Value x) {
  Folded a = fold(x);
  Value negative = x < 0.0;
  Value signed_s = select(negative, -a.s, a.s), signed_excess = select(negative, -a.excess, a.excess);
  Value near = (half_pi_high - signed_s) + (half_pi_low - signed_excess);
  Value twice = fma(signed_s, 2.0, select(negative, x.like(2 * half_pi_high), x.like(0)));
  Value far = twice + fma(signed_excess, 2.0, select(negative, x.like(2 * half_pi_low), x.like(0)));
  return select(abs(x) <= 1.0, select(a.far, far, near), not_a_number(x));
}

namespace {

// atan(z) - z for z in [0, 1].
Value atan_excess(Value z) {
  Value square = z * z;
  // atan on [0, 1], relative error 2^-28.5
  Value p = polynomial(square, {-0x1.55553ep-2, 0x1.9991ecp-3, -0x1.24211ap-3, 0x1.c0946cp-4, -0x1.5825f2p-4,
                                0x1.da9c2ep-5, -0x1.fe7d24p-6, 0x1.6551e2p-7, -0x1.d5a1aap-10});
  return z * square * p;
}

}  // namespace

// Above 1: pi/2 - atan(1 / x).
Value atan(Value x) {
  Value size = abs(x);
  Value far = size > 1.0;
  Value bounded = min(size, 0x1p100);
  Value inverse = 1.0 / max(bounded, 1.0);
  inverse = fma(fma(-inverse, bounded, 1.0), inverse, inverse);
  Value z = select(far, inverse, size);
  Value excess = atan_excess(z);
  Value y = select(far, (half_pi_high - z) + (half_pi_low - excess), z + excess);
  return select(is_nan(x), x, with_sign(y, bits(x)));
}

// The smaller over the larger, from mantissas and exponents, so that nothing overflows; then the octant.
Value atan2(Value y, Value x) {
  Value size_x = abs(x), size_y = abs(y);
  Value steep = size_y > size_x;
  Value small = select(steep, size_x, size_y), large = select(steep, size_y, size_x);
  Split a = split(small), b = split(large);
  Value exponent = max(a.exponent - b.exponent, -200);
  Value ratio = scale(quotient(a.mantissa, b.mantissa), exponent);
  Value both_infinite = is_infinite(small);
  ratio = select(bits(small) == 0 || is_infinite(large), 0.0, ratio);
  ratio = select(both_infinite, 1.0, ratio);

  Value excess = atan_excess(ratio);
  Value left = is_negative(x);
  // Steep: pi/2 -+ atan; else left: pi - atan; else atan.
  Value base = select(steep, x.like(half_pi_high), select(left, x.like(2 * half_pi_high), x.like(0)));
  Value base_low = select(steep, x.like(half_pi_low), select(left, x.like(2 * half_pi_low), x.like(0)));
  Value subtract = (steep && !left) || (!steep && left);
  Value angle = select(subtract, (base - ratio) + (base_low - excess), (base + ratio) + (base_low + excess));
  angle = with_sign(angle, bits(y));
  return select(is_nan(x) || is_nan(y), not_a_number(x), angle);
}

}  // namespace adit::kernel::f32
