#include "ops/tridiagonal_merge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/factor_product.hpp"
#include "ops/factor_writer.hpp"
#include "ops/tridiagonal_leaf.hpp"
#include "ops/tridiagonal_secular.hpp"

namespace adit::ops::tridiagonal {

using namespace kernel;

namespace {

// One level: pairs of `half` numbers.
struct Level {
  Type type{};
  uint32_t n = 0, size = 0, half = 0;
  uint64_t batch = 1;
  uint32_t both() const { return 2 * half; }
  uint64_t merges() const { return batch * (size / both()); }
};

// Kernels of a level know no sizes but how many numbers a pair may have: matrices of all sizes share them.
class Writer {
 public:
  Writer(const char* name, Type type, uint32_t lanes) : type_(type), k_(name, Team::many(lanes)) {}
  // The numbers of each, after its buffers.
  static std::vector<uint32_t> numbers(const Level& level) {
    return {level.n, level.size, level.half, static_cast<uint32_t>(level.batch)};
  }

 protected:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value real(double number) { return k_.constant(Type::f64, number); }
  static Value wide(Value x) { return convert(x, Type::u64); }
  Array read(const char* name, Type type = Type::f64) { return k_.buffer(name, type, Access::read); }
  Array written(const char* name, Type type = Type::f64) { return k_.buffer(name, type, Access::write); }
  void read_numbers() {
    n_ = k_.scalar("n", Type::u32), size_ = k_.scalar("size", Type::u32);
    half_ = k_.scalar("half", Type::u32), batch_ = k_.scalar("batch", Type::u32);
    both_ = half_ * 2;
  }

  Type type_;
  Builder k_;
  Value n_, size_, half_, batch_, both_;
};

// A team a pair: its d in order and apart, its z in that order, where each has gone, and the next that takes
// part. Buffers: values, vectors, beside, bounds, poles, weights, ranks, after.
class Prepare : Writer {
 public:
  static constexpr uint64_t bytes_of_number = 24;  // of shared memory
  // `most`: numbers of a pair at most.
  Prepare(Type type, uint32_t most)
      : Writer("tridiagonal_prepare", type, most <= 128 ? 128 : 256), most_(most) {
    values_ = read("values"), vectors_ = read("vectors", type), beside_ = read("beside", type);
    bounds_ = read("bounds"), poles_ = written("poles"), weights_ = written("weights");
    ranks_ = written("ranks", Type::u32), after_ = written("after", Type::u32);
    read_numbers();
    given_ = k_.shared(Type::f64, most), sorted_ = k_.shared(Type::f64, most);
    counts_ = k_.shared(Type::u32, most), more_counts_ = k_.shared(Type::u32, most);
    pair_ = k_.team(Type::u64), first_ = pair_ * wide(both_);
  }

  Program build() {
    const Value pairs = wide(size_ / both_), matrix = pair_ / pairs;
    const Value border = convert(pair_ % pairs, Type::u32) * both_ + half_;
    const Value at = matrix * wide(n_) + wide(min(border, n_ - 1) - 1);
    with_ = select(border < n_, convert(beside_[at].get(), Type::f64), real(0));
    const Value bound = bounds_[matrix];
    smallest_ = bound * nothing;
    k_.each(both_, [&](Value c) { given_[c] = values_[first_ + wide(c)].get(); });
    k_.each(both_, [&](Value c) { put(c); });
    scan(counts_, more_counts_, [](Value a, Value b) { return a + b; });
    move_apart(bound * least_gap(type_));
    return k_.finish();
  }

 private:
  // How many of the other half stand before number c: of equals the first half's.
  Value rank_of(Value c, Value mine, Value is_second) {
    const Variable low = k_.variable(Type::u32, 0), high = k_.variable(half_);
    const Value other = select(is_second, word(0), half_);
    k_.while_([&] { return low.get() < high.get(); },
              [&] {
                const Value middle = (low.get() + high.get()) / 2, x = given_[other + middle];
                const Value before = x < mine || (is_second && x == mine);
                low = select(before, middle + 1, low.get());
                high = select(before, high.get(), middle);
              });
    return low.get() + select(is_second, c - half_, c);
  }

  void put(Value c) {
    const Value h = wide(half_), is_second = c >= half_, mine = given_[c], rank = rank_of(c, mine, is_second);
    ranks_[first_ + wide(c)] = rank;
    sorted_[rank] = mine;
    // By the last row of the first half, and the first of the second.
    const Value line = (pair_ * 2 + select(is_second, pair_.like(1), pair_.like(0))) * h;
    const Value q = vectors_[(line + select(is_second, pair_.like(0), h - uint64_t{1})) * h +
                             wide(select(is_second, c - half_, c))];
    const Value root = sqrt(abs(with_));
    const Value z = convert(q, Type::f64) * select(is_second && with_ < 0, -root, root);
    const Value counts = abs(z) * root > smallest_;
    weights_[first_ + wide(rank)] = select(counts, z, real(0));
    counts_[rank] = select(counts, word(1), word(0));
  }

  // Each with all before it; `from` has them in the end.
  void scan(Array& from, Array& to, const std::function<Value(Value, Value)>& with) {
    for (uint32_t step = 1; step < most_; step *= 2) {
      k_.each(both_, [&](Value i) {
        const Value mine = from[i], before = from[select(i >= step, i - step, i)];
        to[i] = select(i >= step, with(mine, before), mine);
      });
      std::swap(from, to);
    }
  }

  // Those that take part, and which is the next of them.
  void move_apart(Value gap) {
    const auto takes_part = [&](Value i) {
      return i.like(0) < counts_[i].get() - select(i > 0, counts_[max(i, word(1)) - 1].get(), i.like(0));
    };
    const auto far = [&](Value i) { return convert(counts_[i].get(), Type::f64) * gap; };
    k_.each(both_, [&](Value i) {
      given_[i] = sorted_[i].get();
      k_.if_(takes_part(i), [&] { more_counts_[counts_[i].get() - 1] = i; });
    });
    k_.each(both_, [&](Value i) {
      const Value is_part = takes_part(i), count = counts_[i];
      const Value all = counts_[both_ - 1], later = more_counts_[min(count, both_ - 1)];
      after_[first_ + wide(i)] = select(is_part && count < all, later, i);
      k_.if_(!is_part, [&] { poles_[first_ + wide(i)] = given_[i].get(); });
    });
    k_.each(both_,
            [&](Value i) { sorted_[i] = select(takes_part(i), given_[i].get() - far(i), real(-1e300)); });
    scan(sorted_, given_, [](Value a, Value b) { return max(a, b); });
    k_.each(both_, [&](Value i) {
      k_.if_(takes_part(i), [&] { poles_[first_ + wide(i)] = sorted_[i].get() + far(i); });
    });
  }

  uint32_t most_;
  Array values_, vectors_, beside_, bounds_, poles_, weights_, ranks_, after_;
  Array given_, sorted_, counts_, more_counts_;
  Value pair_, first_, with_, smallest_;
};

// What a subgroup has to do with one number of a pair.
class OfNumber : protected Writer {
 public:
  static constexpr uint32_t lanes = 256;
  OfNumber(const char* name, Type type, uint32_t subgroup) : Writer(name, type, lanes), subgroup_(subgroup) {}
  static uint64_t teams(const Level& level, uint32_t subgroup) {
    const uint64_t count = level.batch * level.size, each = lanes / subgroup;
    return (count + each - 1) / each;
  }

 protected:
  // After the buffers have been declared.
  Secular begin() {
    read_numbers();
    number_ = k_.team() * (lanes / subgroup_) + k_.subgroup_number();
    inside_ = k_.subgroup_lane();
    pair_ = number_ / both_, mine_ = number_ % both_, first_ = wide(pair_) * wide(both_);
    return {k_, type_, both_, subgroup_, subgroup_, mine_, inside_, [this](Value i) { return at(i); }};
  }
  void body(const std::function<void()>& f) { k_.if_(number_ < batch_ * size_, f); }
  Value at(Value i) const { return first_ + wide(i); }

  uint32_t subgroup_;
  Value number_, inside_, pair_, mine_, first_;
};

// A root. Buffers: poles, weights, after, near (the pole it is close to), offsets (from that), values.
struct Roots : OfNumber {
  Roots(Type type, uint32_t subgroup) : OfNumber("tridiagonal_roots", type, subgroup) {}
  Program build() {
    const Array poles = read("poles"), weights = read("weights"), after = read("after", Type::u32),
                near = written("near", Type::u32), offsets = written("offsets"), values = written("values");
    Secular pair = begin();
    pair.poles = poles, pair.weights = weights, pair.after = after;
    body([&] {
      const Secular::Root root = pair.root();
      k_.if_(inside_ == 0, [&] {
        near[at(mine_)] = root.near;
        offsets[at(mine_)] = root.offset;
        values[at(mine_)] = root.value;
      });
    });
    return k_.finish();
  }
};

// The z of which the roots are the roots; and the roots in order, for they may have passed d that took no
// part. Buffers: poles, weights, near, offsets, roots, exact, places, values.
struct Exact : OfNumber {
  Exact(Type type, uint32_t subgroup) : OfNumber("tridiagonal_exact", type, subgroup) {}
  Program build() {
    const Array poles = read("poles"), weights = read("weights"), near = read("near", Type::u32),
                offsets = read("offsets"), roots = read("roots"), exact = written("exact"),
                places = written("places", Type::u32), values = written("values");
    Secular pair = begin();
    pair.poles = poles, pair.weights = weights, pair.near = near, pair.offsets = offsets;
    body([&] {
      const Value z = pair.exact(), own = roots[at(mine_)];
      const Variable before = k_.variable(Type::u32, 0);
      pair.all([&](Value i) {
        const Value x = roots[at(i)], counts = x < own || (x == own && i < mine_);
        before = before.get() + select(counts, word(1), word(0));
      });
      const Value place = pair.over_group(Reduction::add, before.get());
      k_.if_(inside_ == 0, [&] {
        exact[at(mine_)] = z;
        places[at(mine_)] = place;
        values[at(place)] = own;
      });
    });
    return k_.finish();
  }
};

// The vector of a root, in two halves that are columns of matrices of their own. Buffers: poles, exact, near,
// offsets, ranks, places, vectors.
struct Vectors : OfNumber {
  Vectors(Type type, uint32_t subgroup) : OfNumber("tridiagonal_vectors", type, subgroup) {}
  Program build() {
    const Array poles = read("poles"), exact = read("exact"), near = read("near", Type::u32),
                offsets = read("offsets"), ranks = read("ranks", Type::u32),
                places = read("places", Type::u32), to = written("vectors", type_);
    Secular pair = begin();
    pair.poles = poles, pair.exacts = exact, pair.near = near, pair.offsets = offsets;
    body([&] {
      const Secular::Vector vector = pair.vector();
      const Value place = places[at(mine_)];
      pair.all([&](Value c) {
        const Value is_second = c >= half_, half = wide(select(is_second, word(1), word(0)));
        const Value line = (wide(pair_) * 2 + half) * wide(both_) + wide(place);
        to[line * wide(half_) + wide(select(is_second, c - half_, c))] =
            convert(vector.part(ranks[at(c)].get()) * vector.by, type_);
      });
    });
    return k_.finish();
  }
};

class Passes {
 public:
  Passes(Factor& made, uint8_t own, const FactorPlan& plan, const Limits& limits)
      : made_(made), own_(own), plan_(plan), limits_(limits), division_(division_of(plan.n)) {}

  Solved run(uint8_t diagonal, uint8_t beside) {
    const uint64_t size = division_.size();
    const uint32_t leaf = division_.leaf;
    Level level{plan_.type, plan_.n, division_.size(), leaf, plan_.batch};
    const uint64_t number = size_of(plan_.type);
    const uint8_t bounds = bytes(8), values = bytes(size * 8), parts = bytes(size * size * number);
    uint8_t vectors = bytes(size * size * number), next = bytes(size * size * number);
    const uint8_t poles = bytes(size * 8), weights = bytes(size * 8), exact = bytes(size * 8),
                  offsets = bytes(size * 8), roots = bytes(size * 8), near = bytes(size * 4),
                  ranks = bytes(size * 4), after = bytes(size * 4), places = bytes(size * 4);
    const Type type = plan_.type;
    made_.passes.push_back({add(solve_leaf(type, limits_)),
                            plan_.batch * (size / leaf),
                            {diagonal, beside, values, vectors, bounds},
                            {plan_.n, leaf, division_.size()}});
    const uint32_t subgroup = limits_.subgroup_size;
    const uint32_t roots_of = add(Roots(type, subgroup).build()),
                   exact_of = add(Exact(type, subgroup).build()),
                   vectors_of = add(Vectors(type, subgroup).build());
    uint32_t most = 2 * most_leaf;
    for (; level.half < size; level.half *= 2, most *= 2) {
      const std::vector<uint32_t> numbers = Writer::numbers(level);
      const uint64_t teams = OfNumber::teams(level, subgroup);
      made_.passes.push_back({add(Prepare(type, most).build()),
                              level.merges(),
                              {values, vectors, beside, bounds, poles, weights, ranks, after},
                              numbers});
      made_.passes.push_back({roots_of, teams, {poles, weights, after, near, offsets, roots}, numbers});
      made_.passes.push_back(
          {exact_of, teams, {poles, weights, near, offsets, roots, exact, places, values}, numbers});
      made_.passes.push_back(
          {vectors_of, teams, {poles, exact, near, offsets, ranks, places, parts}, numbers});
      multiply(level, vectors, parts, next);
      std::swap(vectors, next);
    }
    return {values, vectors};
  }

 private:
  uint8_t bytes(uint64_t of_each) {
    made_.scratch.push_back({plan_.batch * of_each});
    return static_cast<uint8_t>(own_ + made_.scratch.size() - 1);
  }
  uint32_t add(Program program) {
    made_.programs.push_back(std::move(program));
    return static_cast<uint32_t>(made_.programs.size() - 1);
  }

  void multiply(const Level& level, uint8_t vectors, uint8_t parts, uint8_t to) {
    MatmulShape of;
    of.type = of.result = plan_.type;
    of.m = of.k = level.half;
    of.n = level.both();
    of.batch = static_cast<uint32_t>(2 * level.merges());
    of.transpose_b = true;
    append_product(made_, own_, of, limits_, {vectors, parts, to});
  }

  Factor& made_;
  uint8_t own_;
  const FactorPlan& plan_;
  const Limits& limits_;
  Division division_;
};

}  // namespace

Division division_of(uint32_t n) {
  Division made{n, 0};
  while (made.leaf > most_leaf) made.leaf = (n + (2U << made.levels) - 1) >> (made.levels + 1), ++made.levels;
  // Rows of products that vectors of numbers fit.
  if (made.levels > 0) made.leaf = (made.leaf + 3) / 4 * 4;
  return made;
}

uint64_t shared_bytes_of(const Division& division) {
  return (uint64_t{most_leaf} << division.levels) * Prepare::bytes_of_number;
}

Solved add_division(Factor& made, uint8_t own, const FactorPlan& plan, uint8_t diagonal, uint8_t beside,
                    const Limits& limits) {
  return Passes(made, own, plan, limits).run(diagonal, beside);
}

}  // namespace adit::ops::tridiagonal
