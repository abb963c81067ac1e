#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <numeric>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "sample/checkpoint_format.hpp"

namespace adit {

using namespace checkpoint;

namespace {

namespace fs = std::filesystem;

bool is_alive(pid_t process) { return ::kill(process, 0) == 0 || errno == EPERM; }

std::string aside_prefix(const fs::path& path) {
  return fmt::format(".{}.writing-", path.filename().string().substr(0, 100));
}

// What a file begins with, of a checkpoint's first bytes.
std::string beginning_of(int descriptor) {
  std::string text(magic.size(), '\0');
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

// Whether the name is that of the file that is open.
bool is_named(int descriptor, const fs::path& path) {
  struct stat mine {
  }, named{};
  return ::fstat(descriptor, &mine) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

// Whether nobody writes a file that a process began aside. What has a beginning was locked before it had one;
// without that, or where files cannot be locked, the number of the process tells.
bool is_left(int file, const std::string& beginning, pid_t process) {
  if (beginning.empty() && is_alive(process)) return false;
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
  return errno != EWOULDBLOCK && !is_alive(process);
}

// Files that dead processes wrote aside, and had not put in place: whole beginnings of checkpoints alone.
void remove_leftovers(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string prefix = aside_prefix(path);
  std::vector<std::pair<fs::path, pid_t>> begun;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    pid_t process = 0;
    if (!name.starts_with(prefix)) continue;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), process);
    if (process > 0) begun.emplace_back(at->path(), process);
  }
  for (const auto& [leftover, process] : begun) {  // to write, since some file systems lock no others
    const int file = ::open(leftover.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    const std::string beginning = beginning_of(file);
    if (magic.starts_with(beginning) && is_left(file, beginning, process)) ::unlink(leftover.c_str());
    ::close(file);
  }
}

}  // namespace

CheckpointWriter::CheckpointWriter(const std::filesystem::path& path, const CheckpointHeader& header)
    : place_{"checkpoint", path.string()}, path_(path), header_(header) {
  const Bytes head = encode_head(header);
  try {
    open_new();
    cut(0);
    append({head});
    states_ = states_begin(head.size());
    rows_hash_ = hash(ByteSpan(head).first(head_bytes));
    cut(states_ + 2 * state_room(header_));  // room for the states, which takes none yet
  } catch (...) {                            // no destructor runs yet
    if (descriptor_ >= 0) discard();         // nothing to go on from
    close();
    throw;
  }
}

CheckpointWriter::CheckpointWriter(const std::filesystem::path& path, const CheckpointContents& contents)
    : place_{"checkpoint", path.string()}, path_(path), header_(contents.header) {
  try {
    open(path_, O_RDWR);
    remove_leftovers(path_);
    const auto& state = contents.state;
    states_ = contents.rows_begin - 2 * state_room(header_);
    rows_hash_ = state ? state->hash : contents.rows_hash;
    next_ = state ? 1 - state->place : 0;
    cut(state ? state->rows_end : contents.rows_begin);
  } catch (...) {
    close();
    throw;
  }
}

CheckpointWriter::~CheckpointWriter() {
  if (!aside_.empty()) discard();
  close();
}

void CheckpointWriter::close() {
  for (int* descriptor : {&descriptor_, &old_})
    if (const int number = std::exchange(*descriptor, -1); number >= 0) ::close(number);
}

// Its folder may have been moved since, and the name be another's.
void CheckpointWriter::discard() {
  const fs::path& made = aside_.empty() ? path_ : aside_;
  if (is_regular_ && is_named(descriptor_, made)) ::unlink(made.c_str());
  aside_.clear();
}

void CheckpointWriter::fail(const char* expected) const {
  const int reason = errno;
  throw Error(reason == ENOENT ? ErrorKind::not_found : ErrorKind::io,
              fmt::format("[{}] {}: expected {}, got: {}", place_.function, place_.file, expected,
                          std::strerror(reason)));
}

// Where nothing is, the file is made in its place, so that another run can see it; else beside it.
void CheckpointWriter::open_new() {
  remove_leftovers(path_);
  struct stat status {};
  const bool is_there = ::lstat(path_.c_str(), &status) == 0;
  if (!is_there || !S_ISREG(status.st_mode))
    return open(path_, is_there ? O_RDWR : O_RDWR | O_CREAT | O_EXCL);
  hold_old();
  open_aside();
}

void CheckpointWriter::hold_old() {
  old_ = ::open(path_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (old_ < 0) fail("a file to write");
  lock(old_);
  if (const std::string begin = beginning_of(old_); !begin.empty() && begin != magic)
    place_.fail(
        fmt::format("expected a checkpoint or a new name, got a file that starts with {}", in_quotes(begin)));
}

void CheckpointWriter::open_aside() {
  constexpr int most_tries = 100;
  for (int i = 0; i < most_tries && descriptor_ < 0; ++i) {
    fs::path name = path_;
    name.replace_filename(fmt::format("{}{}-{}", aside_prefix(path_), ::getpid(), i));
    std::error_code error;
    if (fs::exists(fs::symlink_status(name, error))) continue;
    open(name, O_RDWR | O_CREAT | O_EXCL);
    aside_ = name;
  }
  if (descriptor_ < 0) place_.fail("expected a folder to write in, got one without a free name");
}

void CheckpointWriter::open(const fs::path& path, int flags) {
  descriptor_ = ::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("a file to write");
  struct stat status {};
  is_regular_ = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  lock(descriptor_);
}

// Two runs that append to one file would each see the other's records as damage. Not every file system locks.
void CheckpointWriter::lock(int descriptor) const {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    place_.fail("expected a file of this run alone, got one that another run is writing");
}

// What has come to the name since it was looked at may be another's, in a folder that was moved.
void CheckpointWriter::expect_replaceable() const {
  if (!is_named(descriptor_, aside_))
    place_.fail("expected its new file beside it, got another or none: its folder was moved or changed");
  struct stat status {};
  if (is_named(old_, path_) || (::lstat(path_.c_str(), &status) != 0 && errno == ENOENT)) return;
  const int file = ::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const std::string beginning = file >= 0 ? beginning_of(file) : "";
  if (file >= 0) ::close(file);
  if (beginning != magic) place_.fail("expected the old checkpoint or none, got another file");
}

void CheckpointWriter::put_in_place() {
  if (aside_.empty()) return;
  expect_replaceable();
  if (::rename(aside_.c_str(), path_.c_str()) != 0) fail("to put a new file in the place of the old one");
  const fs::path folder = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  if (const int names = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); names >= 0) {
    ::fsync(names);  // where the file system can be asked
    ::close(names);
  }
  aside_.clear();
  if (const int old = std::exchange(old_, -1); old >= 0) ::close(old);
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
  put_in_place();
  next_ = 1 - next_;
}

}  // namespace adit
