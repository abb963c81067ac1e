// A pair of blocks of the next round: its small matrix is made of what the round before left and of its
// turns, and turned.
#include "ops/jacobi_blocks.hpp"

namespace adit::ops::jacobi_blocks {

using namespace kernel;

namespace pivot {
namespace {

// Columns of the first block meet those of the second. The small matrix lies in registers, as
//   p x
//   y r
// with a column j of each block in lane j of a group and four rows of each in a group, so that a pair's
// numbers are always side by side. Between rounds the second block moves against the first: its number i goes
// to the place of i ^ step. Steps of 1 and 2 move rows inside a group, the others between groups.
//
// The other half of the lanes has the turns in the same way, eight rows of them in a group: p and y of the
// first block's columns, x and r of the second's. They turn while the first half looks for the next angles.
class Across {
 public:
  Across(const Round& round, Value pair)
      : round_(round),
        blocks_(round.blocks),
        block_(blocks_.block),
        both_(blocks_.both()),
        k_(round.k),
        lane_(round.lane) {
    who_ = meeting(round.number, pair, blocks_.count);
    team_ = round.which * blocks_.pairs() + convert(pair, Type::u64);
    limit_ = round.limits[round.which];
    column_ = lane_ % block_;
    is_small_ = lane_ < blocks_.lanes() / 2;
    group_ = select(is_small_, lane_, lane_ - blocks_.lanes() / 2) / block_;
  }

  void build() {
    make_cross();
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
    k_.if_(
        is_small_, [&] { put_blocks(); }, [&] { store_turns(); });
    k_.barrier();
    k_.if_(is_small_, [&] { store_blocks(); });
  }

 private:
  static constexpr uint32_t rows = 4;

  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value number(double x) { return k_.constant(blocks_.type, x); }
  uint32_t step() const { return round_.step(); }

  // Where a block was in the round: the pair, and whether it was the second of it.
  struct Seat {
    Value pair, second;
  };
  Seat seat_of(Value block) {
    const uint32_t others = blocks_.count - 1;
    const Value stays = block == others, away = (block + others - round_.meeting_number()) % others;
    const Value is_first = away < blocks_.pairs();
    return {select(stays, word(0), select(is_first, away, others - away)),
            select(stays || !is_first, word(1), word(0))};
  }

  // The block beside the diagonal after the round: a tile of the matrix, half of the turns of its rows and
  // half of those of its columns.
  void make_cross() {
    const Seat first = seat_of(who_.first), second = seat_of(who_.second);
    load_tile(first.pair, second.pair);
    load_turns(first.pair);
    k_.barrier();
    std::vector<Variable> sums;
    for (int i = 0; i < 4; ++i) sums.push_back(k_.variable(blocks_.type, 0.0));
    const Value down = lane_ / across(), right = lane_ % across();
    k_.for_(word(both_), [&](Value at) {
      const Value row = at * step();
      const Value x = round_.right[row + first.second * block_ + down],
                  y = round_.left.load_vector(row / 4 + right, 4);
      for (int v = 0; v < 4; ++v) {
        const Variable& to = sums[static_cast<size_t>(v)];
        to = fma(x, y[v], to.get());
      }
    });
    k_.barrier();
    for (uint32_t v = 0; v < 4; ++v) round_.left[(right * 4 + v) * step() + down] = sums[v].get();
    load_turns(second.pair);
    k_.barrier();
    const Value row = lane_ / (block_ / 2), column = lane_ % (block_ / 2);
    const Variable ends[] = {k_.variable(blocks_.type, 0.0), k_.variable(blocks_.type, 0.0)};
    k_.for_(word(both_), [&](Value at) {
      const Value x = round_.left[at * step() + row], from = at * step() + second.second * block_ + column;
      ends[0] = fma(x, round_.right[from].get(), ends[0].get());
      ends[1] = fma(x, round_.right[from + block_ / 2].get(), ends[1].get());
    });
    k_.barrier();
    round_.right[row * step() + column] = ends[0].get();
    round_.right[row * step() + column + block_ / 2] = ends[1].get();
    k_.barrier();
  }
  uint32_t across() const { return both_ / 4; }                           // vectors of 4 in a row of a tile
  uint32_t vectors() const { return block_ * block_ / blocks_.lanes(); }  // of a tile, for each lane

  void load_tile(Value row_pair, Value column_pair) {
    const Value meet = round_.meeting_number();
    const Meeting down = meeting(meet, row_pair, blocks_.count),
                  right = meeting(meet, column_pair, blocks_.count);
    const uint32_t in_block = block_ / 4;
    for (uint32_t i = 0; i < vectors(); ++i) {
      const Value e = lane_ + i * blocks_.lanes(), row = e / across(), column = e % across();
      const Value r = select(row < block_, down.first * block_ + row, down.second * block_ + (row - block_));
      const Value c = select(column < in_block, right.first * in_block + column,
                             right.second * in_block + (column - in_block));
      round_.left.store(row * (step() / 4) + column,
                        round_.from.load_vector(round_.place_of(r, c * 4) / 4, 4));
    }
  }
  void load_turns(Value pair) {
    const Value from =
        (round_.which * blocks_.pairs() + convert(pair, Type::u64)) * uint64_t{block_ * block_};
    for (uint32_t i = 0; i < vectors(); ++i) {
      const Value e = lane_ + i * blocks_.lanes(), row = e / across(), column = e % across();
      round_.right.store(row * (step() / 4) + column,
                         round_.turns.load_vector(from + convert(e, Type::u64), 4));
    }
  }

  void load() {
    const auto turn = [&](Value row, Value column) { return select(row == column, number(1), number(0)); };
    for (uint32_t i = 0; i < rows; ++i) {
      const Value row = turn_row(i), later = turn_row(i + rows);
      p_.push_back(k_.variable(turn(row, column_)));
      x_.push_back(k_.variable(turn(row, column_ + block_)));
      y_.push_back(k_.variable(turn(later, column_)));
      r_.push_back(k_.variable(turn(later, column_ + block_)));
    }
    k_.if_(is_small_, [&] { load_small(); });
  }
  Value turn_row(uint32_t i) { return group_ * (2 * rows) + i; }
  void load_small() {
    const Value x = who_.first * block_, y = who_.second * block_;
    for (uint32_t i = 0; i < rows; ++i) {
      const Value row = group_ * rows + i;
      p_[i] = round_.to[round_.place_of(x + row, x + column_)].get();
      x_[i] = round_.right[row * step() + column_].get();
      y_[i] = round_.right[column_ * step() + row].get();
      r_[i] = round_.to[round_.place_of(y + row, y + column_)].get();
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
    k_.if_(is_small_, [&] {
      const Rotation found = rotation_for(own(p_), own(r_), own(x_), limit_, blocks_.relative);
      k_.if_(column_ / rows == group_, [&] {
        round_.angles.store(column_ + half * block_, k_.pack({found.c, found.s}));
      });
    });
    k_.barrier();
    const Rotation across = angle(column_ + half * block_);
    for (uint32_t i = 0; i < rows; ++i) {
      turn(p_[i], x_[i], across);
      turn(y_[i], r_[i], across);
    }
    k_.if_(is_small_, [&] {
      for (uint32_t i = 0; i < rows; ++i) {
        const Rotation down = angle(group_ * rows + (i + half * block_));
        turn(p_[i], y_[i], down);
        turn(x_[i], r_[i], down);
      }
    });
  }
  Rotation angle(Value at) {
    const Value both = round_.angles.load_vector(at, 2);
    return {both[0], both[1]};
  }
  static void turn(const Variable& a, const Variable& b, const Rotation& by) {
    const Value x = a, y = b;
    a = fma(by.c, x, -(by.s * y));
    b = fma(by.s, x, by.c * y);
  }

  void move_columns(Value step) {
    for (uint32_t i = 0; i < rows; ++i) {
      x_[i] = k_.subgroup_shuffle_xor(x_[i], step);
      r_[i] = k_.subgroup_shuffle_xor(r_[i], step);
    }
  }

  void move_inside(uint32_t step) {
    move_columns(word(step));
    k_.if_(is_small_, [&] {
      for (const std::vector<Variable>* list : {&y_, &r_})
        for (uint32_t i = 0; i < rows; ++i) {
          if ((i ^ step) < i) continue;
          const Value a = (*list)[i], b = (*list)[i ^ step];
          (*list)[i] = b;
          (*list)[i ^ step] = a;
        }
    });
  }

  void move_between(Value step) {
    const uint32_t lanes = blocks_.lanes() / 2;
    move_columns(step);
    k_.if_(is_small_, [&] {
      for (uint32_t i = 0; i < rows; ++i) {
        round_.left[lane_ + 2 * i * lanes] = y_[i].get();
        round_.left[lane_ + (2 * i + 1) * lanes] = r_[i].get();
      }
    });
    k_.barrier();
    k_.if_(is_small_, [&] {
      const Value other = (group_ ^ (step / rows)) * block_ + column_;
      for (uint32_t i = 0; i < rows; ++i) {
        y_[i] = round_.left[other + 2 * i * lanes].get();
        r_[i] = round_.left[other + (2 * i + 1) * lanes].get();
      }
    });
  }

  Value second_column() { return column_ ^ word(block_ / 2); }  // where Gray's order ends

  void store_turns() {
    for (uint32_t i = 0; i < rows; ++i) {
      put_turn(turn_row(i), p_[i], x_[i]);
      put_turn(turn_row(i + rows), y_[i], r_[i]);
    }
  }
  void put_turn(Value row, Value first, Value second) {
    const Value at = team_ * uint64_t{both_ * both_} + convert(row * both_, Type::u64);
    round_.next_turns[at + convert(column_, Type::u64)] = first;
    round_.next_turns[at + convert(second_column() + block_, Type::u64)] = second;
  }

  // Rounding must not make both sides of the diagonal differ: what is above it counts.
  void put_blocks() {
    const Value first = team_ * uint64_t{block_ * block_}, half = word(block_ / 2);
    for (uint32_t i = 0; i < rows; ++i) {
      const Value row = group_ * rows + i;
      round_.left[row * step() + column_] = p_[i].get();
      round_.right[(row ^ half) * step() + second_column()] = r_[i].get();
      round_.next_cross[first + convert(row * block_ + second_column(), Type::u64)] = x_[i].get();
    }
  }
  void store_blocks() {
    for (uint32_t i = 0; i < rows; ++i) {
      const Value row = group_ * rows + i, at = min(row, column_) * step() + max(row, column_);
      const Value x = who_.first * block_, y = who_.second * block_;
      round_.from[round_.place_of(x + row, x + column_)] = round_.left[at].get();
      round_.from[round_.place_of(y + row, y + column_)] = round_.right[at].get();
    }
  }

  const Round& round_;
  const Blocks& blocks_;
  uint32_t block_, both_;
  Builder& k_;
  Value lane_, team_, limit_, column_, group_, is_small_;
  Meeting who_;
  std::vector<Variable> p_, x_, y_, r_;
};

}  // namespace
}  // namespace pivot

void turn_pair(const Round& round, Value pair) { pivot::Across(round, pair).build(); }

}  // namespace adit::ops::jacobi_blocks
