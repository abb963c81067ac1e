#include "ops/jacobi_hands.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ops/factor_writer.hpp"
#include "ops/hands.hpp"

namespace adit::ops {

using namespace kernel;

namespace jacobi_by_hand {
namespace {

constexpr uint32_t most_sweeps = 16;

double unit_of(Type type) {
  return type == Type::f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

// Who meets whom in a round: all of `players`, an even number, in pairs; `pair` counts them.
struct Meeting {
  Value first, second;
};
Meeting meeting(Value round, Value pair, uint32_t players) {
  const uint32_t others = players - 1;  // one stays, the others go round
  const Value a = (round + pair) % others, b = (round + others - pair) % others;
  return {a, select(pair == 0, b.like(others), b)};
}

// Cosine and sine of the rotation that makes two columns orthogonal, of squared lengths a and b and product
// g.
struct Rotation {
  Value c, s, cosine;
};
Rotation rotation_for(Value a, Value b, Value g, double enough) {
  const Value product = sqrt(a) * sqrt(b);
  const Value cosine = select(product > 0, abs(g) / product, g.like(0));
  const Value turns = cosine > enough, safe = select(turns, g, g.like(1));
  const Value zeta = (b - a) / (2 * safe);
  const Value t =
      select(zeta < 0, zeta.like(-1), zeta.like(1)) / (abs(zeta) + sqrt(fma(zeta, zeta, zeta.like(1))));
  const Value c = 1 / sqrt(fma(t, t, t.like(1)));
  return {select(turns, c, c.like(1)), select(turns, c * t, c.like(0)), cosine};
}

struct Layout {
  uint32_t players = 0, group = 0, lanes = 0;  // columns, made even; lanes of a pair, and of the team
  uint32_t column_step = 0, vector_step = 0;   // odd, so that neighbours lie in different banks
};

Layout layout_for(const JacobiShape& shape, const Limits& limits) {
  Layout layout;
  layout.players = shape.columns + shape.columns % 2;
  const uint32_t pairs = layout.players / 2;
  const uint32_t useful = std::max(1U, std::bit_ceil(shape.length) / 4);
  layout.group = std::min({limits.subgroup_size, std::bit_floor(std::max(1U, 256 / pairs)), useful});
  const uint32_t lanes = pairs * layout.group;
  layout.lanes = (lanes + limits.subgroup_size - 1) / limits.subgroup_size * limits.subgroup_size;
  layout.column_step = shape.length | 1;
  layout.vector_step = shape.columns | 1;
  return layout;
}

uint64_t shared_bytes(const FactorPlan& plan, const JacobiShape& shape, const Layout& layout) {
  const uint64_t numbers = uint64_t{shape.columns} * layout.column_step +
                           (shape.with_vectors ? uint64_t{shape.columns} * layout.vector_step : 0);
  return (numbers + 64) * size_of(plan.type);
}

class InShared {
 public:
  InShared(const FactorPlan& plan, const JacobiShape& shape, const Limits& limits)
      : shape_(shape),
        layout_(layout_for(shape, limits)),
        subgroup_(limits.subgroup_size),
        type_(plan.type),
        k_("rotations_in_shared", Team::many(layout_.lanes)) {
    enough_ = unit_of(plan.type) * (4 + std::sqrt(shape.length));
  }

  Program build() {
    const Array columns = k_.buffer("columns", type_, Access::read_write);
    Array vectors;
    if (shape_.with_vectors) vectors = k_.buffer("vectors", type_, Access::read_write);
    const Value team = k_.team(Type::u64);
    Hands hands(k_, type_, layout_.lanes, subgroup_, 1);
    w_ = k_.shared(type_, shape_.columns * layout_.column_step);
    if (shape_.with_vectors) v_ = k_.shared(type_, shape_.columns * layout_.vector_step);
    const Value first = team * (uint64_t{shape_.columns} * shape_.length);
    const Value first_vector = team * (uint64_t{shape_.columns} * shape_.columns);
    copy(hands, shape_.length, layout_.column_step,
         [&](Value at, Value place) { w_[at] = columns[first + convert(place, Type::u64)].get(); });
    if (shape_.with_vectors)
      copy(hands, shape_.columns, layout_.vector_step,
           [&](Value at, Value place) { v_[at] = vectors[first_vector + convert(place, Type::u64)].get(); });
    k_.barrier();
    all_sweeps(hands);
    copy(hands, shape_.length, layout_.column_step,
         [&](Value at, Value place) { columns[first + convert(place, Type::u64)] = w_[at].get(); });
    if (shape_.with_vectors)
      copy(hands, shape_.columns, layout_.vector_step,
           [&](Value at, Value place) { vectors[first_vector + convert(place, Type::u64)] = v_[at].get(); });
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }

  // f(place in shared memory, place in the buffer) for all elements of columns of `length`.
  void copy(const Hands& hands, uint32_t length, uint32_t step, const std::function<void(Value, Value)>& f) {
    k_.for_(hands.lane(), word(shape_.columns * length), word(layout_.lanes),
            [&](Value place) { f(place / length * step + place % length, place); });
  }

  void all_sweeps(Hands& hands) {
    const Variable sweep = k_.variable(Type::u32, 0), goes_on = k_.variable(Type::u32, 1);
    const Value pair_number = hands.lane() / layout_.group, inside = hands.lane() % layout_.group;
    const Value works = pair_number < layout_.players / 2, pair = select(works, pair_number, word(0));
    k_.while_([&] { return sweep.get() < most_sweeps && goes_on.get() != 0; },
              [&] {
                const Variable worst = k_.variable(type_, 0.0);
                k_.for_(word(layout_.players - 1), [&](Value round) {
                  turn(meeting(round, pair, layout_.players), inside, works, worst);
                  k_.barrier();
                });
                const Value found = hands.largest(worst.get());
                goes_on = select(found > enough_, word(1), word(0));
                sweep = sweep.get() + 1;
                k_.barrier();
              });
  }

  void turn(const Meeting& who, Value inside, Value works, const Variable& worst) {
    const Value real = works && who.first < shape_.columns && who.second < shape_.columns;
    const Value p = select(real, who.first, word(0)), q = select(real, who.second, word(0));
    const Variable a = k_.variable(type_, 0.0), b = k_.variable(type_, 0.0), g = k_.variable(type_, 0.0);
    each_of(shape_.length, inside, [&](Value i) {
      const Value x = w_[p * layout_.column_step + i], y = w_[q * layout_.column_step + i];
      a = fma(x, x, a.get());
      b = fma(y, y, b.get());
      g = fma(x, y, g.get());
    });
    Value sums[] = {a.get(), b.get(), g.get()};
    for (uint32_t mask = 1; mask < layout_.group; mask *= 2)
      for (Value& sum : sums) sum = sum + k_.subgroup_shuffle_xor(sum, word(mask));
    const Rotation turn = rotation_for(sums[0], sums[1], sums[2], enough_ * 0.5);
    worst = max(worst.get(), select(real, turn.cosine, turn.cosine.like(0)));
    k_.if_(real && turn.s != 0, [&] {
      rotate(w_, shape_.length, layout_.column_step, p, q, inside, turn);
      if (shape_.with_vectors) rotate(v_, shape_.columns, layout_.vector_step, p, q, inside, turn);
    });
  }

  void rotate(const Array& of, uint32_t length, uint32_t step, Value p, Value q, Value inside,
              const Rotation& turn) {
    each_of(length, inside, [&](Value i) {
      const Value x = of[p * step + i], y = of[q * step + i];
      of[p * step + i] = fma(turn.c, x, -(turn.s * y));
      of[q * step + i] = fma(turn.s, x, turn.c * y);
    });
  }

  // The elements of a column that are this lane's.
  void each_of(uint32_t length, Value inside, const std::function<void(Value)>& f) {
    const uint32_t whole = length / layout_.group, rest = length % layout_.group;
    if (whole <= 8)
      for (uint32_t i = 0; i < whole; ++i) f(inside + i * layout_.group);
    else
      k_.for_(inside, word(whole * layout_.group), word(layout_.group), f);
    if (rest) k_.if_(inside < rest, [&] { f(inside + whole * layout_.group); });
  }

  const JacobiShape& shape_;
  Layout layout_;
  uint32_t subgroup_;
  Type type_;
  Builder k_;
  double enough_ = 0;
  Array w_, v_;
};

// --- Blocks ------------------------------------------------------------------------------------------------
constexpr uint32_t block = 16, both = 2 * block;  // columns of a block, and of a pair
constexpr uint32_t turn_lanes = 256, tile_rows = 64, apply_lanes = 128;

// Numbers of a pair's columns, in either order of its blocks.
Value column_of(const Meeting& who, Value c) {
  return select(c < block, who.first * block + c, who.second * block + (c - block));
}

class Turns {
 public:
  Turns(const FactorPlan& plan, const JacobiShape& shape, uint32_t blocks, const Limits& limits)
      : shape_(shape),
        blocks_(blocks),
        subgroup_(limits.subgroup_size),
        type_(plan.type),
        k_("rotations_of_blocks", Team::many(turn_lanes)) {
    columns_ = k_.buffer("columns", type_, Access::read);
    worst_ = k_.buffer("worst", Type::u32, Access::read_write);
    turns_ = k_.buffer("turns", type_, Access::write);
    round_ = k_.scalar("round", Type::u32);
    enough_ = unit_of(type_) * (4 + std::sqrt(shape.length));
  }

  Program build() {
    const Value team = k_.team(Type::u64), pairs = team.like(blocks_ / 2), matrix = team / pairs;
    who_ = meeting(round_, convert(team % pairs, Type::u32), blocks_);
    first_ = matrix * (uint64_t{shape_.columns} * shape_.length);
    Hands hands(k_, type_, turn_lanes, subgroup_, 1);
    lane_ = hands.lane();
    tile_ = k_.shared(type_, both * (tile_rows + 1));
    g_ = k_.shared(type_, both * step);
    q_ = k_.shared(type_, both * step);
    cosines_ = k_.shared(type_, block);
    sines_ = k_.shared(type_, block);
    multiply();
    note(hands);
    k_.for_(word(both - 1), [&](Value round) { turn(round); });
    const Value to = team * uint64_t{both * both};
    for (uint32_t i = 0; i < both * both / turn_lanes; ++i) {
      const Value e = lane_ + i * turn_lanes;
      turns_[to + convert(e, Type::u64)] = q_[e / both * step + e % both].get();
    }
    return k_.finish();
  }

 private:
  static constexpr uint32_t step = both + 1;
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }

  // All products of the pair's columns: a lane has 4 by 4 of them, a quarter of the lanes a quarter of the
  // rows.
  void multiply() {
    const Value quarter = lane_ / 64, place = lane_ % 64, row = place / 8 * 4, column = place % 8 * 4;
    std::vector<Variable> sums;
    for (int i = 0; i < 16; ++i) sums.push_back(k_.variable(type_, 0.0));
    k_.for_(word(0), word(shape_.length), word(tile_rows), [&](Value top) {
      for (uint32_t i = 0; i < both * tile_rows / turn_lanes; ++i) {
        const Value e = lane_ + i * turn_lanes, c = e / tile_rows, r = e % tile_rows;
        const Value column_now = column_of(who_, c), at = top + r;
        const Value inside = column_now < shape_.columns && at < shape_.length;
        const Value safe = select(inside, column_now, word(0)), safe_row = select(inside, at, word(0));
        const Value x =
            columns_[first_ + convert(safe, Type::u64) * shape_.length + convert(safe_row, Type::u64)];
        tile_[c * (tile_rows + 1) + r] = select(inside, x, x.like(0));
      }
      k_.barrier();
      k_.for_(word(tile_rows / 4), [&](Value i) {
        const Value r = quarter * (tile_rows / 4) + i;
        Value x[4], y[4];
        for (uint32_t t = 0; t < 4; ++t) {
          x[t] = tile_[(row + t) * (tile_rows + 1) + r];
          y[t] = tile_[(column + t) * (tile_rows + 1) + r];
        }
        for (int s = 0; s < 4; ++s)
          for (int t = 0; t < 4; ++t)
            sums[static_cast<size_t>(4 * s + t)] =
                fma(x[s], y[t], sums[static_cast<size_t>(4 * s + t)].get());
      });
      k_.barrier();
    });
    for (uint32_t part = 0; part < 4; ++part) {
      k_.if_(quarter == part, [&] {
        for (uint32_t s = 0; s < 4; ++s)
          for (uint32_t t = 0; t < 4; ++t) {
            const Value at = (row + s) * step + column + t, mine = sums[4 * s + t];
            g_[at] = part == 0 ? mine : g_[at].get() + mine;
          }
      });
      k_.barrier();
    }
    for (uint32_t i = 0; i < both * both / turn_lanes; ++i) {
      const Value e = lane_ + i * turn_lanes, r = e / both, c = e % both;
      q_[r * step + c] = select(r == c, k_.constant(type_, 1), k_.constant(type_, 0));
    }
  }

  // The largest cosine between columns of the pair, before they are turned.
  void note(Hands& hands) {
    Value most = k_.constant(type_, 0);
    for (uint32_t i = 0; i < both * both / turn_lanes; ++i) {
      const Value e = lane_ + i * turn_lanes, r = e / both, c = e % both;
      const Value product = sqrt(g_[r * step + r].get()) * sqrt(g_[c * step + c].get());
      const Value cosine =
          select(r < c && product > 0, abs(g_[r * step + c].get()) / product, product.like(0));
      most = max(most, cosine);
    }
    const Value found = hands.largest(most);
    k_.if_(lane_ == 0, [&] {
      worst_.atomic_max(k_.constant(Type::u64, 0), bitcast(convert(found, Type::f32), Type::u32));
    });
    k_.barrier();
  }

  // One round of rotations of the small matrix from both sides.
  void turn(Value round) {
    k_.if_(lane_ < block, [&] {
      const Meeting who = meeting(round, lane_, both);
      const Value p = who.first, q = who.second;
      const Rotation found = rotation_for(abs(g_[p * step + p].get()), abs(g_[q * step + q].get()),
                                          g_[p * step + q].get(), enough_ * 0.25);
      cosines_[lane_] = found.c;
      sines_[lane_] = found.s;
    });
    k_.barrier();
    const uint32_t items = block * both / turn_lanes;
    for (uint32_t i = 0; i < items; ++i) {
      const Value e = lane_ + i * turn_lanes, pair = e / both, other = e % both;
      const Meeting who = meeting(round, pair, both);
      const Value c = cosines_[pair], s = sines_[pair];
      for (const Array& of : {g_, q_}) {
        const Value at_p = other * step + who.first, at_q = other * step + who.second, x = of[at_p],
                    y = of[at_q];
        of[at_p] = fma(c, x, -(s * y));
        of[at_q] = fma(s, x, c * y);
      }
    }
    k_.barrier();
    for (uint32_t i = 0; i < items; ++i) {
      const Value e = lane_ + i * turn_lanes, pair = e / both, other = e % both;
      const Meeting who = meeting(round, pair, both);
      const Value c = cosines_[pair], s = sines_[pair];
      const Value at_p = who.first * step + other, at_q = who.second * step + other, x = g_[at_p],
                  y = g_[at_q];
      g_[at_p] = fma(c, x, -(s * y));
      g_[at_q] = fma(s, x, c * y);
    }
    k_.barrier();
  }

  const JacobiShape& shape_;
  uint32_t blocks_, subgroup_;
  Type type_;
  Builder k_;
  double enough_ = 0;
  Array columns_, worst_, turns_, tile_, g_, q_, cosines_, sines_;
  Value round_, first_, lane_;
  Meeting who_;
};

uint32_t apply_chunks(const JacobiShape& shape) {
  const uint32_t rows = shape.length + (shape.with_vectors ? shape.columns : 0);
  return (rows + apply_lanes - 1) / apply_lanes;
}

// A lane a row: its numbers of the pair's columns times what turns them.
Program apply_program(const FactorPlan& plan, const JacobiShape& shape, uint32_t blocks) {
  Builder k("rotations_apply", Team::many(apply_lanes));
  const Array columns = k.buffer("columns", plan.type, Access::read_write),
              turns = k.buffer("turns", plan.type, Access::read);
  Array vectors;
  if (shape.with_vectors) vectors = k.buffer("vectors", plan.type, Access::read_write);
  const Value round = k.scalar("round", Type::u32), team = k.team(Type::u64);
  const uint32_t chunks = apply_chunks(shape), pairs = blocks / 2;
  const Value chunk = convert(team % chunks, Type::u32), pair_of_all = team / chunks,
              matrix = pair_of_all / pairs;
  const Meeting who = meeting(round, convert(pair_of_all % pairs, Type::u32), blocks);
  const Array q = k.shared(plan.type, both * both);
  const Value lane = k.lane();
  for (uint32_t i = 0; i < both * both / apply_lanes; ++i) {
    const Value e = lane + i * apply_lanes;
    q[e] = turns[pair_of_all * uint64_t{both * both} + convert(e, Type::u64)].get();
  }
  k.barrier();
  const auto rows_of = [&](const Array& memory, Value row, uint32_t length) {
    const Value first = matrix * (uint64_t{shape.columns} * length) + convert(row, Type::u64);
    std::vector<Value> places, inside, x;
    for (uint32_t c = 0; c < both; ++c) {
      const Value column = column_of(who, k.constant(Type::u32, c));
      inside.push_back(column < shape.columns);
      places.push_back(first + convert(select(inside[c], column, column.like(0)), Type::u64) * length);
      const Value loaded = memory[places[c]];
      x.push_back(select(inside[c], loaded, loaded.like(0)));
    }
    for (uint32_t to = 0; to < both; to += 4) {
      Value sums[4];
      for (Value& sum : sums) sum = k.constant(plan.type, 0);
      for (uint32_t c = 0; c < both; ++c)
        for (uint32_t t = 0; t < 4; ++t)
          sums[t] = fma(x[c], q[k.constant(Type::u32, c * both + to + t)].get(), sums[t]);
      for (uint32_t t = 0; t < 4; ++t) k.if_(inside[to + t], [&] { memory[places[to + t]] = sums[t]; });
    }
  };
  const Value row = chunk * apply_lanes + lane;
  k.if_(
      row < shape.length, [&] { rows_of(columns, row, shape.length); },
      [&] {
        if (!shape.with_vectors) return;
        const Value other = row - shape.length;
        k.if_(other < shape.columns, [&] { rows_of(vectors, other, shape.columns); });
      });
  return k.finish();
}

}  // namespace
}  // namespace jacobi_by_hand

bool sweeps_in_shared(const FactorPlan& plan, const JacobiShape& shape, const Limits& limits) {
  using namespace jacobi_by_hand;
  if (!plan.by_hand || plan.complex || !has_hands(limits) || shape.columns > 64) return false;
  const Layout layout = layout_for(shape, limits);
  return layout.lanes <= std::min(256U, limits.max_lanes) &&
         shared_bytes(plan, shape, layout) <= limits.shared_bytes;
}

Program sweeps_program(const FactorPlan& plan, const JacobiShape& shape, const Limits& limits) {
  return jacobi_by_hand::InShared(plan, shape, limits).build();
}

bool sweeps_by_blocks(const FactorPlan& plan, const Limits& limits) {
  using namespace jacobi_by_hand;
  const uint64_t numbers = both * (tile_rows + 1) + 2 * both * (both + 1) + 2 * block + 64;
  return plan.by_hand && !plan.complex && has_hands(limits) && limits.max_lanes >= turn_lanes &&
         numbers * size_of(plan.type) <= limits.shared_bytes;
}

BlockSweep block_sweep(const FactorPlan& plan, const JacobiShape& shape, const Limits& limits) {
  using namespace jacobi_by_hand;
  BlockSweep made;
  made.blocks = (shape.columns + block - 1) / block;
  made.blocks = std::max(2U, made.blocks + made.blocks % 2);
  made.rounds = made.blocks - 1;
  made.turn_numbers = uint64_t{made.blocks / 2} * both * both;
  made.turns = Turns(plan, shape, made.blocks, limits).build();
  made.apply = apply_program(plan, shape, made.blocks);
  made.turn_teams = plan.batch * (made.blocks / 2);
  made.apply_teams = made.turn_teams * apply_chunks(shape);
  return made;
}

}  // namespace adit::ops
