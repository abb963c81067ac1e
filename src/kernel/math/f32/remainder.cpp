// fmod and remainder, exact: the quotient is taken off 18 bits at a time, every step without rounding.
#include "kernel/math/f32/internal.hpp"

namespace adit::kernel::f32 {

namespace {

constexpr int step_bits = 18;

// The mantissas of x and y with what is left of x: |x| = (Q y.mantissa + rest) 2^exponent, where |rest| is at
// most 0.6 of the divisor and Q, whose parity is that of `quotient`, need not be the nearest integer.
struct Reduction {
  Value rest, quotient;
  Value divisor, exponent;
};

// One step: r (at most 2^step_bits times the divisor) less the nearest multiple. The quotient is short, so
// the fma is exact: the result is a multiple of 2^-23 below 2.
void take_off(const Variable& rest, const Variable& quotient, Value shifted, Value divisor, Value inverse) {
  Value q = round_even(shifted * inverse);
  quotient = q;
  rest = fma(-q, divisor, shifted);
}

// x and y finite, y not 0. Where |x| < |y| / 2 nothing is taken off.
Reduction reduce(Value x, Value y) {
  Builder& builder = x.builder();
  Split a = split(x), b = split(y);
  Value inverse = 1.0 / b.mantissa;
  Value distance = a.exponent - b.exponent;
  Value first = min(distance, step_bits);
  Variable rest = builder.variable(x), quotient = builder.variable(x),
           left = builder.variable(distance - first);
  // A distance of -1 still halves x; below that the caller looks at x alone.
  take_off(rest, quotient, a.mantissa * power_of_two(max(first, -1)), b.mantissa, inverse);
  builder.while_([&] { return left.get() > 0; },
                 [&] {
                   Value step = min(left, step_bits);
                   left = left - step;
                   take_off(rest, quotient, rest * power_of_two(step), b.mantissa, inverse);
                 });
  return {rest, quotient, b.mantissa, b.exponent};
}

// NaN where x is infinite, y is 0 or either is NaN; x where `small` says so or y is infinite; else the
// result.
Value with_special(Value x, Value y, Value small, Value result) {
  Value valid = is_finite(x) && !is_nan(y) && bits(y) << 1 != 0;
  Value unchanged = small || is_infinite(y) || bits(x) << 1 == 0;
  return select(valid, select(unchanged, x, result), not_a_number(x));
}

}  // namespace

Value fmod(Value x, Value y) {
  Reduction r = reduce(x, y);
  Value rest = select(r.rest < 0.0, r.rest + r.divisor, r.rest);
  Value result = with_sign(scale(rest, r.exponent), bits(x));
  return with_special(x, y, bits(abs(x)) < bits(abs(y)), result);
}

Value remainder(Value x, Value y) {
  Reduction r = reduce(x, y);
  Value size = abs(r.rest), twice = size + size;
  Value half = r.quotient * 0.5;
  Value odd = floor(half) != half;
  Value further = twice > r.divisor || (twice == r.divisor && odd);
  Value towards = select(r.rest < 0.0, r.divisor, -r.divisor);
  Value rest = select(further, r.rest + towards, r.rest);
  Value nothing = rest == 0.0;
  Value result = flip_sign(scale(select(nothing, 0.0, rest), r.exponent), bits(x));
  // Below half the divisor: by exponents, at least two apart.
  Value small = split(x).exponent < split(y).exponent - 1;
  return with_special(x, y, small, result);
}

}  // namespace adit::kernel::f32
