// The bytes of a checkpoint.
#pragma once

#include "sample/checkpoint.hpp"
#include "support/hash.hpp"

namespace adit::checkpoint {

inline constexpr std::string_view magic = "ADITrun\n";
inline constexpr uint32_t version = 3;  // 2: the metric behind the stack; 1: states among the records

// magic, version, zero, length, hash
inline constexpr uint64_t head_bytes = 8 + 4 + 4 + 8 + 8;
// length, hash of the payload, hash of the 16 bytes before and of where they are
inline constexpr uint64_t record_bytes = 8 + 8 + 8;
// generation, end and hash of its rows, length, hash of the bytes, hash of these and of where they are
inline constexpr uint64_t state_head_bytes = 6 * 8;
// States begin in blocks of their own, so that a disk that loses its power over one spares the other.
inline constexpr uint64_t block_bytes = 4096;

inline uint64_t whole_blocks(uint64_t bytes) { return (bytes + block_bytes - 1) / block_bytes * block_bytes; }
inline uint64_t states_begin(uint64_t head_end) { return whole_blocks(head_end); }
inline uint64_t state_room(const CheckpointHeader& header) {
  return whole_blocks(state_head_bytes + header.state_bytes);
}

inline uint64_t hash(ByteSpan bytes, uint64_t seed = 0) { return hash64(bytes, seed); }
// Of a payload in two parts.
inline uint64_t hash(ByteSpan first, ByteSpan second) { return hash(second, hash(first)); }

inline Bytes encode_head(const CheckpointHeader& header) {
  Bytes body;
  append_number<uint64_t>(body, header.dimensions);
  append_number<uint64_t>(body, header.stats);
  append_number<uint64_t>(body, header.chains);
  append_number<uint64_t>(body, header.state_bytes);
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

inline Bytes encode_record(ByteSpan counts, ByteSpan bytes, uint64_t place) {
  Bytes head;
  append_number<uint64_t>(head, counts.size() + bytes.size());
  append_number<uint64_t>(head, hash(counts, bytes));
  append_number<uint64_t>(head, hash(head, place));
  return head;
}

inline Bytes encode_state_head(const CheckpointState& state, ByteSpan bytes, uint64_t place) {
  Bytes head;
  append_number<uint64_t>(head, state.generation);
  append_number<uint64_t>(head, state.rows_end);
  append_number<uint64_t>(head, state.hash);
  append_number<uint64_t>(head, bytes.size());
  append_number<uint64_t>(head, hash(bytes));
  append_number<uint64_t>(head, hash(head, place));
  return head;
}

}  // namespace adit::checkpoint
