// safetensors: 8 bytes of header length, a JSON header, then the elements of all tensors without gaps.
#pragma once

#include <map>
#include <string>

#include "io/file.hpp"

namespace adit::safetensors {

using Texts = std::map<std::string, std::string>;

// A tensor whose elements still lie in the file.
struct Entry {
  DType type = DType::f32;
  bool boolean = false;
  Shape shape;
  uint64_t begin = 0, end = 0;  // bytes after the header
};
struct Header {
  std::map<std::string, Entry> entries;
  Texts metadata;
};

// The header's JSON; only its grammar, types and shapes are checked.
Header read_header(const Place& place, std::string_view json);
// The type's name in the format; empty where it has none.
std::string_view type_name(DType type);

std::map<std::string, HostArray> decode(const Place& place, ByteSpan bytes, Texts* metadata);
Bytes encode(const Place& place, const std::map<std::string, HostArray>& arrays, const Texts& metadata);

}  // namespace adit::safetensors
