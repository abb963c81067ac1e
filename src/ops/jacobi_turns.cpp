// What turns the columns of a pair of blocks.
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

namespace turns {
namespace {

struct Rotation {
  Value c, s;
};

// Of two columns with a and b on the diagonal and g beside it, that makes g zero.
Rotation rotation_for(Value a, Value b, Value g, Value limit, bool relative) {
  const Value most = relative ? limit * (sqrt_device(abs(a)) * sqrt_device(abs(b))) : limit;
  const Value turns = abs(g) > most, safe = select(turns, g, g.like(1));
  const Value zeta = (b - a) / (2 * safe);
  const Value root = sqrt_device(fma(zeta, zeta, zeta.like(1)));
  const Value t = select(zeta < 0, zeta.like(-1), zeta.like(1)) / (abs(zeta) + root);
  const Value near = 1 / sqrt_device(fma(t, t, t.like(1))), near_s = near * t;
  // Thousands of rotations must not shrink or stretch what they turn: c c + s s is 1 but for rounding.
  const Value excess = fma(near_s, near_s, fma(near, near, near.like(-1))) * -0.5;
  const Value c = fma(near, excess, near), s = fma(near_s, excess, near_s);
  return {select(turns, c, c.like(1)), select(turns, s, s.like(0))};
}

class Kernel {
 protected:
  Kernel(const char* name, const Blocks& blocks)
      : blocks_(blocks),
        block_(blocks.block),
        both_(blocks.both()),
        type_(blocks.type),
        k_(name, Team::many(blocks.lanes())) {
    matrix_ = k_.buffer("matrix", type_, Access::read);
    const Array limits = k_.buffer("limits", type_, Access::read);
    turns_ = k_.buffer("turns", type_, Access::write);
    const Value round = k_.scalar("round", Type::u32);
    team_ = k_.team(Type::u64);
    const Value pairs = team_.like(blocks.pairs()), which = team_ / pairs;
    who_ = meeting(round, convert(team_ % pairs, Type::u32), blocks.count);
    first_ = which * (uint64_t{blocks.size()} * blocks.size());
    limit_ = limits[which];
    lane_ = k_.lane();
  }
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value number(double x) { return k_.constant(type_, x); }
  Value element(Value row, Value column) {
    const Value at = first_ + convert(row, Type::u64) * blocks_.size() + convert(column, Type::u64);
    return matrix_[at];
  }
  void put_turn(Value row, Value column, Value value) {
    const Value to = team_ * uint64_t{both_ * both_} + convert(row * both_ + column, Type::u64);
    turns_[to] = value;
  }

  const Blocks& blocks_;
  uint32_t block_, both_;
  Type type_;
  Builder k_;
  Array matrix_, turns_;
  Value team_, first_, limit_, lane_;
  Meeting who_;
};

// Columns of the first block meet those of the second. The small matrix lies in registers, as
//   p x
//   y r
// with a column j of each block in lane j of a group and four rows of each in a group, so that a pair's
// numbers are always side by side. Between rounds the second block moves against the first: its number i goes
// to the place of i ^ step. Steps of 1 and 2 move rows inside a group, the others between groups.
class Across : Kernel {
 public:
  explicit Across(const Blocks& blocks) : Kernel("jacobi_across", blocks) {}

  Program build() {
    const uint32_t lanes = blocks_.lanes();
    angles_ = k_.shared(type_, 2 * 2 * block_);
    moved_ = k_.shared(type_, 2 * rows * lanes);
    column_ = lane_ % block_;
    group_ = lane_ / block_;
    load();
    // The order of Gray: each step moves by a power of 2.
    k_.for_(word(block_ / 4), [&](Value turn) {
      round(0);
      move_inside(1);
      round(1);
      move_inside(2);
      round(0);
      move_inside(1);
      round(1);
      const Value next = turn + 1;
      k_.if_(next < block_ / 4, [&] { move_between((next & (word(0) - next)) * 4); });
    });
    store();
    return k_.finish();
  }

 private:
  static constexpr uint32_t rows = 4;

  void load() {
    const Value x = who_.first * block_, y = who_.second * block_;
    for (uint32_t i = 0; i < rows; ++i) {
      const Value row = group_ * rows + i;
      p_.push_back(k_.variable(element(x + row, x + column_)));
      x_.push_back(k_.variable(element(x + row, y + column_)));
      y_.push_back(k_.variable(element(y + row, x + column_)));
      r_.push_back(k_.variable(element(y + row, y + column_)));
    }
    for (uint32_t i = 0; i < 2 * rows; ++i) {
      const Value row = group_ * (2 * rows) + i;
      left_.push_back(k_.variable(select(row == column_, number(1), number(0))));
      right_.push_back(k_.variable(select(row == column_ + block_, number(1), number(0))));
    }
  }

  // `half` of the memory for angles: a slow lane may still read the others.
  void round(uint32_t half) {
    const Value mine = column_ % rows;
    const auto own = [&](const std::vector<Variable>& list) {
      Value found = list[0];
      for (uint32_t i = 1; i < rows; ++i) found = select(mine == i, list[i].get(), found);
      return found;
    };
    const Rotation found = rotation_for(own(p_), own(r_), own(x_), limit_, blocks_.relative);
    k_.if_(column_ / rows == group_, [&] {
      angles_.store(column_ + half * block_, k_.pack({found.c, found.s}));
    });
    k_.barrier();
    const Rotation across = angle(column_ + half * block_);
    for (uint32_t i = 0; i < rows; ++i) {
      const Rotation down = angle(group_ * rows + (i + half * block_));
      turn(p_[i], x_[i], across);
      turn(y_[i], r_[i], across);
      turn(p_[i], y_[i], down);
      turn(x_[i], r_[i], down);
    }
    for (uint32_t i = 0; i < 2 * rows; ++i) turn(left_[i], right_[i], across);
  }
  Rotation angle(Value at) {
    const Value both = angles_.load_vector(at, 2);
    return {both[0], both[1]};
  }
  static void turn(const Variable& a, const Variable& b, const Rotation& by) {
    const Value x = a, y = b;
    a = fma(by.c, x, -(by.s * y));
    b = fma(by.s, x, by.c * y);
  }

  void move_inside(uint32_t step) {
    const Value mask = word(step);
    for (uint32_t i = 0; i < rows; ++i) x_[i] = k_.subgroup_shuffle_xor(x_[i], mask);
    for (uint32_t i = 0; i < 2 * rows; ++i) right_[i] = k_.subgroup_shuffle_xor(right_[i], mask);
    for (uint32_t i = 0; i < rows; ++i) {
      if ((i ^ step) < i) continue;
      const Value a = y_[i], b = y_[i ^ step];
      y_[i] = b;
      y_[i ^ step] = a;
      const Value c = k_.subgroup_shuffle_xor(r_[i], mask), d = k_.subgroup_shuffle_xor(r_[i ^ step], mask);
      r_[i] = d;
      r_[i ^ step] = c;
    }
  }

  void move_between(Value step) {
    const uint32_t lanes = blocks_.lanes();
    for (uint32_t i = 0; i < rows; ++i) {
      moved_[lane_ + 2 * i * lanes] = y_[i].get();
      moved_[lane_ + (2 * i + 1) * lanes] = r_[i].get();
    }
    for (uint32_t i = 0; i < rows; ++i) x_[i] = k_.subgroup_shuffle_xor(x_[i], step);
    for (uint32_t i = 0; i < 2 * rows; ++i) right_[i] = k_.subgroup_shuffle_xor(right_[i], step);
    k_.barrier();
    const Value other = (group_ ^ (step / rows)) * block_;
    for (uint32_t i = 0; i < rows; ++i) {
      y_[i] = moved_[other + column_ + 2 * i * lanes].get();
      r_[i] = moved_[other + (column_ ^ step) + (2 * i + 1) * lanes].get();
    }
  }

  void store() {
    const Value second = (column_ ^ word(block_ / 2)) + block_;  // where Gray's order ends
    for (uint32_t i = 0; i < 2 * rows; ++i) {
      const Value row = group_ * (2 * rows) + i;
      put_turn(row, column_, left_[i]);
      put_turn(row, second, right_[i]);
    }
  }

  Array angles_, moved_;
  Value column_, group_;
  std::vector<Variable> p_, x_, y_, r_, left_, right_;
};

// Columns of a block meet each other, in both blocks of a pair.
class Inside : Kernel {
 public:
  explicit Inside(const Blocks& blocks) : Kernel("jacobi_inside", blocks) {}

  Program build() {
    small_ = k_.shared(type_, both_ * step());
    turned_ = k_.shared(type_, both_ * step());
    angles_ = k_.shared(type_, 2 * block_);
    each([&](Value half, Value row, Value column) {
      const Value at = (half * block_ + row) * step() + column;
      const Value top = select(half == 0, who_.first, who_.second) * block_;
      small_[at] = element(top + row, top + column);
      turned_[at] = select(row == column, number(1), number(0));
    });
    k_.barrier();
    k_.for_(word(block_ - 1), [&](Value round) { turn(round); });
    each([&](Value half, Value row, Value column) {
      const Value at = (half * block_ + row) * step() + column, first = half * block_, other = block_ - first;
      put_turn(first + row, first + column, turned_[at]);
      put_turn(first + row, other + column, number(0));
    });
    return k_.finish();
  }

 private:
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
      const Value both = angles_.load_vector(pair, 2);
      f(half * block_ * step(), meeting(round, pair % (block_ / 2), block_), e % block_, {both[0], both[1]});
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
      for (const Array& of : {small_, turned_})
        rotate(of, first + other * step() + who.first, first + other * step() + who.second, by);
    });
    k_.barrier();
    each_pair(round, [&](Value first, Meeting who, Value other, Rotation by) {
      rotate(small_, first + who.first * step() + other, first + who.second * step() + other, by);
    });
    k_.barrier();
  }
  static void rotate(const Array& of, Value at_x, Value at_y, const Rotation& by) {
    const Value x = of[at_x], y = of[at_y];
    of[at_x] = fma(by.c, x, -(by.s * y));
    of[at_y] = fma(by.s, x, by.c * y);
  }

  Array small_, turned_, angles_;
};

}  // namespace
}  // namespace turns

Program turn_inside(const Blocks& blocks) { return turns::Inside(blocks).build(); }
Program turn_across(const Blocks& blocks) { return turns::Across(blocks).build(); }

// A lane of a group for each column of a block, and two tiles of both blocks in shared memory; 0: none will
// do. Larger blocks take fewer rounds: f64 of 32 columns does not fit.
static uint32_t block_for(const FactorPlan& plan, const Limits& limits) {
  for (const uint32_t block : {32U, 16U, 8U}) {
    const uint64_t tile = uint64_t{2 * block} * (2 * block + 4) * size_of(plan.type);
    if (block <= limits.subgroup_size && 2 * tile <= limits.shared_bytes &&
        block * block / 4 <= limits.max_lanes)
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
