#include "io/file.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <istream>
#include <ostream>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <adit/text.hpp>

#include "support/machine.hpp"

namespace adit {
namespace {

namespace fs = std::filesystem;

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  bool close() {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
  }

 private:
  int number_;
};

[[noreturn]] void fail_with_reason(const Place& place, const char* wanted) {
  const int reason = errno;
  const std::string text =
      fmt::format("[{}] {}: expected {}, got: {}", place.function, place.file, wanted, std::strerror(reason));
  throw Error(reason == ENOENT ? ErrorKind::not_found : ErrorKind::io, text);
}

void write_all(const Place& place, int descriptor, ByteSpan bytes) {
  while (!bytes.empty()) {
    const size_t part = std::min<size_t>(bytes.size(), size_t{1} << 30);
    const ssize_t done = ::write(descriptor, bytes.data(), part);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_with_reason(place, "to write it");
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
}

// Where the file really goes. A pipe, a device or a folder must not be renamed over.
fs::path final_path(const Place& place, const fs::path& path, Links links) {
  std::error_code error;
  fs::path target = path;
  fs::file_status status = fs::symlink_status(path, error);
  if (fs::is_symlink(status) && links == Links::replaced) return target;
  if (fs::is_symlink(status)) {
    target = fs::weakly_canonical(path, error);
    status = fs::status(target, error);
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) place.fail("expected a regular file or a new name");
  return target;
}

// A file that nobody else has, beside the target.
std::pair<int, fs::path> open_temporary(const Place& place, const fs::path& target) {
  static std::atomic<uint64_t> counter{0};
  constexpr int most_tries = 100;  // names may be left from a process of the same number
  for (int i = 0; i < most_tries; ++i) {
    fs::path name = target;
    name.replace_filename(
        fmt::format(".{}.writing-{}-{}", target.filename().string().substr(0, 100), getpid(), counter++));
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file >= 0) return {file, name};
    if (errno != EEXIST) break;
  }
  fail_with_reason(place, "a folder to write in");
}

// Some file systems only tell of a full disk now; others cannot be asked.
void sync(const Place& place, const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() >= 0 && ::fsync(file.number()) != 0 &&
      (errno == ENOSPC || errno == EIO || errno == EDQUOT))
    fail_with_reason(place, "it on the disk");
}

// What can never be held is refused before it is tried: a sparse file, or a pipe without an end.
void expect_room(const Place& place, uint64_t bytes) {
  if (bytes > machine::memory_bytes())
    throw Error(ErrorKind::out_of_memory,
                fmt::format("[{}] {}: expected what fits into {} bytes of memory, got what needs {} or more",
                            place.function, place.file, machine::memory_bytes(), bytes));
}

Bytes zeros(const Place& place, uint64_t bytes) {
  expect_room(place, bytes);
  try {
    return Bytes(bytes);
  } catch (const std::exception&) {  // bad_alloc or length_error
    throw Error(ErrorKind::out_of_memory, fmt::format("[{}] {}: expected memory for {} bytes, got none",
                                                      place.function, place.file, bytes));
  }
}

// A file or a pipe. A pipe is opened without waiting: one that nobody writes to gets some seconds to find a
// writer, one that has a writer all the time of the world.
class Source {
 public:
  Source(const Place& place, int descriptor, bool is_pipe)
      : place_(place), descriptor_(descriptor), has_writer_(!is_pipe) {}
  // 0 at the end.
  size_t read(std::span<std::byte> room) {
    while (true) {
      const ssize_t got = ::read(descriptor_, room.data(), std::min<size_t>(room.size(), size_t{1} << 30));
      if (got > 0 || (got == 0 && has_writer_)) return has_writer_ = true, static_cast<size_t>(got);
      if (got == 0) {
        wait_for_writer();
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        has_writer_ = true;
        wait(-1);
      } else if (errno != EINTR) {
        fail_with_reason(place_, "a file to read");
      }
    }
  }

 private:
  short wait(int milliseconds) const {
    pollfd what{descriptor_, POLLIN, 0};
    return ::poll(&what, 1, milliseconds) > 0 ? what.revents : short{0};
  }
  void wait_for_writer() {
    if (std::chrono::steady_clock::now() > patience_)
      place_.fail("expected a file to read, got a pipe that nobody writes to");
    has_writer_ = wait(20) != 0;
  }

  const Place& place_;
  int descriptor_;
  bool has_writer_;
  std::chrono::steady_clock::time_point patience_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(3);
};

// Files and pipes have an end; a device need not have one.
void expect_an_end(const Place& place, const struct stat& status) {
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))
    place.fail("expected a file or a pipe to read, got a device");
}

}  // namespace

Bytes read_file(const Place& place, const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.number() < 0) fail_with_reason(place, "a file to read");
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) fail_with_reason(place, "a file to read");
  expect_an_end(place, status);
  Bytes bytes = zeros(place, S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0);
  Source source(place, file.number(), S_ISFIFO(status.st_mode));
  std::byte more[65536];
  size_t filled = 0;
  while (true) {  // to the end, whatever the size was said to be
    const std::span<std::byte> room =
        filled < bytes.size() ? std::span(bytes).subspan(filled) : std::span(more);
    const size_t got = source.read(room);
    if (got == 0) break;
    filled += got;
    if (room.data() != more) continue;
    expect_room(place,
                4 * uint64_t{filled});  // the list doubles, and what is read from it has its size again
    bytes.insert(bytes.end(), more, more + got);
  }
  bytes.resize(filled);
  return bytes;
}

std::string read_text(const std::string& path) {
  const Bytes bytes = read_file({"read_text", printable(path)}, path == "-" ? "/dev/stdin" : path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Bytes read_stream(const Place& place, std::istream& in) {
  Bytes bytes;
  char part[65536];
  while (in.read(part, sizeof part) || in.gcount() > 0) {
    const auto* first = reinterpret_cast<const std::byte*>(part);
    bytes.insert(bytes.end(), first, first + in.gcount());
  }
  if (in.bad()) place.fail("expected a stream to read, got an error of the stream");
  return bytes;
}

NewFiles::~NewFiles() {
  for (const File& file : files_) ::unlink(file.temporary.c_str());
}

void NewFiles::add(const Place& place, const fs::path& path, ByteSpan bytes) {
  const fs::path target = final_path(place, path, links_);
  const auto [number, temporary] = open_temporary(place, target);
  Descriptor file(number);
  files_.push_back({place, temporary, target});
  write_all(place, file.number(), bytes);
  if (!file.close()) fail_with_reason(place, "to write it");
}

void NewFiles::commit() {
  for (const File& file : files_) sync(file.place, file.temporary);
  while (!files_.empty()) {
    const File& file = files_.back();
    if (::rename(file.temporary.c_str(), file.target.c_str()) != 0)
      fail_with_reason(file.place, "to rename the new file");
    files_.pop_back();
  }
}

void write_file(const Place& place, const fs::path& path, ByteSpan bytes, Links links) {
  NewFiles files(links);
  files.add(place, path, bytes);
  files.commit();
}

void write_stream(const Place& place, std::ostream& out, ByteSpan bytes) {
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out) place.fail("expected a stream to write, got an error of the stream");
}

std::string in_quotes(std::string_view text) {
  constexpr size_t most = 80;
  std::string result = "'";
  for (const char c : text.substr(0, most)) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 32 || code > 126)
      result += fmt::format("\\x{:02x}", code);
    else
      result += c;
  }
  return result + (text.size() > most ? "...'" : "'");
}

void append_elements(Bytes& to, const HostView& array) {
  to.insert(to.end(), array.bytes.begin(), array.bytes.end());
  if (std::endian::native == std::endian::big) swap_bytes(array.type, std::span(to).last(array.bytes.size()));
}

HostArray host_array(DType type, const Shape& shape, ByteSpan bytes, std::endian order) {
  HostArray array{type, shape, {bytes.begin(), bytes.end()}};
  if (order != std::endian::native) swap_bytes(type, array.bytes);
  return array;
}

}  // namespace adit
