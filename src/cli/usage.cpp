#include "cli/usage.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <new>

#include <adit/device.hpp>
#include <adit/text.hpp>

#include "cli/suggest.hpp"

namespace adit::cli {
namespace {

std::string shown(const std::string& typed) { return typed.empty() ? "\"\"" : printable(typed); }

// Why a number that is written well cannot be had.
std::string why_out_of_range(const std::string& typed, bool is_whole) {
  const bool negative = typed.starts_with('-');
  if (is_whole) return negative ? ", which is too small" : ", which is too large";
  const double nearest = std::strtod(typed.c_str(), nullptr);  // 0 or infinite
  if (std::isinf(nearest)) return negative ? ", which is too small" : ", which is too large";
  return ", which is too near to 0";
}

template <class T>
T number_of(const std::string& where, const std::string& typed, const char* expected) {
  T number{};
  const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size(), number);
  const bool all = end == typed.data() + typed.size();
  if (error == std::errc() && all) return number;
  const bool beyond = error == std::errc::result_out_of_range && all;
  throw UsageError(fmt::format("{}: expected {}, got {}{}", where, expected, shown(typed),
                               beyond ? why_out_of_range(typed, std::is_integral_v<T>) : ""));
}

}  // namespace

std::string words_of(const std::exception& error) {
  if (const auto* odd = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return fmt::format("{}: {}", odd->path1().string(), odd->code().message());
  if (dynamic_cast<const std::bad_alloc*>(&error)) return "expected more memory than there is";
  return error.what();
}

std::string or_suggestion(const std::string& typed, const std::vector<std::string>& known) {
  const std::string near = nearest(typed, known);
  if (!near.empty()) return fmt::format("; did you mean {}?", near);
  return fmt::format("; expected {}", fmt::join(known, ", "));
}

size_t choice_of(const std::string& where, const std::string& typed, const std::vector<std::string>& known) {
  const auto found = std::find(known.begin(), known.end(), typed);
  if (found == known.end())
    throw UsageError(fmt::format("{}: unknown {}{}", where, shown(typed), or_suggestion(typed, known)));
  return static_cast<size_t>(found - known.begin());
}

int64_t whole_number(const std::string& where, const std::string& typed) {
  return number_of<int64_t>(where, typed, "a whole number");
}
uint64_t natural_number(const std::string& where, const std::string& typed) {
  return number_of<uint64_t>(where, typed, "a whole number, 0 to 2^64 - 1");
}
double real_number(const std::string& where, const std::string& typed) {
  return number_of<double>(where, typed, "a number");
}

std::string some_word(const std::string& where, const std::string& typed, const std::string& expected) {
  if (typed.empty()) throw UsageError(fmt::format("{}: expected {}, got \"\"", where, expected));
  return typed;
}

std::string device_id(const std::string& where, const std::string& typed) {
  some_word(where, typed, "a device id, as `adit devices` lists it");
  if (typed == "cpu" || typed == "vulkan") return typed;
  std::vector<std::string> known;
  for (const DeviceInfo& info : Device::list()) known.push_back(info.id);
  choice_of(where, typed, known);
  return typed;
}

}  // namespace adit::cli
