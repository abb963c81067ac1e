#include "ops/random_source.hpp"

#include "ops/numbers.hpp"

namespace adit::test {
namespace {

template <class T>
void put(std::byte* to, double number) {
  const T value = static_cast<T>(number);
  std::memcpy(to, &value, sizeof(T));
}

// The bits of a half, from a number that it can hold after rounding.
uint16_t half_bits(double number, DType type) {
  const Format format = format_of(type);
  const double value = rounded(number, 0, format);
  const int fraction_bits = format.digits - 1, bias = format.highest - 1;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::abs(value);
  if (size == 0) return sign;
  if (std::isnan(size)) return static_cast<uint16_t>(sign | 0x7FFF);
  if (std::isinf(size)) return static_cast<uint16_t>(sign | ((2 * bias + 1) << fraction_bits));
  const int exponent = std::max(std::ilogb(size), format.lowest);
  const auto fraction = static_cast<int>(std::ldexp(size, fraction_bits - exponent));
  const int biased = fraction >> fraction_bits ? exponent + bias : 0;
  return static_cast<uint16_t>(sign | (biased << fraction_bits) | (fraction & ((1 << fraction_bits) - 1)));
}

}  // namespace

void store_number(DType type, double real, double imag, std::byte* to) {
  switch (type) {
    case DType::u8: return put<uint8_t>(to, std::abs(real));
    case DType::u16: return put<uint16_t>(to, std::abs(real));
    case DType::u32: return put<uint32_t>(to, std::abs(real));
    case DType::u64: return put<uint64_t>(to, std::abs(real));
    case DType::i8: return put<int8_t>(to, real);
    case DType::i16: return put<int16_t>(to, real);
    case DType::i32: return put<int32_t>(to, real);
    case DType::i64: return put<int64_t>(to, real);
    case DType::f16:
    case DType::bf16: {
      const uint16_t bits = half_bits(real, type);
      std::memcpy(to, &bits, 2);
      return;
    }
    case DType::f32: return put<float>(to, real);
    case DType::f64: return put<double>(to, real);
    case DType::c64: return put<float>(to, real), put<float>(to + 4, imag);
    case DType::c128: return put<double>(to, real), put<double>(to + 8, imag);
  }
}

Stored RandomSource::tensor(DType type, const Shape& shape, int64_t below_this) {
  Stored stored{type, shape,
                std::vector<std::byte>(static_cast<size_t>(element_count(shape)) * size_of(type))};
  for (size_t at = 0; at < stored.bytes.size(); at += size_of(type)) {
    double number = normal() * 1.5;
    if (is_integer(type)) number = static_cast<double>(between(0, 20)) - (is_unsigned(type) ? 0 : 10);
    if (below_this > 0)
      number = static_cast<double>(between(chance(0.1) ? -1 : 0, below_this - (chance(0.1) ? 0 : 1)));
    store_number(type, number, normal(), stored.bytes.data() + at);
  }
  return stored;
}

}  // namespace adit::test
