// What turns the columns of each block, and rotations as they are everywhere.
#include <array>
#include <cmath>
#include <limits>

#include <adit/kernel/math.hpp>

#include "ops/hands.hpp"
#include "ops/jacobi_blocks.hpp"

namespace adit::ops::jacobi_blocks {

using namespace kernel;

Meeting meeting(Value round, Value pair, uint32_t players) {
  const uint32_t others = players - 1;  // one stays, the others go round
  const Value a = (round + pair) % others, b = (round + others - pair) % others;
  return {a, select(pair == 0, b.like(others), b)};
}

Value goes_on(Builder& k, const Array& state) {
  return state[k.constant(Type::u32, State::phase)].get() != Phase::done;
}

double shortest_column(Type type) {
  const bool is_wide = type == Type::f64;
  const double least = is_wide ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  const double unit =
      is_wide ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  return 30 * std::sqrt(least / unit);
}

// Of two columns with a and b on the diagonal and g beside it, that makes g zero.
// A power of 2 that brings x near 1, so that squares neither vanish nor overflow.
static Value scale_for(Value x) {
  if (x.type() == Type::f64) return 1 / max(x, x.like(std::numeric_limits<double>::min()));
  const Value bits = bitcast(x, Type::u32), exponent = bits & bits.like(0x7f800000U);
  return bitcast(bits.like(0x7f000000U) - min(exponent, bits.like(0x7e800000U)), Type::f32);
}

Rotation rotation_for(Value a, Value b, Value g, Value limit, bool relative) {
  const Value most = relative ? limit * (sqrt_device(abs(a)) * sqrt_device(abs(b))) : limit;
  Value turns = abs(g) > most;
  if (relative) {
    const double shortest = shortest_column(g.type());
    turns = turns && min(abs(a), abs(b)) > shortest * shortest;
  }
  // Of the angle's double, d and h are cosine and sine but for their length: two roots and no other division.
  const Value by = relative ? scale_for(max(abs(b - a), abs(g))) : g.like(1);
  const Value d = (b - a) * by, h = select(turns, g, g.like(1)) * (2 * by);
  const Value length = 1 / sqrt_device(fma(d, d, h * h));
  const Value square = fma(abs(d) * 0.5, length, d.like(0.5)), root = 1 / sqrt_device(square);
  const Value near = square * root, near_s = select(d < 0, -h, h) * (0.5 * length) * root;
  // Thousands of rotations must not shrink or stretch what they turn: c c + s s is 1 but for rounding.
  const Value excess = fma(near_s, near_s, fma(near, near, near.like(-1))) * -0.5;
  const Value c = fma(near, excess, near), s = fma(near_s, excess, near_s);
  return {select(turns, c, c.like(1)), select(turns, s, s.like(0))};
}

namespace turns {
namespace {

// Columns of a block meet each other, in both blocks of a pair.
class Inside {
 public:
  explicit Inside(const Blocks& blocks)
      : blocks_(blocks),
        block_(blocks.block),
        both_(blocks.both()),
        type_(blocks.type),
        k_("jacobi_inside", Team::many(blocks.lanes())) {
    matrix_ = k_.buffer("matrix", type_, Access::read);
    to_ = k_.buffer("to", type_, Access::write);
    const Array limits = k_.buffer("limits", type_, Access::read);
    turns_ = k_.buffer("turns", type_, Access::write);
    state_ = k_.buffer("state", Type::u32, Access::read);
    team_ = k_.team(Type::u64);
    const Value pairs = team_.like(blocks.pairs()), which = team_ / pairs;
    who_ = meeting(word(0), convert(team_ % pairs, Type::u32), blocks.count);
    first_ = which * (uint64_t{blocks.size()} * blocks.size());
    limit_ = limits[which];
    lane_ = k_.lane();
  }

  Program build() {
    small_ = k_.shared(type_, both_ * step());
    turned_ = k_.shared(type_, both_ * step());
    angles_ = k_.shared(type_, 2 * block_);
    k_.if_(goes_on(k_, state_), [&] { turn_all(); });
    return k_.finish();
  }

 private:
  void turn_all() {
    each([&](Value half, Value row, Value column) {
      const Value at = (half * block_ + row) * step() + column;
      small_[at] = matrix_[place(half, row, column)].get();
      turned_[at] = select(row == column, number(1), number(0));
    });
    k_.barrier();
    k_.for_(word(block_ - 1), [&](Value round) { turn(round); });
    each([&](Value half, Value row, Value column) {
      const Value first = half * block_, other = block_ - first;
      put_turn(first + row, first + column, turned_[(first + row) * step() + column]);
      put_turn(first + row, other + column, number(0));
      // As it is above the diagonal: rounding must not make both sides differ.
      to_[place(half, row, column)] = small_[(first + min(row, column)) * step() + max(row, column)].get();
    });
  }

  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value number(double x) { return k_.constant(type_, x); }
  // Of the matrix, in one of the two blocks on its diagonal.
  Value place(Value half, Value row, Value column) {
    const Value top = select(half == 0, who_.first, who_.second) * block_;
    return first_ + convert(top + row, Type::u64) * blocks_.size() + convert(top + column, Type::u64);
  }
  void put_turn(Value row, Value column, Value value) {
    turns_[team_ * uint64_t{both_ * both_} + convert(row * both_ + column, Type::u64)] = value;
  }
  uint32_t step() const { return block_ + 1; }
  // All elements of both small matrices.
  void each(const std::function<void(Value, Value, Value)>& f) {
    k_.for_(lane_, word(2 * block_ * block_), word(blocks_.lanes()),
            [&](Value e) { f(e / (block_ * block_), e / block_ % block_, e % block_); });
  }
  // Each pair of columns (or rows) with each of the others in its block.
  void each_pair(Value round, const std::function<void(Value first, Meeting, Value other, Rotation)>& f) {
    k_.for_(lane_, word(block_ * block_), word(blocks_.lanes()), [&](Value e) {
      const Value pair = e / block_;  // of both blocks
      const Value half = pair / (block_ / 2);
      f(half * block_ * step(), meeting(round, pair % (block_ / 2), block_), e % block_, angle(pair));
    });
  }

  void turn(Value round) {
    k_.if_(lane_ < block_, [&] {
      const Meeting who = meeting(round, lane_ % (block_ / 2), block_);
      const Value first = lane_ / (block_ / 2) * (block_ * step());
      const auto at = [&](Value row, Value column) { return small_[first + row * step() + column].get(); };
      const Rotation found = rotation_for(at(who.first, who.first), at(who.second, who.second),
                                          at(who.first, who.second), limit_, blocks_.relative);
      angles_.store(lane_, k_.pack({found.c, found.s}));
    });
    k_.barrier();
    each_pair(round, [&](Value first, Meeting who, Value other, Rotation by) {
      rotate(turned_, first + other * step() + who.first, first + other * step() + who.second, by);
    });
    // Where two pairs meet, four numbers are turned from both sides.
    const uint32_t pairs = block_ / 2;
    k_.for_(lane_, word(2 * pairs * pairs), word(blocks_.lanes()), [&](Value e) {
      const Value half = e / (pairs * pairs), down = e / pairs % pairs, right = e % pairs;
      const Meeting rows = meeting(round, down, block_), columns = meeting(round, right, block_);
      const Rotation by_row = angle(half * pairs + down), by_column = angle(half * pairs + right);
      const Value top = half * (block_ * step());
      const Value upper = top + rows.first * step(), lower = top + rows.second * step();
      const Value places[] = {upper + columns.first, upper + columns.second, lower + columns.first,
                              lower + columns.second};
      Value x[4];
      for (int i = 0; i < 4; ++i) x[i] = small_[places[i]];
      turn(x[0], x[1], by_column);
      turn(x[2], x[3], by_column);
      turn(x[0], x[2], by_row);
      turn(x[1], x[3], by_row);
      for (int i = 0; i < 4; ++i) small_[places[i]] = x[i];
    });
    k_.barrier();
  }
  Rotation angle(Value at) {
    const Value both = angles_.load_vector(at, 2);
    return {both[0], both[1]};
  }
  static void turn(Value& a, Value& b, const Rotation& by) {
    const Value x = a, y = b;
    a = fma(by.c, x, -(by.s * y));
    b = fma(by.s, x, by.c * y);
  }
  static void rotate(const Array& of, Value at_x, Value at_y, const Rotation& by) {
    Value x = of[at_x], y = of[at_y];
    turn(x, y, by);
    of[at_x] = x;
    of[at_y] = y;
  }

  const Blocks& blocks_;
  uint32_t block_, both_;
  Type type_;
  Builder k_;
  Array matrix_, to_, turns_, state_, small_, turned_, angles_;
  Value team_, first_, limit_, lane_;
  Meeting who_;
};

}  // namespace
}  // namespace turns

Program turn_inside(const Blocks& blocks) { return turns::Inside(blocks).build(); }

// A lane of a group for each column of a block, and two tiles of both blocks and the angles in shared memory;
// 0: none will do. Larger blocks take fewer rounds: f64 of 32 columns does not fit.
static uint32_t block_for(const FactorPlan& plan, const Limits& limits) {
  for (const uint32_t block : {32U, 16U, 8U}) {
    const uint64_t tile = uint64_t{2 * block} * (2 * block + 4) * size_of(plan.type);
    if (block <= limits.subgroup_size && 2 * tile + 4 * block * size_of(plan.type) <= limits.shared_bytes &&
        block * block / 2 <= limits.max_lanes)
      return block;
  }
  return 0;
}

bool has_blocks(const FactorPlan& plan, const Limits& limits) {
  return plan.by_hand && !plan.complex && has_hands(limits) && block_for(plan, limits) > 0;
}

Blocks blocks_for(const FactorPlan& plan, uint32_t columns, bool relative, const Limits& limits) {
  Blocks blocks;
  blocks.type = plan.type;
  blocks.relative = relative;
  blocks.block = block_for(plan, limits);
  blocks.count = (columns + blocks.block - 1) / blocks.block;
  blocks.count = std::max(2U, blocks.count + blocks.count % 2);
  return blocks;
}

}  // namespace adit::ops::jacobi_blocks
