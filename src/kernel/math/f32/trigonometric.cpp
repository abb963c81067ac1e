// sin, cos and tan: the angle modulo pi / 2 in two parts, then a polynomial on [-pi/4, pi/4].
#include "kernel/math/f32/internal.hpp"

namespace adit::kernel::f32 {

namespace {

constexpr double moderate_limit = 32768;

// The binary digits of 2 / pi behind the point, 32 a word, with a word of zeros in front.
constexpr uint32_t two_over_pi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                    0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

// Word `which + offset` for which in 0..3.
Value digits(Value which, int offset) {
  Value word = which.like(two_over_pi[offset + 3]);
  for (int i = 2; i >= 0; --i) word = select(which == i, two_over_pi[offset + i], word);
  return word;
}

// Payne and Hanek: of the product of the mantissa and 2 / pi only the digits that count modulo 4 are made, 64
// of them.
Angle reduce_large(Value size) {
  Value raw = bits(size);
  Value mantissa = (raw << 8) | 0x80000000u;
  // The first digit that counts has weight 2 in the product with 2^exponent; size >= 2^15.
  Value first = (raw >> 23) - (127 + 32 - 31);
  Value which = first >> 5, shift = first & 31;
  Value word[4], window[3];
  for (int i = 0; i < 4; ++i) word[i] = digits(which, i);
  for (int i = 0; i < 3; ++i)
    window[i] = select(shift == 0, word[i], (word[i] << shift) | (word[i + 1] >> (32 - shift)));
  Value carry_in = mul_high(mantissa, window[2]);
  Value low = mantissa * window[1] + carry_in;
  Value carry = select(low < carry_in, raw.like(1), raw.like(0));
  Value high = mantissa * window[0] + mul_high(mantissa, window[1]) + carry;

  // Two bits are the quadrant; what is left, a signed fraction of 62 bits, becomes a sign and a magnitude.
  Value quadrant = (high + 0x20000000u) >> 30;
  Value fraction = high - (quadrant << 30);
  Value negative = fraction >> 31 != 0;
  Value top = select(negative, ~fraction, fraction), bottom = select(negative, ~low, low);
  Value zeros = min(leading_zeros(top), 31);
  Value lead = (top << zeros) | (bottom >> (32 - zeros));
  Value head = convert(lead >> 8, Type::f32);  // 24 bits, units of 2^(8 - 30 - zeros)
  Value rest = convert(lead & 0xffu, Type::f32) * 0x1p-8;
  Twofold r = two_product(head, size.like(0x1.921fb6p0));
  r.low = r.low + fma(head, -0x1.777a5cp-25, rest * 0x1.921fb6p0);
  Value unit = power_of_two(-22 - bitcast(zeros, Type::i32));
  unit = select(negative, -unit, unit);
  return {{r.high * unit, r.low * unit}, quadrant};
}

}  // namespace

// Cody and Waite below the limit: the first product is subtracted without error.
Angle reduce_angle(Value x) {
  constexpr double magic = 0x1.8p23;
  Value size = abs(x);
  Value shifted = fma(size, 0x1.45f306p-1, magic);
  Value k = shifted - magic;
  Value first = fma(k, -0x1.921fb6p0, size);
  Twofold second = two_product(k, x.like(-0x1.777a5cp-25));
  Value r = first - second.high;
  Value low = ((first - r) - second.high) - fma(k, -0x1.ee59dap-50, second.low);

  Builder& builder = x.builder();
  Variable rest = builder.variable(r), rest_low = builder.variable(low),
           quadrant = builder.variable(bits(shifted));
  builder.if_(size > moderate_limit, [&] {
    Angle angle = reduce_large(size);
    rest = select(is_finite(x), angle.rest.high, not_a_number(x));
    rest_low = angle.rest.low;
    quadrant = angle.quadrant;
  });
  return {{rest, rest_low}, quadrant};
}

namespace {

// The sine of the angle plus `quarters` right angles.
Value sine_of(Angle angle, uint32_t quarters) {
  Value r = angle.rest.high, low = angle.rest.low, z = r * r;
  Value quadrant = angle.quadrant + quarters;
  // sin on [-0.79, 0.79], relative error 2^-27.8
  Value sine = r + fma(r * z, polynomial(z, {-0x1.555544p-3, 0x1.1106d6p-7, -0x1.992462p-13}), low);
  // cos on [-0.79, 0.79], relative error 2^-32.8
  Value tail = z * z * polynomial(z, {0x1.55554ap-5, -0x1.6c0c1ep-10, 0x1.99e334p-16});
  Value cosine = 1.0 + fma(z, -0.5, fma(-r, low, tail));
  Value chosen = select((quadrant & 1u) != 0, cosine, sine);
  return flip_sign(chosen, quadrant << 30);
}

}  // namespace

// sin(x) = sin |x| with x's sign, and 0 keeps its own.
Value sin(Value x) { return flip_sign(sine_of(reduce_angle(x), 0), bits(x)); }

Value cos(Value x) { return sine_of(reduce_angle(x), 1); }

Value tan(Value x) {
  Angle angle = reduce_angle(x);
  Value r = angle.rest.high, z = r * r;
  // tan on [-0.79, 0.79], relative error 2^-29.3
  Value p = polynomial(z, {0x1.555562p-2, 0x1.110d24p-3, 0x1.baee0ep-5, 0x1.5bf63cp-6, 0x1.66d2p-7,
                           -0x1.d60a14p-15, 0x1.23894ap-8});
  Value tail = fma(r * z, p, angle.rest.low * (1.0 + z));
  Twofold t = fast_two_sum(r, tail);
  Value inverse = 1.0 / t.high;
  Value error = fma(-inverse, t.low, fma(-inverse, t.high, 1.0));
  Value cotangent = fma(inverse, error, inverse);
  Value y = select((angle.quadrant & 1u) != 0, -cotangent, t.high);
  return flip_sign(y, bits(x));
}

}  // namespace adit::kernel::f32
