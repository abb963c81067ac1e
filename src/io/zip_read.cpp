// Reading starts at the end: the end record tells where the directory is, the directory where the members
// are.
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <zlib.h>

#include "io/zip.hpp"
#include "io/zip_format.hpp"

namespace adit::zip {
namespace {

struct Entry {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t checksum = 0;
  uint64_t stored_bytes = 0, bytes = 0, offset = 0;
};

struct Directory {
  uint64_t entries = 0, bytes = 0, offset = 0;
};

class Reader {
 public:
  Reader(const Place& place, ByteSpan archive) : place_(place), archive_(archive) {}

  std::vector<Member> read() {
    const std::vector<Entry> entries = read_entries(find_directory());
    std::vector<Member> members;
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    std::set<std::string> names;
    for (const Entry& entry : entries) {
      if (!names.insert(entry.name).second) fail(entry, "a name that no other member has", "it twice");
      const uint64_t start = data_start(entry);
      ranges.emplace_back(entry.offset, start + entry.stored_bytes);
    }
    check_ranges(ranges);
    for (const Entry& entry : entries) members.push_back({entry.name, unpack(entry)});
    return members;
  }

 private:
  [[noreturn]] void fail(const Entry& entry, const std::string& wanted, const std::string& got) const {
    place_.fail(fmt::format("member {}: expected {}, got {}", in_quotes(entry.name), wanted, got));
  }
  bool has(uint64_t offset, uint64_t bytes) const {
    return offset <= archive_.size() && bytes <= archive_.size() - offset;
  }
  template <class T>
  T number(uint64_t at) const {
    return read_number<T>(archive_, at);
  }
  // Overlapping members would let a small file fill the memory.
  void check_ranges(std::vector<std::pair<uint64_t, uint64_t>>& ranges) const {
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 1; i < ranges.size(); i++)
      if (ranges[i].first < ranges[i - 1].second)
        place_.fail(
            fmt::format("expected members apart from each other, got two at byte {}", ranges[i].first));
  }
  Directory find_directory() const;
  Directory find_long_directory(uint64_t end_record) const;
  std::vector<Entry> read_entries(const Directory& directory) const;
  void read_long_sizes(Entry& entry, uint64_t at, uint64_t bytes) const;
  uint64_t data_start(const Entry& entry) const;
  Bytes unpack(const Entry& entry) const;
  Bytes inflate(const Entry& entry, ByteSpan from) const;

  const Place& place_;
  ByteSpan archive_;
};

Directory Reader::find_directory() const {
  if (archive_.size() < end_bytes)
    place_.fail(fmt::format("expected a zip archive, got {} bytes", archive_.size()));
  // A comment of up to 65,535 bytes may follow the record.
  const uint64_t last = archive_.size() - end_bytes, first = last > 0xffff ? last - 0xffff : 0;
  for (uint64_t at = last + 1; at-- > first;) {
    if (number<uint32_t>(at) != end_signature ||
        at + end_bytes + number<uint16_t>(at + 20) != archive_.size())
      continue;
    if (number<uint16_t>(at + 4) != 0 && number<uint16_t>(at + 4) != 0xffff)
      place_.fail("expected a zip archive in one file, got one of several");
    Directory directory{number<uint16_t>(at + 10), number<uint32_t>(at + 12), number<uint32_t>(at + 16)};
    if (directory.entries == 0xffff || directory.bytes == long_mark || directory.offset == long_mark)
      directory = find_long_directory(at);
    if (!has(directory.offset, directory.bytes) || directory.offset + directory.bytes > at)
      place_.fail(fmt::format("directory: expected {} bytes at {}, got a file of {} bytes", directory.bytes,
                              directory.offset, archive_.size()));
    return directory;
  }
  place_.fail("expected a zip archive, got no end record (truncated?)");
}

Directory Reader::find_long_directory(uint64_t end_record) const {
  if (end_record < locator_bytes || number<uint32_t>(end_record - locator_bytes) != locator_signature)
    place_.fail("expected a zip64 locator before the end record");
  const uint64_t at = number<uint64_t>(end_record - locator_bytes + 8);
  if (!has(at, long_end_bytes) || number<uint32_t>(at) != long_end_signature)
    place_.fail(fmt::format("expected a zip64 end record at byte {}", at));
  return {number<uint64_t>(at + 32), number<uint64_t>(at + 40), number<uint64_t>(at + 48)};
}

std::vector<Entry> Reader::read_entries(const Directory& directory) const {
  std::vector<Entry> entries;
  uint64_t at = directory.offset;
  const uint64_t end = directory.offset + directory.bytes;
  while (at < end) {
    if (end - at < entry_bytes || number<uint32_t>(at) != entry_signature)
      place_.fail(fmt::format("directory: expected an entry at byte {}", at));
    const uint64_t name_bytes = number<uint16_t>(at + 28), extra_bytes = number<uint16_t>(at + 30),
                   comment_bytes = number<uint16_t>(at + 32);
    const uint64_t extra = at + entry_bytes + name_bytes;
    if (end - at < entry_bytes + name_bytes + extra_bytes + comment_bytes)
      place_.fail(fmt::format("directory: expected a whole entry at byte {}", at));
    Entry entry;
    entry.name.assign(reinterpret_cast<const char*>(archive_.data()) + at + entry_bytes, name_bytes);
    entry.flags = number<uint16_t>(at + 8);
    entry.method = number<uint16_t>(at + 10);
    entry.checksum = number<uint32_t>(at + 16);
    entry.stored_bytes = number<uint32_t>(at + 20);
    entry.bytes = number<uint32_t>(at + 24);
    entry.offset = number<uint32_t>(at + 42);
    read_long_sizes(entry, extra, extra_bytes);
    entries.push_back(std::move(entry));
    at = extra + extra_bytes + comment_bytes;
  }
  if (entries.size() != directory.entries)
    place_.fail(fmt::format("directory: expected {} members, got {}", directory.entries, entries.size()));
  return entries;
}

// The extra field 1 holds, in this order, what did not fit in 32 bits.
void Reader::read_long_sizes(Entry& entry, uint64_t at, uint64_t bytes) const {
  const uint64_t end = at + bytes;
  uint64_t field = 0, field_end = 0;
  while (end - at >= 4 && field == 0) {
    const uint64_t length = number<uint16_t>(at + 2);
    if (length > end - at - 4) break;
    if (number<uint16_t>(at) == long_extra) field = at + 4, field_end = at + 4 + length;
    at += 4 + length;
  }
  for (uint64_t* value : {&entry.bytes, &entry.stored_bytes, &entry.offset}) {
    if (*value != long_mark) continue;
    if (field == 0 || field_end - field < 8) fail(entry, "sizes in a zip64 field", "none");
    *value = number<uint64_t>(field);
    field += 8;
  }
}

uint64_t Reader::data_start(const Entry& entry) const {
  if (entry.flags & 1) fail(entry, "no encryption", "an encrypted member");
  if (!has(entry.offset, local_bytes) || number<uint32_t>(entry.offset) != local_signature)
    fail(entry, fmt::format("its header at byte {}", entry.offset), "something else");
  const uint64_t name_bytes = number<uint16_t>(entry.offset + 26),
                 extra_bytes = number<uint16_t>(entry.offset + 28);
  const uint64_t start = entry.offset + local_bytes + name_bytes + extra_bytes;
  if (!has(start, entry.stored_bytes))
    fail(entry, fmt::format("{} bytes at byte {}", entry.stored_bytes, start),
         fmt::format("a file of {} bytes", archive_.size()));
  const std::string_view name(reinterpret_cast<const char*>(archive_.data()) + entry.offset + local_bytes,
                              name_bytes);
  if (name != entry.name) fail(entry, "the same name in its header", in_quotes(name));
  return start;
}

Bytes Reader::unpack(const Entry& entry) const {
  const ByteSpan from = archive_.subspan(data_start(entry), entry.stored_bytes);
  Bytes bytes;
  if (entry.method == stored) {
    if (entry.bytes != entry.stored_bytes)
      fail(entry, fmt::format("{} bytes", entry.bytes), fmt::format("{}", entry.stored_bytes));
    bytes.assign(from.begin(), from.end());
  } else if (entry.method == deflated) {
    bytes = inflate(entry, from);
  } else {
    fail(entry, "a stored or deflated member", fmt::format("compression method {}", entry.method));
  }
  const uint32_t checksum = checksum_of(bytes);
  if (checksum != entry.checksum)
    fail(entry, fmt::format("checksum {:08x}", entry.checksum), fmt::format("{:08x}", checksum));
  return bytes;
}

// Grows with what really comes, so that a false size costs nothing.
Bytes Reader::inflate(const Entry& entry, ByteSpan from) const {
  constexpr uint64_t most_at_once = uint64_t{1} << 30;
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) place_.fail("zlib could not start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);
  Bytes bytes;
  uint64_t read = 0, filled = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    if (filled == bytes.size()) {
      // One byte more than was said shows what is too long.
      const uint64_t grown = std::max<uint64_t>(65536, 2 * filled);
      bytes.resize(entry.bytes >= grown ? grown : entry.bytes + 1);
      if (filled == bytes.size()) break;
    }
    const uint64_t input = std::min(most_at_once, from.size() - read);
    const uint64_t output = std::min(most_at_once, bytes.size() - filled);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data() + read));
    stream.avail_in = static_cast<uInt>(input);
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + filled);
    stream.avail_out = static_cast<uInt>(output);
    state = ::inflate(&stream, Z_NO_FLUSH);
    read += input - stream.avail_in;
    filled += output - stream.avail_out;
  }
  if (state != Z_STREAM_END || filled != entry.bytes || read != from.size())
    fail(entry, fmt::format("{} bytes to inflate to {}", from.size(), entry.bytes),
         fmt::format("{} bytes after {} ({})", filled, read, stream.msg ? stream.msg : zError(state)));
  bytes.resize(filled);
  return bytes;
}

}  // namespace

std::vector<Member> read(const Place& place, ByteSpan archive) { return Reader(place, archive).read(); }

}  // namespace adit::zip
