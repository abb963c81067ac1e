// Gradients of 3 x 3 kernels on a GPU with 36 products for 144, as Winograd found: results of 4 x 4
// neighbours and the 6 x 6 places that they read are turned so that the nine sums are products of elements,
// which add up over all tiles by a matrix product for each of the 36; what comes out is turned back once.
// Sums are of some five times the error that they have when they are added up as they are written down, which
// is about what their order changes.
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
  static constexpr uint32_t tile_side = 4, side = 6;  // of a tile of w, and of the places of x that it meets
  static constexpr int64_t products = side * side;
  int64_t tiles_down() const { return (conv.axes[1].window + tile_side - 1) / tile_side; }
  int64_t tiles_right() const { return (conv.axes[2].window + tile_side - 1) / tile_side; }
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
