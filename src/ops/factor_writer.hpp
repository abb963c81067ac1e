// What the kernels of factorisations are written with: matrices of a batch in row major order.
#pragma once

#include <limits>

#include <adit/kernel/builder.hpp>
#include <adit/kernel/math.hpp>

#include "ops/number.hpp"

namespace adit::ops {

// A matrix in a buffer: the element at (row, column) of the matrix that a team works on.
class MatrixView {
 public:
  MatrixView() = default;
  MatrixView(kernel::Array memory, kernel::Value first, uint32_t columns, bool complex)
      : memory_(memory), first_(first), columns_(columns), complex_(complex) {}
  kernel::Value offset(kernel::Value row, kernel::Value column) const {
    return first_ + kernel::convert(row, kernel::Type::u64) * uint64_t{columns_} +
           kernel::convert(column, kernel::Type::u64);
  }
  Number get(kernel::Value row, kernel::Value column) const {
    return load_number(memory_, offset(row, column), complex_);
  }
  void put(kernel::Value row, kernel::Value column, Number value) const {
    store_number(memory_, offset(row, column), value, complex_);
  }

 private:
  kernel::Array memory_;
  kernel::Value first_;
  uint32_t columns_ = 0;
  bool complex_ = false;
};

// Complex: with both parts of the divisor brought to at most 1, so that squares do not overflow.
inline Number quotient_of(Number f, Number g, bool complex) {
  if (!complex) return {f.re / g.re, f.im};
  const kernel::Value scale = max(abs(g.re), abs(g.im)), c = g.re / scale, d = g.im / scale;
  const kernel::Value size = fma(c, c, d * d) * scale;
  return {fma(f.re, c, f.im * d) / size, fma(f.im, c, -(f.re * d)) / size};
}

inline Number times_real(Number x, kernel::Value real, bool complex) {
  return {x.re * real, complex ? x.im * real : x.im};
}

inline Number zero_like(Number x) { return {x.re.like(0), x.im.like(0)}; }
inline kernel::Value nan_like(kernel::Value x) { return x.like(std::numeric_limits<double>::quiet_NaN()); }

}  // namespace adit::ops
