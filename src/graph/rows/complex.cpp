#include "graph/rows/complex.hpp"

#include <cmath>

#include <adit/kernel/math.hpp>

#include "graph/rows/elementwise.hpp"

namespace adit::graph::pairs {

using kernel::Type;
using kernel::Value;

namespace {

double by_type(Value x, double single, double twice) { return x.type() == Type::f32 ? single : twice; }
Scalar scaled(Scalar z, double factor) { return pair(z.re * factor, z.im * factor); }
Scalar choose(Value condition, Scalar a, Scalar b) {
  return pair(select(condition, a.re, b.re), select(condition, a.im, b.im));
}
// 0 times an infinity would be NaN where the limit is 0.
Value zero_stays(Value zero, Value product) { return select(zero == 0.0, zero, product); }

}  // namespace

Scalar add(Scalar a, Scalar b) { return pair(a.re + b.re, a.im + b.im); }
Scalar subtract(Scalar a, Scalar b) { return pair(a.re - b.re, a.im - b.im); }
Scalar multiply(Scalar a, Scalar b) { return pair(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }
Scalar negate(Scalar z) { return pair(-z.re, -z.im); }
Scalar times_i(Scalar z) { return pair(-z.im, z.re); }
Scalar over_i(Scalar z) { return pair(z.im, -z.re); }
Value length(Scalar z) { return hypot(z.re, z.im); }

// Smith: the divisor's larger part is factored out, so that its square is never formed.
Scalar divide(Scalar a, Scalar b) {
  const Value wide = abs(b.re) >= abs(b.im);
  const Value large = select(wide, b.re, b.im), small = select(wide, b.im, b.re);
  const Value zero = large == 0.0;  // then both are: a / |0|
  const Value ratio = select(zero, 0.0, kernel::divide(small, large));
  const Value below = select(zero, abs(large), fma(small, ratio, large));
  const Value p = select(wide, a.re, a.im), q = select(wide, a.im, a.re);
  const Value cross = kernel::divide(fma(-p, ratio, q), below);
  return pair(kernel::divide(fma(q, ratio, p), below), select(wide, cross, -cross));
}

Scalar sign(Scalar z) {
  const Value size = length(z), zero = size == 0.0, by = select(zero, 1.0, size);
  return pair(kernel::divide(z.re, by), kernel::divide(z.im, by));
}

// e^x may overflow where e^x cos y does not: past the threshold a factor is held back.
Scalar exp(Scalar z) {
  const double held = by_type(z.re, 64, 512);
  const Value high = z.re > held;
  const Value e = kernel::exp(select(high, z.re - held, z.re)),
              factor = select(high, z.re.like(std::exp(held)), 1.0);
  const Value gone = e == 0.0;  // whatever the angle, infinite ones too
  return pair(select(gone, 0.0, e * cos(z.im) * factor),
              zero_stays(z.im, select(gone, 0.0, e * sin(z.im) * factor)));
}

// The angle y log 2 to twice the precision: what its rounding leaves out turns it a little further.
Scalar exp2(Scalar z) {
  const double high = by_type(z.im, static_cast<float>(M_LN2), M_LN2);
  const double low = by_type(z.im, M_LN2 - static_cast<float>(M_LN2), 2.3190468138462996e-17);
  const Value e = kernel::exp2(z.re), angle = z.im * high, gone = e == 0.0;
  const Value rest = fma(z.im, low, fma(z.im, high, -angle));
  const Value s = kernel::sin(angle), c = kernel::cos(angle);
  return pair(select(gone, 0.0, e * fma(-rest, s, c)),
              zero_stays(z.im, select(gone, 0.0, e * fma(rest, c, s))));
}

// e^x cos y - 1 = (e^x - 1) cos y - 2 sin(y / 2)^2
Scalar expm1(Scalar z) {
  const Value half = sin(z.im * 0.5);
  const Value re = fma(kernel::expm1(z.re), cos(z.im), -2.0 * (half * half));
  return pair(select(z.im == 0.0, kernel::expm1(z.re), re), zero_stays(z.im, kernel::exp(z.re) * sin(z.im)));
}

namespace {

// log |z|. Near the unit circle by log1p of |z|^2 - 1; far out by half of z, whose length does not overflow.
Value log_length(Scalar z) {
  const Value x = abs(z.re), y = abs(z.im), large = max(x, y), small = min(x, y);
  const Value near = large > 0.5 && large < 2.0;
  const Value beyond = fma(large - 1.0, large + 1.0, small * small);
  const Value high = large > by_type(x, 0x1p126, 0x1p1022), factor = select(high, x.like(0.5), 1.0);
  const Value far = kernel::log(hypot(x * factor, y * factor)) + select(high, x.like(M_LN2), 0.0);
  return select(near, 0.5 * kernel::log1p(select(near, beyond, 0.0)), far);
}

}  // namespace

Scalar log(Scalar z) { return pair(log_length(z), atan2(z.im, z.re)); }
Scalar log2(Scalar z) { return scaled(log(z), M_LOG2E); }
Scalar log10(Scalar z) { return scaled(log(z), M_LOG10E); }

Scalar log1p(Scalar z) {
  const Value large = abs(z.re) > 0.5 || abs(z.im) > 0.5;
  const Value beyond = fma(z.re, z.re + 2.0, z.im * z.im);
  const Value re =
      select(large, log_length(pair(1.0 + z.re, z.im)), 0.5 * kernel::log1p(select(large, 0.0, beyond)));
  return pair(re, atan2(z.im, 1.0 + z.re));
}

// The part that takes no difference first, the other one from 2 re im = y. Large and tiny numbers are scaled.
Scalar sqrt(Scalar z) {
  const Value size = max(abs(z.re), abs(z.im));
  const Value high = size > by_type(size, 0x1p120, 0x1p1016), low = size < by_type(size, 0x1p-100, 0x1p-900);
  const Value factor = select(high, size.like(0x1p-4), select(low, size.like(0x1p60), 1.0));
  const Value back = select(high, size.like(0x1p2), select(low, size.like(0x1p-30), 1.0));
  const Value x = z.re * factor, y = abs(z.im * factor);
  const Value main = kernel::sqrt((abs(x) + hypot(x, y)) * 0.5);
  const Value other = select(main == 0.0, 0.0, kernel::divide(y, select(main == 0.0, 1.0, 2.0 * main)));
  const Value right = x >= 0.0, infinite = is_infinite(z.im);
  const Value re = select(right, main, other) * back, im = select(right, other, main) * back;
  return pair(select(infinite, infinity_like(re), re),
              copysign(select(infinite, infinity_like(im), im), z.im));
}

Scalar rsqrt(Scalar z) {
  const Value one = z.re.like(1);
  return divide(pair(one, z.re.like(0)), sqrt(z));
}

// e^(w log z); 0^w is 0 to the right of the imaginary axis, z^0 is 1.
Scalar pow(Scalar z, Scalar w) {
  const Value zero = z.re == 0.0 && z.im == 0.0, none = w.re == 0.0 && w.im == 0.0;
  const Value x = z.re.like(0), one = z.re.like(1), nothing = z.re.like(NAN);
  const Scalar power = exp(multiply(w, log(z)));
  const Scalar of_zero = choose(w.re > 0.0, pair(x, x), pair(nothing, nothing));
  return choose(none, pair(one, x), choose(zero, of_zero, power));
}

// The exponential that does not overflow: 1 / (1 + e^-z), or e^z / (1 + e^z).
Scalar sigmoid(Scalar z) {
  const Value left = z.re < 0.0, one = z.re.like(1), zero = z.re.like(0);
  const Scalar e = exp(choose(left, z, negate(z)));
  return divide(choose(left, e, pair(one, zero)), pair(1.0 + e.re, e.im));
}

Scalar sinh(Scalar z) {
  return pair(zero_stays(z.re, kernel::sinh(z.re) * kernel::cos(z.im)),
              zero_stays(z.im, kernel::cosh(z.re) * kernel::sin(z.im)));
}

Scalar cosh(Scalar z) {
  const Value re = kernel::cosh(z.re) * kernel::cos(z.im), im = kernel::sinh(z.re) * kernel::sin(z.im);
  return pair(re, select(z.im == 0.0 || z.re == 0.0, kernel::copysign(z.re.like(1), z.re) * z.im * 0.0, im));
}

// Kahan: by the tangent of the angle; far from the imaginary axis what is left of the exponential.
Scalar tanh(Scalar z) {
  const Value far = abs(z.re) > by_type(z.re, 10, 20);
  const Value t = kernel::tan(z.im), slope = fma(t, t, 1.0), s = kernel::sinh(select(far, 1.0, z.re));
  const Value below = fma(slope * s, s, 1.0), rho = kernel::sqrt(fma(s, s, 1.0));
  const Value decay = kernel::exp(-2.0 * abs(z.re));
  const Value rest = select(decay == 0.0, 0.0, 4.0 * kernel::sin(z.im) * kernel::cos(z.im) * decay);
  return pair(select(far, kernel::copysign(z.re.like(1), z.re), kernel::divide(slope * rho * s, below)),
              select(far, rest, kernel::divide(t, below)));
}

Scalar sin(Scalar z) { return over_i(sinh(times_i(z))); }
Scalar cos(Scalar z) { return cosh(times_i(z)); }
Scalar tan(Scalar z) { return over_i(tanh(times_i(z))); }

// --- Inverse functions, by Kahan's formulas: roots of 1 - z and 1 + z keep the sides of the cuts apart
// -------

namespace {

// Parts of conj(a) b.
Value dot(Scalar a, Scalar b) { return a.re * b.re + a.im * b.im; }
Value cross(Scalar a, Scalar b) { return a.re * b.im - a.im * b.re; }

struct Roots {
  Scalar minus, plus;  // sqrt(1 - z), sqrt(1 + z)
};
Roots roots(Scalar z) { return {sqrt(pair(1.0 - z.re, -z.im)), sqrt(pair(1.0 + z.re, z.im))}; }

}  // namespace

Scalar asin(Scalar z) {
  const Roots r = roots(z);
  const Value across = r.minus.re * r.plus.re - r.minus.im * r.plus.im;
  return pair(atan2(z.re, across), kernel::asinh(cross(r.minus, r.plus)));
}

Scalar acos(Scalar z) {
  const Roots r = roots(z);
  return pair(2.0 * atan2(r.minus.re, r.plus.re), kernel::asinh(cross(r.plus, r.minus)));
}

Scalar acosh(Scalar z) {
  const Scalar minus = sqrt(pair(z.re - 1.0, z.im)), plus = sqrt(pair(z.re + 1.0, z.im));
  return pair(kernel::asinh(dot(minus, plus)), 2.0 * atan2(minus.im, plus.re));
}

Scalar asinh(Scalar z) { return over_i(asin(times_i(z))); }

// For x >= 0; the function is odd. Far out 1 / z and a quarter turn are all that is left.
Scalar atanh(Scalar z) {
  const Value x = abs(z.re), y = select(kernel::copysign(z.re.like(1), z.re) < 0.0, -z.im, z.im);
  const Value far = x > by_type(x, 0x1p60, 0x1p500) || abs(y) > by_type(x, 0x1p60, 0x1p500);
  const Value gap = 1.0 - x, distance = fma(gap, gap, y * y);
  const Value size = select(far, hypot(x, y), 1.0);
  const Value remote = select(is_infinite(size), 0.0, kernel::divide(kernel::divide(x, size), size));
  const Value near = 0.25 * kernel::log1p(kernel::divide(4.0 * x, distance));
  const Value re = select(far, remote, near);
  const Value turn = kernel::copysign(y.like(M_PI_2), y);
  const Value im = select(far, turn, 0.5 * atan2(2.0 * y, fma(gap, 1.0 + x, -(y * y))));
  return pair(kernel::copysign(re, z.re), kernel::copysign(im, z.im));
}

Scalar atan(Scalar z) { return over_i(atanh(times_i(z))); }

}  // namespace adit::graph::pairs
