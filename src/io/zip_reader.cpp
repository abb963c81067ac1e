#include <algorithm>
#include <fmt/format.h>
#include <zip.h>

#include "io/zip.hpp"

namespace adit::zip {
namespace {

constexpr size_t end_record_bytes = 22;              // the shortest archive; libzip takes none at all for one
constexpr uint64_t first_bytes = uint64_t{1} << 17;  // the header of any .npy is within

zip_t* open(const Place& place, ByteSpan bytes) {
  if (bytes.size() < end_record_bytes)
    place.fail(fmt::format("expected a zip archive, got {} bytes", bytes.size()));
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  zip_t* archive = source ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error) : nullptr;
  if (archive) return archive;
  const std::string why = zip_error_strerror(&error);
  zip_source_free(source);
  zip_error_fini(&error);
  place.fail(fmt::format("expected a whole zip archive, got: {}", why));
}

}  // namespace

void Reader::fail(size_t index, const std::string& wanted, const std::string& got) const {
  place_.fail(fmt::format("member {}: expected {}, got {}", in_quotes(names_[index]), wanted, got));
}

Reader::Reader(const Place& place, ByteSpan archive)
    : place_(place), archive_(open(place, archive), zip_discard) {
  const zip_int64_t members = zip_get_num_entries(archive_.get(), 0);
  uint64_t stored = 0;
  for (zip_int64_t i = 0; i < members; i++) {
    const char* name = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    zip_stat_t about;
    if (!name || zip_stat_index(archive_.get(), static_cast<zip_uint64_t>(i), 0, &about) != 0)
      place_.fail(fmt::format("member {}: expected a name and a size, got none", i));
    names_.emplace_back(name);
    if (about.comp_size > archive.size() || (stored += about.comp_size) > archive.size())
      place_.fail(fmt::format(
          "expected members apart from each other, got more than the {} bytes of the file", archive.size()));
  }
}

Bytes Reader::read(size_t index, const std::function<uint64_t(ByteSpan)>& promised) const {
  zip_stat_t about;
  if (zip_stat_index(archive_.get(), index, 0, &about) != 0) fail(index, "a size", "none");
  if (about.encryption_method != ZIP_EM_NONE) fail(index, "no encryption", "an encrypted member");
  if (about.comp_method != ZIP_CM_STORE && about.comp_method != ZIP_CM_DEFLATE)
    fail(index, "a stored or deflated member", fmt::format("compression method {}", about.comp_method));
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(archive_.get(), index, 0),
                                                               zip_fclose);
  if (!file) fail(index, "to open it", zip_strerror(archive_.get()));
  // Grows with what really comes, so that a false size costs nothing.
  Bytes bytes(std::min(about.size, first_bytes));
  size_t filled = 0;
  std::byte beyond;
  while (true) {
    const bool full = filled == bytes.size();
    const zip_int64_t got = full ? zip_fread(file.get(), &beyond, 1)
                                 : zip_fread(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0)
      fail(index, fmt::format("{} whole bytes of the right checksum", about.size),
           zip_error_strerror(zip_file_get_error(file.get())));
    if (got == 0) break;
    if (full) fail(index, fmt::format("{} bytes", about.size), "more");
    filled += static_cast<size_t>(got);
    if (filled < bytes.size() || filled == about.size) continue;
    if (filled == first_bytes)
      if (const uint64_t wanted = promised(bytes); wanted != about.size)
        fail(index, fmt::format("{} bytes by its own header", wanted), fmt::format("{}", about.size));
    bytes.resize(std::min<uint64_t>(about.size, 2 * filled));
  }
  if (filled != about.size) fail(index, fmt::format("{} bytes", about.size), fmt::format("{}", filled));
  return bytes;
}

}  // namespace adit::zip
