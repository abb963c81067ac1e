// Which tiling a shape gets.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/matmul_parts.hpp"

namespace adit::ops {

using kernel::MatrixShape;
using kernel::size_of;

namespace {

// Teams that keep a large GPU busy where each is large, and as many as are wanted of the small ones.
constexpr uint64_t enough_teams = 96, wanted_teams = 256;

bool fits(const MatmulTiling& t, const MatmulShape& shape, const Limits& limits) {
  const uint32_t parts = t.block_m / t.part_m * (t.block_n / t.part_n);
  const bool matrices = t.method == MatmulMethod::matrices;
  const uint32_t lanes = matrices ? parts * t.subgroup : parts;
  uint64_t bytes = 0;
  if (matrices) {
    const auto tile = [&](uint32_t block, bool along_k) {
      return along_k ? block * (t.block_k + t.pad) : t.block_k * (block + t.pad);
    };
    bytes = (tile(t.block_m, !shape.transpose_a) + tile(t.block_n, shape.transpose_b)) * 2;
  } else {
    const uint32_t pad = std::max(t.pad, 4u);  // tiles that cannot be turned are padded
    bytes = uint64_t{t.block_k} * (t.block_m + t.block_n + 2 * pad) * size_of(accumulator_type(shape));
  }
  return lanes <= limits.max_lanes && bytes * t.stages <= limits.shared_bytes;
}

// A tiling, and how many teams it needs to be the best one.
struct Choice {
  MatmulTiling tiling;
  uint64_t teams;
};

Choice tiled(uint32_t m, uint32_t n, uint32_t k, uint32_t part_m, uint32_t part_n, uint32_t stages,
             uint64_t teams = enough_teams) {
  MatmulTiling t;
  t.block_m = m, t.block_n = n, t.block_k = k, t.part_m = part_m, t.part_n = part_n, t.stages = stages;
  t.pad = 0;
  return {t, teams};
}

bool has_matrices(const MatmulShape& shape, const Limits& limits) {
  const MatrixShape wanted{16, 16, 16, shape.type, Type::f32};
  const auto& all = limits.cooperative_matrices;
  return std::find(all.begin(), all.end(), wanted) != all.end() && 64 % limits.subgroup_size == 0;
}

// From large tiles, which read least, to small ones, which fill a device with small products; the last is for
// thin products, where every step of k costs the way to memory and back. As timed on an H200.
std::vector<Choice> candidates(const MatmulShape& shape, const Limits& limits) {
  if (has_matrices(shape, limits) && !shape.mapped) {
    std::vector<Choice> all{tiled(128, 128, 64, 64, 64, 1), tiled(128, 64, 64, 64, 32, 1),
                            tiled(64, 64, 64, 32, 32, 2, 0)};
    for (auto& [t, teams] : all) {
      t.method = MatmulMethod::matrices;
      // 4096 x 4096 with groups of 4 instead of 16: 416 us instead of 428 in f16, 399 instead of 403 in bf16.
      t.pad = 8, t.group = t.block_n == 128 ? 4 : 16;
      // One address for all of an operand's loads: 3195 instead of 3300 us at 8192.
      t.linear = limits.int64 && t.block_n == 128;
      t.matrix = {16, 16, 16, shape.type, Type::f32};
    }
    return all;
  }
  if (size_of(accumulator_type(shape)) == 8) {
    Choice wide = tiled(128, 128, 16, 8, 8, 1);
    wide.tiling.ahead = true;
    return {wide, tiled(64, 64, 16, 8, 4, 1), tiled(32, 32, 16, 4, 4, 2), tiled(16, 16, 32, 2, 2, 2)};
  }
  Choice largest = tiled(128, 128, 16, 8, 8, 1, 224);
  largest.tiling.pad = 4, largest.tiling.ahead = true;
  const Choice middle = shape.k <= 16 ? tiled(64, 64, 16, 4, 4, 2) : tiled(64, 64, 32, 8, 4, 1);
  std::vector<Choice> all{largest, tiled(128, 64, 16, 8, 8, 1, 224)};
  // One wide tile a processor of a large GPU, with a long way along k: 50 us for 1024 x 1024 where smaller
  // ones take 70, in a queue of products.
  Choice wide = tiled(64, 128, 16, 8, 8, 1, 112);
  wide.tiling.ahead = true;
  if (std::min(shape.m, shape.n) >= 512 && shape.k >= 256 && shape.batch == 1) all.push_back(wide);
  all.push_back(middle);
  all.push_back(tiled(32, 32, shape.k <= 16 ? 16 : 32, 4, 2, 2));
  all.push_back(tiled(16, 16, 64, 2, 2, 2));
  return all;
}

// Steps of k that make a team worth its way, though many share the sum of one tile: the second pass is then
// nothing beside the first.
uint64_t long_share(const MatmulShape& shape) { return shape.mapped ? 512 : 1024; }

// Splits k where teams are few, as long as each still has some tiles to add up.
uint32_t splits(const MatmulShape& shape, const MatmulTiling& t) {
  const Grid grid(shape, t);
  const uint64_t teams = matmul_teams(shape, t);
  const bool thin = t.block_m * t.block_n <= 32 * 32, matrices = t.method == MatmulMethod::matrices;
  const uint32_t tiles_worth_a_team = thin ? 2 : matrices ? 8 : 4;
  const auto most = static_cast<uint32_t>(std::max<uint64_t>(32, shape.k / long_share(shape)));
  // Gradients of kernels: few results of very many steps, in groups.
  const uint64_t times = shape.mapped && thin ? 8 : 1;
  if (teams >= times * enough_teams) return 1;
  const auto wanted = static_cast<uint32_t>(times * wanted_teams / teams);
  uint32_t count = std::clamp(std::min(wanted, grid.tiles_k / tiles_worth_a_team), 1u, most);
  return ceil_div(grid.tiles_k, ceil_div(grid.tiles_k, count));  // no split without work
}

// Products whose second operand is mapped, as convolutions are, those of parts of convolutions and of
// batches, by an estimate of their time: rows are often few, or a little more than a tile has, and sums long.
struct Rated {
  MatmulTiling tiling;
  double rate;  // 10^12 operations a second on an H200 that has enough to do
};

// As timed on an H200. Large tiles of which a processor has two wait for steps that may be beyond the end, so
// that a batch of whole ones is faster.
std::vector<Rated> rated_candidates(const MatmulShape& shape) {
  const bool whole = shape.k % 16 == 0;
  const auto rated = [&](Choice choice, bool ahead, uint32_t pad, double mapped, double batch, double one) {
    choice.tiling.ahead = ahead, choice.tiling.pad = pad;
    return Rated{choice.tiling, shape.mapped ? mapped : shape.batch > 1 ? batch : one};
  };
  return {rated(tiled(128, 128, 16, 8, 8, 1), true, 4, 47, whole ? 50 : 41, 44),
          rated(tiled(64, 128, 16, 8, 8, 1), true, 0, 45, 46, 40),
          rated(tiled(128, 64, 16, 8, 8, 1), true, 0, 48, 45.5, 39),
          rated(tiled(64, 64, 16, 8, 8, 1), true, 0, 44, 40, 38),
          rated(tiled(32, 128, 16, 4, 8, 1), false, 0, 34, 34, 34),
          rated(tiled(32, 64, 16, 4, 4, 2), false, 0, 26, 26, 26),
          rated(tiled(16, 128, 16, 2, 8, 2), false, 0, 22, 22, 22),
          rated(tiled(16, 64, 16, 2, 4, 2), false, 0, 15, 15, 15),
          rated(tiled(16, 16, 32, 2, 2, 2), false, 0, 5, 5, 5)};
}

// In microseconds. The processor that has most teams decides: 196 teams of 128 x 128 take as long as 264 on
// 132 of them. One that has few lanes at a time is not busy, and splits have a second pass. Where a processor
// has few teams of a batch at a time none computes while others write.
double estimated_time(const MatmulShape& shape, const Rated& rated, uint32_t splits, const Limits& limits) {
  constexpr double lanes_at_once = 512, few_at_once = 2, bytes_a_microsecond = 3e6, second_pass = 4;
  const bool is_batch = !shape.mapped && shape.batch > 1;
  const double busy_lanes = is_batch ? 128 : 256;
  const MatmulTiling& t = rated.tiling;
  const Grid grid(shape, t);
  const double processors = std::max(1u, limits.multiprocessors),
               teams = 1.0 * grid.tiles_m * grid.tiles_n * shape.batch * splits;
  const double lanes = 1.0 * (t.block_m / t.part_m) * (t.block_n / t.part_n);
  const double of_a_team = 2.0 * t.block_m * t.block_n * t.block_k * ceil_div(grid.tiles_k, splits) /
                           (rated.rate * 1e6 / processors);
  const double at_once = std::max(1.0, std::floor(lanes_at_once / lanes)),
               rounds = std::floor(teams / (at_once * processors)),
               left = std::ceil((teams - rounds * at_once * processors) / processors);
  const double sums =
      of_a_team * (rounds * at_once + (left == 0 ? 0 : left / std::min(1.0, left * lanes / busy_lanes)));
  const double results = 4.0 * shape.m * shape.n * shape.batch;
  const double waits = is_batch && at_once <= few_at_once ? results / bytes_a_microsecond : 0;
  return splits == 1 ? sums + waits : sums + second_pass + 2 * results * splits / bytes_a_microsecond;
}

// Sums of f32 that are long, of few tiles: the estimate weighs splits against tiles that do not come out
// even. On an H200: 569 x 3931 x 244 42 us instead of 46, 200 x 777 x 1500 25 instead of 30; 1000 x 1000 x
// 1000 58 instead of 50.
bool is_narrow_and_long(const MatmulShape& shape) {
  const uint32_t side = std::min(shape.m, shape.n);
  return shape.batch == 1 && side >= 128 && side < 512 && shape.k >= 512;
}

// Batches have teams enough for any tile, so that what counts is how much of the tiles is used: 64 of 300 x
// 200 x 300 take 77 us instead of 109 on an H200, 512 of 64 x 64 x 64 11 instead of 16.
bool is_batch_of_blocks(const MatmulShape& shape) {
  constexpr uint32_t least_side = 33, least_steps = 32;  // thinner ones have tiles of their own
  return shape.batch > 1 && std::min(shape.m, shape.n) >= least_side && shape.k >= least_steps;
}

bool goes_by_estimate(const MatmulShape& shape) {
  if (shape.mapped) return size_of(accumulator_type(shape)) == 4;
  return shape.type == Type::f32 && (is_narrow_and_long(shape) || is_batch_of_blocks(shape));
}

// Many rows a team where they are short, many lanes where they are long.
MatmulTiling vector_tiling(const MatmulShape& shape, const Limits& limits) {
  const bool is_column = shape.n == 1, along_k = is_column ? !shape.transpose_a : shape.transpose_b;
  MatmulTiling t;
  t.method = MatmulMethod::vector;
  const uint32_t rows = along_k ? 4 : 128;
  t.block_m = is_column ? rows : 1, t.block_n = is_column ? 1 : rows, t.block_k = 256;
  t.across = std::min(along_k && shape.k <= 1024 ? 64u : 256u, limits.max_lanes);
  t.group = 1;
  return t;
}

}  // namespace

MatmulTiling tiling_by_estimate(const MatmulShape& shape, const Limits& limits) {
  constexpr uint32_t least_share = 4, most_splits = 512;  // tiles along k
  MatmulTiling best;
  double least = std::numeric_limits<double>::infinity();
  for (Rated& rated : rated_candidates(shape)) {
    MatmulTiling& t = rated.tiling;
    t.subgroup = std::max(limits.subgroup_size, 1u);
    t.fused = limits.fused_fma;
    t.linear = limits.int64 && shape.mapped;
    if (!fits(t, shape, limits)) continue;
    const uint32_t tiles = Grid(shape, t).tiles_k;
    for (uint32_t count = 1; count <= std::min(most_splits, std::max(1u, tiles / least_share));
         count += std::max(1u, count / 4)) {
      const uint32_t splits = ceil_div(tiles, ceil_div(tiles, count));  // no split without work
      const double time = estimated_time(shape, rated, splits, limits);
      if (time < least) least = time, best = t, best.split_k = splits;
    }
  }
  return best;
}

uint32_t fitting_splits(const MatmulShape& shape, const MatmulTiling& tiling) {
  const uint32_t tiles = Grid(shape, tiling).tiles_k, splits = std::min(tiling.split_k, tiles);
  return ceil_div(tiles, ceil_div(tiles, splits));
}

MatmulTiling choose_tiling(const MatmulShape& shape, const Limits& limits) {
  MatmulTiling best;
  if ((shape.m == 1 || shape.n == 1) && !shape.mapped) {
    best = vector_tiling(shape, limits);
    best.subgroup = std::max(limits.subgroup_size, 1u);
    best.fused = limits.fused_fma;
    best.split_k = splits(shape, best);
    return best;
  }
  if (goes_by_estimate(shape)) return tiling_by_estimate(shape, limits);
  for (auto& [t, teams] : candidates(shape, limits)) {
    t.subgroup = std::max(limits.subgroup_size, 1u);
    t.fused = limits.fused_fma;
    if (!fits(t, shape, limits)) continue;
    best = t;
    const bool wasteful = t.block_m >= 2 * shape.m || t.block_n >= 2 * shape.n;
    const bool small = t.block_m * t.block_n <= 32 * 32;
    // Large tiles and many splits are worse than smaller tiles, but for sums that are very long.
    const uint64_t split = splits(shape, t);
    const uint64_t sharing = shape.k >= split * long_share(shape) ? split
                             : t.block_m * t.block_n <= 64 * 64   ? std::min<uint64_t>(split, 4)
                                                                  : 1;
    if ((matmul_teams(shape, t) * sharing >= teams || small) && !wasteful) break;
  }
  best.split_k = splits(shape, best);
  return best;
}

}  // namespace adit::ops
