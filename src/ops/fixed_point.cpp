#include "ops/fixed_point.hpp"

#include <bit>
#include <limits>

namespace adit::ops {

using namespace kernel;

namespace {

Value zero(Value like) { return like.builder().constant(Type::u32, 0); }

// word * 2^amount within 32 bits; amount is an i32 of any size.
Value shifted(Value word, Value amount) {
  const Value up = word << bitcast(amount, Type::u32), down = word >> bitcast(-amount, Type::u32);
  const Value inside = amount < 32 && amount > -32;
  return select(inside, select(amount < 0, down, up), zero(word));
}

Value signed_word(Value u) { return bitcast(u, Type::i32); }

std::vector<Value> negated(const std::vector<Value>& limbs) {
  std::vector<Value> result;
  Value all_zero = limbs[0] == limbs[0];
  for (const Value& limb : limbs) {
    result.push_back(~limb + select(all_zero, limb.like(1), limb.like(0)));
    all_zero = all_zero && limb == 0;
  }
  return result;
}

// 2^exponent for an i32 in the range of normal numbers
Value power_of_two(Value exponent, Type type) {
  if (type == Type::f32) return bitcast(bitcast(exponent + 127, Type::u32) << 23, Type::f32);
  return bitcast(convert(bitcast(exponent + 1023, Type::u32), Type::u64) << 52, Type::f64);
}

// x * 2^exponent in two exact factors: only the last product may round, to a subnormal, or overflow.
Value scaled(Value x, Value exponent) {
  const Value half = exponent >> 1;
  return x * power_of_two(half, x.type()) * power_of_two(exponent - half, x.type());
}

}  // namespace

FixedPoint::FixedPoint(Type type, uint64_t terms) : type_(type), limbs_(type == Type::f32 ? 2 : 4) {
  const int headroom = static_cast<int>(std::bit_width(terms)), mantissa = type == Type::f32 ? 24 : 53;
  top_ = 32 * limbs_ - 2 - headroom - mantissa;
}

namespace {

// Exponent field and mantissa words of a float, and whether it is below zero.
struct Parts {
  Value field, negative;
  std::vector<Value> mantissa;
};

Parts parts_of(Value term) {
  if (term.type() == Type::f32) {
    const Value bits = bitcast(term, Type::u32), field = (bits >> 23) & 0xff, fraction = bits & 0x7fffff;
    return {field, (bits >> 31) != 0, {select(field == 0, fraction, fraction | 0x800000)}};
  }
  const Value bits = bitcast(term, Type::u64);
  const Value low = convert(bits & 0xffffffffu, Type::u32), high = convert(bits >> 32, Type::u32);
  const Value field = (high >> 20) & 0x7ff, fraction = high & 0xfffff;
  return {field, (high >> 31) != 0, {low, select(field == 0, fraction, fraction | 0x100000)}};
}

}  // namespace

Value FixedPoint::exponent(Value term) const { return max(parts_of(term).field, 1); }

std::vector<Value> FixedPoint::encode(Value term, Value largest_exponent) const {
  const Parts parts = parts_of(term);
  const Value shift = signed_word(max(parts.field, 1)) - signed_word(largest_exponent) + top_;
  std::vector<Value> limbs;
  for (int j = 0; j < limbs_; ++j) {
    Value limb = zero(term);
    for (size_t w = 0; w < parts.mantissa.size(); ++w)
      limb = limb | shifted(parts.mantissa[w], shift + 32 * (static_cast<int>(w) - j));
    limbs.push_back(limb);
  }
  const std::vector<Value> minus = negated(limbs);
  for (size_t j = 0; j < limbs.size(); ++j) limbs[j] = select(parts.negative, minus[j], limbs[j]);
  return limbs;
}

Value FixedPoint::encode_word(Value term, Value largest_exponent) const {
  const Parts parts = parts_of(term);
  const Value down = largest_exponent - max(parts.field, 1);
  const Value whole = (convert(parts.mantissa[0], Type::u64) << top_) >> convert(down, Type::u64);
  const Value size = select(down < 64, whole, 0);
  return select(parts.negative, -size, size);
}

Value FixedPoint::decode_word(Value low, Value high, Value largest_exponent) const {
  const Value word = convert(low, Type::u64) | (convert(high, Type::u64) << 32);
  const Value rounded = convert(bitcast(word, Type::i64), Type::f32);
  const Value finite = scaled(rounded, signed_word(largest_exponent) - (150 + top_));
  return select(largest_exponent == special_exponent(), special(low), finite);
}

Value FixedPoint::special(Value flags) const {
  const Value infinity = flags.builder().constant(type_, std::numeric_limits<double>::infinity());
  return select(flags == 1, infinity,
                select(flags == 2, -infinity, infinity.like(std::numeric_limits<double>::quiet_NaN())));
}

Value FixedPoint::flag(Value term) const {
  const Value one = term.builder().constant(Type::u32, 1);
  const Value infinite = select(parts_of(term).negative, one.like(2), one);
  return select(is_nan(term), one.like(4), infinite);
}

Value FixedPoint::decode(const std::vector<Value>& sum, Value largest_exponent) const {
  const Value negative = (sum.back() >> 31) != 0;
  const std::vector<Value> minus = negated(sum);
  std::vector<Value> magnitude;
  for (size_t j = 0; j < sum.size(); ++j) magnitude.push_back(select(negative, minus[j], sum[j]));
  const Value size = type_ == Type::f32 ? decode_f32(magnitude[0], magnitude[1], largest_exponent)
                                        : decode_f64(magnitude, largest_exponent);
  const Value finite = select(negative, -size, size);
  return select(largest_exponent == special_exponent(), special(sum[0]), finite);
}

Value FixedPoint::decode_f32(Value low, Value high, Value largest_exponent) const {
  const Value zeros = select(high == 0, leading_zeros(low) + 32, leading_zeros(high));
  const Value by = signed_word(zeros);
  const Value first = shifted(high, by) | shifted(low, by - 32);  // the leading 32 bits
  const Value sticky = shifted(low, by) != 0;
  const Value kept = first >> 8, rest = first & 0xff;
  const Value up = rest > 128 || (rest == 128 && (sticky || (kept & 1) == 1));
  const Value rounded = convert(kept + select(up, kept.like(1), kept.like(0)), Type::f32);
  // kept counts units of 2^(40 - zeros)
  const Value exponent = signed_word(largest_exponent) - by + (40 - 150 - top_);
  return select(high == 0 && low == 0, rounded.like(0), scaled(rounded, exponent));
}

Value FixedPoint::decode_f64(const std::vector<Value>& magnitude, Value largest_exponent) const {
  Value sum = convert(magnitude[0], Type::f64);
  for (size_t j = 1; j < magnitude.size(); ++j) sum = sum * 0x1p-32 + convert(magnitude[j], Type::f64);
  const Value exponent = signed_word(largest_exponent) + (32 * (limbs_ - 1) - 1075 - top_);
  return scaled(sum, exponent);
}

}  // namespace adit::ops
