// Running results of rows by teams, a tile of a row each.
#pragma once

#include "ops/cumulative.hpp"

namespace adit::ops {

// One level: rows of `length`, elements themselves or totals of them.
struct TileLevel {
  uint64_t length = 0;
  bool elements = true;    // else totals
  bool has_totals = true;  // running totals of tiles; else a row is one tile
  uint64_t tile() const;   // elements of a team
  uint64_t tiles() const;
  uint64_t extent() const;
};

kernel::Type total_type_of(const CumulativePlan& plan);
CumulativePass tile_totals(const CumulativePlan& plan, const TileLevel& level);
CumulativePass tile_running(const CumulativePlan& plan, const TileLevel& level);

}  // namespace adit::ops
