#include "io/csv_number.hpp"

#include <charconv>
#include <cmath>

namespace adit::table {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A digit, or a point and a digit, after a sign or none: "inf" and "nan" do not.
bool begins_as_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with('.')) text.remove_prefix(1);
  return !text.empty() && is_digit(text.front());
}

// Whether the number, which is whole and beyond i64, has the digits of the text.
bool has_digits(double number, std::string_view text) {
  char digits[400];  // the largest f64 has 309
  const auto [end, error] =
      std::to_chars(digits, digits + sizeof digits, std::fabs(number), std::chars_format::fixed, 0);
  text.remove_prefix(text.find_first_not_of("-0"));
  return error == std::errc() && text == std::string_view(digits, static_cast<size_t>(end - digits));
}

// Whether a digit other than 0 stands before the exponent.
bool is_zero(std::string_view text) {
  return text.substr(0, text.find_first_of("eE")).find_first_of("123456789") == std::string_view::npos;
}

Number parse_real(std::string_view text) {
  Number number{Number::Form::real};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number.real);
  if (end != last) return {};
  // Libraries differ in whether they call it an error.
  const bool lost = std::isinf(number.real) || (number.real == 0 && !is_zero(text));
  if (error != std::errc() || lost) return {Number::Form::beyond};
  return number;
}

}  // namespace

Number parse_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  if (!begins_as_number(text)) return {};
  Number number{Number::Form::whole};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number.whole);
  const bool negative_zero = number.whole == 0 && text.front() == '-';  // which i64 has not
  if (end == last && error == std::errc() && !negative_zero) return number;
  Number real = parse_real(text);
  const bool is_wide = end == last && error == std::errc::result_out_of_range;
  if (is_wide && real.form == Number::Form::real && !has_digits(real.real, text))
    real.form = Number::Form::inexact;
  return real;
}

bool is_exact(int64_t value) {
  constexpr int64_t every = int64_t{1} << 53;  // up to here f64 has all of them
  if (value >= -every && value <= every) return true;
  const auto nearest = static_cast<double>(value);
  return nearest < 0x1p63 && static_cast<int64_t>(nearest) == value;
}

}  // namespace adit::table
