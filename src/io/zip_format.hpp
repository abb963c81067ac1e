// Numbers of the zip format.
#pragma once

#include <algorithm>
#include <cstdint>
#include <zlib.h>

#include "io/file.hpp"

namespace adit::zip {

inline constexpr uint32_t local_signature = 0x04034b50, entry_signature = 0x02014b50,
                          end_signature = 0x06054b50, long_end_signature = 0x06064b50,
                          locator_signature = 0x07064b50;
// Sizes of the records, without names and extra fields.
inline constexpr uint64_t local_bytes = 30, entry_bytes = 46, end_bytes = 22, long_end_bytes = 56,
                          locator_bytes = 20;
inline constexpr uint16_t stored = 0, deflated = 8;
inline constexpr uint16_t long_extra = 1;          // the extra field with 64-bit sizes
inline constexpr uint64_t long_mark = 0xffffffff;  // "look in the extra field"

inline uint32_t checksum_of(ByteSpan bytes) {
  uLong sum = crc32(0, nullptr, 0);
  while (!bytes.empty()) {
    const size_t part = std::min<size_t>(bytes.size(), size_t{1} << 30);
    sum = crc32(sum, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(part));
    bytes = bytes.subspan(part);
  }
  return static_cast<uint32_t>(sum);
}

}  // namespace adit::zip
