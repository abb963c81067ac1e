#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <fmt/format.h>
#include <span>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <adit/draws_origin.hpp>

#include "posterior/files/check_sum.hpp"

namespace adit {
namespace {

constexpr size_t part_bytes = 8192;  // the settings stand at the front, a report's mark at the end

std::string part_of(int file, int64_t at) {
  std::string text(part_bytes, '\0');
  const ssize_t size = ::pread(file, text.data(), text.size(), at);  // a pipe must not lose its bytes
  text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

std::string head_of(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // nor hold us up
  if (file < 0) return {};
  std::string text = part_of(file, 0);
  ::close(file);
  return text;
}

bool has_check_sum(std::string_view tail) {
  return tail.size() >= netcdf::check_sum_length &&
         tail.substr(tail.size() - netcdf::check_sum_length).starts_with(netcdf::check_sum_head);
}

FileMark mark_between(std::string_view head, std::string_view tail) {
  if (head.empty()) return FileMark::empty;
  if (head.starts_with("# adit_version = ")) return FileMark::csv;
  if (head.starts_with("# stan_version_major =")) return FileMark::cmdstan_csv;
  if (head.starts_with("\x89HDF") && has_check_sum(tail)) return FileMark::netcdf;
  const bool is_report =
      head.starts_with("<!doctype html>") && tail.find("<footer>Written by Adit.") != std::string_view::npos;
  return is_report ? FileMark::report : FileMark::none;
}

// Of a line "#   key = value".
std::string_view value_of(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    const std::string_view rest = line.substr(key.size());
    if (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '#') && rest.starts_with(" = "))
      return rest.substr(3, rest.find_first_of(" \r", 3) - 3);
  }
  return {};
}

uint64_t hash_of(const DrawsVariable& variable, uint64_t seed) {
  const uint64_t named = XXH3_64bits_withSeed(variable.name.data(), variable.name.size(), seed);
  const auto bytes = std::as_bytes(std::span(variable.values));
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), named);
}

}  // namespace

std::string run_name(const Draws& draws) {
  const std::string words =
      fmt::format("{} {} {} {} {}", draws.model, draws.seed, draws.chains, draws.draws, draws.device);
  const uint64_t seed = XXH3_64bits(words.data(), words.size());
  uint64_t hash = seed;  // in any order of the variables
  for (const DrawsVariable& variable : draws.variables) hash ^= hash_of(variable, seed);
  return fmt::format("{:016x}", hash);
}

DrawsOrigin origin_of_csv(const std::string& path) {
  const std::string head = head_of(path);
  const std::string_view chains = value_of(head, "num_chains");
  DrawsOrigin origin{std::string(value_of(head, "adit_run")), 0};
  std::from_chars(chains.data(), chains.data() + chains.size(), origin.chains);
  return origin;
}

FileMark mark_of_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return FileMark::none;
  struct stat status {};
  const bool plain = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  const std::string head = plain ? part_of(file, 0) : "";
  const std::string tail =
      plain ? part_of(file, std::max<int64_t>(0, status.st_size - static_cast<int64_t>(part_bytes))) : "";
  ::close(file);
  if (!plain || (head.empty() && status.st_size > 0)) return FileMark::none;
  return mark_between(head, tail);
}

}  // namespace adit
