// Exact remainders by long division, 45 bits of the quotient a step.
#include "kernel/math/f64/parts.hpp"

namespace adit::kernel::f64 {

namespace {

// A magnitude as mantissa 2^exponent with the mantissa in [1, 2) and the exponent an i64.
struct Scaled {
  Value mantissa, exponent;
};

Scaled normalise(Value magnitude) {
  Value tiny = magnitude < 0x1p-1022;
  Value raw = bitcast(select(tiny, magnitude * 0x1p54, magnitude), Type::i64);
  Value exponent = (raw >> 52) - select(tiny, raw.like(1023 + 54), raw.like(1023));
  Value mantissa = bitcast((raw & ((int64_t{1} << 52) - 1)) | (int64_t{1023} << 52), Type::f64);
  return {mantissa, exponent};
}

struct Division {
  Value rest;      // in units of 2^exponent, |rest| <= 0.51 divisor
  Value quotient;  // of the last step: its parity is the whole quotient's
  Value divisor, exponent;
};

// One step: rest 2^bits = quotient divisor + new rest. The quotient is below 2^46, so rounding puts it next
// to the true one at worst, and the new rest is a multiple of the divisor's last bit: the fma is exact.
Division long_division(Value x, Value y, int least) {
  Scaled dividend = normalise(abs(x)), divisor = normalise(abs(y));
  Value inverse = 1.0 / divisor.mantissa;
  Builder& builder = x.builder();
  Value shift = max(dividend.exponent - divisor.exponent, least), first = min(shift, 45);
  Value start = dividend.mantissa * power_of_two(first);
  Value q = round_even(start * inverse);
  Variable rest = builder.variable(fma(-q, divisor.mantissa, start));
  Variable quotient = builder.variable(q);
  Variable left = builder.variable(shift - first);
  builder.while_([&] { return left.get() > 0; },
                 [&] {
                   Value step = min(left.get(), 45);
                   Value grown = rest.get() * power_of_two(step);
                   Value digits = round_even(grown * inverse);
                   quotient = digits;
                   rest = fma(-digits, divisor.mantissa, grown);
                   left = left.get() - step;
                 });
  return {rest, quotient, divisor.mantissa, divisor.exponent};
}

// A rest that is a multiple of the least subnormal goes back without rounding; only regular operands have
// one.
Value finish(Value x, Value y, Value small, Value magnitude_rest, Value flip, Value exponent) {
  Value result = flip_sign(scale(magnitude_rest, exponent), sign_bit(x) ^ flip);
  Value regular = abs(x) < infinity(x) && abs(y) > 0.0;
  return select(regular, select(small, x, result), not_a_number(x));
}

}  // namespace

Value fmod(Value x, Value y) {
  Division division = long_division(x, y, 0);
  Value rest = select(division.rest < 0.0, division.rest + division.divisor, division.rest);
  return finish(x, y, abs(x) < abs(y), rest, bits(x).like(0), division.exponent);
}

// From a quotient that may be one off to the nearest, halves to the even one.
Value remainder(Value x, Value y) {
  Division division = long_division(x, y, -1);
  Value magnitude = abs(division.rest), twice = magnitude + magnitude, half = 0.5 * division.quotient;
  Value past = twice > division.divisor || (twice == division.divisor && trunc(half) != half);
  Value rest = select(past, magnitude - division.divisor, magnitude);
  Value negative = select(division.rest < 0.0, bits(x).like(uint64_t{1} << 63), bits(x).like(0));
  return finish(x, y, abs(x) < 0.5 * abs(y), rest, negative, division.exponent);
}

}  // namespace adit::kernel::f64
