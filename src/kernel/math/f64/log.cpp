// log x = k ln 2 + log(1 + f), x = 2^k (1 + f). With s = f / (2 + f), log(1 + f) = 2 atanh(s); it is summed
// as f - f^2/2 + s (f^2/2 + R(s^2)), where the inexact quotient s only enters a small term.
#include "kernel/math/f64/parts.hpp"

namespace adit::kernel::f64 {

namespace {

constexpr int64_t root_half_bits = 0x3fe6a09e667f3bcd;  // sqrt(1/2)

// The series summed for 2^k (1 + f + f_low).
Value log_sum(Value f, Value f_low, Value k) {
  LogSeries series = log_series(f);
  Value low = fma(k, ln2_low, f_low);
  return fma(k, ln2_high, f - (series.half_square - (series.rest + low)));
}

// k log_b(2) + log_b(1 + f) for another base: the sum is kept in two parts until the end.
Value log_base(LogReduction x, double log_e, double log_e_low, Twofold scaled_k) {
  LogSeries series = log_series(x.f);
  Twofold natural = fast_two_sum(x.f, -series.half_square);
  natural.low = natural.low + series.rest;
  Value high = natural.high * log_e;
  Value low = fma(natural.high, log_e, -high) + fma(natural.low, log_e, natural.high * log_e_low);
  Twofold sum = fast_two_sum(scaled_k.high, high);
  return sum.high + (sum.low + (low + scaled_k.low));
}

// Zero, negative and infinite arguments; NaN has come through.
Value log_limits(Value x, Value result) {
  Value finite = select(x > 0.0, result, select(x == 0.0, -infinity(x), not_a_number(x)));
  return select(x < infinity(x), finite, x);
}

}  // namespace

LogReduction reduce_log(Value x) {
  Value tiny = x < 0x1p-1022;
  Value raw = bitcast(select(tiny, x * 0x1p54, x), Type::i64);
  Value exponent = (raw - root_half_bits) >> 52;
  Value mantissa = bitcast(raw - (exponent << 52), Type::f64);
  return {mantissa - 1.0, number_of(exponent) - select(tiny, x.like(54), x.like(0))};
}

// R for s^2 <= 0.02945, with an error of 2^-56.6 relative to s.
LogSeries log_series(Value f) {
  Value s = f / (2.0 + f);
  Value z = s * s;
  Value r = z * polynomial(z, {0x1.5555555555558p-1, 0x1.99999999952b6p-2, 0x1.2492492dfbfccp-2,
                               0x1.c71c62d5c8b2bp-3, 0x1.7462b94b606e1p-3, 0x1.39fdc6d6c4a33p-3,
                               0x1.2b5f98095eca3p-3});
  Value half_square = 0.5 * f * f;
  return {half_square, s * (half_square + r)};
}

Value log(Value x) {
  LogReduction reduced = reduce_log(x);
  return log_limits(x, log_sum(reduced.f, x.like(0), reduced.k));
}

Value log2(Value x) {
  LogReduction reduced = reduce_log(x);
  return log_limits(x, log_base(reduced, log2_e, log2_e_low, {reduced.k, x.like(0)}));
}

Value log10(Value x) {
  constexpr double log10_2 = 0x1.34413509f79ffp-2, log10_2_low = -0x1.9dc1da994fd21p-59;
  LogReduction reduced = reduce_log(x);
  Twofold scaled = two_product(reduced.k, x.like(log10_2));
  scaled.low = fma(reduced.k, log10_2_low, scaled.low);
  return log_limits(x, log_base(reduced, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, scaled));
}

namespace {

// u = 2^k (1 + f + low); low is then divided by 1 + f, to the few bits that matter.
struct TwofoldReduction {
  Value f, low, k;
};

TwofoldReduction reduce(Twofold u) {
  Value raw = bitcast(u.high, Type::i64);
  Value exponent = (raw - root_half_bits) >> 52;
  Value f = bitcast(raw - (exponent << 52), Type::f64) - 1.0;
  Value low = u.low * power_of_two(max(-exponent, -1000));
  return {f, low * fma(f, f - 1.0, 1.0), number_of(exponent)};
}

}  // namespace

Value log(Twofold u, Value k) {
  TwofoldReduction reduced = reduce(u);
  return log_sum(reduced.f, reduced.low, reduced.k + k);
}

// Where 1 + v needs no scaling, v itself is f, with all of its bits.
Value log_one_plus(Twofold v, Value k) {
  Twofold u = two_sum(v.high.like(1), v.high);
  TwofoldReduction reduced = reduce({u.high, u.low + v.low});
  Value near = reduced.k == 0.0;
  Value f = select(near, v.high, reduced.f);
  Value low = select(near, v.low * fma(f, f - 1.0, 1.0), reduced.low);
  return log_sum(f, low, reduced.k + k);
}

Value log1p(Value x) {
  Value result = log_one_plus({x, x.like(0)}, x.like(0));
  Value finite = select(x > -1.0, result, select(x == -1.0, -infinity(x), not_a_number(x)));
  return select(abs(x) < 0x1p-54 || x >= infinity(x), x, finite);
}

}  // namespace adit::kernel::f64
