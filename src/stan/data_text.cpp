#include "stan/data_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include <adit/error.hpp>
#include <adit/text.hpp>

namespace adit::stan {
namespace {

bool is_data_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_data_digit(char c) { return c >= '0' && c <= '9'; }

// Powers of ten: that of the first digit which is not 0, bounded. What is all zeros is as small as can be.
int64_t power_of(std::string_view digits) {
  constexpr int64_t far = int64_t{1} << 40;
  const size_t exponent_at = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view front = digits.substr(0, exponent_at);
  const size_t first = front.find_first_of("123456789");
  if (first == std::string_view::npos) return -far;
  std::string_view written = digits.substr(std::min(exponent_at + 1, digits.size()));
  if (written.starts_with('+')) written.remove_prefix(1);
  int64_t exponent = 0;
  const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), exponent);
  if (error == std::errc::result_out_of_range) exponent = written.starts_with('-') ? -far : far;
  const auto point = static_cast<int64_t>(std::min(front.find('.'), front.size()));
  const auto place = static_cast<int64_t>(first);
  return std::clamp(exponent, -far, far) + (place < point ? point - place - 1 : point - place);
}

}  // namespace

void DataText::fail(size_t at, const std::string& variable, const std::string& expected,
                    const std::string& found) const {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  throw Error(ErrorKind::io,
              fmt::format("[data] {}, line {}: {}{}expected {}, found {}", printable(name), line,
                          printable(variable), variable.empty() ? "" : ": ", expected, found));
}

std::string quoted_data(std::string_view text) {
  constexpr size_t most = 60;
  size_t length = 0;
  while (length < text.size() && length < most)
    length += std::max<size_t>(character_length(text.substr(length)), 1);
  return fmt::format("\"{}{}\"", printable(text.substr(0, length)), length < text.size() ? "..." : "");
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && is_data_letter(name.front()) && std::all_of(name.begin(), name.end(), [](char c) {
    return is_data_letter(c) || is_data_digit(c) || c == '_';
  });
}

std::optional<double> special_number(std::string_view word) {
  const bool is_negative = word.starts_with('-');
  if (is_negative || word.starts_with('+')) word.remove_prefix(1);
  const double sign = is_negative ? -1 : 1;
  if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (word == "Inf" || word == "Infinity") return sign * std::numeric_limits<double>::infinity();
  return {};
}

std::optional<double> decimal_number(std::string_view digits) {
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  // Libraries differ in whether they call it an error.
  if (error == std::errc::result_out_of_range || std::isinf(number))
    return power_of(digits) < 0 ? std::optional<double>(0.0) : std::nullopt;
  return number;
}

void add_number(DataValue& value, double number, bool is_integer) {
  constexpr double least = std::numeric_limits<int32_t>::min(), most = std::numeric_limits<int32_t>::max();
  const bool fits = is_integer && number >= least && number <= most;
  if (!fits && value.first_real < 0) value.first_real = static_cast<int64_t>(value.numbers.size());
  value.numbers.push_back(number);
}

void finish_value(DataValue& value) {
  value.is_integer = value.first_real < 0 && std::all_of(value.members.begin(), value.members.end(),
                                                         [](const DataValue& m) { return m.is_integer; });
}

}  // namespace adit::stan
