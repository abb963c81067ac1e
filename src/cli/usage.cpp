#include "cli/usage.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <new>

#include "cli/suggest.hpp"

namespace adit::cli {
namespace {

template <class T>
T number_of(const std::string& where, const std::string& typed, const char* expected) {
  T number{};
  const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size(), number);
  if (error == std::errc() && end == typed.data() + typed.size()) return number;
  const char* why = error == std::errc::result_out_of_range ? ", which is too large" : "";
  throw UsageError(
      fmt::format("{}: expected {}, got {}{}", where, expected, typed.empty() ? "\"\"" : typed, why));
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
    throw UsageError(
        fmt::format("{}: unknown {}{}", where, typed.empty() ? "\"\"" : typed, or_suggestion(typed, known)));
  return static_cast<size_t>(found - known.begin());
}

int64_t whole_number(const std::string& where, const std::string& typed) {
  return number_of<int64_t>(where, typed, "a whole number");
}
double real_number(const std::string& where, const std::string& typed) {
  return number_of<double>(where, typed, "a number");
}

}  // namespace adit::cli
