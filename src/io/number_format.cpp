#include "io/number_format.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "io/digits.hpp"
#include "io/half.hpp"

namespace adit::text {
namespace {

constexpr int precision = 8;

template <class T>
T load(std::span<const std::byte> bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

double load_float(DType type, std::span<const std::byte> bytes, size_t index) {
  switch (type) {
    case DType::f16: return half_value(load<uint16_t>(bytes, index));
    case DType::bf16: return bfloat_value(load<uint16_t>(bytes, index));
    case DType::f32: return load<float>(bytes, index);
    default: return load<double>(bytes, index);
  }
}

template <class T>
std::vector<std::string> integer_texts(std::span<const std::byte> bytes) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < bytes.size() / sizeof(T); i++) texts.push_back(std::to_string(load<T>(bytes, i)));
  return texts;
}

std::vector<std::string> integer_texts(DType type, std::span<const std::byte> bytes) {
  switch (type) {
    case DType::u8: return integer_texts<uint8_t>(bytes);
    case DType::u16: return integer_texts<uint16_t>(bytes);
    case DType::u32: return integer_texts<uint32_t>(bytes);
    case DType::u64: return integer_texts<uint64_t>(bytes);
    case DType::i8: return integer_texts<int8_t>(bytes);
    case DType::i16: return integer_texts<int16_t>(bytes);
    case DType::i32: return integer_texts<int32_t>(bytes);
    default: return integer_texts<int64_t>(bytes);
  }
}

std::string padded(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

// NumPy divides in the type itself, and f16's next number after 1000 is 1000.5.
bool is_above_1000(double ratio, DType type) {
  if (type == DType::f64) return ratio > 1000;
  if (type == DType::f16) return ratio > 1000.25;
  return static_cast<float>(ratio) > 1000;
}

bool needs_scientific(DType type, const std::vector<double>& values) {
  double largest = 0, smallest = std::numeric_limits<double>::infinity();
  for (const double value : values) {
    if (!std::isfinite(value) || value == 0) continue;
    largest = std::max(largest, std::abs(value));
    smallest = std::min(smallest, std::abs(value));
  }
  if (largest == 0) return false;
  return largest >= 1e8 || smallest < 1e-4 || is_above_1000(largest / smallest, type);
}

}  // namespace

FloatFormat::FloatFormat(DType type, const std::vector<double>& values, bool plus)
    : type_(type), plus_(plus), scientific_(needs_scientific(type, values)) {
  scientific_ ? measure_scientific(values) : measure_positional(values);
  make_room(values);
}

std::string FloatFormat::signed_text(std::string text) const {
  return plus_ && text[0] != '-' ? "+" + text : text;
}

void FloatFormat::measure_scientific(const std::vector<double>& values) {
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const std::string text = signed_text(scientific({value, type_}, 0, precision));
    const size_t point = text.find('.'), power = text.find('e');
    left_ = std::max(left_, point);
    places_ = std::max(places_, static_cast<int>(power - point - 1));
    exponent_ = std::max(exponent_, text.size() - power - 2);
  }
  right_ = static_cast<size_t>(places_) + exponent_ + 2;
}

void FloatFormat::measure_positional(const std::vector<double>& values) {
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const std::string text = signed_text(positional({value, type_}, 0, precision));
    const size_t point = text.find('.');
    left_ = std::max(left_, point);
    right_ = std::max(right_, text.size() - point - 1);
  }
}

// "nan" and "inf" stand at the right edge of the column.
void FloatFormat::make_room(const std::vector<double>& values) {
  size_t widest = 0;
  const bool minus =
      std::any_of(values.begin(), values.end(), [](double v) { return std::isinf(v) && v < 0; });
  for (const double value : values)
    if (!std::isfinite(value)) widest = std::max<size_t>(widest, plus_ || minus ? 4 : 3);
  if (widest > left_ + right_ + 1) left_ = widest - right_ - 1;
}

std::string FloatFormat::operator()(double value) const {
  const size_t width = left_ + right_ + 1;
  if (std::isnan(value)) return padded(signed_text("nan"), width);
  if (std::isinf(value)) return padded(signed_text(value < 0 ? "-inf" : "inf"), width);
  if (scientific_) {
    std::string text = signed_text(scientific({value, type_}, places_, places_));
    const size_t power = text.find('e') + 2;
    text.insert(power, exponent_ - (text.size() - power), '0');
    return padded(text, width);
  }
  const std::string text = signed_text(positional({value, type_}, 0, precision));
  const size_t point = text.find('.');
  return padded(text, width - (right_ - (text.size() - point - 1))) +
         std::string(right_ - (text.size() - point - 1), ' ');
}

std::vector<std::string> format_elements(DType type, std::span<const std::byte> bytes) {
  std::vector<std::string> texts;
  const size_t count = bytes.size() / size_of(type);
  if (is_integer(type)) {
    texts = integer_texts(type, bytes);
    size_t width = 0;
    for (const std::string& text : texts) width = std::max(width, text.size());
    for (std::string& text : texts) text = padded(text, width);
    return texts;
  }
  const DType part = real_of(type);
  const size_t parts = is_complex(type) ? 2 : 1;
  std::vector<double> first(count), second(is_complex(type) ? count : 0);
  for (size_t i = 0; i < count; i++) {
    first[i] = load_float(part, bytes, parts * i);
    if (parts == 2) second[i] = load_float(part, bytes, parts * i + 1);
  }
  const FloatFormat real(part, first, false), imaginary(part, second, true);
  for (size_t i = 0; i < count; i++) {
    std::string text = real(first[i]);
    if (parts == 2) {
      std::string tail = imaginary(second[i]);
      tail.insert(tail.find_last_not_of(' ') + 1, "j");  // the padding of "1." beside "2.25" stays outside
      text += tail;
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace adit::text
