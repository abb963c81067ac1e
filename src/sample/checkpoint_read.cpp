#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

#include "sample/checkpoint_format.hpp"

namespace adit {
namespace {

using namespace checkpoint;

// A file front to back, one record in memory at a time.
class Reader {
 public:
  Reader(const Place& place, const std::filesystem::path& path) : place_(place) {
    std::error_code error;
    if (!std::filesystem::exists(path, error))
      throw Error(ErrorKind::not_found, fmt::format("[{}] {}: expected a checkpoint, got no such file",
                                                    place.function, place.file));
    size_ = std::filesystem::file_size(path, error);
    if (error) place.fail(fmt::format("expected a checkpoint, got: {}", error.message()));
    in_.open(path, std::ios::binary);
    if (!in_) place.fail("expected a file to read");
  }
  uint64_t left() const { return size_ - at_; }
  uint64_t at() const { return at_; }
  Bytes take(uint64_t count) {
    Bytes bytes(count);  // no more than is left, so that a wrong length asks for no memory
    in_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
    if (!in_) place_.fail("expected to read it, got an error");
    at_ += count;
    return bytes;
  }
  // Whether nothing but zeros follows: what a machine that lost its power leaves of data not yet on the disk.
  bool only_zeros_follow() {
    while (left() > 0)
      for (const std::byte byte : take(std::min<uint64_t>(left(), 65536)))
        if (byte != std::byte{0}) return false;
    return true;
  }

 private:
  const Place& place_;
  std::ifstream in_;
  uint64_t size_ = 0, at_ = 0;
};

bool all_zero(ByteSpan bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

std::string take_text(const Place& place, ByteSpan bytes, size_t& at) {
  if (bytes.size() - at < 8) place.fail("expected a whole head, got a shorter one");
  const auto length = read_number<uint64_t>(bytes, at);
  at += 8;
  if (bytes.size() - at < length) place.fail("expected a whole head, got a shorter one");
  std::string text(reinterpret_cast<const char*>(bytes.data()) + at, length);
  at += length;
  return text;
}

CheckpointHeader decode_body(const Place& place, ByteSpan body) {
  if (body.size() < 32) place.fail("expected a whole head, got a shorter one");
  CheckpointHeader header;
  header.dimensions = read_number<uint64_t>(body, 0);
  header.stats = read_number<uint64_t>(body, 8);
  header.chains = read_number<uint64_t>(body, 16);
  header.is_f32 = read_number<uint32_t>(body, 24) == 4;
  const uint32_t here = std::endian::native == std::endian::little ? 0 : 1;
  if (read_number<uint32_t>(body, 28) != here)
    place.fail("expected numbers in this machine's byte order, got those of another machine");
  size_t at = 32;
  header.options = take_text(place, body, at);
  header.layout = take_text(place, body, at);
  return header;
}

CheckpointHeader read_head(const Place& place, Reader& reader) {
  if (reader.left() < head_bytes) place.fail("expected a checkpoint, got a file that ends in its head");
  const Bytes head = reader.take(head_bytes);
  const std::string_view mark(reinterpret_cast<const char*>(head.data()), magic.size());
  if (mark != magic)
    place.fail(fmt::format("expected a checkpoint, got a file that starts with {}", in_quotes(mark)));
  const auto found = read_number<uint32_t>(head, 8);
  if (found != version || read_number<uint32_t>(head, 12) != 0)
    place.fail(fmt::format("expected a checkpoint of version {}, got {}", version, found));
  const auto length = read_number<uint64_t>(head, 16);
  if (length > reader.left()) place.fail("expected a checkpoint, got a file that ends in its head");
  const Bytes body = reader.take(length);
  if (hash(body, version) != read_number<uint64_t>(head, 24))
    place.fail("expected a whole head, got a damaged one");
  return decode_body(place, body);
}

void add_rows(const Place& place, CheckpointContents& contents, Bytes payload) {
  const CheckpointHeader& header = contents.header;
  CheckpointRows rows;
  if (payload.size() < rows_bytes) place.fail("expected a block of rows, got a shorter record");
  rows.first = read_number<uint64_t>(payload, 0);
  rows.count = read_number<uint64_t>(payload, 8);
  payload.erase(payload.begin(), payload.begin() + rows_bytes);
  const uint64_t row_bytes = header.chains * header.row_elements() * header.element_bytes();
  const bool fits = row_bytes == 0
                        ? payload.empty()
                        : payload.size() % row_bytes == 0 && payload.size() / row_bytes == rows.count;
  if (!fits) place.fail(fmt::format("expected {} rows, got {} bytes", rows.count, payload.size()));
  rows.bytes = std::move(payload);
  contents.rows.push_back(std::move(rows));
}

void add_state(const Place& place, CheckpointContents& contents, Bytes payload, uint64_t end) {
  if (payload.size() < state_bytes) place.fail("expected a state, got a shorter record");
  CheckpointState state;
  state.generation = read_number<uint64_t>(payload, 0);
  payload.erase(payload.begin(), payload.begin() + state_bytes);
  state.bytes = std::move(payload);
  state.blocks = contents.rows.size();
  state.end = end;
  contents.state = std::move(state);
}

// One record into the contents; false where the file was cut off in it.
bool read_record(const Place& place, Reader& reader, CheckpointContents& contents) {
  const uint64_t start = reader.at();
  const Place here = place.inside(fmt::format("record at byte {}", start));
  if (reader.left() < record_bytes) return false;
  const Bytes head = reader.take(record_bytes);
  if (hash(ByteSpan(head).first(record_bytes - 8), start) != read_number<uint64_t>(head, record_bytes - 8)) {
    if (all_zero(head) && reader.only_zeros_follow()) return false;
    here.fail("expected the head of a record, got damage");
  }
  const auto kind = read_number<uint32_t>(head, 0);
  const auto length = read_number<uint64_t>(head, 8);
  if (length > reader.left()) return false;
  Bytes payload = reader.take(length);
  const uint64_t numbers = std::min(length, kind == kind_rows ? rows_bytes : state_bytes);
  const ByteSpan all(payload);
  if (hash(all.first(numbers), all.subspan(numbers)) != read_number<uint64_t>(head, 16)) {
    if (reader.left() == 0) return false;
    here.fail("expected a record that fits its checksum, got damage");
  }
  if (kind == kind_rows)
    add_rows(here, contents, std::move(payload));
  else if (kind == kind_state)
    add_state(here, contents, std::move(payload), reader.at());
  else
    here.fail(fmt::format("expected rows or a state, got a record of kind {}", kind));
  return true;
}

template <class Element>
std::vector<double> as_doubles(const Bytes& bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(Element));
  for (size_t i = 0; i < numbers.size(); i++) {
    Element element;
    std::memcpy(&element, bytes.data() + i * sizeof(Element), sizeof(Element));
    numbers[i] = static_cast<double>(element);
  }
  return numbers;
}

}  // namespace

std::vector<double> CheckpointRows::numbers(const CheckpointHeader& header) const {
  return header.is_f32 ? as_doubles<float>(bytes) : as_doubles<double>(bytes);
}

CheckpointContents read_checkpoint(const std::filesystem::path& path) {
  const Place place{"checkpoint", path.string()};
  Reader reader(place, path);
  CheckpointContents contents;
  contents.header = read_head(place, reader);
  contents.head_end = contents.good_end = reader.at();
  while (reader.left() > 0 && !contents.torn) {
    contents.torn = !read_record(place, reader, contents);
    if (!contents.torn) contents.good_end = reader.at();
  }
  return contents;
}

}  // namespace adit
