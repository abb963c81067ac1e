#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <fmt/format.h>
#include <span>
#include <string_view>
#include <unistd.h>
#include <xxhash.h>

#include <adit/draws_origin.hpp>

namespace adit {
namespace {

constexpr size_t head_bytes = 8192;  // the settings stand at the front

std::string head_of(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // a pipe must not hold us up
  if (file < 0) return {};
  std::string text(head_bytes, '\0');
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);  // nor lose its bytes
  ::close(file);
  text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return text;
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

}  // namespace adit
