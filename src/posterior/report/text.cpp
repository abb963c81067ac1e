#include "posterior/report/text.hpp"

#include <cmath>
#include <fmt/format.h>

#include <adit/text.hpp>

#include "posterior/diagnostics/format.hpp"

namespace adit::report {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Bytes of the character at the start of `text`; 0 where that is no character of XML.
size_t xml_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first == 0x7F || (first < 0x20 && first != '\t' && first != '\n')) return 0;
  const bool no_character = text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF");
  return no_character ? 0 : character_length(text);
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = xml_length(text);
    switch (text[0]) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += length ? text.substr(0, length) : replacement;
    }
    text.remove_prefix(length ? length : 1);
  }
  return out;
}

std::string number(double value, int significant) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == 0) return "0";
  const double size = std::fabs(value);
  if (size >= 1e6 || size < 1e-4) return fmt::format("{:.{}e}", value, significant - 1);
  // Places before the point are never rounded away: 1234, not 1230.
  const int places = significant - 1 - static_cast<int>(std::floor(std::log10(size)));
  return fmt::format("{:.{}f}", value, places > 0 ? places : 0);
}

std::string number_beside(double value, double spread) {
  return number(value, diagnostics::digits_beside(value, spread, 3));
}

std::string count(double value) {
  if (!std::isfinite(value)) return number(value);
  std::string digits = fmt::format("{:.0f}", std::fabs(value));
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return (value < 0 && digits != "0" ? "-" : "") + digits;
}

std::string percent(double share) {
  if (!std::isfinite(share)) return number(share);
  const double percents = share * 100;
  if (percents > 0 && percents < 0.1) return "under 0.1 %";
  if (percents < 100 && percents > 99.9) return "over 99.9 %";
  if (percents == 0 || percents == 100 || (percents >= 10 && percents < 99))
    return fmt::format("{:.0f} %", percents);
  return fmt::format("{:.1f} %", percents);
}

std::string shorten(const std::string& text, size_t most) {
  const size_t characters = character_count(text);
  if (characters <= most) return text;
  const size_t head = most / 2, tail = most - head - 1;
  std::string out;
  size_t at = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    at += !continues(text[i]);
    if (at == head + 1 && !continues(text[i])) out += "…";
    if (at <= head || at > characters - tail) out += text[i];
  }
  return out;
}

}  // namespace adit::report
