#include "cli/usage.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "cli/suggest.hpp"

namespace adit::cli {

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

}  // namespace adit::cli
