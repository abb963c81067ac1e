// Fewer instructions than the exact functions: powers of two by one shift of a rounded number's bits, no
// corrections of roundings, and one division where a logarithm and a logistic function stand together.
#include "kernel/math/f64/loose.hpp"

#include <functional>

#include <adit/kernel/math.hpp>

#include "kernel/math/f64/parts.hpp"

namespace adit::kernel::f64::loose {

namespace {

// Added to k, this leaves the exponent field of 2^(k-1) in the low bits of the sum.
constexpr double field_shift = rounding_shift + 1022;

// 2^(k-1) of the sum of k and field_shift, for k from -1022, where it is 0, to 1024.
Value half_power(Value sum) { return bitcast(bitcast(sum, Type::i64) << 52, Type::f64); }

// 2 e^r for |r| <= ln 2 / 2, relative error 2^-57.9 before roundings.
Value twice_exp(Value r) {
  return polynomial(
      r, {2, 2, 0x1.0000000000009p0, 0x1.55555555554fcp-2, 0x1.5555555550b70p-4, 0x1.1111111127921p-6,
          0x1.6c16c183a343bp-9, 0x1.a01a012a4d9d0p-12, 0x1.a0199b440e0a6p-15, 0x1.71df26f48bcf4p-18,
          0x1.28ac766dab6adp-21, 0x1.ad7b095befdb1p-25});
}

// The same of -r.
Value twice_exp_of_negative(Value r) {
  return polynomial(
      r, {2, -2, 0x1.0000000000009p0, -0x1.55555555554fcp-2, 0x1.5555555550b70p-4, -0x1.1111111127921p-6,
          0x1.6c16c183a343bp-9, -0x1.a01a012a4d9d0p-12, 0x1.a0199b440e0a6p-15, -0x1.71df26f48bcf4p-18,
          0x1.28ac766dab6adp-21, -0x1.ad7b095befdb1p-25});
}

// Of e = exp(-|x|) both 1 / (1 + e) and e / (2 + e) follow from one division.
struct Bend {
  Value e, one, two, inverse;  // one = 1 + e, two = 2 + e, inverse = 1 / (one two)
};
Bend bend(Value x) {
  Value e = exp_of_negative_size(x), one = 1.0 + e, two = 2.0 + e;
  return {e, one, two, 1.0 / (one * two)};
}

// log(1 + e) = 2 atanh(s), s = e / (2 + e) <= 1/3; relative error 2^-54.3 before roundings.
Value log_one_plus(const Bend& at) {
  Value s = at.e * at.one * at.inverse, z = s * s;
  return s * polynomial(z, {2, 0x1.5555555555b17p-1, 0x1.99999998c57f2p-2, 0x1.2492498323604p-2,
                            0x1.c71c470c95747p-3, 0x1.74629de74a744p-3, 0x1.3aa4eb443b94dp-3,
                            0x1.16626d902646fp-3, 0x1.94628ce69b42bp-4, 0x1.6c7b8e459d159p-3});
}

// u = 2^k m with m from sqrt(1/2) on. Of the bits less those of sqrt(1/2), with 1023 added to the exponent,
// the upper part is k + 1023 and the lower one what m has beyond sqrt(1/2).
struct Split {
  Value k, m;
};
Split exponent_apart(Value u) {
  constexpr uint64_t root_half = 0x3fe6a09e667f3bcd, fraction = 0x000fffffffffffff;
  const auto whole = [&](uint64_t bits) { return u.builder().constant_bits(Type::u64, bits); };
  Value moved = bits(u) + whole((uint64_t{1023} << 52) - root_half);
  Value k = bitcast((moved >> 52) + whole(static_cast<uint64_t>(rounding_shift_bits)), Type::f64) -
            (rounding_shift + 1023);
  return {k, bitcast((moved & whole(fraction)) + whole(root_half), Type::f64)};
}

// k log 2 + 2 atanh(s), where s = f / (2 + f) of f = m - 1; relative error 2^-59.6 before roundings.
Value log_by(Value k, Value s) {
  Value z = s * s;
  Value series =
      polynomial(z, {2, 0x1.55555555555afp-1, 0x1.999999997a936p-2, 0x1.249249455db96p-2,
                     0x1.c71c4fc525e72p-3, 0x1.7466a573c6ee8p-3, 0x1.399883e0334d8p-3, 0x1.2f5a152f11ce6p-3});
  return fma(k, ln2_high, fma(s, series, k * ln2_low));
}

// f is what the caller says.
Value log_of(Value u, const std::function<Value(Value k, Value m)>& fraction_of) {
  Split at = exponent_apart(u);
  Value f = fraction_of(at.k, at.m), result = log_by(at.k, f / (f + 2.0));
  Value small = select(u < 0.0, not_a_number(u), -infinity(u));
  return select(u < infinity(u), select(u < 0x1p-1021, small, result), u);
}

}  // namespace

// Beyond the clamps the result is 0 or infinite already; a NaN passes them.
Value exp(Value x) {
  Value bounded = min(max(x, -708.5), 710.0);
  Value sum = fma(bounded, log2_e, field_shift), k = sum - field_shift;
  Value r = fma(k, -ln2_low, fma(k, -ln2_high, bounded));
  return twice_exp(r) * half_power(sum);
}

Value exp_of_negative_size(Value x) {
  Value size = min(abs(x), 708.5);
  Value sum = fma(size, -log2_e, field_shift), k = sum - field_shift;
  Value r = fma(k, ln2_low, fma(k, ln2_high, size));
  return twice_exp_of_negative(r) * half_power(sum);
}

Value log(Value x) {
  return log_of(x, [](Value, Value m) { return m - 1.0; });
}

Logs logs_of_positive(Value u, Value v) {
  Split a = exponent_apart(u), b = exponent_apart(v);
  Value f = a.m - 1.0, g = b.m - 1.0, under = f + 2.0, other = g + 2.0, inverse = 1.0 / (under * other);
  Value first = log_by(a.k, f * other * inverse), second = log_by(b.k, g * under * inverse);
  return {select(u < infinity(u), first, u), second};
}

// Near 1 the sum has lost bits of x, but m - 1 is x itself there. Elsewhere they do not count.
Value log1p(Value x) {
  return log_of(1.0 + x, [&](Value k, Value m) { return select(k == 0.0, x, m - 1.0); });
}

Value sigmoid(Value x) {
  Bend at = bend(x);
  return select(x < 0.0, at.e, 1.0) * (at.two * at.inverse);
}

Value softplus(Value x) { return max(x, 0.0) + log_one_plus(bend(x)); }
Value log_sigmoid(Value x) { return min(x, -0.0) - log_one_plus(bend(x)); }

}  // namespace adit::kernel::f64::loose
