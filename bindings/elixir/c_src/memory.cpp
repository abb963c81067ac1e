#include "memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/uio.h>
#include <unistd.h>

namespace adit::nif {
namespace {

// The system reads a byte of each page on our behalf, and gives an error where we would be ended by a signal.
class Probe {
 public:
  Probe() { is_open_ = ::pipe(ends_.data()) == 0; }
  ~Probe() {
    if (!is_open_) return;
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  bool try_bytes(const iovec* places, int count) {
    if (!is_open_) return false;
    ssize_t written = 0;
    do written = ::writev(ends_[1], places, count);
    while (written < 0 && errno == EINTR);
    if (written != count) return false;
    std::array<char, at_once> bytes;
    return ::read(ends_[0], bytes.data(), bytes.size()) == count;
  }

  static constexpr size_t at_once = 512;  // fewer than any pipe holds

 private:
  std::array<int, 2> ends_{};
  bool is_open_ = false;
};

}  // namespace

bool is_readable(uint64_t address, size_t size) {
  if (size == 0) return true;
  if (address == 0 || address > UINTPTR_MAX - size) return false;
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  Probe probe;
  std::array<iovec, Probe::at_once> places;
  size_t count = 0;
  const uint64_t last = address + size - 1;
  for (uint64_t at = address;;) {
    places[count++] = {reinterpret_cast<void*>(static_cast<uintptr_t>(at)), 1};
    const uint64_t next = at - at % page + page;
    const bool is_last = next > last || next < at;
    if (is_last || count == places.size()) {
      if (!probe.try_bytes(places.data(), static_cast<int>(count))) return false;
      count = 0;
    }
    if (is_last) return true;
    at = next;
  }
}

}  // namespace adit::nif
