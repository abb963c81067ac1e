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

// Where the file really goes: what a symbolic link names. A pipe or a device must not be renamed over.
fs::path final_path(const Place& place, const fs::path& path) {
  std::error_code error;
  fs::path target = path;
  if (fs::is_symlink(fs::symlink_status(path, error))) target = fs::weakly_canonical(path, error);
  const fs::file_status status = fs::status(target, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) place.fail("expected a regular file or a new name");
  return target;
}

fs::path temporary_path(const fs::path& target) {
  static std::atomic<uint64_t> counter{0};
  fs::path name = target;
  name.replace_filename(
      fmt::format(".{}.writing-{}-{}", target.filename().string().substr(0, 100), getpid(), counter++));
  return name;
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

void write_file(const Place& place, const fs::path& path, ByteSpan bytes) {
  const fs::path target = final_path(place, path), temporary = temporary_path(target);
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.number() < 0) fail_with_reason(place, "a folder to write in");
  try {
    write_all(place, file.number(), bytes);
    if (!file.close()) fail_with_reason(place, "to write it");
    if (::rename(temporary.c_str(), target.c_str()) != 0) fail_with_reason(place, "to rename the new file");
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
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
