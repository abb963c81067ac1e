#include <fmt/format.h>
#include <memory>
#include <zlib.h>

#include "io/zip.hpp"
#include "io/zip_format.hpp"

namespace adit::zip {
namespace {

constexpr uint16_t utf8_names = 0x800, version = 20, long_version = 45;
constexpr uint16_t date = 0x21;  // 1 January 1980: the same tensors give the same bytes

Bytes deflate(const Place& place, ByteSpan from) {
  constexpr uint64_t most_at_once = uint64_t{1} << 30;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    place.fail("zlib could not start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, deflateEnd);
  Bytes bytes;
  std::vector<Bytef> part(size_t{1} << 16);
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    const size_t input = std::min<size_t>(from.size(), most_at_once);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
    stream.avail_in = static_cast<uInt>(input);
    stream.next_out = part.data();
    stream.avail_out = static_cast<uInt>(part.size());
    state = ::deflate(&stream, input == from.size() ? Z_FINISH : Z_NO_FLUSH);
    if (state == Z_STREAM_ERROR) place.fail("zlib could not deflate");
    from = from.subspan(input - stream.avail_in);
    const auto* first = reinterpret_cast<const std::byte*>(part.data());
    bytes.insert(bytes.end(), first, first + (part.size() - stream.avail_out));
  }
  return bytes;
}

uint32_t short_form(uint64_t value, bool is_long) {
  return is_long ? static_cast<uint32_t>(long_mark) : static_cast<uint32_t>(value);
}

}  // namespace

bool Writer::is_long(const Entry& entry) const {
  return always_zip64_ || entry.bytes >= long_mark || entry.stored_bytes >= long_mark ||
         entry.offset >= long_mark;
}

void Writer::add(const std::string& name, ByteSpan bytes) {
  if (name.size() > 0xffff)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[{}] name: expected at most 65535 bytes, got {}", place_.function, name.size()));
  Bytes packed;
  if (compress_) packed = deflate(place_, bytes);
  const ByteSpan data = compress_ ? ByteSpan(packed) : bytes;
  const Entry entry{name,         checksum_of(bytes), data.size(),
                    bytes.size(), archive_.size(),    compress_ ? deflated : stored};
  const bool wide = is_long(entry);
  append_number<uint32_t>(archive_, local_signature);
  append_number<uint16_t>(archive_, wide ? long_version : version);
  append_number<uint16_t>(archive_, utf8_names);
  append_number<uint16_t>(archive_, entry.method);
  append_number<uint16_t>(archive_, 0);  // time
  append_number<uint16_t>(archive_, date);
  append_number<uint32_t>(archive_, entry.checksum);
  append_number<uint32_t>(archive_, short_form(entry.stored_bytes, wide));
  append_number<uint32_t>(archive_, short_form(entry.bytes, wide));
  append_number<uint16_t>(archive_, static_cast<uint16_t>(name.size()));
  append_number<uint16_t>(archive_, wide ? 20 : 0);
  append_text(archive_, name);
  if (wide) {
    append_number<uint16_t>(archive_, long_extra);
    append_number<uint16_t>(archive_, 16);
    append_number<uint64_t>(archive_, entry.bytes);
    append_number<uint64_t>(archive_, entry.stored_bytes);
  }
  archive_.insert(archive_.end(), data.begin(), data.end());
  entries_.push_back(entry);
}

void Writer::append_entry(const Entry& entry) {
  const bool wide = is_long(entry);
  append_number<uint32_t>(archive_, entry_signature);
  append_number<uint16_t>(archive_, (3 << 8) | long_version);  // made by a Unix
  append_number<uint16_t>(archive_, wide ? long_version : version);
  append_number<uint16_t>(archive_, utf8_names);
  append_number<uint16_t>(archive_, entry.method);
  append_number<uint16_t>(archive_, 0);
  append_number<uint16_t>(archive_, date);
  append_number<uint32_t>(archive_, entry.checksum);
  append_number<uint32_t>(archive_, short_form(entry.stored_bytes, wide));
  append_number<uint32_t>(archive_, short_form(entry.bytes, wide));
  append_number<uint16_t>(archive_, static_cast<uint16_t>(entry.name.size()));
  append_number<uint16_t>(archive_, wide ? 28 : 0);
  append_number<uint16_t>(archive_, 0);               // comment
  append_number<uint16_t>(archive_, 0);               // disk
  append_number<uint16_t>(archive_, 0);               // internal attributes
  append_number<uint32_t>(archive_, 0100644u << 16);  // a regular file
  append_number<uint32_t>(archive_, short_form(entry.offset, wide));
  append_text(archive_, entry.name);
  if (!wide) return;
  append_number<uint16_t>(archive_, long_extra);
  append_number<uint16_t>(archive_, 24);
  append_number<uint64_t>(archive_, entry.bytes);
  append_number<uint64_t>(archive_, entry.stored_bytes);
  append_number<uint64_t>(archive_, entry.offset);
}

Bytes Writer::finish() {
  const uint64_t offset = archive_.size(), count = entries_.size();
  for (const Entry& entry : entries_) append_entry(entry);
  const uint64_t bytes = archive_.size() - offset, long_end = archive_.size();
  const bool wide = always_zip64_ || count >= 0xffff || bytes >= long_mark || offset >= long_mark;
  if (wide) {
    append_number<uint32_t>(archive_, long_end_signature);
    append_number<uint64_t>(archive_, long_end_bytes - 12);
    append_number<uint16_t>(archive_, (3 << 8) | long_version);
    append_number<uint16_t>(archive_, long_version);
    append_number<uint64_t>(archive_, 0);  // this disk, the directory's disk
    append_number<uint64_t>(archive_, count);
    append_number<uint64_t>(archive_, count);
    append_number<uint64_t>(archive_, bytes);
    append_number<uint64_t>(archive_, offset);
    append_number<uint32_t>(archive_, locator_signature);
    append_number<uint32_t>(archive_, 0);
    append_number<uint64_t>(archive_, long_end);
    append_number<uint32_t>(archive_, 1);
  }
  append_number<uint32_t>(archive_, end_signature);
  append_number<uint32_t>(archive_, 0);  // disks
  for (int i = 0; i < 2; i++) append_number<uint16_t>(archive_, wide ? 0xffff : static_cast<uint16_t>(count));
  append_number<uint32_t>(archive_, short_form(bytes, wide));
  append_number<uint32_t>(archive_, short_form(offset, wide));
  append_number<uint16_t>(archive_, 0);
  return std::move(archive_);
}

}  // namespace adit::zip
