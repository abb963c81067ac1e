// Names for contents.
#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>
#include <xxhash.h>

namespace adit {

inline std::string hex_hash(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace adit
