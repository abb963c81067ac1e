// How the numbers of one tensor are written, each as wide as the widest, by NumPy's rules:
// - floats positional, unless the largest is 1e8 or more, the smallest below 1e-4, or their ratio above 1000
//   (zeros do not count): then all scientific;
// - at most 8 digits after the point, fewer where fewer tell the number from its neighbours.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <adit/dtype.hpp>

namespace adit::text {

class FloatFormat {
 public:
  // `type` is real; `plus` writes the sign of positive numbers too (the second part of a complex number).
  FloatFormat(DType type, const std::vector<double>& values, bool plus);
  std::string operator()(double value) const;

 private:
  void measure_scientific(const std::vector<double>& values);
  void measure_positional(const std::vector<double>& values);
  void make_room(const std::vector<double>& values);
  std::string signed_text(std::string text) const;

  DType type_;
  bool plus_, scientific_ = false;
  size_t left_ = 0, right_ = 0;  // characters before and after the point
  size_t exponent_ = 0;          // digits
  int places_ = 0;               // after the point, where scientific
};

// Writes the elements at `bytes`, which lie one after the other.
std::vector<std::string> format_elements(DType type, std::span<const std::byte> bytes);

}  // namespace adit::text
