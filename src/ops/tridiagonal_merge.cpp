#include "ops/tridiagonal_merge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/factor_writer.hpp"
#include "ops/matmul.hpp"
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

class Writer {
 public:
  Writer(const char* name, const Level& level, uint32_t lanes) : level_(level), k_(name, Team::many(lanes)) {}

 protected:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value real(double number) { return k_.constant(Type::f64, number); }
  static Value wide(Value x) { return convert(x, Type::u64); }
  Array read(const char* name, Type type = Type::f64) { return k_.buffer(name, type, Access::read); }
  Array written(const char* name, Type type = Type::f64) { return k_.buffer(name, type, Access::write); }

  const Level& level_;
  Builder k_;
};

// A team a pair: its d in order and apart, its z in that order, where each has gone, and the next that takes
// part. Buffers: values, vectors, beside, bounds, poles, weights, ranks, after.
class Prepare : Writer {
 public:
  explicit Prepare(const Level& level)
      : Writer("tridiagonal_prepare", level, level.both() <= 128 ? 128 : 256), m_(level.both()) {
    values_ = read("values"), vectors_ = read("vectors", level.type), beside_ = read("beside", level.type);
    bounds_ = read("bounds"), poles_ = written("poles"), weights_ = written("weights");
    ranks_ = written("ranks", Type::u32), after_ = written("after", Type::u32);
    given_ = k_.shared(Type::f64, m_), sorted_ = k_.shared(Type::f64, m_);
    counts_ = k_.shared(Type::u32, m_), more_counts_ = k_.shared(Type::u32, m_);
    pair_ = k_.team(Type::u64), first_ = pair_ * m_;
  }

  Program build() {
    const uint32_t pairs = level_.size / m_;
    const Value matrix = pair_ / pairs, border = convert(pair_ % pairs, Type::u32) * m_ + level_.half;
    const Value at = matrix * level_.n + wide(min(border, word(level_.n - 1)) - 1);
    with_ = select(border < level_.n, convert(beside_[at].get(), Type::f64), real(0));
    const Value bound = bounds_[matrix];
    smallest_ = bound * nothing;
    k_.each(word(m_), [&](Value c) { given_[c] = values_[first_ + wide(c)].get(); });
    k_.each(word(m_), [&](Value c) { put(c); });
    scan(counts_, more_counts_, [](Value a, Value b) { return a + b; });
    move_apart(bound * least_gap(level_.type));
    return k_.finish();
  }

 private:
  // How many of the other half stand before number c: of equals the first half's.
  Value rank_of(Value c, Value mine, Value is_second) {
    const Variable low = k_.variable(Type::u32, 0), high = k_.variable(Type::u32, level_.half);
    const Value other = select(is_second, word(0), word(level_.half));
    k_.while_([&] { return low.get() < high.get(); },
              [&] {
                const Value middle = (low.get() + high.get()) / 2, x = given_[other + middle];
                const Value before = x < mine || (is_second && x == mine);
                low = select(before, middle + 1, low.get());
                high = select(before, high.get(), middle);
              });
    return low.get() + select(is_second, c - level_.half, c);
  }

  void put(Value c) {
    const uint32_t h = level_.half;
    const Value is_second = c >= h, mine = given_[c], rank = rank_of(c, mine, is_second);
    ranks_[first_ + wide(c)] = rank;
    sorted_[rank] = mine;
    // By the last row of the first half, and the first of the second.
    const Value line = (pair_ * 2 + select(is_second, pair_.like(1), pair_.like(0))) * h;
    const Value q = vectors_[(line + select(is_second, pair_.like(0), pair_.like(h - 1))) * h +
                             wide(select(is_second, c - h, c))];
    const Value root = sqrt(abs(with_));
    const Value z = convert(q, Type::f64) * select(is_second && with_ < 0, -root, root);
    const Value counts = abs(z) * root > smallest_;
    weights_[first_ + wide(rank)] = select(counts, z, real(0));
    counts_[rank] = select(counts, word(1), word(0));
  }

  // Each with all before it; `from` has them in the end.
  void scan(Array& from, Array& to, const std::function<Value(Value, Value)>& with) {
    for (uint32_t step = 1; step < m_; step *= 2) {
      k_.each(word(m_), [&](Value i) {
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
    k_.each(word(m_), [&](Value i) {
      given_[i] = sorted_[i].get();
      k_.if_(takes_part(i), [&] { more_counts_[counts_[i].get() - 1] = i; });
    });
    k_.each(word(m_), [&](Value i) {
      const Value is_part = takes_part(i), count = counts_[i];
      const Value all = counts_[word(m_ - 1)], later = more_counts_[min(count, word(m_ - 1))];
      after_[first_ + wide(i)] = select(is_part && count < all, later, i);
      k_.if_(!is_part, [&] { poles_[first_ + wide(i)] = given_[i].get(); });
    });
    k_.each(word(m_),
            [&](Value i) { sorted_[i] = select(takes_part(i), given_[i].get() - far(i), real(-1e300)); });
    scan(sorted_, given_, [](Value a, Value b) { return max(a, b); });
    k_.each(word(m_), [&](Value i) {
      k_.if_(takes_part(i), [&] { poles_[first_ + wide(i)] = sorted_[i].get() + far(i); });
    });
  }

  uint32_t m_;
  Array values_, vectors_, beside_, bounds_, poles_, weights_, ranks_, after_;
  Array given_, sorted_, counts_, more_counts_;
  Value pair_, first_, with_, smallest_;
};

// What a subgroup has to do with one number of a pair.
class OfNumber : protected Writer {
 public:
  static constexpr uint32_t lanes = 256;
  OfNumber(const char* name, const Level& level, uint32_t subgroup)
      : Writer(name, level, lanes),
        number_(k_.team() * (lanes / subgroup) + k_.subgroup_number()),
        inside_(k_.subgroup_lane()),
        pair_(number_ / level.both()),
        mine_(number_ % level.both()),
        first_(wide(pair_) * level.both()),
        pair(k_, level.type, level.both(), subgroup, subgroup, mine_, inside_,
             [this](Value i) { return first_ + wide(i); }) {}
  static uint64_t teams(const Level& level, uint32_t subgroup) {
    const uint64_t count = level.batch * level.size, each = lanes / subgroup;
    return (count + each - 1) / each;
  }

 protected:
  void body(const std::function<void()>& f) {
    k_.if_(number_ < static_cast<uint32_t>(level_.batch * level_.size), f);
  }
  Value at(Value i) const { return first_ + wide(i); }

  Value number_, inside_, pair_, mine_, first_;
  Secular pair;
};

// A root. Buffers: poles, weights, after, near (the pole it is close to), offsets (from that), values.
struct Roots : OfNumber {
  Roots(const Level& level, uint32_t subgroup) : OfNumber("tridiagonal_roots", level, subgroup) {}
  Program build() {
    pair.poles = read("poles"), pair.weights = read("weights"), pair.after = read("after", Type::u32);
    const Array near = written("near", Type::u32), offsets = written("offsets"), values = written("values");
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
  Exact(const Level& level, uint32_t subgroup) : OfNumber("tridiagonal_exact", level, subgroup) {}
  Program build() {
    pair.poles = read("poles"), pair.weights = read("weights"), pair.near = read("near", Type::u32);
    pair.offsets = read("offsets");
    const Array roots = read("roots"), exact = written("exact"), places = written("places", Type::u32),
                values = written("values");
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
  Vectors(const Level& level, uint32_t subgroup) : OfNumber("tridiagonal_vectors", level, subgroup) {}
  Program build() {
    pair.poles = read("poles"), pair.exacts = read("exact"), pair.near = read("near", Type::u32);
    pair.offsets = read("offsets");
    const Array ranks = read("ranks", Type::u32), places = read("places", Type::u32),
                to = written("vectors", level_.type);
    body([&] {
      const Secular::Vector vector = pair.vector();
      const uint32_t h = level_.half;
      const Value place = places[at(mine_)];
      pair.all([&](Value c) {
        const Value line = (wide(pair_) * 2 + wide(c / h)) * level_.both() + wide(place);
        to[line * h + wide(c % h)] = convert(vector.part(ranks[at(c)].get()) * vector.by, level_.type);
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
    pass(solve_leaf(plan_, leaf, division_.size(), limits_), plan_.batch * (size / leaf),
         {diagonal, beside, values, vectors, bounds});
    const uint32_t subgroup = limits_.subgroup_size;
    for (; level.half < size; level.half *= 2) {
      const uint64_t teams = OfNumber::teams(level, subgroup);
      pass(Prepare(level).build(), level.merges(),
           {values, vectors, beside, bounds, poles, weights, ranks, after});
      pass(Roots(level, subgroup).build(), teams, {poles, weights, after, near, offsets, roots});
      pass(Exact(level, subgroup).build(), teams,
           {poles, weights, near, offsets, roots, exact, places, values});
      pass(Vectors(level, subgroup).build(), teams, {poles, exact, near, offsets, ranks, places, parts});
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
  void pass(Program program, uint64_t teams, std::vector<uint8_t> buffers) {
    made_.passes.push_back({add(std::move(program)), teams, std::move(buffers)});
  }

  void multiply(const Level& level, uint8_t vectors, uint8_t parts, uint8_t to) {
    MatmulShape of;
    of.type = of.result = plan_.type;
    of.m = of.k = level.half;
    of.n = level.both();
    of.batch = static_cast<uint32_t>(2 * level.merges());
    of.transpose_b = true;
    of.a_stride = uint64_t{of.m} * of.k;
    of.b_stride = uint64_t{of.n} * of.k;
    const MatmulTiling tiling = choose_tiling(of, limits_);
    const uint64_t teams = matmul_teams(of, tiling);
    if (tiling.split_k == 1) {
      made_.passes.push_back({add(matmul_program(of, tiling)), teams, {vectors, parts, to}});
      return;
    }
    made_.scratch.push_back({matmul_workspace_bytes(of, tiling)});
    const auto sums = static_cast<uint8_t>(own_ + made_.scratch.size() - 1);
    made_.passes.push_back({add(matmul_program(of, tiling)), teams, {vectors, parts, sums}});
    made_.passes.push_back({add(matmul_sum_program(of, tiling)), matmul_sum_teams(of), {sums, to}});
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

Solved add_division(Factor& made, uint8_t own, const FactorPlan& plan, uint8_t diagonal, uint8_t beside,
                    const Limits& limits) {
  return Passes(made, own, plan, limits).run(diagonal, beside);
}

}  // namespace adit::ops::tridiagonal
