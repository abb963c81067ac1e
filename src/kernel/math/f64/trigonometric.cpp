// sin, cos and tan: |x| = (quadrant + multiple of 4) pi/2 + r, |r| <= pi/4, with r as high + low.
#include <array>

#include "kernel/math/f64/parts.hpp"

namespace adit::kernel::f64 {

namespace {

struct Angle {
  Twofold r;
  Value quadrant;  // u64, only the low two bits count
};

// 64 zero bits, then 2 / pi to 1216 bits: what the largest exponent needs and 190 bits more.
constexpr std::array<uint64_t, 20> two_over_pi = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

// Words `first` to first + 3 of the table, by halving the distance: no memory is read.
std::array<Value, 4> table_words(Value first) {
  std::array<Value, 20> word;
  for (size_t i = 0; i < word.size(); ++i) word[i] = first.builder().constant_bits(Type::u64, two_over_pi[i]);
  for (size_t distance = 16; distance > 0; distance /= 2) {
    Value far = (first & distance) != 0;
    // After this step the window starts below `distance`.
    for (size_t i = 0; i + distance < word.size() && i < distance + 3; ++i)
      word[i] = select(far, word[i + distance], word[i]);
  }
  return {word[0], word[1], word[2], word[3]};
}

// The 192 bits from position `start` of the table, most significant word first.
std::array<Value, 3> table_bits(Value start) {
  std::array<Value, 4> word = table_words(start >> 6);
  Value left = start & 63;
  std::array<Value, 3> window;
  for (size_t i = 0; i < 3; ++i) window[i] = (word[i] << left) | ((word[i + 1] >> 1) >> (63 - left));
  return window;
}

// A fraction of 128 bits as high + low, exactly but for its last bits; it is never near 0 (above 2^-64).
Twofold fraction(Value upper, Value lower) {
  Value zeros = min(leading_zeros(upper), 63);
  Value first = (upper << zeros) | ((lower >> 1) >> (63 - zeros));
  Value second = lower << zeros;
  Value unit = power_of_two(-53 - bitcast(zeros, Type::i64));
  Value high = convert(first >> 11, Type::f64) * unit;
  Value low = convert(((first & 0x7ff) << 42) | (second >> 22), Type::f64) * (unit * 0x1p-53);
  return {high, low};
}

// Payne and Hanek: of x (2/pi) with x = m 2^e, the bits of 2/pi that give multiples of 4 are left out, and
// 192 bits after them leave the fraction good to 2^-137.
Angle reduce_large(Value x) {
  Value raw = bits(x);
  Value m = (raw & ((uint64_t{1} << 52) - 1)) | (uint64_t{1} << 52);
  std::array<Value, 3> window = table_bits((raw >> 52) - (1075 - 62));
  Value low = m * window[2], carry = mul_high(m, window[2]);
  Value middle = m * window[1] + carry;
  Value top = m * window[0] + mul_high(m, window[1]) + select(middle < carry, m.like(1), m.like(0));
  // Two bits of quadrant, then the fraction; from one half on it counts down to the next quadrant.
  Value upper = (top << 2) | (middle >> 62), lower = (middle << 2) | (low >> 62);
  Value negative = upper >> 63, flip = m.like(0) - negative;
  Twofold part = fraction(upper ^ flip, lower ^ flip);
  Twofold r = multiply(part, Twofold{x.like(half_pi_high), x.like(half_pi_low)});
  return {{flip_sign(r.high, flip), flip_sign(r.low, flip)}, (top >> 62) + negative};
}

// Cody and Waite with pi/2 in three parts for x < 2^30: the first product is exact inside the fma.
Angle reduce(Value x) {
  constexpr double half_pi_third = -0x1.f1976b7ed8fbcp-110;
  Value shifted = fma(x, 0x1.45f306dc9c883p-1, rounding_shift);
  Value k = shifted - rounding_shift;
  Twofold product = two_product(k, x.like(half_pi_low));
  Twofold r = two_sum(fma(k, -half_pi_high, x), -product.high);
  r.low = r.low - fma(k, half_pi_third, product.low);

  Builder& builder = x.builder();
  Variable high = builder.variable(r.high), low = builder.variable(r.low);
  Variable quadrant = builder.variable(bits(shifted));
  builder.if_(x >= 0x1p30, [&] {
    Angle large = reduce_large(x);
    high = large.r.high;
    low = large.r.low;
    quadrant = large.quadrant;
  });
  return {{high, low}, quadrant};
}

// sin r = r + r^3 S(r^2), error of the polynomial 2^-61 relative.
Twofold sin_sum(Twofold r, Value z) {
  Value s = polynomial(
      z, {-0x1.5555555555555p-3, 0x1.111111111101ep-7, -0x1.a01a019fe88bap-13, 0x1.71de3a104913bp-19,
          -0x1.ae63f82706302p-26, 0x1.60e5f05e5ba3cp-33, -0x1.8d694e7ba3696p-41});
  return fast_two_sum(r.high, fma(r.high * z, s, r.low * fma(z, -0.5, 1.0)));
}

// cos r = 1 - r^2/2 + r^4 C(r^2), error of the polynomial 2^-61; what the roundings of r^2 and of 1 - r^2/2
// leave goes to the low part.
Twofold cos_sum(Twofold r, Value z) {
  Value c = polynomial(z, {0x1.5555555555555p-5, -0x1.6c16c16c168cap-10, 0x1.a01a019f3823fp-16,
                           -0x1.27e4fa02af779p-22, 0x1.1eeb578692157p-29, -0x1.907340f518954p-37});
  Twofold head = fast_two_sum(z.like(1), -0.5 * z);
  Value rest = fma(fma(r.high, r.high, -z), -0.5, -(r.high * r.low));
  return fast_two_sum(head.high, head.low + fma(z * z, c, rest));
}

Value finite_or_nan(Value magnitude, Value result) {
  return select(magnitude < infinity(magnitude), result, not_a_number(magnitude));
}

}  // namespace

Value sin(Value x) {
  Value magnitude = abs(x);
  Angle angle = reduce(magnitude);
  Value z = angle.r.high * angle.r.high;
  Value odd = (angle.quadrant & 1) != 0;
  Value result = select(odd, cos_sum(angle.r, z).high, sin_sum(angle.r, z).high);
  return finite_or_nan(magnitude, flip_sign(result, bits(x) ^ (angle.quadrant << 62)));
}

Value cos(Value x) {
  Value magnitude = abs(x);
  Angle angle = reduce(magnitude);
  Value z = angle.r.high * angle.r.high;
  Value odd = (angle.quadrant & 1) != 0;
  Value result = select(odd, sin_sum(angle.r, z).high, cos_sum(angle.r, z).high);
  return finite_or_nan(magnitude, flip_sign(result, (angle.quadrant + 1) << 62));
}

// sin r / cos r, and -cos r / sin r in odd quadrants; both are still sums of two parts when they are divided.
Value tan(Value x) {
  Value magnitude = abs(x);
  Angle angle = reduce(magnitude);
  Value z = angle.r.high * angle.r.high;
  Twofold s = sin_sum(angle.r, z), c = cos_sum(angle.r, z);
  Value odd = (angle.quadrant & 1) != 0;
  Twofold top{select(odd, c.high, s.high), select(odd, c.low, s.low)};
  Twofold bottom{select(odd, s.high, c.high), select(odd, s.low, c.low)};
  Value result = sum(quotient(top, bottom));
  return finite_or_nan(magnitude, flip_sign(result, bits(x) ^ (angle.quadrant << 63)));
}

}  // namespace adit::kernel::f64
