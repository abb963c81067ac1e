#include "support/cache.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>

#include "support/cache_folder.hpp"
#include "support/hash.hpp"
#include "support/log.hpp"

namespace adit::cache {
namespace {

using Payload = std::optional<std::vector<std::byte>>;

constexpr char magic[8] = {'A', 'D', 'I', 'T', 'f', 'i', 'l', 'e'};
constexpr uint32_t format_version = 1;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  uint64_t length;
  uint64_t hash_low, hash_high;
};
static_assert(sizeof(Header) == 40);

// The key seeds the hash, so that a file under another entry's name does not check out either.
Header header_of(const std::string& kind, const std::string& key, std::span<const std::byte> payload) {
  const Hash128 hash = hash128(payload, hash64(kind + '/' + key));
  Header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.version = format_version;
  header.length = payload.size();
  header.hash_low = hash.low;
  header.hash_high = hash.high;
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
  return "x" + hex_hash(word);
}

std::string entry_name(const std::string& key) { return plain(key) + std::string(entry_suffix); }

// An entry of the cache that is open for reading.
class Entry {
 public:
  Entry(const Folder& folder, const std::string& name) : folder_(folder), name_(name) {}

  Payload read(const std::string& kind, const std::string& key) {
    Opened opened = open_own_file_in(folder_.it, name_, folder_.path / name_);
    if (!opened.trouble.empty()) {
      say_once(opened.trouble + "; it is removed and made anew");
      return reject("not a file of ours");
    }
    if (!opened) return std::nullopt;
    struct stat status {};
    Header header{};
    if (::fstat(opened.it.number(), &status) != 0 || !opened.it.read(&header, sizeof header))
      return reject("shorter than its header");
    if (std::memcmp(header.magic, magic, sizeof magic) != 0) return reject("not one of ours");
    if (header.version != format_version || header.reserved != 0) return reject("of another format version");
    if (header.length > max_payload_bytes) return reject("longer than any entry");
    if (header.length != static_cast<uint64_t>(status.st_size) - sizeof header)
      return reject("not of the length it states");
    std::vector<std::byte> payload(header.length);
    if (!opened.it.read(payload.data(), payload.size())) return reject("cut short");
    const Header expected = header_of(kind, key, payload);
    if (header.hash_low != expected.hash_low || header.hash_high != expected.hash_high)
      return reject("its hash does not match");
    return payload;
  }

 private:
  Payload reject(const char* why) const {
    log_debug("[cache] {}: {}, removed", (folder_.path / name_).string(), why);
    ::unlinkat(folder_.it.number(), name_.c_str(), 0);
    return std::nullopt;
  }

  const Folder& folder_;
  const std::string& name_;
};

// The payload under a temporary name, or an empty one with errno set.
std::string write_temporary(const Folder& folder, const Header& header, std::span<const std::byte> payload) {
  static std::atomic<uint64_t> counter{0};
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name =
        fmt::format("{}{}-{}", temporary_prefix, ::getpid(), counter.fetch_add(1, std::memory_order_relaxed));
    Descriptor file(::openat(folder.it.number(), name.c_str(), flags, 0600));
    // A name may be taken by the leavings of a dead process, or by the same pid in another container.
    if (!file && errno == EEXIST) continue;
    if (!file) return {};
    if (file.write(&header, sizeof header) && file.write(payload.data(), payload.size()) && file.close())
      return name;
    const int failure = errno;
    ::unlinkat(folder.it.number(), name.c_str(), 0);
    errno = failure;
    return {};
  }
  errno = EEXIST;
  return {};
}

void say_unwritable(const std::filesystem::path& path, int failure) {
  say_unusable(fmt::format("{}: expected to write there, got: {}", path.string(), std::strerror(failure)));
}

}  // namespace

Payload load(const std::string& kind, const std::string& key) {
  const Folder folder = open_folder(open_root(false), plain(kind), false);
  if (!folder) return std::nullopt;
  const std::string name = entry_name(key);
  try {
    return Entry(folder, name).read(kind, key);
  } catch (const std::bad_alloc&) {  // what is kept is never needed
    return std::nullopt;
  }
}

void save(const std::string& kind, const std::string& key, std::span<const std::byte> payload) {
  if (payload.size() > max_payload_bytes)
    return log_debug("[cache] {}/{}: {} bytes are too many to keep", kind, key, payload.size());
  const Folder folder = open_folder(open_root(true), plain(kind), true);
  if (!folder) return;
  const std::string name = entry_name(key),
                    temporary = write_temporary(folder, header_of(kind, key, payload), payload);
  if (temporary.empty()) return say_unwritable(folder.path, errno);
  const int at = folder.it.number();
  if (::renameat(at, temporary.c_str(), at, name.c_str()) != 0) {
    const int failure = errno;
    ::unlinkat(at, temporary.c_str(), 0);
    return say_unwritable(folder.path / name, failure);
  }
  // Once in a while, what killed processes left behind goes.
  static std::atomic<uint64_t> saves{static_cast<uint64_t>(::getpid())};
  if (saves.fetch_add(1, std::memory_order_relaxed) % 64 == 0) remove_stale_temporaries(folder);
}

}  // namespace adit::cache
