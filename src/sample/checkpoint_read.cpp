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
  void go_to(uint64_t at) {  // not behind the end
    in_.seekg(static_cast<std::streamoff>(at));
    at_ = at;
  }
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
  if (body.size() < 40) place.fail("expected a whole head, got a shorter one");
  CheckpointHeader header;
  header.dimensions = read_number<uint64_t>(body, 0);
  header.stats = read_number<uint64_t>(body, 8);
  header.chains = read_number<uint64_t>(body, 16);
  header.state_bytes = read_number<uint64_t>(body, 24);
  header.is_f32 = read_number<uint32_t>(body, 32) == 4;
  const uint32_t here = std::endian::native == std::endian::little ? 0 : 1;
  if (read_number<uint32_t>(body, 36) != here)
    place.fail("expected numbers in this machine's byte order, got those of another machine");
  size_t at = 40;
  header.options = take_text(place, body, at);
  header.layout = take_text(place, body, at);
  return header;
}

void read_head(const Place& place, Reader& reader, CheckpointContents& contents) {
  if (reader.left() < head_bytes) place.fail("expected a checkpoint, got a file that ends in its head");
  const Bytes head = reader.take(head_bytes);
  const std::string_view mark(reinterpret_cast<const char*>(head.data()), magic.size());
  if (mark != magic)
    place.fail(fmt::format("expected a checkpoint, got a file that starts with {}", in_quotes(mark)));
  const auto found = read_number<uint32_t>(head, 8);
  if (found != version || read_number<uint32_t>(head, 12) != 0)
    place.fail(
        fmt::format("expected a checkpoint of version {}, got version {}, which another release of adit "
                    "wrote; that one can go on with it, or this one can start the run anew",
                    version, found));
  const auto length = read_number<uint64_t>(head, 16);
  if (length > reader.left()) place.fail("expected a checkpoint, got a file that ends in its head");
  const Bytes body = reader.take(length);
  if (hash(body, version) != read_number<uint64_t>(head, 24))
    place.fail("expected a whole head, got a damaged one");
  contents.header = decode_body(place, body);
  contents.rows_hash = hash(head);
}

// --- States
// -------------------------------------------------------------------------------------------------

// A state that is whole; nothing where it is not, or where there was none yet.
std::optional<CheckpointState> read_state(Reader& reader, const CheckpointHeader& header, uint64_t at) {
  reader.go_to(at);
  const Bytes head = reader.take(state_head_bytes);
  const ByteSpan numbers(head);
  if (hash(numbers.first(state_head_bytes - 8), at) != read_number<uint64_t>(head, state_head_bytes - 8))
    return {};
  const auto length = read_number<uint64_t>(head, 24);
  if (length > header.state_bytes) return {};
  CheckpointState state;
  state.generation = read_number<uint64_t>(head, 0);
  state.rows_end = read_number<uint64_t>(head, 8);
  state.hash = read_number<uint64_t>(head, 16);
  state.bytes = reader.take(length);
  if (hash(state.bytes) != read_number<uint64_t>(head, 32)) return {};
  return state;
}

struct States {
  std::vector<CheckpointState> whole;
  bool begun[2] = {};  // something was written there
  bool all_whole() const {
    return whole.size() == static_cast<size_t>(begun[0]) + static_cast<size_t>(begun[1]);
  }
  bool has_newer_than(const CheckpointState& one) const {
    return std::any_of(whole.begin(), whole.end(),
                       [&](const CheckpointState& other) { return other.generation > one.generation; });
  }
};

States read_states(const Place& place, Reader& reader, CheckpointContents& contents) {
  if (contents.header.state_bytes > UINT64_MAX / 8) place.fail("expected a whole head, got a damaged one");
  const uint64_t begin = states_begin(reader.at()), room = state_room(contents.header);
  States states;
  contents.rows_begin = contents.good_end = begin + 2 * room;
  if (reader.left() == 0) return states;  // it was killed after its head
  if (reader.at() + reader.left() < contents.rows_begin)
    place.fail("expected a checkpoint, got a file that ends in its states");
  for (const int which : {0, 1}) {
    const uint64_t at = begin + static_cast<uint64_t>(which) * room;
    reader.go_to(at);
    states.begun[which] = !all_zero(reader.take(state_head_bytes));
    if (auto state = read_state(reader, contents.header, at)) {
      state->place = which;
      states.whole.push_back(std::move(*state));
    }
  }
  reader.go_to(contents.rows_begin);
  return states;
}

// --- Rows
// ---------------------------------------------------------------------------------------------------

void add_rows(const Place& place, CheckpointContents& contents, Bytes payload) {
  const CheckpointHeader& header = contents.header;
  CheckpointRows rows;
  const uint64_t counts = 4 * header.chains;
  if (payload.size() / 4 < header.chains) place.fail("expected a block of rows, got a shorter record");
  uint64_t count = 0;
  for (uint64_t chain = 0; chain < header.chains; ++chain) {
    rows.counts.push_back(read_number<uint32_t>(payload, 4 * chain));
    count += rows.counts.back();
  }
  payload.erase(payload.begin(), payload.begin() + static_cast<int64_t>(counts));
  if (payload.size() != count * header.row_bytes())
    place.fail(fmt::format("expected {} rows, got {} bytes", count, payload.size()));
  rows.bytes = std::move(payload);
  contents.rows.push_back(std::move(rows));
}

enum class Found { whole, cut, damaged };

// One record into the contents, its head into their hash.
Found read_record(const Place& place, Reader& reader, CheckpointContents& contents, uint64_t& rows_hash) {
  const uint64_t start = reader.at();
  if (reader.left() < record_bytes) return Found::cut;
  const Bytes head = reader.take(record_bytes);
  if (hash(ByteSpan(head).first(record_bytes - 8), start) != read_number<uint64_t>(head, record_bytes - 8))
    return all_zero(head) && reader.only_zeros_follow() ? Found::cut : Found::damaged;
  const auto length = read_number<uint64_t>(head, 0);
  if (length > reader.left()) return Found::cut;
  Bytes payload = reader.take(length);
  const ByteSpan all(payload);
  const uint64_t counts = std::min(length, 4 * contents.header.chains);
  if (hash(all.first(counts), all.subspan(counts)) != read_number<uint64_t>(head, 8))
    return reader.left() == 0 ? Found::cut : Found::damaged;
  add_rows(place.inside(fmt::format("record at byte {}", start)), contents, std::move(payload));
  rows_hash = hash(head, rows_hash);
  contents.good_end = reader.at();
  return Found::whole;
}

// The newest state that goes on from the rows so far.
void choose_state(CheckpointContents& contents, States& states, uint64_t rows_hash) {
  for (CheckpointState& state : states.whole) {
    if (state.rows_end != contents.good_end || state.hash != rows_hash) continue;
    if (contents.state && contents.state->generation > state.generation) continue;
    state.blocks = contents.rows.size();
    contents.state = std::move(state);
  }
}

Found read_rows(const Place& place, Reader& reader, CheckpointContents& contents, States& states) {
  uint64_t rows_hash = contents.rows_hash;
  choose_state(contents, states, rows_hash);
  while (reader.left() > 0) {
    const Found found = read_record(place, reader, contents, rows_hash);
    if (found != Found::whole) return found;
    choose_state(contents, states, rows_hash);
  }
  return Found::whole;
}

template <class Element>
std::vector<double> as_doubles(ByteSpan bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(Element));
  for (size_t i = 0; i < numbers.size(); i++) {
    Element element;
    std::memcpy(&element, bytes.data() + i * sizeof(Element), sizeof(Element));
    numbers[i] = static_cast<double>(element);
  }
  return numbers;
}

}  // namespace

std::vector<double> CheckpointHeader::numbers(ByteSpan rows) const {
  return is_f32 ? as_doubles<float>(rows) : as_doubles<double>(rows);
}

CheckpointContents read_checkpoint(const std::filesystem::path& path) {
  const Place place{"checkpoint", path.string()};
  Reader reader(place, path);
  CheckpointContents contents;
  read_head(place, reader, contents);
  States states = read_states(place, reader, contents);
  const Found found = read_rows(place, reader, contents, states);
  contents.torn = found != Found::whole || !states.all_whole() ||
                  (contents.state && states.has_newer_than(*contents.state));
  if (contents.state) return contents;
  const Place here = place.inside(fmt::format("record at byte {}", contents.good_end));
  if (found == Found::damaged) here.fail("expected rows that fit their checksum, got damage");
  if (!states.whole.empty()) here.fail("expected the rows that its states go on from, got fewer");
  // The second is begun when the first is whole.
  if (states.begun[1]) place.fail("expected one whole state of two, got damage in both");
  return contents;
}

std::vector<uint64_t> count_rows(const CheckpointContents& contents) {
  std::vector<uint64_t> totals(contents.header.chains);
  for (const CheckpointRows& block : contents.rows)
    for (size_t chain = 0; chain < totals.size(); ++chain) totals[chain] += block.counts[chain];
  return totals;
}

Bytes rows_of(const CheckpointContents& contents, std::span<const uint64_t> firsts,
              std::span<const uint64_t> counts) {
  const uint64_t width = contents.header.row_bytes();
  std::vector<uint64_t> to{0}, seen(firsts.size());  // where a chain's rows begin; its rows in earlier blocks
  for (const uint64_t count : counts) to.push_back(to.back() + count);
  Bytes result(to.back() * width);
  for (const CheckpointRows& block : contents.rows) {
    uint64_t from = 0;
    for (size_t chain = 0; chain < firsts.size(); ++chain) {
      const uint64_t first = std::max(seen[chain], firsts[chain]), count = block.counts[chain];
      const uint64_t last = std::min(seen[chain] + count, firsts[chain] + counts[chain]);
      if (first < last)
        std::memcpy(&result[(to[chain] + first - firsts[chain]) * width],
                    &block.bytes[(from + first - seen[chain]) * width], (last - first) * width);
      seen[chain] += count;
      from += count;
    }
  }
  return result;
}

}  // namespace adit
