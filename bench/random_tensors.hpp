// What benches of tensors share: a clock, and operands.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include <adit/adit.hpp>

namespace adit::bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline std::mt19937_64 generator(7);

inline Tensor normal(const Shape& shape, DType type = DType::f32) {
  std::normal_distribution<float> distribution;
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  // Large tensors repeat a block: drawing 64M numbers would take longer than all the timings.
  const size_t block = std::min<size_t>(values.size(), 1u << 20);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = i < block ? distribution(generator) : values[i - block];
  return as_type(tensor(values, shape), type).eval();
}

}  // namespace adit::bench
