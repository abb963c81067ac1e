#include "ops/tridiagonal_leaf.hpp"

#include <algorithm>
#include <bit>

#include "ops/factor_writer.hpp"
#include "ops/tridiagonal_secular.hpp"

namespace adit::ops::tridiagonal {

using namespace kernel;

namespace {

class Leaf {
 public:
  static constexpr uint32_t slots = most_leaf, stride = slots + 1, square = slots * stride;

  Leaf(Type type, uint32_t subgroup)
      : type_(type),
        subgroup_(subgroup),
        group_(std::min(8U, subgroup)),
        k_("tridiagonal_leaf", Team::many(slots * group_)) {
    diagonal_ = k_.buffer("diagonal", type, Access::read), beside_ = k_.buffer("beside", type, Access::read);
    values_ = k_.buffer("values", Type::f64, Access::write), to_ = k_.buffer("vectors", type, Access::write);
    bounds_ = k_.buffer("bounds", Type::f64, Access::write);
    for (Array* each : {&d_, &z_, &poles_, &weights_, &exacts_, &offsets_})
      *each = k_.shared(Type::f64, slots);
    for (Array* each : {&near_, &ranks_, &after_}) *each = k_.shared(Type::u32, slots);
    q_ = k_.shared(Type::f64, 2 * square);
    parts_ = k_.shared(Type::f64, square);
    n_ = k_.scalar("n", Type::u32), leaf_ = k_.scalar("leaf", Type::u32),
    size_ = k_.scalar("size", Type::u32);
    most_ = k_.shared(Type::f64, slots * group_ / subgroup);
    lane_ = k_.subgroup_number() * subgroup + k_.subgroup_lane();
    number_ = lane_ / group_;
    inside_ = lane_ % group_;
    team_ = k_.team(Type::u64);
    const Value count = wide(size_ / leaf_);
    matrix_ = team_ / count;
    first_ = convert(team_ % count, Type::u32) * leaf_;
  }

  Program build() {
    find_bound();
    k_.if_(inside_ == 0, [&] { d_[number_] = cut(number_); });
    each_of_square([&](Value r, Value c) { q_[r * stride + c] = select(r == c, real(1), real(0)); });
    k_.barrier();
    constexpr uint32_t levels = std::bit_width(slots) - 1;
    k_.for_(word(levels), [&](Value level) {
      now_ = level % 2 * square;
      merge(word(1) << level);
    });
    now_ = word(levels % 2 * square);
    put_in_order();
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value real(double number) { return k_.constant(Type::f64, number); }
  static Value wide(Value x) { return convert(x, Type::u64); }
  void each_of_square(const std::function<void(Value, Value)>& f) {
    for (uint32_t i = 0; i < slots / group_; ++i) {
      const Value at = lane_ + i * slots * group_;
      f(at / slots, at % slots);
    }
  }

  Value on(Value i) {
    const Value at = matrix_ * wide(n_) + wide(min(i, n_ - 1));
    return convert(diagonal_[at].get(), Type::f64);
  }
  // Between i and i + 1.
  Value off(Value i) {
    const Value x = convert(beside_[matrix_ * wide(n_) + wide(min(i, n_ - 2))].get(), Type::f64);
    return select(i + 1 < n_, x, x.like(0));
  }
  Value off_before(Value i) { return select(i > 0, off(max(i, word(1)) - 1), real(0)); }

  void find_bound() {
    const Variable most = k_.variable(Type::f64, 0.0);
    k_.for_(lane_, n_, word(slots * group_),
            [&](Value i) { most = max(most.get(), abs(on(i)) + abs(off(i)) + abs(off_before(i))); });
    const Value here = k_.subgroup_reduce(Reduction::max, most.get());
    k_.if_(k_.subgroup_lane() == 0, [&] { most_[k_.subgroup_number()] = here; });
    k_.barrier();
    Value all = most_[word(0)];
    for (uint32_t i = 1; i < slots * group_ / subgroup_; ++i) all = max(all, most_[word(i)].get());
    bound_ = select(all > 0, all, real(1));
    k_.if_(lane_ == 0 && first_ == 0, [&] { bounds_[matrix_] = bound_; });
  }

  // Number r of the leaf cut off from its neighbours, or one above all eigenvalues.
  Value cut(Value r) {
    const Value i = first_ + r, here = on(i) - abs(off(i)) - abs(off_before(i));
    const Value fill =
        bound_ * select(r < leaf_, 1.01 + convert(i, Type::f64) * (0.25 / convert(size_, Type::f64)),
                        1.5 + convert(r, Type::f64) * 0.01);
    return select(r < leaf_ && i < n_, here, fill);
  }

  // `half`: a power of two, as `both` is.
  void merge(Value half) {
    const Value both = half * 2, mine = number_ & (both - 1), first = number_ - mine;
    const auto at = [first](Value i) { return first + i; };
    Secular pair(k_, type_, both, group_, subgroup_, mine, inside_, at);
    pair.poles = poles_, pair.weights = weights_, pair.after = after_, pair.near = near_;
    pair.offsets = offsets_, pair.exacts = exacts_;
    const auto put = [&](const std::function<void()>& f) {
      k_.if_(inside_ == 0, f);
      k_.barrier();
    };
    const Value z = weight(half, mine);
    put([&] { z_[number_] = z; });
    const Value rank = rank_of(pair, at, mine);
    put([&] { ranks_[number_] = rank; });
    const Value pole = apart(pair, at, rank, z), then = next_of(pair, at, rank);
    put([&] {
      poles_[first + rank] = pole;
      weights_[first + rank] = z;
      after_[first + rank] = then;
    });
    const Secular::Root root = pair.root();
    put([&] {
      near_[number_] = root.near;
      offsets_[number_] = root.offset;
      d_[number_] = root.value;
    });
    const Value exact = pair.exact();
    put([&] { exacts_[number_] = exact; });
    const Secular::Vector vector = pair.vector();
    pair.all(
        [&](Value c) { parts_[number_ * stride + c] = vector.part(ranks_[first + c].get()) * vector.by; });
    k_.barrier();
    multiply(half);
  }

  Value rank_of(const Secular& pair, const std::function<Value(Value)>& at, Value mine) {
    const Variable before = k_.variable(Type::u32, 0);
    const Value own = d_[at(mine)];
    pair.all([&](Value i) {
      const Value x = d_[at(i)], counts = x < own || (x == own && i < mine);
      before = before.get() + select(counts, word(1), word(0));
    });
    return pair.over_group(Reduction::add, before.get());
  }
  // Those that take part are at least so far above each other that does and stands before.
  Value apart(const Secular& pair, const std::function<Value(Value)>& at, Value rank, Value z) {
    const Value gap = bound_ * least_gap(type_), own = d_[number_];
    const Variable most = k_.variable(own);
    pair.all([&](Value i) {
      const Value other = ranks_[at(i)], counts = other < rank && z_[at(i)].get() != 0;
      const Variable between = k_.variable(Type::u32, 0);
      k_.for_(pair.count(), [&](Value j) {
        const Value third = ranks_[at(j)], is_between = third > other && third <= rank;
        between = between.get() + select(is_between && z_[at(j)].get() != 0, word(1), word(0));
      });
      const Value moved = fma(convert(between.get(), Type::f64), gap, d_[at(i)].get());
      most = max(most.get(), select(counts && z != 0, moved, own));
    });
    return pair.over_group(Reduction::max, most.get());
  }
  // The rank of the next that takes part, or its own.
  Value next_of(const Secular& pair, const std::function<Value(Value)>& at, Value rank) {
    const Variable least = k_.variable(Type::u32, slots);
    pair.all([&](Value i) {
      const Value other = ranks_[at(i)], counts = other > rank && z_[at(i)].get() != 0;
      least = min(least.get(), select(counts, other, word(slots)));
    });
    const Value found = slots - pair.over_group(Reduction::max, slots - least.get());
    return select(found < slots, found, rank);
  }
  // By the last row of the first half, and the first of the second.
  Value weight(Value half, Value mine) {
    const Value first = number_ - mine, border = first + (half - 1), joined = off(first_ + border);
    const Value is_inside = border + 1 < leaf_, with = select(is_inside, joined, real(0));
    const Value is_second = mine >= half, root = sqrt(abs(with));
    const Value q = q_[now_ + select(is_second, border + 1, border) * stride + number_];
    const Value z = q * select(is_second && with < 0, -root, root);
    return select(abs(z) * root > bound_ * nothing, z, real(0));
  }

  void multiply(Value half) {
    const Value within = half * 2 - 1;
    each_of_square([&](Value r, Value c) {
      const Value first = r - (r & within), begin = r & half;
      const Variable sum = k_.variable(Type::f64, 0.0);
      k_.if_(c - (c & within) == first, [&] {
        k_.for_(half, [&](Value i) {
          sum = fma(q_[now_ + r * stride + first + begin + i].get(), parts_[c * stride + begin + i].get(),
                    sum.get());
        });
      });
      q_[square - now_ + r * stride + c] = sum.get();
    });
    k_.barrier();
  }

  // Roots may have passed numbers that took no part.
  void put_in_order() {
    const Secular whole(k_, type_, word(slots), group_, subgroup_, number_, inside_,
                        [](Value i) { return i; });
    const Value rank = rank_of(
        whole, [](Value i) { return i; }, number_);
    k_.if_(inside_ == 0, [&] { ranks_[number_] = rank; });
    k_.barrier();
    each_of_square([&](Value r, Value c) {
      const Value column = ranks_[c];
      k_.if_(r < leaf_ && column < leaf_, [&] {
        const Value at = (team_ * wide(leaf_) + wide(r)) * wide(leaf_) + wide(column);
        to_[at] = convert(q_[now_ + r * stride + c].get(), type_);
      });
    });
    k_.if_(inside_ == 0 && rank < leaf_,
           [&] { values_[team_ * wide(leaf_) + wide(rank)] = d_[number_].get(); });
  }

  Type type_;
  uint32_t subgroup_, group_;
  Builder k_;
  Array diagonal_, beside_, values_, to_, bounds_;
  Array d_, z_, poles_, weights_, exacts_, offsets_, near_, ranks_, after_, q_, parts_, most_;
  Value n_, leaf_, size_, lane_, number_, inside_, team_, matrix_, first_, bound_;
  Value now_;  // where q_ has the vectors; its other half is for the next ones
};

}  // namespace

Program solve_leaf(Type type, const Limits& limits) { return Leaf(type, limits.subgroup_size).build(); }

}  // namespace adit::ops::tridiagonal
