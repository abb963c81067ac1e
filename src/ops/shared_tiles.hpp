// Tiles of matrices in shared memory, for products whose lanes hold some rows and columns of results each.
#pragma once

#include <functional>
#include <vector>

#include "ops/factor_writer.hpp"
#include "ops/number_vectors.hpp"

namespace adit::ops {

// A tile [inner, outer], in vectors of outer numbers; in the matrix its outer or its inner numbers are beside
// each other.
struct SharedTile {
  kernel::Array memory;
  uint32_t inner = 0, outer = 0;
  bool outer_beside = false;
};

class SharedTiles {
 public:
  static constexpr uint32_t each = 4;  // rows and columns of a lane's results
  using Loaded = std::vector<std::vector<Number>>;

  SharedTiles(NumberVectors vectors, kernel::Value lane, uint32_t lanes)
      : vectors_(vectors), lane_(lane), lanes_(lanes) {}

  // This lane's part of a tile: number(inner, outer) is one of the matrix.
  Loaded load(const SharedTile& tile,
              const std::function<Number(kernel::Value, kernel::Value)>& number) const {
    Loaded loaded;
    each_vector(tile, [&](uint32_t, kernel::Value inner, kernel::Value vector) {
      loaded.emplace_back();
      for (uint32_t i = 0; i < vectors_.count(); ++i)
        loaded.back().push_back(number(inner, vector * vectors_.count() + i));
    });
    return loaded;
  }
  void keep(const SharedTile& tile, const Loaded& loaded) const {
    const uint32_t across = tile.outer / vectors_.count();
    each_vector(tile, [&](uint32_t e, kernel::Value inner, kernel::Value vector) {
      vectors_.store(tile.memory, inner * across + vector, loaded[e]);
    });
  }

  // sums[i][j] -= left[p][row + i] right[p][column + j], for every p.
  void subtract_products(kernel::Builder& k, const std::vector<NumberSum>& sums, const SharedTile& left,
                         kernel::Value row, const SharedTile& right, kernel::Value column) const {
    const uint32_t unrolled = left.inner % 4 == 0 ? 4 : 1;
    k.for_(lane_.like(0), lane_.like(left.inner), lane_.like(unrolled), [&](kernel::Value first) {
      for (uint32_t u = 0; u < unrolled; ++u) {
        const std::vector<Number> l = some_of(left, first + u, row), r = some_of(right, first + u, column);
        for (uint32_t i = 0; i < each; ++i)
          for (uint32_t j = 0; j < each; ++j) sums[i * each + j].subtract(l[i], r[j]);
      }
    });
  }

  // Numbers of one column of a system with the square tile's triangle, columns of it as its inner numbers.
  void substitute(const SharedTile& square, std::vector<Number>& numbers, bool unit, bool complex) const {
    const uint32_t count = vectors_.count(), rows = square.outer;
    for (uint32_t p = 0; p < rows; ++p)
      for (uint32_t v = p / count; v < rows / count; ++v) {
        const std::vector<Number> column = vectors_.load(square.memory, lane_.like(p * rows / count + v));
        for (uint32_t i = v * count; i < (v + 1) * count; ++i) {
          if (i == p && !unit) numbers[p] = quotient_of(numbers[p], column[i % count], complex);
          if (i > p) subtract(numbers[i], numbers[p], column[i % count], complex);
        }
      }
  }

 private:
  template <class F>
  void each_vector(const SharedTile& tile, const F& f) const {
    const uint32_t across = tile.outer / vectors_.count(), total = across * tile.inner;
    for (uint32_t e = 0; e < (total + lanes_ - 1) / lanes_; ++e) {
      const kernel::Value v = min(lane_ + e * lanes_, total - 1);  // with the last one some do twice
      if (tile.outer_beside)
        f(e, v / across, v % across);
      else
        f(e, v % tile.inner, v / tile.inner);
    }
  }
  std::vector<Number> some_of(const SharedTile& tile, kernel::Value p, kernel::Value first) const {
    std::vector<Number> numbers;
    const uint32_t count = vectors_.count();
    for (uint32_t v = 0; v < each / count; ++v)
      for (const Number& number : vectors_.load(tile.memory, first / count + p * (tile.outer / count) + v))
        numbers.push_back(number);
    return numbers;
  }
  static void subtract(Number& sum, const Number& f, const Number& g, bool complex) {
    sum.re = fma(-f.re, g.re, sum.re);
    if (!complex) return;
    sum.re = fma(f.im, g.im, sum.re);
    sum.im = fma(-f.re, g.im, fma(-f.im, g.re, sum.im));
  }

  NumberVectors vectors_;
  kernel::Value lane_;
  uint32_t lanes_;
};

}  // namespace adit::ops
