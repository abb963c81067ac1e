// An open file or folder that closes itself.
#pragma once

#include <cerrno>
#include <cstddef>
#include <unistd.h>
#include <utility>

namespace adit {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }

  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  bool close() {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
  }

  // All of it, or false with errno set (0 where the file ended).
  bool read(void* data, size_t bytes) {
    auto* next = static_cast<char*>(data);
    return whole(bytes, [&](size_t done, size_t left) { return ::read(number_, next + done, left); });
  }
  bool write(const void* data, size_t bytes) {
    const auto* next = static_cast<const char*>(data);
    return whole(bytes, [&](size_t done, size_t left) { return ::write(number_, next + done, left); });
  }

 private:
  template <class F>
  static bool whole(size_t bytes, F&& some) {
    for (size_t done = 0; done < bytes;) {
      errno = 0;
      const ssize_t now = some(done, bytes - done);
      if (now < 0 && errno == EINTR) continue;
      if (now <= 0) return false;
      done += static_cast<size_t>(now);
    }
    return true;
  }

  int number_ = -1;
};

}  // namespace adit
