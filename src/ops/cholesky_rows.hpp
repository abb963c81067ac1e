// Cholesky's factor of a square whose rows lie in the registers of some lanes of a subgroup: columns travel
// by shuffles, and there is no barrier. Other rows that the lanes hold are solved with it on the way, x l^H =
// b, for the price of their own arithmetic.
#pragma once

#include <vector>

#include <adit/kernel/builder.hpp>
#include <adit/kernel/math.hpp>

#include "ops/factor_writer.hpp"

namespace adit::ops {

// Row i of a square is in set i / lanes of the lane i % lanes of those that work together.
using RowSets = std::vector<std::vector<Number>>;

class RowCholesky {
 public:
  // `lanes`, a power of two, work together, and `lane` is this one among them. One alone has all rows, each a
  // set, and asks nobody.
  RowCholesky(kernel::Builder& k, uint32_t n, uint32_t lanes, bool complex)
      : k_(k), n_(n), lanes_(lanes), complex_(complex) {
    if (lanes == 1) return;
    const kernel::Value in_subgroup = k.subgroup_lane();
    lane_ = in_subgroup & (lanes - 1);
    first_ = in_subgroup - lane_;
  }
  kernel::Value lane() const { return lane_; }
  static uint32_t sets(uint32_t n, uint32_t lanes) { return (n + lanes - 1) / lanes; }

  // `square` becomes the factor, zeros above the diagonal. A pivot that is not positive makes NaN of itself
  // and of what comes after.
  void factor(RowSets& square, RowSets& others) {
    std::vector<kernel::Value> pivots(square.size());
    inverses_.clear();
    for (uint32_t c = 0; c < n_; ++c) column(c, square, others, pivots);
    for (uint32_t t = 0; t < square.size(); ++t) {
      if (lanes_ == 1) {
        finish_own(square[t], t, pivots[t]);
        continue;
      }
      const kernel::Value row = lane_ + t * lanes_, root = sqrt(pivots[t]), zero = root.like(0);
      const kernel::Value diagonal = select(pivots[t] > 0, root, nan_like(root));
      for (uint32_t c = t * lanes_; c < n_; ++c) {
        Number& x = square[t][c];
        x.re = select(row > c, x.re, select(row == c, diagonal, zero));
        if (complex_) x.im = select(row > c, x.im, zero);
      }
    }
  }

  // Another row with a square that was factored, by one lane alone.
  void solve(const RowSets& square, std::vector<Number>& row) const {
    for (uint32_t c = 0; c < n_; ++c) {
      row[c] = times_real(row[c], inverses_[c], complex_);
      for (uint32_t j = c + 1; j < n_; ++j) subtract(row, c, j, square[j][c]);
    }
  }

 private:
  // What row `row` of the square has here.
  kernel::Value from(kernel::Value x, uint32_t row) {
    return lanes_ == 1 ? x : k_.subgroup_shuffle(x, first_ + row % lanes_);
  }

  void finish_own(std::vector<Number>& row, uint32_t place, kernel::Value pivot) {
    row[place].re = select(pivot > 0, sqrt(pivot), nan_like(pivot));
    if (complex_) row[place].im = pivot.like(0);
    for (uint32_t c = place + 1; c < n_; ++c) row[c] = zero_like(row[c]);
  }

  void column(uint32_t c, RowSets& square, RowSets& others, std::vector<kernel::Value>& pivots) {
    const uint32_t mine = c / lanes_;
    const kernel::Value pivot = from(square[mine][c].re, c);
    pivots[mine] = c % lanes_ == 0 ? pivot : select(lane_ == c % lanes_, pivot, pivots[mine]);
    const kernel::Value inverse = select(pivot > 0, inverse_root(pivot), nan_like(pivot));
    inverses_.push_back(inverse);
    for (uint32_t t = mine; t < square.size(); ++t)
      square[t][c] = times_real(square[t][c], inverse, complex_);
    for (std::vector<Number>& row : others) row[c] = times_real(row[c], inverse, complex_);
    for (uint32_t j = c + 1; j < n_; ++j) {
      const Number& x = square[j / lanes_][c];
      const kernel::Value re = from(x.re, j);
      const Number l{re, complex_ ? from(x.im, j) : re};
      for (uint32_t t = j / lanes_; t < square.size(); ++t) subtract(square[t], c, j, l);
      for (std::vector<Number>& row : others) subtract(row, c, j, l);
    }
  }

  // row[j] -= row[c] l^*
  void subtract(std::vector<Number>& row, uint32_t c, uint32_t j, const Number& l) const {
    const Number x = row[c];
    Number& y = row[j];
    y.re = fma(-x.re, l.re, y.re);
    if (!complex_) return;
    y.re = fma(-x.im, l.im, y.re);
    y.im = fma(x.re, l.im, fma(-x.im, l.re, y.im));
  }

  // Lanes wait for it in every column: the device's own in f32, a few ULP of the column's size. In f64 a step
  // of third order from there, since the device's root and quotient take long; h is at most 2^-20. No branch,
  // which would part the columns: the number is brought near 1, an infinite one is told by its bits.
  kernel::Value inverse_root(kernel::Value x) {
    using namespace kernel;
    if (lanes_ == 1) return 1 / sqrt(x);
    if (x.type() == Type::f32) return 1 / sqrt_device(x);
    constexpr uint32_t infinite = 0x7ff;
    const Value exponent = convert(bitcast(x, Type::u64) >> 52, Type::u32) & infinite;
    const Value half = max(exponent >> 1, 1);
    const Value near = x * power_of_two(2047 - 2 * half);  // 2 to 8, a subnormal one less
    const Value r = convert(1 / sqrt_device(convert(near, Type::f32)), Type::f64);
    const Value h = fma(-(near * r), r, x.like(1));
    const Value root = fma(r * h, fma(x.like(0.375), h, x.like(0.5)), r) * power_of_two(1535 - half);
    return select(exponent == infinite, x.like(0), root);
  }
  // By its bits in a number of 64, from 1 to 2046.
  static kernel::Value power_of_two(kernel::Value exponent) {
    return bitcast(convert(exponent, kernel::Type::u64) << 52, kernel::Type::f64);
  }

  kernel::Builder& k_;
  uint32_t n_, lanes_;
  bool complex_;
  kernel::Value lane_, first_;
  std::vector<kernel::Value> inverses_;  // of the diagonal, once it is there
};

}  // namespace adit::ops
