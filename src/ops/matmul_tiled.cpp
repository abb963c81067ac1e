// Products by multiply and add: each lane keeps part_m x part_n sums in registers and reads, for every step
// of k, a strip of a and a strip of b from shared memory. The next tiles travel to registers meanwhile.
#include <algorithm>
#include <bit>
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

// A tile in shared memory: step of k by step of k, so that a lane reads its strip of a step in vectors.
// Where vectors along k come in, they are taken apart on the way. Lanes that write side by side then meet the
// same banks, unless steps are padded or the rows of every such vector are turned by some.
struct Tile {
  OperandShape operand;
  Array memory;
  uint32_t lanes, part;                       // lanes along this extent, and what each reads of a step
  uint32_t vector;                            // elements of one such read
  uint32_t width;                             // elements of one access to the buffer
  uint32_t stride = 0, turn = 0, rounds = 1;  // the last: turns until they repeat

  uint32_t size() const { return stride * operand.block_k; }
  // Elements that rows are shifted by (exclusive or) at a step.
  uint32_t turned(uint32_t step) const { return turn * (step / width % rounds); }
};

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
        k_(fmt::format("matmul_{}_{}", name_of(shape.type), to_text(tiling)), Team::many(lanes_)) {}

  Program run() {
    a_ = k_.buffer("a", shape_.type, Access::read);
    b_ = k_.buffer("b", shape_.type, Access::read);
    const bool partial = t_.split_k > 1;
    const Array c = k_.buffer(partial ? "workspace" : "c", partial ? compute_ : shape_.result, Access::write);
    if (hooks_.declare && !partial) hooks_.declare(k_);
    if (hooks_.declare_condition) hooks_.declare_condition(k_);
    const TeamWork work = find_work(k_, shape_, t_);
    find_lane();
    tile_a_ = tile(operand_a(shape_, t_), lanes_m_, t_.part_m);
    tile_b_ = tile(operand_b(shape_, t_), lanes_n_, t_.part_n, shape_.mapped);
    under_condition(k_, hooks_, work.batch, [&] {
      sum(work);
      store(Writer(k_, shape_, t_, hooks_, c, work), work);
    });
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
  // Neighbours share a row, and those two apart a column: a GPU then serves twice as many lanes at once.
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
    Value right = rest(in_block, across), below = quotient(in_block, across);
    if (t_.interleaved && std::has_single_bit(across) && across > 1 && down % 2 == 0) {
      right = (in_block & 1) | rest(in_block >> 2, across / 2) << 1;
      below = (in_block >> 1 & 1) | quotient(in_block, across * 2) << 1;
    }
    lane_n_ = rest(block, blocks_n) * across + right;
    lane_m_ = quotient(block, blocks_n) * down + below;
  }

  Tile tile(const OperandShape& operand, uint32_t lanes, uint32_t part, bool mapped = false) {
    Tile made{operand, {}, lanes, part, vector_of(part), width_for(operand, mapped)};
    if (operand.along_k && t_.pad == 0) turn(made);
    const bool padded = operand.along_k && made.turn == 0;
    made.stride = operand.block + (padded ? std::max(t_.pad, 4u) : 0);
    made.memory = k_.shared(compute_, made.size() * t_.stages);
    return made;
  }

  // As many turns as there are vectors along k, or as the banks or the rows have room for.
  void turn(Tile& tile) const {
    constexpr uint32_t bytes_of_banks = 128;
    const uint32_t at_once = bytes_of_banks / size_of(compute_);
    const uint32_t block = tile.operand.block, aligned = block & (~block + 1);
    const uint32_t vectors = std::bit_floor(tile.operand.block_k / tile.width);
    const uint32_t step = std::max(tile.vector, at_once / vectors);
    const uint32_t rounds = std::min(vectors, std::min(at_once, aligned) / step);
    if (rounds > 1) tile.turn = step, tile.rounds = rounds;
  }

  // The widest vectors that the tile gives every lane the same number of, or else the widest.
  uint32_t width_for(const OperandShape& operand, bool mapped) const {
    const uint32_t elements = operand.block * operand.block_k;
    if (mapped) {
      const uint32_t width = operand.along_k ? 1 : hooks_.beside;
      const bool fits = width * size_of(shape_.type) <= 16 && elements % (width * lanes_) == 0;
      return fits ? width : 1;
    }
    const auto allows = [&](uint32_t width) {
      return width * size_of(shape_.type) <= 16 && operand.allows_vectors(width);
    };
    for (uint32_t width : {4u, 2u})
      if (allows(width) && elements % (width * lanes_) == 0) return width;
    if (elements % lanes_ == 0) return 1;
    for (uint32_t width : {4u, 2u})
      if (allows(width) && elements >= width * lanes_) return width;
    return 1;
  }

  using Loaded = std::vector<std::vector<Value>>;  // scalars, by slot

  Loaded load(const Array& from, const Stager& stager, Value number) {
    Loaded all;
    for (const Slot& slot : stager.slots()) {
      const Stager::Access access = stager.access(slot, number);
      all.push_back(scalars_of(from, access.index, stager.width(), access.guarded, access.inside));
    }
    return all;
  }

  // One access: `width` elements, at an index in vectors of as many.
  std::vector<Value> scalars_of(const Array& from, Value index, uint32_t width, bool guarded, Value inside) {
    std::vector<Value> scalars;
    const auto count = static_cast<int>(width);
    const Value loaded = count == 1 ? from.load(index) : from.load_vector(index, count);
    for (int j = 0; j < count; ++j) {
      const Value x = convert(count == 1 ? loaded : loaded[j], compute_);
      scalars.push_back(guarded ? select(inside, x, 0) : x);
    }
    return scalars;
  }

  // Of each access to a tile of b its column; columns that are the same are found once.
  std::vector<MatmulHooks::Column> columns_of(const Stager& stager, const TeamWork& work) {
    std::vector<MatmulHooks::Column> columns;
    if (!shape_.mapped) return columns;
    const bool along_k = tile_b_.operand.along_k, shared = lines_at_once(stager) > 0;
    for (const Slot& slot : stager.slots()) {
      if (shared && !columns.empty()) {
        columns.push_back(columns[0]);
        continue;
      }
      Value column = work.column + (along_k ? slot.line : slot.within);
      if (shape_.n % t_.block_n != 0) column = kernel::min(column, column.like(shape_.n - stager.width()));
      columns.push_back(hooks_.column(k_, work.batch, column));
    }
    return columns;
  }

  // Lines of a tile of b that the lanes read at the same time, a column each; 0: columns differ.
  uint32_t lines_at_once(const Stager& stager) const {
    const uint32_t a_line = t_.block_n / stager.width();
    return !tile_b_.operand.along_k && lanes_ % a_line == 0 ? lanes_ / a_line : 0;
  }
  bool is_linear_in_b(const Stager& stager) const {
    const bool even = t_.block_n * t_.block_k % (lanes_ * stager.width()) == 0;
    return t_.linear && hooks_.apart > 0 && even && lines_at_once(stager) > 0;
  }

  Loaded load_mapped(const Array& from, const Stager& stager, const std::vector<MatmulHooks::Column>& columns,
                     Value number) {
    Loaded all;
    MatmulHooks::Element element;
    Value first;
    for (size_t i = 0; i < columns.size(); ++i) {
      const Slot& slot = stager.slots()[i];
      if (i > 0 && is_linear_in_b(stager)) {
        element.index = first + i * lines_at_once(stager) * hooks_.apart;
      } else {
        element = columns[i](number, tile_b_.operand.along_k ? slot.within : slot.line);
        if (is_linear_in_b(stager)) first = element.index = convert(element.index, Type::u64);
      }
      all.push_back(scalars_of(from, quotient(element.index, stager.width()), stager.width(), element.guarded,
                               element.inside));
    }
    return all;
  }

  void put(const Tile& tile, const Stager& stager, Value stage, const Loaded& all) {
    const Value offset = stage * tile.size();
    for (size_t s = 0; s < all.size(); ++s) {
      const Slot& slot = stager.slots()[s];
      const std::vector<Value>& x = all[s];
      if (tile.operand.along_k) {
        Value row = slot.line + slot.below;
        if (tile.turn > 0) row = row ^ rest(quotient(slot.within, tile.width), tile.rounds) * tile.turn;
        const Value first = slot.within * tile.stride + row + offset;
        for (uint32_t j = 0; j < tile.width; ++j) tile.memory.store(first + j * tile.stride, x[j]);
        continue;
      }
      // No wider than what is read: the widest access decides how shared memory is declared.
      const Value first = slot.line * tile.stride + slot.within + offset + slot.below * tile.stride;
      const uint32_t piece = std::min(tile.width, tile.vector);
      for (uint32_t j = 0; j < tile.width; j += piece) {
        const Value at = quotient(first + j, piece);
        if (piece == 1)
          tile.memory.store(at, x[j]);
        else
          tile.memory.store(
              at, piece == 2 ? k_.pack({x[j], x[j + 1]}) : k_.pack({x[j], x[j + 1], x[j + 2], x[j + 3]}));
      }
    }
  }

  Value product_sum(Value x, Value y, Value sum) const {
    return t_.fused && is_float(compute_) ? fma(x, y, sum) : x * y + sum;
  }

  std::vector<Value> strip(const Tile& tile, Value lane, Value stage, uint32_t step) const {
    std::vector<Value> values;
    const uint32_t vector = tile.vector, turned = tile.turned(step) / vector;
    const Value base = stage * (tile.size() / vector);
    for (uint32_t chunk = 0; chunk < tile.part / vector; ++chunk) {
      // Constants last: they become part of the instruction.
      const uint32_t above = chunk * tile.lanes;
      const bool apart = turned == 0 || tile.lanes * vector % (tile.turn * tile.rounds) == 0;
      Value at = apart ? lane : lane + above;
      if (turned > 0) at = at ^ turned;
      at = base + at + (step * tile.stride / vector + (apart ? above : 0));
      const Value loaded =
          vector == 1 ? tile.memory.load(at) : tile.memory.load_vector(at, static_cast<int>(vector));
      for (uint32_t j = 0; j < vector; ++j)
        values.push_back(vector == 1 ? loaded : loaded[static_cast<int>(j)]);
    }
    return values;
  }

  // What one step multiplies: a lane's strip of a, then that of b.
  std::vector<Value> strips(Value stage, uint32_t step) const {
    std::vector<Value> both = strip(tile_a_, lane_m_, stage, step);
    const std::vector<Value> y = strip(tile_b_, lane_n_, stage, step);
    both.insert(both.end(), y.begin(), y.end());
    return both;
  }

  // To and fro, so that each product shares an operand with the one before: registers are read less often.
  void add_products(const std::vector<Value>& both, std::vector<Value>& sums) const {
    for (uint32_t i = 0; i < t_.part_m; ++i)
      for (uint32_t step = 0; step < t_.part_n; ++step) {
        const uint32_t j = i % 2 == 0 ? step : t_.part_n - 1 - step;
        Value& sum = sums[i * t_.part_n + j];
        sum = product_sum(both[i], both[t_.part_m + j], sum);
      }
  }

  // Works on the tiles of `stage`; `put_next` puts the next ones where `other` is. With two stages that
  // happens while products keep the lane busy. With `ahead` a step's strips are read during the step before,
  // also across the barrier.
  void multiply(Value stage, Value other, const std::function<void()>& put_next) {
    const auto exchange = [&] {
      if (t_.stages == 1) k_.barrier(), put_next();
      k_.barrier();
    };
    std::vector<Value> sums, now, following;
    for (const Variable& sum : sums_) sums.push_back(sum.get());
    for (const Variable& value : carried_) now.push_back(value.get());
    for (uint32_t step = 0; step < t_.block_k; ++step) {
      if (!t_.ahead) now = strips(stage, step);
      if (t_.stages == 2 && step == t_.block_k * 3 / 4) put_next();
      const bool last = step + 1 == t_.block_k;
      if (t_.ahead && last) exchange();
      if (t_.ahead) following = last ? strips(other, 0) : strips(stage, step + 1);
      add_products(now, sums);
      now = following;
    }
    for (size_t at = 0; at < sums.size(); ++at) sums_[at] = sums[at];
    for (size_t at = 0; at < carried_.size(); ++at) carried_[at] = now[at];
    if (!t_.ahead) exchange();
  }

  // Keeps what was fetched until the next step.
  void hold(const std::pair<Loaded, Loaded>& tiles) {
    size_t at = 0;
    const bool is_first = held_.empty();
    for (const Loaded* loaded : {&tiles.first, &tiles.second})
      for (const std::vector<Value>& slot : *loaded)
        for (const Value& scalar : slot) {
          if (is_first)
            held_.push_back(k_.variable(scalar));
          else
            held_[at++] = scalar;
        }
  }

  std::pair<Loaded, Loaded> held() const {
    size_t at = 0;
    const auto take = [&](const Tile& tile) {
      Loaded all(ceil_div(tile.operand.block * tile.operand.block_k, tile.width * lanes_));
      for (std::vector<Value>& slot : all)
        for (uint32_t j = 0; j < tile.width; ++j) slot.push_back(held_[at++].get());
      return all;
    };
    Loaded a = take(tile_a_);
    return {std::move(a), take(tile_b_)};
  }

  void sum(const TeamWork& work) {
    // Vectors along k are spread over the banks by turns of their own.
    const bool linear_a = t_.linear && !tile_a_.operand.along_k;
    const Stager stage_a(k_, tile_a_.operand, tile_a_.width, lanes_, work.row, work.batch, linear_a),
        stage_b(k_, tile_b_.operand, tile_b_.width, lanes_, work.column, work.batch);
    const std::vector<MatmulHooks::Column> columns = columns_of(stage_b, work);
    for (uint32_t at = 0; at < t_.part_m * t_.part_n; ++at) sums_.push_back(k_.variable(compute_, 0));
    const Value first = work.first_k, zero = first.like(0), last = work.end_k - 1;
    const auto fetch = [&](Value number) {
      return std::pair(load(a_, stage_a, number),
                       shape_.mapped ? load_mapped(b_, stage_b, columns, number) : load(b_, stage_b, number));
    };
    const auto place_tiles = [&](Value stage, const std::pair<Loaded, Loaded>& tiles) {
      put(tile_a_, stage_a, stage, tiles.first);
      put(tile_b_, stage_b, stage, tiles.second);
    };
    const auto fetch_ahead = [&](Value number) { return fetch(kernel::min(number, last)); };
    place_tiles(zero, fetch(first));
    if (t_.early) hold(fetch_ahead(first + 1));
    k_.barrier();
    if (t_.ahead)
      for (const Value value : strips(zero, 0)) carried_.push_back(k_.variable(value));
    k_.for_(first, work.end_k, first.like(1), [&](Value number) {
      const Value stage = t_.stages == 1 ? zero : (number - first) & 1;
      const Value other = t_.stages == 1 ? zero : 1 - stage;
      // After the last tile it is fetched once more, for nothing: cheaper than a branch.
      if (t_.early) {
        place_tiles(other, held());
        hold(fetch_ahead(number + 2));
        multiply(stage, other, [] {});
      } else {
        const auto next = fetch_ahead(number + 1);
        multiply(stage, other, [&] { place_tiles(other, next); });
      }
    });
  }

  void store(const Writer& writer, const TeamWork& work) {
    const uint32_t vector_m = tile_a_.vector, vector_n = tile_b_.vector;
    for (uint32_t i = 0; i < t_.part_m; ++i) {
      const Value row = work.row + lane_m_ * vector_m + (i / vector_m * lanes_m_ * vector_m + i % vector_m);
      for (uint32_t j = 0; j < t_.part_n; j += vector_n) {
        std::vector<Value> sums;
        for (uint32_t part = 0; part < vector_n; ++part)
          sums.push_back(sums_[i * t_.part_n + j + part].get());
        writer.store(row, work.column + lane_n_ * vector_n + j * lanes_n_, sums);
      }
    }
  }

  const MatmulShape& shape_;
  const MatmulTiling& t_;
  const MatmulHooks& hooks_;
  const uint32_t lanes_m_, lanes_n_, lanes_;
  const Type compute_;
  Builder k_;
  Array a_, b_;
  Tile tile_a_{}, tile_b_{};
  Value lane_m_, lane_n_;
  std::vector<Variable> sums_, carried_, held_;
};

void check_tiles(const MatmulTiling& t) {
  const bool divides = t.part_m > 0 && t.part_n > 0 && t.block_m % t.part_m == 0 && t.block_n % t.part_n == 0;
  if (!divides) reject_matmul("tiling: expected parts that divide the block");
  if (t.pad % 4 != 0 || t.block_m % 4 != 0 || t.block_n % 4 != 0)
    reject_matmul("tiling: expected blocks and padding of a multiple of 4");
}

}  // namespace

Program tiled_program(const MatmulShape& shape, const MatmulTiling& tiling, const MatmulHooks& hooks) {
  check_tiles(tiling);
  return Tiled(shape, tiling, hooks).run();
}

}  // namespace adit::ops
