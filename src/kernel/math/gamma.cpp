#include "kernel/math/gamma.hpp"

#include <adit/kernel/math.hpp>

#include "kernel/math/twofold.hpp"

namespace adit::kernel {
namespace {

constexpr double half_log_two_pi = 0.91893853320467274178;

// x minus the nearest integer, exactly; 0 at integers.
Value from_nearest_integer(Value x) { return x - round_even(x); }

// lgamma for x > -5/16, and lgamma |x| below. Up to 4 5/16 the recurrence leads to lgamma(2 + z), z in
// [-11/16, 5/16]; the logarithm is that of the product of the steps. At 1 its argument is x itself, so the
// zero there stays sharp.
Value lgamma_right(Value x, const LgammaParts& parts) {
  Value a = abs(x);
  Value first = a < 0.3125, second = a < 1.3125, third = a < 2.3125, fourth = a < 3.3125, near = a < 4.3125;
  Value z = select(first, x, select(second, a - 1, select(third, a - 2, select(fourth, a - 3, a - 4))));
  Value steps = select(first, a * (1 + x), select(second, a, select(fourth, a - 1, (a - 1) * (a - 2))));
  steps = select(second || !third, steps, 1);
  Value logarithm = log(select(near, steps, a));
  Value small = fma(z, parts.centre(z), select(second, -logarithm, logarithm));
  Value inverse = 1 / a;
  Value rest = fma(inverse, parts.stirling(inverse * inverse), half_log_two_pi - 0.5);
  return select(near, small, fma(a - 0.5, logarithm - 1, rest));
}

}  // namespace

Value lgamma(Value x, const LgammaParts& parts) {
  Value right = lgamma_right(x, parts);
  Variable result = x.builder().variable(right);
  // Reflection: lgamma(-a) = -lgamma(a) - log(a |sin(pi a)| / pi).
  x.builder().if_(x <= -0.3125, [&] {
    Value a = abs(x), r = from_nearest_integer(a);
    Value left = -right - log(a * (abs(r) * parts.sine(r * r)));
    result = select(r == 0 || is_infinite(x), infinity(x), left);
  });
  return result;
}

Value digamma(Value x, const DigammaParts& parts) {
  Value left = x < 0, a = abs(x);
  // The left side needs digamma(1 + a). Below 4 the recurrence leads to [1, 2], where the zero is factored
  // out; `extra` is what the steps add, and from 4 on the first term of the asymptotic series.
  Value y = select(left, 1 + a, x);
  Value below_one = y < 1, below_two = y < 2, below_three = y < 3, near = y < 4;
  Value t = select(below_one, y + 1, select(below_two, y, select(below_three, y - 1, y - 2)));
  Value over = select(below_three, y.like(1), fma(y, 2, -3.0)),
        under = select(below_three, y - 1, (y - 1) * (y - 2));
  Value from_left = below_one || !near;
  Value extra = divide(select(below_one, y.like(-1), select(near, over, -0.5)), select(from_left, y, under));
  extra = select(below_two && !below_one, 0, extra);
  Value small = fma((t - parts.root_high) - parts.root_low, parts.centre(t - 1.5), extra);
  Value u = 4 * (extra * extra);
  Value large = fma(-u, parts.tail(u), log(y) + extra);
  Value right = select(near, small, large);
  Variable result = x.builder().variable(right);
  // Reflection: digamma(-a) = digamma(1 + a) + pi cot(pi a).
  x.builder().if_(left, [&] {
    Value r = from_nearest_integer(a);
    Value cosine = fma(-r, r, 0.25) * parts.cotangent(r * r);  // sharp where it vanishes
    result = select(r == 0, not_a_number(x), right + divide(cosine, r));
  });
  return result;
}

// On the right the recurrence leads to [1, 2] from below 3, and to the asymptotic series from 3 on: down from
// beyond 3 the terms would cancel. The division is done first and squared after: y^2 would underflow near 0.
Value trigamma(Value x, const TrigammaParts& parts) {
  Value left = x < 0, a = abs(x);
  Value y = select(left, 1 + a, x);
  Value below_one = y < 1, below_two = y < 2, below_three = y < 3, lifted = !below_three && y < 4;
  Value t = select(below_one, y + 1, select(below_two, y, y - 1));
  Value beyond = select(lifted, y * (y + 1), y);
  Value quotient = divide(x.like(1), select(below_one || !below_three, beyond, select(below_two, 1, y - 1)));
  Value term = quotient * quotient, centre = parts.centre(t - 1.5);
  Value small = select(below_two && !below_one, centre, select(below_one, centre + term, centre - term));
  // 3 <= y < 4: from 1 / (y (y + 1)) both 1 / (y + 1) for the series and 1 / y for the step
  Value inverse = select(lifted, quotient * y, quotient), u = inverse * inverse, step = quotient * (y + 1);
  Value large = fma(u, fma(inverse, parts.tail(u), 0.5), inverse);
  Value right = select(below_three, small, select(lifted, fma(step, step, large), large));
  Variable result = x.builder().variable(right);
  // Reflection: trigamma(-a) = (pi / sin(pi a))^2 - trigamma(1 + a). Infinite at the poles.
  x.builder().if_(left, [&] {
    Value r = from_nearest_integer(a);
    Value root = divide(x.like(1), r * parts.sine(r * r));
    result = fma(root, root, -right);
  });
  return result;
}

}  // namespace adit::kernel
