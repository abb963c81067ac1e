// Products by multiply and add: each lane keeps part_m x part_n sums in registers and reads, for every step
// of k, a strip of a and a strip of b from shared memory. The next tiles travel to registers meanwhile.
#include <algorithm>
#include <fmt/format.h>

#include "ops/matmul_parts.hpp"

namespace adit::ops {

using kernel::Access;
using kernel::is_float;
using kernel::Program;
using kernel::size_of;
using kernel::Team;
using kernel::Variable;

namespace {

class Tiled {
 public:
  Tiled(const MatmulShape& shape, const MatmulTiling& tiling, const MatmulHooks& hooks)
      : shape_(shape),
        t_(tiling),
        hooks_(hooks),
        lanes_m_(tiling.block_m / tiling.part_m),
        lanes_n_(tiling.block_n / tiling.part_n),
        lanes_(lanes_m_ * lanes_n_),
        compute_(accumulator_type(shape)),
        vector_m_(vector_of(tiling.part_m)),
        vector_n_(vector_of(tiling.part_n)),
        k_(fmt::format("matmul_{}_{}", name_of(shape.type), to_text(tiling)), Team::many(lanes_)) {}

  Program run() {
    a_ = k_.buffer("a", shape_.type, Access::read);
    b_ = k_.buffer("b", shape_.type, Access::read);
    const bool partial = t_.split_k > 1;
    const Array c = k_.buffer(partial ? "workspace" : "c", partial ? compute_ : shape_.result, Access::write);
    if (hooks_.declare && !partial) hooks_.declare(k_);
    const Place place = find_place(k_, shape_, t_);
    find_lane();
    sum(place);
    store(Writer(k_, shape_, t_, hooks_, c, place), place);
    return k_.finish();
  }

 private:
  // Elements that 16 bytes hold, or all there are.
  uint32_t vector_of(uint32_t part) const {
    const uint32_t full = std::max(1u, 16 / size_of(compute_));
    for (uint32_t width : {4u, 2u})
      if (width <= full && part % width == 0) return width;
    return 1;
  }

  // Lanes of a subgroup form a block that is about as wide as high, so that they read few different values.
  void find_lane() {
    const Value lane = k_.lane();
    const uint32_t across = std::min(t_.across, lanes_n_);
    const uint32_t down = std::max(1u, std::min(t_.subgroup / across, lanes_m_));
    if (lanes_n_ % across != 0 || lanes_m_ % down != 0) {
      lane_n_ = rest(lane, lanes_n_), lane_m_ = quotient(lane, lanes_n_);
      return;
    }
    const Value in_block = rest(lane, across * down), block = quotient(lane, across * down);
    const uint32_t blocks_n = lanes_n_ / across;
    lane_n_ = rest(block, blocks_n) * across + rest(in_block, across);
    lane_m_ = quotient(block, blocks_n) * down + quotient(in_block, across);
  }

  // The widest vectors that the tile gives every lane the same number of.
  uint32_t width_for(const OperandShape& operand) const {
    const uint32_t elements = operand.block * operand.block_k;
    for (uint32_t width : {4u, 2u})
      if (width * size_of(shape_.type) <= 16 && operand.allows_vectors(width) &&
          elements % (width * lanes_) == 0)
        return width;
    return 1;
  }

  using Loaded = std::vector<std::vector<Value>>;  // scalars, by slot

  Loaded load(const Array& from, const Stager& stager, Value tile) {
    Loaded all;
    const auto width = static_cast<int>(stager.width());
    for (const Slot& slot : stager.slots()) {
      const Stager::Access access = stager.access(slot, tile);
      std::vector<Value> scalars;
      const Value loaded = width == 1 ? from.load(access.index) : from.load_vector(access.index, width);
      for (int j = 0; j < width; ++j) {
        Value x = convert(width == 1 ? loaded : loaded[j], compute_);
        if (access.guarded) x = select(access.inside, x, 0);
        scalars.push_back(x);
      }
      all.push_back(scalars);
    }
    return all;
  }

  // A tile lies in shared memory step of k by step of k.
  void put(const Array& to, const OperandShape& operand, const Stager& stager, Value offset,
           const Loaded& all) {
    const uint32_t stride = operand.block + t_.pad, width = stager.width();
    for (size_t s = 0; s < all.size(); ++s) {
      const Slot& slot = stager.slots()[s];
      const std::vector<Value>& x = all[s];
      if (operand.along_k) {
        const Value first = slot.within * stride + slot.line + offset;
        for (uint32_t j = 0; j < width; ++j) to.store(first + j * stride, x[j]);
        continue;
      }
      const Value first = slot.line * stride + slot.within + offset;
      if (width == 1)
        to.store(first, x[0]);
      else
        to.store(quotient(first, width),
                 width == 2 ? k_.pack({x[0], x[1]}) : k_.pack({x[0], x[1], x[2], x[3]}));
    }
  }

  Value product_sum(Value x, Value y, Value sum) const {
    return t_.fused && is_float(compute_) ? fma(x, y, sum) : x * y + sum;
  }

  std::vector<Value> strip(const Array& tile, Value lane, uint32_t lanes, uint32_t part, uint32_t vector,
                           Value base, uint32_t first) {
    std::vector<Value> values;
    for (uint32_t chunk = 0; chunk < part / vector; ++chunk) {
      const uint32_t constant = first + chunk * lanes * vector;
      const Value at = base + lane + constant / vector;
      const Value loaded = vector == 1 ? tile.load(at) : tile.load_vector(at, static_cast<int>(vector));
      for (uint32_t j = 0; j < vector; ++j)
        values.push_back(vector == 1 ? loaded : loaded[static_cast<int>(j)]);
    }
    return values;
  }

  void multiply(const Array& a, const Array& b, Value stage) {
    const uint32_t row_a = t_.block_m + t_.pad, row_b = t_.block_n + t_.pad;
    const Value base_a = stage * (t_.block_k * row_a / vector_m_),
                base_b = stage * (t_.block_k * row_b / vector_n_);
    std::vector<Value> sums;
    for (const Variable& sum : sums_) sums.push_back(sum.get());
    for (uint32_t step = 0; step < t_.block_k; ++step) {
      const std::vector<Value> x = strip(a, lane_m_, lanes_m_, t_.part_m, vector_m_, base_a, step * row_a),
                               y = strip(b, lane_n_, lanes_n_, t_.part_n, vector_n_, base_b, step * row_b);
      for (uint32_t i = 0; i < t_.part_m; ++i)
        for (uint32_t j = 0; j < t_.part_n; ++j) {
          Value& sum = sums[i * t_.part_n + j];
          sum = product_sum(x[i], y[j], sum);
        }
    }
    for (size_t at = 0; at < sums.size(); ++at) sums_[at] = sums[at];
  }

  void sum(const Place& place) {
    const OperandShape shape_a = operand_a(shape_, t_), shape_b = operand_b(shape_, t_);
    const Stager stage_a(k_, shape_a, width_for(shape_a), lanes_, place.row, place.batch),
        stage_b(k_, shape_b, width_for(shape_b), lanes_, place.column, place.batch);
    const uint32_t size_a = t_.block_k * (t_.block_m + t_.pad), size_b = t_.block_k * (t_.block_n + t_.pad);
    const Array a = k_.shared(compute_, size_a * t_.stages), b = k_.shared(compute_, size_b * t_.stages);
    for (uint32_t at = 0; at < t_.part_m * t_.part_n; ++at) sums_.push_back(k_.variable(compute_, 0));

    const Value first = place.first_k, zero = first.like(0), last = place.end_k - 1;
    const auto fetch = [&](Value tile) {
      return std::pair(load(a_, stage_a, tile), load(b_, stage_b, tile));
    };
    const auto place_tiles = [&](Value stage, const std::pair<Loaded, Loaded>& tiles) {
      put(a, shape_a, stage_a, stage * size_a, tiles.first);
      put(b, shape_b, stage_b, stage * size_b, tiles.second);
    };
    place_tiles(zero, fetch(first));
    k_.barrier();
    k_.for_(first, place.end_k, first.like(1), [&](Value tile) {
      // After the last tile it is fetched once more, for nothing: cheaper than a branch.
      const auto next = fetch(kernel::min(tile + 1, last));
      if (t_.stages == 1) {
        multiply(a, b, zero);
        k_.barrier();
        place_tiles(zero, next);
      } else {
        const Value stage = (tile - first) & 1;
        multiply(a, b, stage);
        place_tiles(1 - stage, next);
      }
      k_.barrier();
    });
  }

  void store(const Writer& writer, const Place& place) {
    for (uint32_t i = 0; i < t_.part_m; ++i) {
      const Value row =
          place.row + lane_m_ * vector_m_ + (i / vector_m_ * lanes_m_ * vector_m_ + i % vector_m_);
      for (uint32_t j = 0; j < t_.part_n; j += vector_n_) {
        std::vector<Value> sums;
        for (uint32_t part = 0; part < vector_n_; ++part)
          sums.push_back(sums_[i * t_.part_n + j + part].get());
        writer.store(row, place.column + lane_n_ * vector_n_ + j * lanes_n_, sums);
      }
    }
  }

  const MatmulShape& shape_;
  const MatmulTiling& t_;
  const MatmulHooks& hooks_;
  const uint32_t lanes_m_, lanes_n_, lanes_;
  const Type compute_;
  const uint32_t vector_m_, vector_n_;
  Builder k_;
  Array a_, b_;
  Value lane_m_, lane_n_;
  std::vector<Variable> sums_;
};

void check(const MatmulTiling& t) {
  const bool divides = t.part_m > 0 && t.part_n > 0 && t.block_m % t.part_m == 0 && t.block_n % t.part_n == 0;
  if (!divides) reject_matmul("tiling: expected parts that divide the block");
  if (t.pad % 4 != 0 || t.block_m % 4 != 0 || t.block_n % 4 != 0)
    reject_matmul("tiling: expected blocks and padding of a multiple of 4");
}

}  // namespace

Program tiled_program(const MatmulShape& shape, const MatmulTiling& tiling, const MatmulHooks& hooks) {
  check(tiling);
  return Tiled(shape, tiling, hooks).run();
}

}  // namespace adit::ops
