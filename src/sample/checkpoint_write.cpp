#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample/checkpoint_format.hpp"

namespace adit {

using namespace checkpoint;

CheckpointWriter::CheckpointWriter(const std::filesystem::path& path, const CheckpointHeader& header)
    : place_{"checkpoint", path.string()}, path_(path), header_(header) {
  open(O_RDWR | O_CREAT);
  try {
    cut(0);
    append({encode_head(header)});
  } catch (...) {  // no destructor runs yet
    ::close(descriptor_);
    throw;
  }
}

CheckpointWriter::CheckpointWriter(const std::filesystem::path& path, const CheckpointContents& contents)
    : place_{"checkpoint", path.string()}, path_(path), header_(contents.header) {
  open(O_RDWR);
  try {
    cut(contents.state ? contents.state->end : contents.head_end);
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
  if (is_regular_ && ::ftruncate(descriptor_, static_cast<off_t>(end)) != 0) fail("to shorten the file");
  if (is_regular_ && ::lseek(descriptor_, static_cast<off_t>(end), SEEK_SET) < 0) fail("to go to its end");
  end_ = end;
}

// All of the parts, or the file as it was and an error.
void CheckpointWriter::append(std::initializer_list<ByteSpan> parts) {
  if (is_broken_) place_.fail("expected a whole file, got one where an earlier write left half a record");
  uint64_t end = end_;
  for (ByteSpan part : parts)
    while (!part.empty()) {
      const ssize_t done = ::write(descriptor_, part.data(), std::min<size_t>(part.size(), size_t{1} << 30));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) {
        const int reason = errno;
        try {
          cut(end_);
        } catch (const Error&) {
          is_broken_ = true;
        }
        errno = reason;
        fail("to write it");
      }
      part = part.subspan(static_cast<size_t>(done));
      end += static_cast<uint64_t>(done);
    }
  end_ = end;
}

void CheckpointWriter::record(uint32_t kind, ByteSpan numbers, ByteSpan bytes) {
  append({encode_record(kind, numbers, bytes, end_), numbers, bytes});
}

void CheckpointWriter::rows(uint64_t first, uint64_t count, ByteSpan bytes) {
  const uint64_t expected = header_.chains * count * header_.row_elements() * header_.element_bytes();
  if (bytes.size() != expected)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[checkpoint] rows: expected {} bytes for {} rows, got {}", expected, count,
                            bytes.size()));
  Bytes numbers;
  append_number<uint64_t>(numbers, first);
  append_number<uint64_t>(numbers, count);
  record(kind_rows, numbers, bytes);
}

void CheckpointWriter::state(uint64_t generation, ByteSpan bytes) {
  Bytes numbers;
  append_number<uint64_t>(numbers, generation);
  record(kind_state, numbers, bytes);
  // Some file systems only tell of a full disk now; others (and pipes) cannot be asked.
  if (::fsync(descriptor_) != 0 && (errno == ENOSPC || errno == EIO || errno == EDQUOT))
    fail("it on the disk");
}

}  // namespace adit
