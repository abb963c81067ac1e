// Elements of any type as doubles, and distances in units of the last place.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <adit/dtype.hpp>

namespace adit::test {

// The shape of a float type: digits of the fraction with the hidden one, and exponents.
struct Format {
  int digits, lowest, highest;  // 2^lowest is the smallest normal number, 2^highest overflows
  bool operator==(const Format&) const = default;
};
inline Format format_of(DType type) {
  switch (real_of(type)) {
    case DType::f16: return {11, -14, 16};
    case DType::bf16: return {8, -126, 128};
    case DType::f32: return {24, -126, 128};
    default: return {53, -1022, 1024};
  }
}

inline double half_to_double(uint16_t bits, bool is_brain) {
  if (is_brain) {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float f;
    std::memcpy(&f, &wide, 4);
    return f;
  }
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent == 31  ? (fraction ? std::nan("") : std::numeric_limits<double>::infinity())
                 : exponent == 0 ? std::ldexp(fraction, -24)
                                 : std::ldexp(1024 + fraction, exponent - 25);
  return std::copysign(value, bits & 0x8000 ? -1.0 : 1.0);
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// A part of an element; integers beyond 2^53 lose their last bits here.
inline double part_at(DType type, const std::byte* at) {
  switch (type) {
    case DType::u8: return load<uint8_t>(at);
    case DType::u16: return load<uint16_t>(at);
    case DType::u32: return load<uint32_t>(at);
    case DType::u64: return static_cast<double>(load<uint64_t>(at));
    case DType::i8: return load<int8_t>(at);
    case DType::i16: return load<int16_t>(at);
    case DType::i32: return load<int32_t>(at);
    case DType::i64: return static_cast<double>(load<int64_t>(at));
    case DType::f16: return half_to_double(load<uint16_t>(at), false);
    case DType::bf16: return half_to_double(load<uint16_t>(at), true);
    case DType::f32:
    case DType::c64: return load<float>(at);
    default: return load<double>(at);
  }
}

// The parts of all elements: two for a complex number.
inline std::vector<double> parts_of(DType type, const std::vector<std::byte>& bytes) {
  const size_t size = size_of(real_of(type));
  std::vector<double> parts(bytes.size() / size);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = part_at(type, bytes.data() + i * size);
  return parts;
}

// The distance between neighbours at x.
inline double unit_at(double x, Format format) {
  int exponent = format.lowest;
  if (x != 0 && std::isfinite(x)) exponent = std::max(std::ilogb(x), format.lowest);
  if (!std::isfinite(x)) exponent = format.highest - 1;
  return std::ldexp(1.0, std::min(exponent, format.highest - 1) - format.digits + 1);
}

// high + low rounded once, ties to even.
inline double rounded(double high, double low, Format format) {
  if (!std::isfinite(high) || high == 0 || format.digits == 53) return high;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(high), format.lowest) - format.digits + 1);
  const double count = high / unit;
  double whole = std::nearbyint(count);
  if (std::abs(count - std::trunc(count)) == 0.5 && low != 0)
    whole = low > 0 ? std::floor(count) + 1 : std::ceil(count) - 1;
  const double result = whole * unit;
  if (std::abs(result) >= std::ldexp(1.0, format.highest))
    return std::copysign(std::numeric_limits<double>::infinity(), high);
  return std::copysign(result, high);
}

// |got - (high + low)| where an overflow counts as the first number beyond the range; NaN where one is not a
// number.
inline double distance(double got, double high, double low, Format format) {
  auto finite = [&](double x) {
    return std::isinf(x) && format.highest < 1024 ? std::copysign(std::ldexp(1.0, format.highest), x) : x;
  };
  if (got == high) return std::abs(low);
  return std::abs((finite(got) - finite(high)) - low);
}

}  // namespace adit::test
