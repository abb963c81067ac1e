// Numbers and texts in a row of bytes, and back. Reading past the end throws.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <adit/error.hpp>

namespace adit::compile {

class Packer {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(T));
  }
  void put_size(size_t value) { put(static_cast<uint64_t>(value)); }
  void put(const std::string& text) {
    put_size(text.size());
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), bytes, bytes + text.size());
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  // An enumerator up to `last`.
  template <class T>
  T get(T last) {
    const T value = get<T>();
    if (value > last) fail();
    return value;
  }
  bool get_bool() { return get<uint8_t>() != 0; }
  // A count of things that take at least `least` bytes each, so that a wrong one cannot ask for all memory;
  // 0: any number.
  size_t get_size(size_t least = 1) {
    const auto value = get<uint64_t>();
    if (least != 0 && value > bytes_.size() / least) fail();
    return static_cast<size_t>(value);
  }
  std::string get_text() {
    const size_t length = get_size();
    return {reinterpret_cast<const char*>(take(length)), length};
  }
  void expect_end() const {
    if (!bytes_.empty()) fail();
  }
  [[noreturn]] static void fail() {
    throw Error(ErrorKind::bad_argument, "[cache] executable: expected what this version writes");
  }

 private:
  const std::byte* take(size_t count) {
    if (count > bytes_.size()) fail();
    const std::byte* place = bytes_.data();
    bytes_ = bytes_.subspan(count);
    return place;
  }
  std::span<const std::byte> bytes_;
};

}  // namespace adit::compile
