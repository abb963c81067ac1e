#include "io/file.hpp"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <istream>
#include <ostream>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

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

Bytes zeros(const Place& place, uint64_t bytes) {
  try {
    return Bytes(bytes);
  } catch (const std::exception&) {  // bad_alloc or length_error
    throw Error(ErrorKind::out_of_memory, fmt::format("[{}] {}: expected memory for {} bytes, got none",
                                                      place.function, place.file, bytes));
  }
}

}  // namespace

Bytes read_file(const Place& place, const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) fail_with_reason(place, "a file to read");
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) fail_with_reason(place, "a file to read");
  Bytes bytes = zeros(place, S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0);
  std::byte more[16384];
  size_t filled = 0;
  while (true) {  // to the end, whatever the size was said to be
    const std::span<std::byte> room =
        filled < bytes.size() ? std::span(bytes).subspan(filled) : std::span(more);
    const ssize_t got = ::read(file.number(), room.data(), std::min<size_t>(room.size(), size_t{1} << 30));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_reason(place, "a file to read");
    if (got == 0) break;
    if (room.data() == more) bytes.insert(bytes.end(), more, more + got);
    filled += static_cast<size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
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
