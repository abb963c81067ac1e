#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <fmt/format.h>
#include <zip.h>

#include "io/zip.hpp"

namespace adit::zip {
namespace {

constexpr uint16_t midnight = 0, first_of_1980 = 0x21;  // no clock: the same tensors give the same bytes
constexpr zip_uint32_t regular_file = 0100644u << 16;
constexpr size_t most_name_bytes = 0xffff;
constexpr char no_members[22] = {'P', 'K', 5, 6};  // libzip has no archive for these

}  // namespace

// libzip asks for a member's bytes when it writes it, and lets go of them before the next.
struct Writer::Member {
  uint64_t bytes = 0;
  std::function<Bytes()> content;
  std::exception_ptr* failure = nullptr;
  Bytes held{};
  size_t given = 0;

  zip_int64_t open() {
    try {
      held = content();
    } catch (...) {  // not through libzip
      *failure = std::current_exception();
      return -1;
    }
    given = 0;
    return 0;
  }

  zip_int64_t read(void* to, zip_uint64_t most) {
    const size_t now = std::min<size_t>(most, held.size() - given);
    if (now > 0) std::memcpy(to, held.data() + given, now);
    given += now;
    return static_cast<zip_int64_t>(now);
  }

  zip_int64_t tell_size(void* to) const {
    auto* about = static_cast<zip_stat_t*>(to);
    zip_stat_init(about);
    about->size = bytes;
    about->valid = ZIP_STAT_SIZE;
    return sizeof *about;
  }

  static zip_int64_t answer(void* self, void* data, zip_uint64_t length, zip_source_cmd_t command) {
    auto& member = *static_cast<Member*>(self);
    switch (command) {
      case ZIP_SOURCE_OPEN: return member.open();
      case ZIP_SOURCE_READ: return member.read(data, length);
      case ZIP_SOURCE_CLOSE: member.held = {}; return 0;
      case ZIP_SOURCE_STAT: return member.tell_size(data);
      case ZIP_SOURCE_FREE: return 0;
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
      default: {
        const int codes[2] = {ZIP_ER_READ, 0};
        if (command != ZIP_SOURCE_ERROR || length < sizeof codes) return -1;
        std::memcpy(data, codes, sizeof codes);
        return sizeof codes;
      }
    }
  }
};

struct Writer::State {
  std::deque<Member> members{};  // libzip holds their addresses
  std::exception_ptr failure{};
  zip_source_t* sink = nullptr;
  zip_t* archive = nullptr;
  ~State() {
    if (archive) zip_discard(archive);
    if (sink) zip_source_free(sink);
  }
};

Writer::Writer(const Place& place, bool compress)
    : place_(place), compress_(compress), state_(std::make_unique<State>()) {
  zip_error_t error;
  zip_error_init(&error);
  state_->sink = zip_source_buffer_create(nullptr, 0, 0, &error);
  if (state_->sink) {
    zip_source_keep(state_->sink);  // one for the archive, one for us
    state_->archive = zip_open_from_source(state_->sink, ZIP_TRUNCATE, &error);
    if (!state_->archive) zip_source_free(state_->sink);
  }
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (!state_->archive) place_.fail("expected to start a zip archive, got: " + why);
}

Writer::~Writer() = default;

void Writer::add(const std::string& name, uint64_t bytes, std::function<Bytes()> content) {
  const auto refuse = [&](const std::string& wanted, const std::string& got) {
    throw Error(ErrorKind::bad_argument,
                fmt::format("[{}] name: expected {}, got {}", place_.function, wanted, got));
  };
  if (name.size() > most_name_bytes) refuse("at most 65535 bytes", fmt::format("{}", name.size()));
  if (name.find('\0') != std::string::npos) refuse("no byte 0", in_quotes(name));
  State& s = *state_;
  s.members.push_back({bytes, std::move(content), &s.failure});
  zip_source_t* source = zip_source_function(s.archive, Member::answer, &s.members.back());
  const zip_int64_t index = source ? zip_file_add(s.archive, name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
  if (index < 0) {
    zip_source_free(source);
    if (zip_error_code_zip(zip_get_error(s.archive)) == ZIP_ER_EXISTS)
      refuse("a name that no other member has", in_quotes(name));
    if (zip_error_code_zip(zip_get_error(s.archive)) == ZIP_ER_INVAL) refuse("UTF-8", in_quotes(name));
  }
  const auto at = static_cast<zip_uint64_t>(index);
  if (index < 0 ||
      zip_set_file_compression(s.archive, at, compress_ ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(s.archive, at, midnight, first_of_1980, 0) != 0 ||
      zip_file_set_external_attributes(s.archive, at, 0, ZIP_OPSYS_UNIX, regular_file) != 0)
    place_.fail(
        fmt::format("member {}: expected to add it, got: {}", in_quotes(name), zip_strerror(s.archive)));
}

Bytes Writer::finish() {
  State& s = *state_;
  if (s.members.empty()) {
    const auto bytes = std::as_bytes(std::span(no_members));
    return {bytes.begin(), bytes.end()};
  }
  if (zip_close(s.archive) != 0) {
    if (s.failure) std::rethrow_exception(s.failure);
    place_.fail(fmt::format("expected to write a zip archive, got: {}", zip_strerror(s.archive)));
  }
  s.archive = nullptr;
  zip_stat_t about;
  if (zip_source_stat(s.sink, &about) != 0 || zip_source_open(s.sink) != 0)
    place_.fail("expected to read the zip archive back, got none");
  Bytes bytes(about.size);
  const zip_int64_t got = zip_source_read(s.sink, bytes.data(), bytes.size());
  zip_source_close(s.sink);
  if (got < 0 || static_cast<uint64_t>(got) != bytes.size())
    place_.fail("expected to read the zip archive back, got less");
  return bytes;
}

}  // namespace adit::zip
