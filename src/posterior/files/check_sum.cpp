#include "posterior/files/check_sum.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "support/hash.hpp"

namespace adit::netcdf {
namespace {

std::string_view text_of(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string line_for(ByteSpan file) { return fmt::format("{}{}\n", check_sum_head, hex_hash(text_of(file))); }

bool all_zero(ByteSpan bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

// The superblock: HDF5 File Format Specification, II.A.
std::optional<uint64_t> hdf5_size(ByteSpan file) {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  if (file.size() < 64 || !text_of(file).starts_with(signature)) return {};
  const auto byte = [&](size_t at) { return static_cast<unsigned>(file[at]); };
  const unsigned version = byte(8);
  const size_t address_bytes = version < 2 ? 13 : 9;
  if (version > 3 || byte(address_bytes) != 8) return {};
  return read_number<uint64_t>(file, version == 0 ? 40 : version == 1 ? 44 : 28);
}

void append_check_sum(Bytes& file) {
  const auto size = hdf5_size(file);
  if (size && *size < file.size()) file.resize(*size);  // libnetcdf's memory may be larger than the file
  append_text(file, line_for(file));
}

Checked check(ByteSpan file) {
  if (file.size() >= check_sum_length) {
    const ByteSpan before = file.first(file.size() - check_sum_length);
    const std::string_view last = text_of(file.last(check_sum_length));
    if (last == line_for(before)) return {CheckSum::right, before};
    if (last.starts_with(check_sum_head)) return {CheckSum::wrong, before};
  }
  // Files of others end where they say, or are filled up with zeros. Else this was a sum.
  const auto size = hdf5_size(file);
  if (!size || *size >= file.size()) return {CheckSum::absent, file};
  const ByteSpan rest = file.subspan(*size);
  const bool filled_up = all_zero(rest) && rest.size() != check_sum_length;
  return {filled_up ? CheckSum::absent : CheckSum::wrong, file};
}

}  // namespace adit::netcdf
