// What the tests of files share: a folder, expected contents, errors, and bytes to damage.
#pragma once

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

#include <adit/io.hpp>

#include "io/npy.hpp"
#include "io/zip.hpp"

namespace adit::test {

namespace fs = std::filesystem;

// A folder of this test's own, removed afterwards.
class Io : public testing::Test {
 protected:
  Io() {
    static int counter = 0;
    folder_ =
        fs::temp_directory_path() / ("adit-io-" + std::to_string(getpid()) + "-" + std::to_string(counter++));
    fs::create_directories(folder_);
  }
  ~Io() override { fs::remove_all(folder_); }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_)) result.push_back(entry.path().filename());
    return result;
  }
  fs::path folder_;
};

inline Bytes bytes_of(std::string_view text) {
  Bytes bytes;
  append_text(bytes, text);
  return bytes;
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline void write(const fs::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

// The message of the Error of this kind that `f` throws.
template <class F>
std::string error_of(F f, ErrorKind kind = ErrorKind::io) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline void expect_words(const std::string& text, std::initializer_list<std::string> words) {
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << text << " has no " << word;
}

// --- What numpy_files.py makes ---

inline const std::map<std::string, Shape> shapes = {
    {"scalar", {}}, {"vector", {5}}, {"matrix", {2, 3}}, {"cube", {2, 3, 4}}, {"empty", {2, 0, 3}}};

template <class T>
void append_values(Bytes& bytes, int64_t count, bool is_signed, bool is_pair) {
  for (int64_t i = 0; i < count; i++) {
    const T parts[2] = {static_cast<T>(is_signed && !is_pair && i % 2 ? -i : i), static_cast<T>(2 * i)};
    append_text(bytes, {reinterpret_cast<const char*>(parts), (is_pair ? 2 : 1) * sizeof(T)});
  }
}

inline uint16_t small_half(int64_t number) {  // whole numbers up to 2048
  const auto magnitude = static_cast<uint32_t>(std::abs(number));
  if (magnitude == 0) return 0;
  const int power = std::bit_width(magnitude) - 1;
  const uint32_t fraction = (magnitude << (10 - power)) & 1023;
  return static_cast<uint16_t>((number < 0 ? 0x8000u : 0u) | static_cast<uint32_t>(power + 15) << 10 |
                               fraction);
}

inline HostArray counted(DType type, const Shape& shape) {
  HostArray array{type, shape, {}};
  const int64_t count = element_count(shape);
  switch (type) {
    case DType::u8: append_values<uint8_t>(array.bytes, count, false, false); break;
    case DType::u16: append_values<uint16_t>(array.bytes, count, false, false); break;
    case DType::u32: append_values<uint32_t>(array.bytes, count, false, false); break;
    case DType::u64: append_values<uint64_t>(array.bytes, count, false, false); break;
    case DType::i8: append_values<int8_t>(array.bytes, count, true, false); break;
    case DType::i16: append_values<int16_t>(array.bytes, count, true, false); break;
    case DType::i32: append_values<int32_t>(array.bytes, count, true, false); break;
    case DType::i64: append_values<int64_t>(array.bytes, count, true, false); break;
    case DType::f32: append_values<float>(array.bytes, count, true, false); break;
    case DType::f64: append_values<double>(array.bytes, count, true, false); break;
    case DType::c64: append_values<float>(array.bytes, count, true, true); break;
    case DType::c128: append_values<double>(array.bytes, count, true, true); break;
    default:
      for (int64_t i = 0; i < count; i++) append_number<uint16_t>(array.bytes, small_half(i % 2 ? -i : i));
  }
  return array;
}

inline Tensor to_tensor(const HostArray& array) { return from_bytes(array.type, array.shape, array.bytes); }

inline void expect_same(const Tensor& tensor, const HostArray& array, const std::string& what) {
  EXPECT_EQ(tensor.dtype(), array.type) << what;
  EXPECT_EQ(tensor.shape(), array.shape) << what;
  EXPECT_EQ(tensor.to_bytes(), array.bytes) << what;
}

inline std::map<std::string, HostArray> every_type(bool numpy_has_it) {
  std::map<std::string, HostArray> arrays;
  for (int i = 0; i < dtype_count; i++) {
    const auto type = static_cast<DType>(i);
    if (type == (numpy_has_it ? DType::bf16 : DType::c128)) continue;
    for (const auto& [name, shape] : shapes)
      arrays.emplace(std::string(name_of(type)) + "-" + name, counted(type, shape));
  }
  return arrays;
}

inline TensorMap to_tensors(const std::map<std::string, HostArray>& arrays) {
  TensorMap tensors;
  for (const auto& [name, array] : arrays) tensors.emplace(name, to_tensor(array));
  return tensors;
}

inline void expect_same(const TensorMap& tensors, const std::map<std::string, HostArray>& arrays) {
  EXPECT_EQ(tensors.size(), arrays.size());
  for (const auto& [name, array] : arrays) expect_same(tensors.at(name), array, name);
}

// --- Making and changing files ---

inline std::string npy_text(const std::string& header, const std::string& data) {
  std::string text = "\x93NUMPY";
  text += {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  return text + header + data;
}
inline Tensor decode_npy_text(const std::string& text) { return decode_npy(bytes_of(text)); }

// Every shorter file, and one byte more, must be refused.
template <class F>
void expect_whole(const Bytes& bytes, F decode) {
  decode(bytes);
  for (size_t length = 0; length < bytes.size(); length++)
    error_of([&] { decode(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length))); });
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  error_of([&] { decode(longer); });
}

// Other bytes from `at` on.
inline Bytes patched(Bytes bytes, size_t at, std::initializer_list<int> numbers) {
  for (const int number : numbers) bytes.at(at++) = static_cast<std::byte>(number);
  return bytes;
}
inline size_t find(const Bytes& bytes, std::string_view text) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).find(text);
}
inline std::string npz_error(const Bytes& bytes) {
  return error_of([&] { decode_npz(bytes); });
}

inline Bytes safe_bytes(const std::string& header, const std::string& data) {
  Bytes bytes;
  append_number<uint64_t>(bytes, header.size());
  append_text(bytes, header + data);
  return bytes;
}
inline std::string safe_error(const std::string& header, const std::string& data) {
  return error_of([&] { decode_safetensors(safe_bytes(header, data)); });
}

}  // namespace adit::test
