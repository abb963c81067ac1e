// Zip archives by libzip, as far as .npz needs them: members stored or deflated, one in memory at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/file.hpp"

struct zip;  // libzip's

namespace adit::zip {

// Names (each once), sizes and checksums are checked, and that the headers say what the directory says.
// Members that together are longer than the file are refused: they would share its bytes, and a small file
// would fill the memory.
class Reader {
 public:
  // The bytes must outlive the reader.
  Reader(const Place& place, ByteSpan archive);
  const std::vector<std::string>& names() const { return names_; }
  // `promised` is given the first bytes and tells how many there are in all: a member whose directory says
  // otherwise is not unpacked any further.
  Bytes read(size_t index, const std::function<uint64_t(ByteSpan first)>& promised) const;

 private:
  [[noreturn]] void fail(size_t index, const std::string& wanted, const std::string& got) const;

  Place place_;
  std::unique_ptr<::zip, void (*)(::zip*)> archive_;
  std::vector<std::string> names_;
};

// The same members give the same bytes.
class Writer {
 public:
  Writer(const Place& place, bool compress);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  // A member of `bytes` bytes; `content` is called in `finish`, and what it throws comes from there.
  void add(const std::string& name, uint64_t bytes, std::function<Bytes()> content);
  Bytes finish();

 private:
  struct Member;
  struct State;
  Place place_;
  bool compress_;
  std::unique_ptr<State> state_;
};

}  // namespace adit::zip
