#include "ops/compare.hpp"

#include <fmt/format.h>

#include "ops/numbers.hpp"

namespace adit::test {
namespace {

constexpr double smallest_normal = 0x1p-126;

bool is_small_format(DType type) { return real_of(type) == DType::f32 || type == DType::bf16; }

// Results at elements whose input a device without subnormal numbers reads as zero say nothing.
std::vector<bool> flushed_elements(const Expected& expected, const std::vector<Stored>& inputs) {
  std::vector<bool> flushed(static_cast<size_t>(element_count(expected.shape)), false);
  for (const Stored& input : inputs) {
    if (!is_small_format(input.type) || !(input.shape == expected.shape)) continue;
    const std::vector<double> parts = parts_of(input.type, input.bytes);
    const size_t each = is_complex(input.type) ? 2 : 1;
    for (size_t i = 0; i < parts.size(); ++i)
      if (parts[i] != 0 && std::abs(parts[i]) < smallest_normal) flushed[i / each] = true;
  }
  return flushed;
}

class Comparison {
 public:
  Comparison(const Expected& expected, const std::vector<std::byte>& got, const Rules& rules)
      : expected_(expected),
        bytes_(got),
        got_(parts_of(expected.type, got)),
        rules_(rules),
        format_(format_of(expected.type)) {}

  std::string run(const std::vector<bool>& flushed) {
    const size_t each = is_complex(expected_.type) ? 2 : 1;
    for (size_t i = 0; i < got_.size(); ++i)
      if (flushed.empty() || !flushed[i / each]) check(i, i / each);
    if (differences_ > 0) text_ += fmt::format("\n  {} of {} differ", differences_, got_.size());
    return text_;
  }

 private:
  void check(size_t i, size_t element) {
    if (!expected_.bytes.empty()) return check_bits(i);
    const double high = expected_.high[i], low = expected_.low.empty() ? 0 : expected_.low[i];
    if (std::isnan(high) || std::isnan(got_[i])) {
      if (std::isnan(high) != std::isnan(got_[i])) differ(i, high, NAN);
      return;
    }
    const double want = rounded(high, low, format_);
    if (expected_.zero_signs && want == 0 && got_[i] == 0 && std::signbit(want) != std::signbit(got_[i]))
      return differ(i, high, NAN);
    if (got_[i] == want) return;
    const double unit = unit_of(i, high);
    double allowed = bound() * unit;
    if (!expected_.slack.empty()) allowed += expected_.slack[element] + 0.501 * unit;
    if (!rules_.keeps_denormals && is_small_format(expected_.type)) {
      if (std::abs(high) < 0x1p-100) allowed += 0x1p-100;
      if (rounds_to_zero(want) && got_[i] == 0) return;
    }
    const double off = distance(got_[i], high, low, format_);
    if (!(off <= allowed)) differ(i, high, off / unit);
  }

  void check_bits(size_t i) {
    const size_t size = size_of(real_of(expected_.type));
    if (std::memcmp(bytes_.data() + i * size, expected_.bytes.data() + i * size, size) == 0) return;
    const double want = part_at(expected_.type, expected_.bytes.data() + i * size);
    const bool is_number = is_float(expected_.type) || is_complex(expected_.type);
    if (is_number && std::isnan(want) && std::isnan(got_[i])) return;
    if (is_number && !expected_.zero_signs && want == got_[i]) return;
    if (is_number && !rules_.keeps_denormals && is_small_format(expected_.type) && rounds_to_zero(want) &&
        got_[i] == 0)
      return;
    differ(i, want, NAN);
  }

  static bool rounds_to_zero(double want) { return std::abs(want) <= smallest_normal; }

  // A part of a complex number is measured by the larger of the two.
  double unit_of(size_t i, double high) const {
    if (!is_complex(expected_.type)) return unit_at(high, format_);
    const double other = expected_.high[i ^ 1];
    return unit_at(std::max(std::abs(high), std::isfinite(other) ? std::abs(other) : 0), format_);
  }

  // A half is computed in f32 and rounded once more.
  double bound() const {
    if (expected_.ulp >= 0) return expected_.ulp;
    if (rules_.ulp == 0 || format_.digits >= 24) return rules_.ulp;
    return 0.5 + (rules_.ulp + 1) * std::ldexp(1.0, format_.digits - 24);
  }

  void differ(size_t i, double want, double units) {
    if (differences_++ >= 4) return;
    text_ += fmt::format("\n  [{}] got {:.17g}, expected {:.17g}", i, got_[i], want);
    if (!std::isnan(units)) text_ += fmt::format(" ({:.3f} units)", units);
  }

  const Expected& expected_;
  const std::vector<std::byte>& bytes_;
  std::vector<double> got_;
  Rules rules_;
  Format format_;
  std::string text_;
  size_t differences_ = 0;
};

}  // namespace

std::string compare(const Expected& expected, const Tensor& got, const std::vector<Stored>& inputs,
                    const Rules& rules) {
  if (got.dtype() != expected.type)
    return fmt::format("\n  type {}, expected {}", name_of(got.dtype()), name_of(expected.type));
  if (!(got.shape() == expected.shape))
    return fmt::format("\n  shape {}, expected {}", to_string(got.shape()), to_string(expected.shape));
  const std::vector<std::byte> bytes = got.to_bytes();
  if (bytes.size() != got.bytes()) return fmt::format("\n  {} bytes, expected {}", bytes.size(), got.bytes());
  const auto flushed = rules.keeps_denormals ? std::vector<bool>() : flushed_elements(expected, inputs);
  return Comparison(expected, bytes, rules).run(flushed);
}

}  // namespace adit::test
