#include "ops/matmul_parts.hpp"

#include <algorithm>
#include <bit>

namespace adit::ops {

using kernel::size_of;

namespace {

constexpr uint64_t reach_of_32_bits = uint64_t{1} << 31;

Value min_with(Value a, uint32_t b) { return kernel::min(a, a.like(b)); }

// Shared memory takes 8 vectors of 16 bytes at once, from 8 lanes side by side, where all go to different
// banks. Short lines whose distance is an odd number of vectors meet there unless they are as many lines
// apart as a line has vectors.
Value spread(Value line, uint32_t vectors) {
  constexpr uint32_t at_once = 8;
  if (vectors >= at_once || at_once % vectors != 0) return line;
  const Value among = rest(line, at_once), lines = among.like(at_once / vectors);
  return (line - among) + (among % lines * vectors + among / lines);
}

}  // namespace

Value quotient(Value a, uint32_t b) {
  if (b == 1) return a;
  return std::has_single_bit(b) ? a >> std::countr_zero(b) : a / b;
}

Value rest(Value a, uint32_t b) {
  if (b == 1) return a.like(0);
  return std::has_single_bit(b) ? a & (b - 1) : a % b;
}

Grid::Grid(const MatmulShape& shape, const MatmulTiling& tiling)
    : tiles_m(ceil_div(shape.m, tiling.block_m)),
      tiles_n(ceil_div(shape.n, tiling.block_n)),
      tiles_k(ceil_div(shape.k, tiling.block_k)),
      tiles_k_each(ceil_div(tiles_k, tiling.split_k)) {}

// Teams are numbered batch by batch, split by split, and inside in strips of `group` rows of tiles: what runs
// at the same time then shares rows of a and columns of b.
TeamWork find_work(Builder& k, const MatmulShape& shape, const MatmulTiling& tiling) {
  const Grid grid(shape, tiling);
  const uint32_t tiles = grid.tiles_m * grid.tiles_n;
  const uint32_t group = std::clamp(tiling.group, 1u, grid.tiles_m);
  Value team = k.team(), zero = team.like(0);
  const bool one_plane = shape.batch == 1 && tiling.split_k == 1;
  const Value plane = one_plane ? zero : quotient(team, tiles);
  if (!one_plane) team = rest(team, tiles);
  const uint32_t strip = group * grid.tiles_n;
  const Value in_strip = rest(team, strip), first = quotient(team, strip) * group;
  TeamWork work;
  Value row = rest(in_strip, group), column = quotient(in_strip, group);
  if (grid.tiles_m % group != 0) {  // the last strip is lower
    const Value height = min_with(grid.tiles_m - first, group);
    row = in_strip % height, column = in_strip / height;
  }
  work.row = (first + row) * tiling.block_m;
  work.column = column * tiling.block_n;
  work.batch = shape.batch == 1 ? zero : quotient(plane, tiling.split_k);
  work.split = rest(plane, tiling.split_k);
  work.first_k = tiling.split_k == 1 ? zero : work.split * grid.tiles_k_each;
  work.end_k = tiling.split_k == 1 ? team.like(grid.tiles_k)
                                   : min_with(work.first_k + grid.tiles_k_each, grid.tiles_k);
  return work;
}

bool OperandShape::is_wide() const {
  return uint64_t{extent} * depth + batch_stride * (batch - 1) >= reach_of_32_bits;
}

bool OperandShape::allows_vectors(uint32_t width) const {
  return width == 1 || (leading() % width == 0 && batch_stride % width == 0 &&
                        (along_k ? block_k : block) % width == 0 && alignment % (width * size_of(type)) == 0);
}

OperandShape operand_a(const MatmulShape& s, const MatmulTiling& t) {
  return {s.type,         s.m,        s.k,     t.block_m,   t.block_k,
          !s.transpose_a, s.a_stride, s.batch, s.alignment, s.a_pitch};
}

OperandShape operand_b(const MatmulShape& s, const MatmulTiling& t) {
  return {s.type, s.n, s.k, t.block_n, t.block_k, s.transpose_b, s.b_stride, s.batch, s.alignment};
}

// With a 64-bit index the constants between a lane's accesses become part of the instructions; 32 bits could
// wrap between.
Stager::Stager(Builder& k, const OperandShape& shape, uint32_t width, uint32_t lanes, Value first,
               Value batch, bool linear)
    : shape_(shape), width_(width), index_type_(linear || shape.is_wide() ? Type::u64 : Type::u32) {
  const uint32_t a_line = (shape.along_k ? shape.block_k : shape.block) / width;
  const uint32_t lines = shape.along_k ? shape.block : shape.block_k;
  const uint32_t total = a_line * lines;
  // Lanes that have none of the last ones left read the very last, and write it once more.
  const bool uneven = total % lanes != 0;
  const auto wide = [&](Value v) { return convert(v, index_type_); };
  const Value lane = k.lane();
  Value offset = k.constant(index_type_, 0);
  if (shape.batch_stride != 0 && shape.batch > 1) offset = wide(batch) * (shape.batch_stride / width);
  const bool ragged = shape.extent % shape.block != 0;
  const bool whole = linear && lanes % a_line == 0 && !uneven, shared = whole && !ragged;
  const bool spreads = whole && shape.along_k && lanes % (8 * a_line) == 0;
  for (uint32_t number = 0; number < total; number += lanes) {
    Value id = shared ? lane : lane + number;
    if (number + lanes > total) id = min_with(id, total - 1);
    const Value line = spreads ? spread(quotient(id, a_line), a_line) : quotient(id, a_line);
    const Value within = rest(id, a_line);
    Slot slot;
    slot.line = line;
    slot.within = within * width;
    if (shared) slot.below = number / a_line;
    const uint32_t leading = shape.leading() / width;
    if (shape.along_k) {
      Value row = first + line;
      if (ragged) row = min_with(row, shape.extent - 1);
      slot.base = offset + wide(row) * leading + wide(within);
    } else {
      Value vector = quotient(first, width) + within;
      if (ragged) vector = min_with(vector, ceil_div(shape.extent, width) - 1);
      slot.base = offset + wide(line) * leading + wide(vector);
    }
    slots_.push_back(slot);
  }
}

Stager::Access Stager::access(const Slot& slot, Value tile) const {
  const uint64_t step = uint64_t{shape_.block_k} * (shape_.along_k ? 1 : shape_.leading()) / width_;
  const uint64_t below = uint64_t{slot.below} * (shape_.leading() / width_);
  Access result{
      slot.base + convert(tile, index_type_) * step + below, {}, shape_.depth % shape_.block_k != 0};
  if (!result.guarded) return result;
  const Value at = tile * shape_.block_k + (shape_.along_k ? slot.within : slot.line + slot.below);
  result.inside = at < shape_.depth;
  result.index = select(result.inside, result.index, 0);
  return result;
}

Value finish_sum(Builder& k, const MatmulHooks& hooks, Type result, Value sum, Value batch, Value row,
                 Value column) {
  if (hooks.epilogue) sum = hooks.epilogue(k, sum, batch, row, column);
  return convert(sum, result);
}

void under_condition(Builder& k, const MatmulHooks& hooks, Value batch, const std::function<void()>& work) {
  if (hooks.condition)
    k.if_(hooks.condition(k, batch), work);
  else
    work();
}

Writer::Writer(Builder& k, const MatmulShape& shape, const MatmulTiling& tiling, const MatmulHooks& hooks,
               const Array& to, const TeamWork& work)
    : k_(k),
      shape_(shape),
      hooks_(hooks),
      to_(to),
      work_(work),
      type_(to.type()),
      partial_(tiling.split_k > 1),
      ragged_(shape.m % tiling.block_m != 0 || shape.n % tiling.block_n != 0) {
  const uint64_t elements = uint64_t{shape.m} * shape.n * shape.batch * tiling.split_k;
  index_type_ = elements >= reach_of_32_bits ? Type::u64 : Type::u32;
  if (partial_) work_.batch = work.split * shape.batch + work.batch;  // a plane of the workspace
}

bool Writer::is_plain() const {
  return !ragged_ && (partial_ || (!hooks_.epilogue && type_ == accumulator_type(shape_)));
}

Value Writer::index(Value row, Value column) const {
  const auto wide = [&](Value v) { return convert(v, index_type_); };
  Value line = wide(row);
  if (partial_ || shape_.batch > 1) line = wide(work_.batch) * shape_.m + line;
  return line * shape_.n + wide(column);
}

void Writer::store(Value row, Value column, const std::vector<Value>& sums) const {
  const auto width = static_cast<uint32_t>(sums.size());
  const uint32_t run = hooks_.place && !partial_ ? hooks_.run : shape_.n;
  const bool whole = width == 1 || (run % width == 0 && width <= 4 && width != 3 &&
                                    shape_.alignment % (width * size_of(type_)) == 0);
  if (whole) {
    if (!ragged_) return store_inside(row, column, sums);
    k_.if_(row < shape_.m && column < shape_.n, [&] { store_inside(row, column, sums); });
    return;
  }
  for (uint32_t j = 0; j < width; ++j) store(row, column + j, {sums[j]});
}

void Writer::store_inside(Value row, Value column, const std::vector<Value>& sums) const {
  const auto width = static_cast<uint32_t>(sums.size());
  std::vector<Value> stored;
  for (uint32_t j = 0; j < width; ++j)
    stored.push_back(partial_ ? sums[j]
                              : finish_sum(k_, hooks_, type_, sums[j], work_.batch, row, column + j));
  const Value at =
      hooks_.place && !partial_ ? hooks_.place(k_, work_.batch, row, column) : index(row, column);
  if (width == 1) return to_.store(at, stored[0]);
  to_.store(quotient(at, width), width == 2 ? k_.pack({stored[0], stored[1]})
                                            : k_.pack({stored[0], stored[1], stored[2], stored[3]}));
}

}  // namespace adit::ops
