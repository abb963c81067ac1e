// Numbers in vectors of 16 bytes, the widest access to memory.
#pragma once

#include <vector>

#include "ops/number.hpp"

namespace adit::ops {

class NumberVectors {
 public:
  NumberVectors(kernel::Type type, bool complex) : scalars_(16 / size_of(type)), complex_(complex) {}
  uint32_t count() const { return complex_ ? scalars_ / 2 : scalars_; }  // numbers of one

  // `index` counts vectors.
  std::vector<Number> load(const kernel::Array& from, kernel::Value index) const {
    const kernel::Value all = from.load_vector(index, static_cast<int>(scalars_));
    std::vector<Number> numbers;
    for (uint32_t i = 0; i < count(); ++i) {
      const int at = static_cast<int>(complex_ ? 2 * i : i);
      numbers.push_back({all[at], complex_ ? all[at + 1] : all[at]});
    }
    return numbers;
  }

  void store(const kernel::Array& to, kernel::Value index, const std::vector<Number>& numbers) const {
    std::vector<kernel::Value> all;
    for (const Number& number : numbers) {
      all.push_back(number.re);
      if (complex_) all.push_back(number.im);
    }
    kernel::Builder& k = index.builder();
    to.store(index, scalars_ == 2 ? k.pack({all[0], all[1]}) : k.pack({all[0], all[1], all[2], all[3]}));
  }

 private:
  uint32_t scalars_;
  bool complex_;
};

}  // namespace adit::ops
