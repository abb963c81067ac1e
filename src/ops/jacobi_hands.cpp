#include "ops/jacobi_hands.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ops/factor_writer.hpp"
#include "ops/hands.hpp"
#include "ops/jacobi_blocks.hpp"

namespace adit::ops {

using namespace kernel;

namespace jacobi_by_hand {
namespace {

constexpr uint32_t most_sweeps = 16;

double unit_of(Type type) {
  return type == Type::f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

using jacobi_blocks::Meeting;
using jacobi_blocks::meeting;

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

}  // namespace adit::ops
