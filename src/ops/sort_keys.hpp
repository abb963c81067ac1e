// Keys in kernels: whole numbers without a sign whose order is that of the elements they stand for.
#pragma once

#include <adit/dtype.hpp>
#include <adit/kernel/builder.hpp>

namespace adit::ops {

// The largest number of an unsigned type.
inline kernel::Value all_ones(kernel::Builder& k, kernel::Type type) {
  return k.constant_bits(type, kernel::wrapped(type, ~uint64_t{0}));
}

class SortKeys {
 public:
  // `same_zeros`: -0 and 0 are one key, which then does not tell the element.
  SortKeys(DType type, bool descending, bool same_zeros)
      : type_(type), descending_(descending), same_zeros_(same_zeros) {}

  // Elements of 8 and 16 bits have keys of 32.
  kernel::Type key() const { return size_of(type_) == 8 ? kernel::Type::u64 : kernel::Type::u32; }
  uint32_t bits() const { return 8 * size_of(type_); }
  // As what elements lie in memory, here.
  kernel::Type word() const {
    switch (size_of(type_)) {
      case 1: return kernel::Type::u8;
      case 2: return kernel::Type::u16;
      case 4: return kernel::Type::u32;
      default: return kernel::Type::u64;
    }
  }

  kernel::Value of(kernel::Value element) const {
    const kernel::Value bits_now = convert(element, key());
    kernel::Value ordered = bits_now;
    if (is_float(type_)) {
      const kernel::Value size = bits_now & (top() - 1), negative = (bits_now & top()) != 0;
      ordered = select(negative, ~bits_now & mask(), bits_now | top());
      if (same_zeros_) ordered = select(size == 0, bits_now.like(top()), ordered);
      ordered = select(size > infinity(), bits_now.like(mask()), ordered);
    } else if (is_signed_integer(type_)) {
      ordered = bits_now ^ top();
    }
    return descending_ ? ordered ^ mask() : ordered;
  }
  kernel::Value element(kernel::Value key_now) const {
    const kernel::Value ordered = descending_ ? key_now ^ mask() : key_now;
    kernel::Value bits_now = ordered;
    if (is_float(type_))
      bits_now = select((ordered & top()) != 0, ordered ^ top(), ~ordered & mask());
    else if (is_signed_integer(type_))
      bits_now = ordered ^ top();
    return convert(bits_now, word());
  }

 private:
  uint64_t top() const { return uint64_t{1} << (bits() - 1); }
  uint64_t mask() const { return bits() == 64 ? ~uint64_t{0} : (uint64_t{1} << bits()) - 1; }
  uint64_t infinity() const {
    switch (type_) {
      case DType::f16: return 0x7c00;
      case DType::bf16: return 0x7f80;
      case DType::f32: return 0x7f800000;
      default: return 0x7ff0000000000000;
    }
  }

  DType type_;
  bool descending_, same_zeros_;
};

}  // namespace adit::ops
