#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <numeric>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample/checkpoint_format.hpp"

namespace adit {

using namespace checkpoint;

CheckpointWriter::CheckpointWriter(const std::filesystem::path& path, const CheckpointHeader& header)
    : place_{"checkpoint", path.string()}, path_(path), header_(header) {
  const Bytes head = encode_head(header);
  open(O_RDWR | O_CREAT);
  try {
    cut(0);
    append({head});
    states_ = states_begin(head.size());
    rows_hash_ = hash(ByteSpan(head).first(head_bytes));
    cut(states_ + 2 * state_room(header_));    // room for the states, which takes none yet
  } catch (...) {                              // no destructor runs yet
    if (is_regular_) ::unlink(path_.c_str());  // nothing to go on from
    ::close(descriptor_);
    throw;
  }
}

CheckpointWriter::CheckpointWriter(const std::filesystem::path& path, const CheckpointContents& contents)
    : place_{"checkpoint", path.string()}, path_(path), header_(contents.header) {
  open(O_RDWR);
  try {
    const auto& state = contents.state;
    states_ = contents.rows_begin - 2 * state_room(header_);
    rows_hash_ = state ? state->hash : contents.rows_hash;
    next_ = state ? 1 - state->place : 0;
    cut(state ? state->rows_end : contents.rows_begin);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

CheckpointWriter::~CheckpointWriter() { ::close(descriptor_); }

void CheckpointWriter::fail(const char* expected) const {
  const int reason = errno;
  throw Error(reason == ENOENT ? ErrorKind::not_found : ErrorKind::io,
              fmt::format("[{}] {}: expected {}, got: {}", place_.function, place_.file, expected,
                          std::strerror(reason)));
}

void CheckpointWriter::open(int flags) {
  descriptor_ = ::open(path_.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("a file to write");
  struct stat status {};
  is_regular_ = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  // Two runs that append to one file would each see the other's records as damage. Not every file system
  // locks.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    place_.fail("expected a file of this run alone, got one that another run is writing");
  }
}

void CheckpointWriter::cut(uint64_t end) {
  if (is_regular_ && ::ftruncate(descriptor_, static_cast<off_t>(end)) != 0) fail("to write it");
  end_ = end;
}

void CheckpointWriter::write_at(uint64_t at, ByteSpan bytes) {
  while (!bytes.empty()) {
    const size_t most = std::min<size_t>(bytes.size(), size_t{1} << 30);
    const ssize_t done = ::pwrite(descriptor_, bytes.data(), most, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("to write it");
    bytes = bytes.subspan(static_cast<size_t>(done));
    at += static_cast<uint64_t>(done);
  }
}

void CheckpointWriter::expect_whole() const {
  if (is_broken_) place_.fail("expected a whole file, got one where an earlier write left half a record");
}

// All of the parts, or the file as it was and an error.
void CheckpointWriter::append(std::initializer_list<ByteSpan> parts) {
  expect_whole();
  uint64_t end = end_;
  try {
    for (const ByteSpan part : parts) {
      write_at(end, part);
      end += part.size();
    }
  } catch (const Error&) {
    try {
      cut(end_);
    } catch (const Error&) {
      is_broken_ = true;
    }
    throw;
  }
  end_ = end;
}

void CheckpointWriter::rows(std::span<const uint32_t> counts, ByteSpan bytes) {
  const uint64_t count = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  if (counts.size() != header_.chains || bytes.size() != count * header_.row_bytes())
    throw Error(ErrorKind::bad_argument,
                fmt::format("[checkpoint] rows: expected {} bytes for {} rows of {} chains, got {} of {}",
                            count * header_.row_bytes(), count, header_.chains, bytes.size(), counts.size()));
  Bytes numbers;
  for (const uint32_t each : counts) append_number(numbers, each);
  const Bytes head = encode_record(numbers, bytes, end_);
  append({head, numbers, bytes});
  rows_hash_ = hash(head, rows_hash_);
}

// Over the older state. Where that fails, the newer one is still whole, and the next try goes here again.
void CheckpointWriter::state(uint64_t generation, ByteSpan bytes) {
  if (bytes.size() > header_.state_bytes)
    throw Error(ErrorKind::bad_argument, fmt::format("[checkpoint] state: expected at most {} bytes, got {}",
                                                     header_.state_bytes, bytes.size()));
  expect_whole();
  CheckpointState state;
  state.generation = generation;
  state.rows_end = end_;
  state.hash = rows_hash_;
  const uint64_t at = states_ + static_cast<uint64_t>(next_) * state_room(header_);
  const Bytes head = encode_state_head(state, bytes, at);
  write_at(at, head);
  write_at(at + head.size(), bytes);
  // Some file systems only tell of a full disk now; others (and pipes) cannot be asked.
  if (::fsync(descriptor_) != 0 && (errno == ENOSPC || errno == EIO || errno == EDQUOT))
    fail("it on the disk");
  next_ = 1 - next_;
}

}  // namespace adit
