#include "kernel/math/f64/parts.hpp"

namespace adit::kernel::f64 {

namespace {

constexpr double pi_high = 2 * half_pi_high, pi_low = 2 * half_pi_low;

// For |x| > 1/2 the angle is measured from 1: asin x = pi/2 - 2 asin s, s = sqrt((1 - x) / 2).
struct ArcSine {
  Value far;            // |x| > 1/2
  Value argument, low;  // |x|, or s with what its rounding leaves
  Value rest;           // asin(argument) - argument
};

// asin a = a + a^3 P(a^2) for a <= 1/2; error of the polynomial 2^-58 relative.
ArcSine arc_sine(Value x) {
  Value magnitude = abs(x), far = magnitude > 0.5;
  Value z = select(far, fma(magnitude, -0.5, 0.5), magnitude * magnitude);
  Twofold s = root(z, z.like(0));
  Value p =
      polynomial(z, {0x1.5555555555556p-3, 0x1.3333333332da2p-4, 0x1.6db6db6e48603p-5, 0x1.f1c71c11deeap-6,
                     0x1.6e8bb37521acap-6, 0x1.1c4d112ced722p-6, 0x1.c9d30ac3ce59bp-7, 0x1.78010220135eap-7,
                     0x1.532a9148f185fp-7, 0x1.5e2915e074c7dp-8, 0x1.220541f36f9ap-6, -0x1.f58c57c0bb66bp-7,
                     0x1.dc181d63e5323p-6});
  Value argument = select(far, s.high, magnitude);
  return {far, argument, select(far, s.low, x.like(0)), argument * (z * p)};
}

}  // namespace

Value asin(Value x) {
  ArcSine arc = arc_sine(x);
  Twofold far = fast_two_sum(x.like(half_pi_high), -2.0 * arc.argument);
  Value from_one = far.high + (far.low + fma(arc.low + arc.rest, -2.0, x.like(half_pi_low)));
  Value result = select(arc.far, from_one, arc.argument + arc.rest);
  return select(abs(x) <= 1.0, with_sign(result, sign_bit(x)), not_a_number(x));
}

// pi/2 - asin x near 0, 2 asin s near 1, pi - 2 asin s near -1.
Value acos(Value x) {
  ArcSine arc = arc_sine(x);
  Value sign = sign_bit(x);
  Value high = select(arc.far, 2.0 * arc.argument, flip_sign(arc.argument, sign));
  Value low = select(arc.far, 2.0 * (arc.low + arc.rest), flip_sign(arc.rest, sign));
  Value base = select(arc.far, x.like(pi_high), x.like(half_pi_high));
  Value base_low = select(arc.far, x.like(pi_low), x.like(half_pi_low));
  Twofold difference = fast_two_sum(base, -high);
  Value result = difference.high + (difference.low + (base_low - low));
  return select(abs(x) <= 1.0, select(x > 0.5, high + low, result), not_a_number(x));
}

namespace {

// base + atan(n / d) for |n / d| <= tan(pi/8). atan t = t + t^3 P(t^2), error of the polynomial 2^-57.4
// relative.
Value arc_tangent(Twofold base, Twofold n, Twofold d) {
  Twofold t = quotient(n, d);
  Value z = t.high * t.high;
  Value p =
      polynomial(z, {-0x1.5555555555555p-2, 0x1.999999999944bp-3, -0x1.249249243f3d5p-3, 0x1.c71c7189d0e78p-4,
                     -0x1.745d0bc5f91d2p-4, 0x1.3b126f7e1d73ap-4, -0x1.10fb142a71e79p-4, 0x1.dfefe11b00ef8p-5,
                     -0x1.a0c7695107958p-5, 0x1.41dc6b0fe2f97p-5, -0x1.3b4568fdda966p-6});
  Twofold head = fast_two_sum(base.high, t.high);
  return head.high + (head.low + (base.low + fma(t.high * z, p, t.low)));
}

constexpr double tan_eighth = 0x1.a827999fcef32p-2;         // tan(pi/8)
constexpr double tan_three_eighths = 0x1.3504f333f9de6p+1;  // tan(3 pi/8)

}  // namespace

// atan x, pi/4 + atan((x - 1) / (x + 1)) or pi/2 + atan(-1 / x): one quotient serves all.
Value atan(Value x) {
  Value a = min(abs(x), 0x1p100);  // further on it is pi/2
  Value near = a <= tan_eighth, middle = a <= tan_three_eighths;
  Value zero = x.like(0), one = x.like(1);
  Twofold minus = two_sum(a, -one), plus = two_sum(a, one);
  Value centre = middle && !near;
  Twofold n{select(near, a, select(middle, minus.high, -one)), select(centre, minus.low, zero)};
  Twofold d{select(near, one, select(middle, plus.high, a)), select(centre, plus.low, zero)};
  Value turns = select(near, zero, select(middle, 0.5 * one, one));  // of pi/2
  return with_sign(arc_tangent({turns * half_pi_high, turns * half_pi_low}, n, d), sign_bit(x));
}

namespace {

// atan2 of magnitudes, x counted as negative where `left` says so; finite and not both 0.
Value arc_tangent_of_sides(Value a, Value b, Value left) {
  Value longest = max(a, b);
  Value scale =
      select(longest < 0x1p-400, a.like(0x1p600), select(longest > 0x1p500, a.like(0x1p-600), a.like(1)));
  Value y = a * scale, x = b * scale;
  Value near = y <= tan_eighth * x, middle = y <= tan_three_eighths * x;
  Value zero = a.like(0), one = a.like(1);
  Twofold minus = two_sum(y, -x), plus = two_sum(y, x);
  Value centre = middle && !near;
  Value flip = select(left, one, -one), mirrored = -flip;
  Twofold n{mirrored * select(near, y, select(middle, minus.high, -x)),
            mirrored * select(centre, minus.low, zero)};
  Twofold d{select(near, x, select(middle, plus.high, y)), select(centre, plus.low, zero)};
  // In units of pi/4: 0, 1, 2 and on the left 4, 3, 2.
  Value eighths = 2.0 + flip * select(near, 2.0 * one, select(middle, one, zero));
  Twofold base = two_product(eighths, a.like(0.5 * half_pi_high));
  base.low = fma(eighths, 0.5 * half_pi_low, base.low);

  // A result near the end of the range is the quotient itself.
  Variable result = a.builder().variable(arc_tangent(base, n, d));
  a.builder().if_(!left && y < 0x1p-60 * x, [&] { result = divide(a, b); });
  return result;
}

}  // namespace

Value atan2(Value y, Value x) {
  Value a = abs(y), b = abs(x), zero = y.like(0), one = y.like(1);
  // Infinite sides count as 1 against 0, and an origin lies on the axis.
  Value infinite = a == infinity(a) || b == infinity(b), origin = a == 0.0 && b == 0.0;
  Value rise = select(infinite, select(a == infinity(a), one, zero), a);
  Value run = select(infinite, select(b == infinity(b), one, zero), select(origin, one, b));
  Value result = with_sign(arc_tangent_of_sides(rise, run, is_negative(x)), sign_bit(y));
  return select(x == x && y == y, result, x + y);
}

}  // namespace adit::kernel::f64
