// Random choices and random tensors.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "ops/cases.hpp"

namespace adit::test {

class RandomSource {
 public:
  explicit RandomSource(uint64_t seed) : engine_(seed) {}

  size_t below(size_t count) { return static_cast<size_t>(engine_() % count); }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<size_t>(high - low + 1)));
  }
  bool chance(double probability) { return static_cast<double>(engine_() >> 11) * 0x1p-53 < probability; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  std::vector<int64_t> permutation(int count) {
    std::vector<int64_t> order(static_cast<size_t>(count));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
    return order;
  }
  // Extents whose product is `count`.
  std::vector<int64_t> factors(int64_t count) {
    std::vector<int64_t> extents;
    for (int64_t divisor = 2; divisor <= count && extents.size() < 3; ++divisor)
      while (count % divisor == 0 && extents.size() < 3) {
        extents.push_back(divisor);
        count /= divisor;
      }
    extents.push_back(count);
    for (size_t i = extents.size(); i > 1; --i) std::swap(extents[i - 1], extents[below(i)]);
    return extents;
  }
  double normal() { return std::normal_distribution<double>()(engine_); }

  // Numbers of modest size; with `below`, indices that are mostly inside.
  Stored tensor(DType type, const Shape& shape, int64_t below_this = 0);

 private:
  std::mt19937_64 engine_;
};

// A number in the form of a type, at `to`.
void store_number(DType type, double real, double imag, std::byte* to);

}  // namespace adit::test
