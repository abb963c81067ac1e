// Gradients of 3 x 3 kernels on a GPU with 16 products for 36, as Winograd found: results of 2 x 2 neighbours
// and the 4 x 4 places that they read are turned so that the nine sums are products of elements, which add up
// over all tiles by a matrix product for each of the 16; what comes out is turned back once.
//
// As a convolution: x [rows, images, input], w [columns, images, windows], nine results of each row and
// column.
#pragma once

#include <cstdint>

#include "ops/conv.hpp"

namespace adit::ops {

// Whether the products that are saved are worth the memory that is written and read for it.
bool winograd_pays(const ConvShape& conv, kernel::Type type, const Limits& limits);

struct WinogradConv {
  ConvShape conv;
  static constexpr int64_t products = 16;
  int64_t tiles_down() const { return (conv.axes[1].window + 1) / 2; }
  int64_t tiles_right() const { return (conv.axes[2].window + 1) / 2; }
  int64_t steps() const { return conv.channels * tiles_down() * tiles_right(); }  // of each sum
  int64_t x_count() const { return products * conv.batch * steps(); }
  int64_t w_count() const { return products * conv.filters * steps(); }
  int64_t sum_count() const { return products * conv.batch * conv.filters; }

  // One invocation a tile. Parameters: x or w, and what it becomes: [products, rows or columns, steps].
  kernel::Program x_program() const;
  kernel::Program w_program() const;
  uint64_t x_teams() const { return static_cast<uint64_t>(conv.batch * steps()); }
  uint64_t w_teams() const { return static_cast<uint64_t>(conv.filters * steps()); }
  MatmulShape product() const;
  // A lane nine results. Parameters: sums, result.
  kernel::Program result_program() const;
  uint64_t result_teams() const;
};

}  // namespace adit::ops
