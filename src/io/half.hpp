// The two half floats as host numbers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace adit {

inline double half_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  double magnitude = std::ldexp(fraction + (exponent ? 1024 : 0), (exponent ? exponent : 1) - 25);
  if (exponent == 31)
    magnitude = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  return bits & 0x8000 ? -magnitude : magnitude;
}

inline double bfloat_value(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

}  // namespace adit
