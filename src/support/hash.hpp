// Hashes of contents: the one place that says how. Values differ from one machine's byte order to another's
// only if the bytes do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>
#include <xxhash.h>

namespace adit {

struct Hash128 {
  uint64_t high = 0, low = 0;
  bool operator==(const Hash128&) const = default;
  std::string hex() const { return fmt::format("{:016x}{:016x}", high, low); }
};

inline uint64_t hash64(std::span<const std::byte> bytes, uint64_t seed = 0) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}
inline uint64_t hash64(std::string_view text, uint64_t seed = 0) {
  return hash64(std::as_bytes(std::span(text)), seed);
}
// A number after what `seed` stands for: hash64(b, hash64(a)) is of the pair, in this order.
inline uint64_t hash64(uint64_t number, uint64_t seed) {
  return XXH3_64bits_withSeed(&number, sizeof number, seed);
}

inline Hash128 hash128(std::span<const std::byte> bytes, uint64_t seed = 0) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {hash.high64, hash.low64};
}

inline std::string hex_hash(std::string_view text) { return hash128(std::as_bytes(std::span(text))).hex(); }

}  // namespace adit
