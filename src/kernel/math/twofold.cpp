#include "kernel/math/twofold.hpp"

#include <iterator>

namespace adit::kernel {

Twofold two_sum(Value a, Value b) {
  Value s = a + b;
  Value part = s - a;
  return {s, (a - (s - part)) + (b - part)};
}

Twofold fast_two_sum(Value a, Value b) {
  Value s = a + b;
  return {s, b - (s - a)};
}

Twofold two_product(Value a, Value b) {
  Value p = a * b;
  return {p, fma(a, b, -p)};
}

Twofold add(Twofold a, Value b) {
  Twofold s = two_sum(a.high, b);
  return fast_two_sum(s.high, s.low + a.low);
}

Twofold add(Twofold a, Twofold b) {
  Twofold s = two_sum(a.high, b.high), t = two_sum(a.low, b.low);
  s = fast_two_sum(s.high, s.low + t.high);
  return fast_two_sum(s.high, s.low + t.low);
}

Twofold multiply(Twofold a, Value b) {
  Twofold p = two_product(a.high, b);
  return fast_two_sum(p.high, fma(a.low, b, p.low));
}

Twofold multiply(Twofold a, Twofold b) {
  Twofold p = two_product(a.high, b.high);
  return fast_two_sum(p.high, p.low + fma(a.high, b.low, a.low * b.high));
}

// Two corrections: the first quotient may be several ULP off, and its residual is exact only once it is
// close.
Twofold divide(Twofold a, Twofold b) {
  Value inverse = 1.0 / b.high;
  Value q = a.high * inverse;
  q = fma(fma(-q, b.high, a.high), inverse, q);
  Value rest = fma(-q, b.high, a.high) + fma(-q, b.low, a.low);
  return fast_two_sum(q, rest * inverse);
}

namespace {

// By even and odd powers: two rows of operations that do not wait for each other, for one operation more.
Value in_two_rows(Value x, std::initializer_list<double> coefficients) {
  const Value square = x * x;
  Value rows[2];
  auto c = std::rbegin(coefficients);
  for (size_t i = coefficients.size(); i-- > 0; ++c) {
    Value& row = rows[i % 2];
    row = row.type() == Type::none ? x.like(*c) : fma(row, square, x.like(*c));
  }
  return fma(rows[1], x, rows[0]);
}

}  // namespace

Value polynomial(Value x, std::initializer_list<double> coefficients) {
  constexpr size_t few = 4;
  if (x.builder().has_loose_functions() && x.type() == Type::f64 && coefficients.size() > few)
    return in_two_rows(x, coefficients);
  const double* c = coefficients.begin();
  size_t i = coefficients.size() - 1;
  Value y = x.like(c[i]);
  while (i-- > 0) y = fma(y, x, c[i]);
  return y;
}

int mantissa_bits(Type type) { return type == Type::f64 ? 52 : 23; }
int exponent_bias(Type type) { return type == Type::f64 ? 1023 : 127; }
Type integer_like(Value x) { return signed_like(x.type()); }
Type bits_like(Value x) { return unsigned_like(x.type()); }

namespace {

Type float_like(Value integer) { return size_of(integer.type()) == 8 ? Type::f64 : Type::f32; }

uint64_t top_bit(Type type) { return uint64_t{1} << (type == Type::f64 ? 63 : 31); }

// The bits of infinity.
uint64_t exponent_mask(Type type) { return top_bit(type) - (uint64_t{1} << mantissa_bits(type)); }

Value magnitude_bits(Value x) { return bits(x) & (top_bit(x.type()) - 1); }

}  // namespace

Value bits(Value x) { return bitcast(x, bits_like(x)); }
Value float_of_bits(Value unsigned_bits) { return bitcast(unsigned_bits, float_like(unsigned_bits)); }
Value sign_bit(Value x) { return bits(x) & top_bit(x.type()); }
Value flip_sign(Value x, Value sign_bits) { return float_of_bits(bits(x) ^ (sign_bits & top_bit(x.type()))); }
Value with_sign(Value magnitude, Value sign_bits) {
  return float_of_bits(bits(magnitude) | (sign_bits & top_bit(magnitude.type())));
}
Value is_negative(Value x) { return bitcast(x, integer_like(x)) < 0; }
Value is_infinite(Value x) { return magnitude_bits(x) == exponent_mask(x.type()); }
Value is_finite(Value x) { return magnitude_bits(x) < exponent_mask(x.type()); }
Value infinity(Value x) { return x.builder().constant_bits(x.type(), exponent_mask(x.type())); }
Value not_a_number(Value x) {
  uint64_t quiet = uint64_t{1} << (mantissa_bits(x.type()) - 1);
  return x.builder().constant_bits(x.type(), exponent_mask(x.type()) | quiet);
}

Value power_of_two(Value n) {
  Type type = float_like(n);
  return bitcast((n + exponent_bias(type)) << mantissa_bits(type), type);
}

// Two factors, each normal; only the second product can round.
Value scale(Value x, Value n) {
  Value half = n >> 1;
  return x * power_of_two(half) * power_of_two(n - half);
}

// The bits of a subnormal, read as an integer, are the number in units of the least one: converting them
// normalises without any subnormal arithmetic, which some devices flush.
Split split(Value x) {
  Type type = x.type(), integer = integer_like(x);
  int mantissa = mantissa_bits(type), bias = exponent_bias(type);
  Value raw = bitcast(magnitude_bits(x), integer);
  Value tiny = raw < (int64_t{1} << mantissa);
  Value normal = select(tiny, bitcast(convert(raw, type), integer), raw);
  Value exponent =
      (normal >> mantissa) - select(tiny, normal.like(2 * bias + mantissa - 1), normal.like(bias));
  Value field = (normal & ((int64_t{1} << mantissa) - 1)) | (int64_t{bias} << mantissa);
  return {bitcast(field, type), exponent};
}

}  // namespace adit::kernel
