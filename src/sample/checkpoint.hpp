// A run's file while it goes: rows of numbers as they are made, and now and then the sampler's whole state.
//
//   head     magic, version, length and hash of what follows: sizes, the run's options, the model's layout
//   record   kind, length of its payload, hash of the payload, hash of these and of the place in the file
//   ...      records follow each other to the end; they are only ever appended
//
// A process that dies leaves a record cut off at the end: reading drops it and says so. What is damaged
// before the end is an error. Going on from a checkpoint cuts the file after its last state, since the
// sampler makes the rows behind it again. Numbers are little-endian; elements are in the machine's order,
// which the head tells.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/file.hpp"

namespace adit {

struct CheckpointHeader {
  std::string options;  // JSON of the run's
  std::string layout;   // the model's structure: what must be the same for the run to go on
  uint64_t dimensions = 0, stats = 7, chains = 0;
  bool is_f32 = false;
  uint64_t row_elements() const { return dimensions + stats; }
  uint64_t element_bytes() const { return is_f32 ? 4 : 8; }
  bool operator==(const CheckpointHeader&) const = default;
};

// Rows of every chain: element ((chain * count) + row) * (dimensions + stats) + column.
struct CheckpointRows {
  uint64_t first = 0, count = 0;  // iterations
  Bytes bytes;
  std::vector<double> numbers(const CheckpointHeader& header) const;
};

struct CheckpointState {
  uint64_t generation = 0;
  Bytes bytes;
  size_t blocks = 0;  // of CheckpointContents::rows, from the front, lie before it in the file
  uint64_t end = 0;   // where its record ends in the file
};

struct CheckpointContents {
  CheckpointHeader header;
  std::vector<CheckpointRows> rows;      // all that are whole, those behind the last state too
  std::optional<CheckpointState> state;  // the last one
  uint64_t head_end = 0, good_end = 0;   // where the head and the last whole record end in the file
  bool torn = false;                     // a record at the end was cut off and is not in here
};
CheckpointContents read_checkpoint(const std::filesystem::path& path);

// Errors are of the kind io and name the path. After one the file holds the records before; a writer that
// could not cut off a half-written record refuses more.
class CheckpointWriter {
 public:
  // A new file; one of this name is replaced, unless another writer has it open.
  CheckpointWriter(const std::filesystem::path& path, const CheckpointHeader& header);
  // Goes on behind the last state of what was read, or behind the head if there was none.
  CheckpointWriter(const std::filesystem::path& path, const CheckpointContents& contents);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  void rows(uint64_t first, uint64_t count, ByteSpan bytes);
  // On the disk when this returns.
  void state(uint64_t generation, ByteSpan bytes);

 private:
  void open(int flags);
  void cut(uint64_t end);
  void record(uint32_t kind, ByteSpan numbers, ByteSpan bytes);
  void append(std::initializer_list<ByteSpan> parts);
  [[noreturn]] void fail(const char* expected) const;

  Place place_;
  std::filesystem::path path_;
  CheckpointHeader header_;
  int descriptor_ = -1;
  uint64_t end_ = 0;  // of the last whole record
  bool is_regular_ = true, is_broken_ = false;
};

}  // namespace adit
