// Sums of floats that do not depend on their order: integers of several 32-bit limbs, in a unit that the
// largest term decides. Written into kernels; limbs are two's complement, the lowest first.
//
// A term whose exponent is the largest one has its leading bit at bit 32 limbs - 3 - headroom, so that
// 2^headroom terms cannot overflow. What lies below bit 0 is dropped: at most 2^-(61 - headroom) of the
// largest term for each term of f32 (two limbs), 2^-(125 - headroom) for f64 (four). Against an f32 sum in
// any order, whose error grows by 2^-24 of the running sum a term, this is smaller for any number of terms
// that the headroom admits.
#pragma once

#include <vector>

#include <adit/kernel/builder.hpp>

namespace adit::ops {

class FixedPoint {
 public:
  // f32 or f64. `terms`: how many there are at most, below 2^31.
  FixedPoint(kernel::Type type, uint64_t terms);

  int limbs() const { return limbs_; }
  kernel::Type type() const { return type_; }

  // The exponent field of a term as u32, from 1 on; `special_exponent` for NaN and infinities.
  kernel::Value exponent(kernel::Value term) const;
  uint32_t special_exponent() const { return type_ == kernel::Type::f32 ? 0xff : 0x7ff; }
  // A finite term as limbs, in the unit of the largest exponent.
  std::vector<kernel::Value> encode(kernel::Value term, kernel::Value largest_exponent) const;
  // The same as one word of 64 bits, for f32.
  kernel::Value encode_word(kernel::Value term, kernel::Value largest_exponent) const;
  kernel::Value decode_word(kernel::Value low, kernel::Value high, kernel::Value largest_exponent) const;
  // One bit for a special term: 1 infinity, 2 minus infinity, 4 NaN.
  kernel::Value flag(kernel::Value term) const;

  // The sum as a float, rounded once (f64: to 0.51 ULP). With the special exponent limbs[0] holds the flags.
  kernel::Value decode(const std::vector<kernel::Value>& sum, kernel::Value largest_exponent) const;

 private:
  kernel::Value decode_f32(kernel::Value low, kernel::Value high, kernel::Value largest_exponent) const;
  kernel::Value decode_f64(const std::vector<kernel::Value>& magnitude, kernel::Value largest_exponent) const;

  kernel::Value special(kernel::Value flags) const;

  kernel::Type type_;
  int limbs_;
  int top_;  // how far the mantissa of the largest term is shifted up
};

}  // namespace adit::ops
