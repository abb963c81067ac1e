// Zip archives, as far as .npz needs them: members stored or deflated, zip64 where sizes ask for it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/file.hpp"

namespace adit::zip {

struct Member {
  std::string name;
  Bytes bytes;
};

// Checks names, ranges, sizes and checksums; members that share bytes of the file are refused.
std::vector<Member> read(const Place& place, ByteSpan archive);

// Members follow one another; the directory comes with `finish`.
class Writer {
 public:
  // `always_zip64` writes the long form even where the short one would do.
  Writer(const Place& place, bool compress, bool always_zip64 = false)
      : place_(place), compress_(compress), always_zip64_(always_zip64) {}
  void add(const std::string& name, ByteSpan bytes);
  Bytes finish();

 private:
  struct Entry {
    std::string name;
    uint32_t checksum;
    uint64_t stored_bytes, bytes, offset;
    uint16_t method;
  };
  bool is_long(const Entry& entry) const;
  void append_entry(const Entry& entry);

  Place place_;
  bool compress_, always_zip64_;
  Bytes archive_;
  std::vector<Entry> entries_;
};

}  // namespace adit::zip
