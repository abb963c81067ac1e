#include "posterior/diagnostics/format.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace adit::diagnostics {

std::string show(double value, int significant) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  significant = std::clamp(significant, 1, 18);
  const double size = std::fabs(value);
  if (size == 0) return fmt::format("{:.{}f}", 0.0, significant - 1);
  if (size < 1e-4 || size >= 1e7) return fmt::format("{:.{}e}", value, significant - 1);
  const int digits_before = static_cast<int>(std::floor(std::log10(size))) + 1;  // 0 or less below 1
  std::string text = fmt::format("{:.{}f}", value, std::max(significant - digits_before, 0));
  // 9.96 with two digits is 10, not 10.0.
  if (digits_before < significant && std::fabs(std::stod(text)) >= std::pow(10.0, digits_before))
    text = fmt::format("{:.{}f}", value, std::max(significant - digits_before - 1, 0));
  return text;
}

int digits_beside(double value, double spread, int least) {
  const double size = std::fabs(value);
  if (!std::isfinite(size) || !(spread > 0) || !(size > spread)) return least;
  // The first digit of the spread is the last that is needed.
  const double steps = std::floor(std::log10(size)) - std::floor(std::log10(spread)) + 1;
  return std::max(least, static_cast<int>(std::min(steps, 17.0)));
}

std::string show_count(uint64_t count) {
  std::string digits = std::to_string(count);
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string show_share(uint64_t part, uint64_t whole) {
  return fmt::format("{:.2f}%", whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0);
}

}  // namespace adit::diagnostics
