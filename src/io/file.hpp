// Files as bytes, and errors that name them.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include <adit/error.hpp>

#include "io/host_array.hpp"

namespace adit {

using Bytes = std::vector<std::byte>;
using ByteSpan = std::span<const std::byte>;

// Where an error happened: the function the user called and the file.
struct Place {
  std::string function, file;
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::io, "[" + function + "] " + file + ": " + what);
  }
  // Of something inside the file.
  Place inside(const std::string& name) const { return {function, file + ": " + name}; }
};

Bytes read_file(const Place& place, const std::filesystem::path& path);
Bytes read_stream(const Place& place, std::istream& in);
// A symbolic link at the name of a new file: the file goes where it points, or takes its place.
enum class Links : uint8_t { followed, replaced };

// Files that are written aside, as ".<name>.writing-<process>-<number>", and put in place when all of them
// are whole and on the disk. What was not put in place goes.
class NewFiles {
 public:
  explicit NewFiles(Links links) : links_(links) {}
  ~NewFiles();
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  void add(const Place& place, const std::filesystem::path& path, ByteSpan bytes);
  void commit();

 private:
  struct File {
    Place place;
    std::filesystem::path temporary, target;
  };
  Links links_;
  std::vector<File> files_;  // not yet in place
};
// One such file.
void write_file(const Place& place, const std::filesystem::path& path, ByteSpan bytes,
                Links links = Links::followed);
void write_stream(const Place& place, std::ostream& out, ByteSpan bytes);

// "'abc'" for messages: cut if long, with what is not printable as \xNN.
std::string in_quotes(std::string_view text);

// Numbers in files are little-endian.
template <std::unsigned_integral T>
T read_number(ByteSpan bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); i++)
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(bytes[at + i]) << (8 * i)));
  return value;
}
template <std::unsigned_integral T>
void append_number(Bytes& to, T value) {
  for (size_t i = 0; i < sizeof(T); i++) to.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
}
inline void append_text(Bytes& to, std::string_view text) {
  for (const char c : text) to.push_back(static_cast<std::byte>(c));
}
// Elements, turned around where the machine is big-endian.
void append_elements(Bytes& to, const HostView& array);
HostArray host_array(DType type, const Shape& shape, ByteSpan bytes, std::endian order);

}  // namespace adit
