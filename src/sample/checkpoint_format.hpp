// The bytes of a checkpoint.
#pragma once

#include "sample/checkpoint.hpp"
#include "support/hash.hpp"

namespace adit::checkpoint {

inline constexpr std::string_view magic = "ADITrun\n";
inline constexpr uint32_t version = 1;
inline constexpr uint32_t kind_rows = 1, kind_state = 2;

// magic, version, zero, length, hash
inline constexpr uint64_t head_bytes = 8 + 4 + 4 + 8 + 8;
// kind, zero, length, hash of the payload, hash of the 24 bytes before and of where they are
inline constexpr uint64_t record_bytes = 4 + 4 + 8 + 8 + 8;
// Numbers at the front of a payload: first and count of rows; generation of a state.
inline constexpr uint64_t rows_bytes = 16, state_bytes = 8;

inline uint64_t hash(ByteSpan bytes, uint64_t seed = 0) { return hash64(bytes, seed); }
// Of a payload in two parts.
inline uint64_t hash(ByteSpan first, ByteSpan second) { return hash(second, hash(first)); }

inline Bytes encode_head(const CheckpointHeader& header) {
  Bytes body;
  append_number<uint64_t>(body, header.dimensions);
  append_number<uint64_t>(body, header.stats);
  append_number<uint64_t>(body, header.chains);
  append_number<uint32_t>(body, header.is_f32 ? 4 : 8);
  append_number<uint32_t>(body, std::endian::native == std::endian::little ? 0 : 1);
  append_number<uint64_t>(body, header.options.size());
  append_text(body, header.options);
  append_number<uint64_t>(body, header.layout.size());
  append_text(body, header.layout);
  Bytes bytes;
  append_text(bytes, magic);
  append_number<uint32_t>(bytes, version);
  append_number<uint32_t>(bytes, 0);
  append_number<uint64_t>(bytes, body.size());
  append_number<uint64_t>(bytes, hash(body, version));
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

inline Bytes encode_record(uint32_t kind, ByteSpan numbers, ByteSpan bytes, uint64_t place) {
  Bytes head;
  append_number<uint32_t>(head, kind);
  append_number<uint32_t>(head, 0);
  append_number<uint64_t>(head, numbers.size() + bytes.size());
  append_number<uint64_t>(head, hash(numbers, bytes));
  append_number<uint64_t>(head, hash(head, place));
  return head;
}

}  // namespace adit::checkpoint
