// A run's file while it goes: every row of numbers once, as they are made, and the sampler's last whole
// state.
//
//   head     magic, version, length and hash of what follows: sizes, the run's options, the model's layout
//   states   two places of one size; a new state is written over the older one
//   record   length of its payload, hash of the payload, hash of these and of the place in the file; rows
//   ...      records follow each other to the end; they are only ever appended
//
// A state tells where the rows end that it goes on from, and their hash. A process that dies leaves a record
// cut off at the end, or one of the states half written: reading takes the newest state that is whole and
// whose rows are all there, and drops what it cannot use. Where neither state can be used, that is an error.
// Going on from a checkpoint cuts the file behind the rows of its state, since the sampler makes those after
// them again. Numbers are little-endian; elements are in the machine's order, which the head tells.
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
  uint64_t state_bytes = 0;  // of a state at most
  uint64_t element_bytes() const { return is_f32 ? 4 : 8; }
  uint64_t row_bytes() const { return (dimensions + stats) * element_bytes(); }
  std::vector<double> numbers(ByteSpan rows) const;
  bool operator==(const CheckpointHeader&) const = default;
};

// Rows of chain 0, then those of chain 1, and so on; chains may be apart.
struct CheckpointRows {
  std::vector<uint32_t> counts;  // a chain
  Bytes bytes;
};

struct CheckpointState {
  uint64_t generation = 0;
  Bytes bytes;
  size_t blocks = 0;                // of CheckpointContents::rows, from the front, that it goes on from
  uint64_t rows_end = 0, hash = 0;  // where those end in the file, and what they hash to
  int place = 0;                    // which of the two
};

struct CheckpointContents {
  CheckpointHeader header;
  std::vector<CheckpointRows> rows;        // all that are whole, those behind the state too
  std::optional<CheckpointState> state;    // the newest that can be gone on from
  uint64_t rows_begin = 0, rows_hash = 0;  // where rows begin, and what none hash to
  uint64_t good_end = 0;                   // where the last whole record ends in the file
  bool torn = false;                       // something was cut off or damaged and is not in here
};
CheckpointContents read_checkpoint(const std::filesystem::path& path);

// Rows `firsts[c]` to `firsts[c] + counts[c]` of each chain, chain after chain; they must be there.
Bytes rows_of(const CheckpointContents& contents, std::span<const uint64_t> firsts,
              std::span<const uint64_t> counts);
// How many there are of each chain.
std::vector<uint64_t> count_rows(const CheckpointContents& contents);

// Errors are of the kind io and name the path. After one the file holds the records and the state before; a
// writer that could not cut off a half-written record refuses more.
class CheckpointWriter {
 public:
  // A new file. A checkpoint of this name stays until the new one has a state, which takes its place; one
  // that another writer has open, or a file of others, is refused.
  CheckpointWriter(const std::filesystem::path& path, const CheckpointHeader& header);
  // Goes on behind the rows of the state that was read, or without rows if there was none.
  CheckpointWriter(const std::filesystem::path& path, const CheckpointContents& contents);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  void rows(std::span<const uint32_t> counts, ByteSpan bytes);
  // Goes on from all rows so far. On the disk, and in its place, when this returns.
  void state(uint64_t generation, ByteSpan bytes);
  // A file that is of no use goes.
  void discard();

 private:
  void open_new();
  void open(const std::filesystem::path& path, int flags);
  void lock(int descriptor) const;
  void hold_old();
  void open_aside();
  void put_in_place();
  void expect_replaceable() const;
  void close();
  void cut(uint64_t end);
  void append(std::initializer_list<ByteSpan> parts);
  void write_at(uint64_t at, ByteSpan bytes);
  void expect_whole() const;
  [[noreturn]] void fail(const char* expected) const;

  Place place_;
  std::filesystem::path path_, aside_;  // aside_: where it is written until it has a state; "": in its place
  CheckpointHeader header_;
  int descriptor_ = -1, old_ = -1;  // old_: the file that stays so long, locked
  uint64_t end_ = 0;                // of the last whole record
  uint64_t rows_hash_ = 0;          // of all records
  uint64_t states_ = 0;             // where the places of states begin
  int next_ = 0;                    // the place that the next state goes to
  bool is_regular_ = true, is_broken_ = false;
};

}  // namespace adit
