#include "support/cache.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <xxhash.h>

#include "support/log.hpp"

namespace adit::cache {
namespace {

namespace fs = std::filesystem;

constexpr char magic[8] = {'A', 'D', 'I', 'T', 'f', 'i', 'l', 'e'};
constexpr uint32_t format_version = 1;
constexpr std::string_view entry_suffix = ".adit";
constexpr std::string_view temporary_prefix = ".writing-";
constexpr auto stale_age = std::chrono::hours(1);

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  uint64_t length;
  uint64_t hash_low, hash_high;
};
static_assert(sizeof(Header) == 40);

// An open file that closes itself.
class File {
 public:
  File(const fs::path& path, int flags) : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  bool close() {
    const int descriptor = std::exchange(descriptor_, -1);
    return descriptor < 0 || ::close(descriptor) == 0;
  }
  bool write(const void* data, size_t bytes) {
    auto next = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t done = ::write(descriptor_, next, bytes);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      next += done;
      bytes -= static_cast<size_t>(done);
    }
    return true;
  }
  bool read(void* data, size_t bytes) {
    auto next = static_cast<char*>(data);
    while (bytes > 0) {
      const ssize_t done = ::read(descriptor_, next, bytes);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      next += done;
      bytes -= static_cast<size_t>(done);
    }
    return true;
  }

 private:
  int descriptor_;
};

// The key seeds the hash, so that a file under another entry's name does not check out either.
Header header_of(const std::string& kind, const std::string& key, std::span<const std::byte> payload) {
  const std::string name = kind + '/' + key;
  const XXH128_hash_t hash =
      XXH3_128bits_withSeed(payload.data(), payload.size(), XXH3_64bits(name.data(), name.size()));
  Header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.version = format_version;
  header.length = payload.size();
  header.hash_low = hash.low64;
  header.hash_high = hash.high64;
  return header;
}

// Keys that are plain words name their file; any other key is named by its hash.
std::string plain(const std::string& word) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (!word.empty() && word.size() <= 128 && word[0] != '.' &&
      std::all_of(word.begin(), word.end(), is_plain))
    return word;
  const XXH128_hash_t hash = XXH3_128bits(word.data(), word.size());
  return fmt::format("x{:016x}{:016x}", hash.high64, hash.low64);
}

fs::path entry_path(const fs::path& root, const std::string& kind, const std::string& key) {
  return root / plain(kind) / (plain(key) + std::string(entry_suffix));
}

bool is_temporary(const fs::path& path) { return path.filename().string().starts_with(temporary_prefix); }
bool is_entry(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(entry_suffix) && !name.starts_with('.');
}

bool is_stale(const fs::path& path) {
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  return !error && fs::file_time_type::clock::now() - written > stale_age;
}

template <class F>
void for_each_file(const fs::path& folder, F&& f) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->symlink_status(ignored).type() == fs::file_type::regular) f(it->path());
  }
}

std::vector<fs::path> folders() {
  std::vector<fs::path> found;
  const auto root = directory();
  if (!root) return found;
  std::error_code error;
  for (fs::directory_iterator it(*root, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->symlink_status(ignored).type() == fs::file_type::directory) found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

uint64_t remove_stale_temporaries(const fs::path& folder) {
  uint64_t removed = 0;
  for_each_file(folder, [&](const fs::path& path) {
    std::error_code ignored;
    if (is_temporary(path) && is_stale(path) && fs::remove(path, ignored)) ++removed;
  });
  return removed;
}

void say_unwritable(const fs::path& path, const std::string& why) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    log_info("[cache] {} cannot be written ({}): nothing is kept on disk", path.string(), why);
}

std::optional<std::vector<std::byte>> reject(const fs::path& path, const char* why) {
  log_debug("[cache] {}: {}, removed", path.string(), why);
  ::unlink(path.c_str());
  return std::nullopt;
}

// The payload under a temporary name, or an empty path with errno set.
fs::path write_temporary(const fs::path& folder, const Header& header, std::span<const std::byte> payload) {
  static std::atomic<uint64_t> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    const fs::path path = folder / fmt::format("{}{}-{}", temporary_prefix, ::getpid(),
                                               counter.fetch_add(1, std::memory_order_relaxed));
    File file(path, O_WRONLY | O_CREAT | O_EXCL);
    // A name may be taken by the leavings of a dead process, or by the same pid in another container.
    if (!file.is_open() && errno == EEXIST) continue;
    if (!file.is_open()) return {};
    if (file.write(&header, sizeof header) && file.write(payload.data(), payload.size()) && file.close())
      return path;
    const int failure = errno;
    ::unlink(path.c_str());
    errno = failure;
    return {};
  }
  errno = EEXIST;
  return {};
}

}  // namespace

std::optional<fs::path> directory() {
  if (const char* named = std::getenv("ADIT_CACHE")) {
    if (*named == '\0') return std::nullopt;
    return fs::path(named);
  }
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg && *xdg == '/') return fs::path(xdg) / "adit";
  const char* home = std::getenv("HOME");
  if (home && *home == '/') return fs::path(home) / ".cache" / "adit";
  return std::nullopt;
}

std::optional<std::vector<std::byte>> load(const std::string& kind, const std::string& key) {
  const auto root = directory();
  if (!root) return std::nullopt;
  const fs::path path = entry_path(*root, kind, key);
  File file(path, O_RDONLY);
  struct stat status {};
  if (!file.is_open() || ::fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;

  Header header{};
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size < sizeof header || !file.read(&header, sizeof header))
    return reject(path, "shorter than its header");
  if (std::memcmp(header.magic, magic, sizeof magic) != 0) return reject(path, "not one of ours");
  if (header.version != format_version || header.reserved != 0)
    return reject(path, "of another format version");
  if (header.length != size - sizeof header) return reject(path, "not of the length it states");
  std::vector<std::byte> payload(header.length);
  if (!file.read(payload.data(), payload.size())) return reject(path, "cut short");
  const Header expected = header_of(kind, key, payload);
  if (header.hash_low != expected.hash_low || header.hash_high != expected.hash_high)
    return reject(path, "its hash does not match");
  return payload;
}

void save(const std::string& kind, const std::string& key, std::span<const std::byte> payload) {
  const auto root = directory();
  if (!root) return;
  const fs::path path = entry_path(*root, kind, key);
  const fs::path folder = path.parent_path();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return say_unwritable(folder, error.message());

  const fs::path temporary = write_temporary(folder, header_of(kind, key, payload), payload);
  if (temporary.empty()) return say_unwritable(folder, std::strerror(errno));
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int failure = errno;
    ::unlink(temporary.c_str());
    return say_unwritable(path, std::strerror(failure));
  }
  // Once in a while, what killed processes left behind goes.
  static std::atomic<uint64_t> saves{static_cast<uint64_t>(::getpid())};
  if (saves.fetch_add(1, std::memory_order_relaxed) % 64 == 0) remove_stale_temporaries(folder);
}

std::vector<Usage> usage() {
  std::vector<Usage> kinds;
  for (const fs::path& folder : folders()) {
    Usage usage{folder.filename().string()};
    for_each_file(folder, [&](const fs::path& path) {
      std::error_code error;
      const auto bytes = fs::file_size(path, error);
      if (error || !is_entry(path)) return;
      ++usage.files;
      usage.bytes += bytes;
    });
    kinds.push_back(usage);
  }
  return kinds;
}

uint64_t clear() {
  uint64_t removed = 0;
  for (const fs::path& folder : folders()) {
    removed += remove_stale_temporaries(folder);
    for_each_file(folder, [&](const fs::path& path) {
      std::error_code error;
      if (is_entry(path) && fs::remove(path, error)) ++removed;
    });
  }
  return removed;
}

}  // namespace adit::cache
