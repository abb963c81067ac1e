#include "io/digits.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <adit/error.hpp>

namespace adit::text {
namespace {

// 0.d1d2d3... * 10^(exponent + 1): the first digit stands for 10^exponent.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

// Reads "d.ddde+XX".
Decimal decimal_of(const char* begin, const char* end) {
  const char* e = std::find(begin, end, 'e');
  Decimal result;
  for (const char* c = begin; c != e; c++)
    if (*c != '.') result.digits += *c;
  const char* power = e + (e[1] == '+' ? 2 : 1);
  std::from_chars(power, end, result.exponent);
  return result;
}

void drop_zeros(std::string& digits) {
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
}

// `count` digits of the exact value.
Decimal rounded(double magnitude, int count) {
  char text[1200];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, magnitude, std::chars_format::scientific, count - 1);
  if (error != std::errc()) throw Error(ErrorKind::internal, "[to_string] a number did not fit its text");
  return decimal_of(text, end);
}

template <class T>
Decimal shortest_native(T magnitude) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, magnitude, std::chars_format::scientific);
  if (error != std::errc()) throw Error(ErrorKind::internal, "[to_string] a number did not fit its text");
  return decimal_of(text, end);
}

double value_of(int64_t digits, int power) {
  const double scale = std::pow(10.0, std::abs(power));
  return power < 0 ? static_cast<double>(digits) / scale : static_cast<double>(digits) * scale;
}

// Half floats have few digits: try each count, the nearest decimal first, then its neighbours (below a power
// of two the numbers lie closer, so the nearest decimal may miss where the one above it does not).
Decimal shortest_half(double magnitude, DType type) {
  const int bits = type == DType::f16 ? 11 : 8, lowest = type == DType::f16 ? -24 : -133;
  int power = 0;
  const double fraction = std::frexp(magnitude, &power);
  const double above = std::ldexp(0.5, std::max(power - bits, lowest));
  const bool narrow = fraction == 0.5 && power - bits > lowest;
  const double below = narrow ? above / 2 : above;
  const bool even = std::fmod(magnitude / (2 * above), 2) == 0;
  for (int count = 1; count <= 9; count++) {
    const Decimal nearest = rounded(magnitude, count);
    const int64_t digits = std::atoll(nearest.digits.c_str());
    for (const int step : {0, 1, -1}) {
      const double distance = value_of(digits + step, nearest.exponent - count + 1) - magnitude;
      const double room = distance < 0 ? below : above;
      if (std::abs(distance) > room || (std::abs(distance) == room && !even)) continue;
      const std::string text = std::to_string(digits + step);
      return {text, nearest.exponent + static_cast<int>(text.size()) - count};
    }
  }
  return rounded(magnitude, 9);
}

Decimal shortest(double magnitude, DType type) {
  Decimal result = type == DType::f64   ? shortest_native(magnitude)
                   : type == DType::f32 ? shortest_native(static_cast<float>(magnitude))
                                        : shortest_half(magnitude, type);
  drop_zeros(result.digits);
  return result;
}

std::string sign_of(double value) { return std::signbit(value) ? "-" : ""; }

std::string fixed(double magnitude, int places) {
  char text[400];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, magnitude, std::chars_format::fixed, places);
  if (error != std::errc()) throw Error(ErrorKind::internal, "[to_string] a number did not fit its text");
  std::string result(text, end);
  if (places == 0) result += '.';
  return result;
}

// The digits with a point in its place; none of them is left of the units' place and missing.
std::string with_point(const Decimal& digits) {
  if (digits.exponent < 0)
    return "0." + std::string(static_cast<size_t>(-digits.exponent) - 1, '0') + digits.digits;
  const auto whole = static_cast<size_t>(digits.exponent) + 1;
  return digits.digits.substr(0, whole) + "." + digits.digits.substr(whole);
}

}  // namespace

std::string positional(const Number& number, int least, int most) {
  const double magnitude = std::abs(number.value);
  const Decimal digits = magnitude == 0 ? Decimal{"0", 0} : shortest(magnitude, number.type);
  const int needed = static_cast<int>(digits.digits.size()) - 1 - digits.exponent;  // negative: 1200 from 12
  const int places = std::clamp(needed, least, most);
  if (places == needed) return sign_of(number.value) + with_point(digits);
  std::string text = fixed(magnitude, places);
  while (places == most && text.back() == '0') text.pop_back();  // zeros at the end of a cut say nothing
  return sign_of(number.value) + text;
}

std::string scientific(const Number& number, int least, int most) {
  const double magnitude = std::abs(number.value);
  Decimal digits = magnitude == 0 ? Decimal{"0", 0} : shortest(magnitude, number.type);
  const int needed = static_cast<int>(digits.digits.size()) - 1;
  const int places = std::clamp(needed, least, most);
  if (places != needed && magnitude != 0) digits = rounded(magnitude, places + 1);
  if (places < needed) drop_zeros(digits.digits);
  digits.digits.resize(std::max<size_t>(digits.digits.size(), static_cast<size_t>(least) + 1), '0');
  const int power = std::abs(digits.exponent);
  return sign_of(number.value) + digits.digits.substr(0, 1) + "." + digits.digits.substr(1) + "e" +
         (digits.exponent < 0 ? "-" : "+") + (power < 10 ? "0" : "") + std::to_string(power);
}

}  // namespace adit::text
