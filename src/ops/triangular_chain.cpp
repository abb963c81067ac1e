// Triangular systems with few right-hand sides, all in one launch: a team has a block of rows of some of
// them. It subtracts the products of each block before its own as soon as that block is solved, and its part
// of the matrix is in registers by then. Teams take tickets, so that those a team waits for have begun, and
// tell each number that is solved (waiting.hpp).
//
// Every case is t x = b with t lower triangular, rows counted from the end that is solved first.
#include "ops/triangular_chain.hpp"

#include <algorithm>
#include <bit>

#include "ops/factor_writer.hpp"
#include "ops/hands.hpp"
#include "ops/waiting.hpp"

namespace adit::ops {

using namespace kernel;

namespace chained {
namespace {

struct Sizes {
  uint32_t rows = 0;    // of a team
  uint32_t square = 0;  // rows that a subgroup solves at a time, by shuffles
  uint32_t columns = 0, subgroup = 0;
  uint32_t groups = 4;  // lanes for each row
  uint32_t lanes() const { return groups * rows; }
  uint32_t subgroups() const { return lanes() / subgroup; }
};

constexpr uint32_t first_told = 1;    // the words before count tickets
constexpr uint32_t most_columns = 4;  // right-hand sides of a team

// Of each matrix: teams that have the same right-hand sides wait for each other.
uint64_t chains_of(const TriangularPlan& plan, const Sizes& s) {
  return (plan.columns + s.columns - 1) / s.columns;
}

class Chain {
 public:
  Chain(const TriangularPlan& plan, const Sizes& sizes)
      : plan_(plan),
        turned_(plan.transpose == plan.left_side),
        forward_(plan.lower != turned_),
        s_(sizes),
        complex_(plan.complex),
        k_("triangular_chain", Team::many(sizes.lanes())) {
    a_ = k_.buffer("a", plan.type, Access::read);
    b_ = k_.buffer("b", plan.type, Access::read);
    x_ = k_.buffer("x", plan.type, Access::write);
    words_ = k_.buffer("words", Type::u64, Access::read_write);
    n_ = k_.scalar("n", Type::u32);
    columns_ = k_.scalar("columns", Type::u32);
    batch_ = k_.scalar("batch", Type::u32);
    ticket_ = k_.shared(Type::u32, 1);
    const uint32_t parts = complex_ ? 2 : 1;
    squares_ = k_.shared(plan.type, s_.rows * stride() * parts);
    inverses_ = k_.shared(plan.type, s_.rows * parts);
    safe_ = k_.shared(Type::u32, s_.subgroups());
    solved_ = k_.shared(plan.type, s_.rows * s_.columns * parts);
    given_ = k_.shared(plan.type, s_.rows * s_.columns * parts);
    sums_ = k_.shared(plan.type, s_.rows * s_.columns * (turned_ ? s_.groups : 1) * parts);
    number_ = k_.subgroup_number();
    inside_ = k_.subgroup_lane();
    lane_ = number_ * s_.subgroup + inside_;
  }

  Program build() {
    take_ticket();
    load_squares();
    const Value own = min(lane_, s_.rows * s_.columns - 1);
    put(given_, own, get(b_, x_at(start_ + own % s_.rows, own / s_.rows)));
    for (uint32_t i = 0; i < rows_each() * s_.columns; ++i) sums_of_.push_back(variable(none()));
    for (const Number& t : load_block(word(0))) block_.push_back(variable(t));
    k_.barrier();
    if (!plan_.unit) scale_squares();
    k_.for_(word(0), mine_, word(1), [&](Value before) {
      const std::vector<Number> now = block_now(), next = load_block(before + 1);
      for (size_t i = 0; i < next.size(); ++i) block_[i].set(next[i]);
      k_.if_(lane_ < s_.rows * s_.columns, [&] {
        const Value row = before * s_.rows + lane_ % s_.rows;
        put(solved_, lane_, told().wait_for({told_at(row, lane_ / s_.rows)})[0]);
      });
      k_.barrier();
      add_products(now, 0, s_.rows);
      k_.barrier();
    });
    for (uint32_t first = 0; first < s_.rows; first += s_.square) solve_from(first);
    return k_.finish();
  }

 private:
  static Value wide(Value x) { return convert(x, Type::u64); }
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Number get(const Array& from, Value at) { return load_number(from, at, complex_); }
  void put(const Array& to, Value at, Number x) { store_number(to, at, x, complex_); }
  NumberSum variable(Number x) { return {k_, x, complex_}; }
  Number none() {
    const Value zero = k_.constant(plan_.type, 0);
    return {zero, zero};
  }
  std::vector<Number> block_now() {
    std::vector<Number> now;
    for (const NumberSum& t : block_) now.push_back(t.get());
    return now;
  }
  // Small subgroups are a software device's, which compiles long programs for minutes.
  bool is_software() const { return s_.subgroup < 16; }
  uint32_t stride() const { return s_.square + 1; }  // against bank conflicts
  // A lane's numbers of a block: where rows of t lie side by side in memory, a row's are spread over a
  // subgroup; else a lane has one row, and every fourth number of it.
  uint32_t rows_each() const { return turned_ ? 1 : s_.rows / s_.subgroups(); }
  uint32_t steps_each() const { return turned_ ? s_.rows / s_.groups : s_.rows / s_.subgroup; }
  uint32_t step_stride() const { return s_.rows / steps_each(); }
  Value row_in_block(uint32_t i) { return turned_ ? lane_ % s_.rows : number_ * rows_each() + i; }
  Value first_step() { return turned_ ? lane_ / s_.rows : inside_; }

  void take_ticket() {
    const Value ticket = take_told_ticket(k_, words_, k_.constant(Type::u64, 0), ticket_, lane_);
    const Value groups = (columns_ + (s_.columns - 1)) / s_.columns, chains = batch_ * groups;
    chain_ = ticket % chains;
    matrix_ = chain_ / groups;
    first_column_ = chain_ % groups * s_.columns;
    mine_ = ticket / chains;
    start_ = mine_ * s_.rows;
    a_first_ = wide(matrix_) * wide(n_) * wide(n_);
    x_first_ = wide(matrix_) * wide(n_) * wide(columns_);
  }

  // What lies outside is read inside, and not stored.
  Value row_of(Value i) { return forward_ ? min(i, n_ - 1) : n_ - 1 - min(i, n_ - 1); }
  Number t(Value i, Value p) {
    const Value row = row_of(turned_ ? p : i), column = row_of(turned_ ? i : p);
    return get(a_, a_first_ + wide(row) * wide(n_) + wide(column));
  }
  Value x_at(Value i, Value c) {
    const Value row = wide(row_of(i)), column = wide(min(first_column_ + c, columns_ - 1));
    return x_first_ + (plan_.left_side ? row * wide(columns_) + column : column * wide(n_) + row);
  }
  ToldNumbers told() { return {k_, plan_.type, complex_, words_}; }
  Value told_at(Value row, Value c) {
    return (wide(chain_) * wide(n_) + wide(row)) * s_.columns + wide(c) + first_told;
  }

  // Squares on the diagonal, column by column.
  void load_squares() {
    const uint32_t square = s_.square;
    for (uint32_t e = 0; e < s_.rows * square / s_.lanes(); ++e) {
      const Value v = lane_ + e * s_.lanes(), fast = v % square, slow = v / square;
      const Value row = turned_ ? fast : slow % square, column = turned_ ? slow % square : fast;
      const Value first = slow / square * square;
      put(squares_, (first + column) * stride() + row, t(start_ + first + row, start_ + first + column));
    }
  }

  std::vector<Number> load_block(Value before) {
    std::vector<Number> all;
    const Value first = before * s_.rows + first_step();
    for (uint32_t i = 0; i < rows_each(); ++i)
      for (uint32_t s = 0; s < steps_each(); ++s)
        all.push_back(t(start_ + row_in_block(i), first + s * step_stride()));
    return all;
  }

  // Products of the block's columns from `first` to `end` with what is solved there.
  void add_products(const std::vector<Number>& block, uint32_t first, uint32_t end) {
    for (uint32_t s = first / step_stride(); s < end / step_stride(); ++s)
      for (uint32_t c = 0; c < s_.columns; ++c) {
        const Number x = get(solved_, first_step() + (c * s_.rows + s * step_stride()));
        for (uint32_t i = 0; i < rows_each(); ++i) {
          const NumberSum& sum = sums_of_[i * s_.columns + c];
          sum.set(plus_product(block[i * steps_each() + s], x, sum.get(), complex_));
        }
      }
  }

  // All sums to shared memory, where a row's are one, or one for each of its lanes.
  void put_sums() {
    for (uint32_t c = 0; c < s_.columns; ++c)
      for (uint32_t i = 0; i < rows_each(); ++i) {
        const Number mine = sums_of_[i * s_.columns + c].get();
        if (turned_) {
          put(sums_, (lane_ / s_.rows * s_.columns + c) * s_.rows + lane_ % s_.rows, mine);
          continue;
        }
        const Value re = k_.subgroup_reduce(Reduction::add, mine.re);
        const Number all{re, complex_ ? k_.subgroup_reduce(Reduction::add, mine.im) : re};
        k_.if_(inside_ == 0, [&] { put(sums_, row_in_block(i) + c * s_.rows, all); });
      }
  }
  Number left_of(Value row, Value c) {
    Number left = get(given_, c * s_.rows + row);
    for (uint32_t g = 0; g < (turned_ ? s_.groups : 1); ++g)
      left = sum_of(left, opposite(get(sums_, (g * s_.columns + c) * s_.rows + row)), complex_);
    return left;
  }

  void solve_from(uint32_t first) {
    put_sums();
    k_.barrier();
    k_.if_(number_ < s_.columns, [&] { solve_square(first); });
    k_.barrier();
    if (first + s_.square == s_.rows) return;
    add_products(block_now(), first, first + s_.square);
  }

  // Rows of the squares by the inverses of the diagonal, while others are waited for: then a row is solved
  // once the rows before it are subtracted, and the next one waits for nothing else. Not where an inverse or
  // a product would be far from ordinary numbers.
  void scale_squares() {
    const double far = plan_.type == Type::f32 ? 0x1p100 : 0x1p1000;
    const auto size = [&](Number x) { return complex_ ? max(abs(x.re), abs(x.im)) : abs(x.re); };
    const Variable is_safe = k_.variable(Type::u32, 1);
    const auto expect = [&](Value fine) { is_safe = select(fine, is_safe.get(), word(0)); };
    k_.if_(lane_ < s_.rows, [&] {
      const Number d = get(squares_, lane_ * stride() + lane_ % s_.square);
      put(inverses_, lane_, quotient_of({none().re.like(1), none().re}, d, complex_));
      expect(size(d) < far && size(d) > 1 / far);
    });
    k_.barrier();
    for (uint32_t e = 0; e < s_.rows * s_.square / s_.lanes(); ++e) {
      const Value v = lane_ + e * s_.lanes(), row = v % s_.square, column = v / s_.square;
      const Value at = column * stride() + row;
      k_.if_(row > column % s_.square, [&] {
        const Value inverse = column / s_.square * s_.square + row;
        const Number old = get(squares_, at);
        const Number scaled = product_of(old, get(inverses_, inverse), complex_);
        put(squares_, at, scaled);
        expect(size(scaled) < far && (size(scaled) > 1 / far || size(old) == 0));
      });
    }
    const Value all = k_.subgroup_reduce(Reduction::min, is_safe.get());
    k_.if_(inside_ == 0, [&] { safe_[number_] = all; });
    k_.barrier();
    Value every = safe_[word(0)];
    for (uint32_t s = 1; s < s_.subgroups(); ++s) every = min(every, safe_[word(s)].get());
    is_safe_ = every == 1;
  }

  // A subgroup a right-hand side; lanes hold some rows each.
  void solve_square(uint32_t first) {
    const uint32_t sets = s_.square / s_.subgroup;
    std::vector<NumberSum> left, x;
    for (uint32_t q = 0; q < sets; ++q) {
      left.push_back(variable(left_of(inside_ + (q * s_.subgroup + first), number_)));
      x.push_back(variable(none()));
    }
    if (plan_.unit) {
      substitute_pairs(first, left, x);
    } else {
      k_.if_(
          is_safe_,
          [&] {
            for (uint32_t q = 0; q < sets; ++q) {
              const Value row = inside_ + (first + q * s_.subgroup);
              left[q].set(product_of(left[q].get(), get(inverses_, row), complex_));
            }
            substitute_pairs(first, left, x);
          },
          [&] { substitute_quotients(first, left, x); });
    }
    for (uint32_t q = 0; q < sets; ++q) {
      const Value row = inside_ + (first + q * s_.subgroup), place = start_ + row;
      put(solved_, number_ * s_.rows + row, x[q].get());
      k_.if_(place < n_, [&] {
        told().tell(told_at(place, number_), x[q].get());
        k_.if_(first_column_ + number_ < columns_, [&] { put(x_, x_at(place, number_), x[q].get()); });
      });
    }
  }

  Number shuffled(Number mine, Value p) {
    const Value re = k_.subgroup_shuffle(mine.re, p);
    return {re, complex_ ? k_.subgroup_shuffle(mine.im, p) : re};
  }
  // Of rows that are divided by the diagonal, two at a time: every lane solves both for itself, so that they
  // wait for one exchange. f32 of 4,096 rows took an H200 135 us so, 157 one by one and 147 by fours. Rows
  // that are solved take part too, for nothing: what they become nobody reads.
  void substitute_pairs(uint32_t first, const std::vector<NumberSum>& left, const std::vector<NumberSum>& x) {
    for (uint32_t q = 0; q < left.size(); ++q) {
      const auto entry = [&](Value p, Value row) {
        return get(squares_, (p + (first + q * s_.subgroup)) * stride() + row);
      };
      const auto pair = [&](Value p) {
        const Number mine = left[q].get(), upper = shuffled(mine, p), other = shuffled(mine, p + 1);
        const Number between = entry(p, p + (q * s_.subgroup + 1)),
                     lower = plus_product(opposite(between), upper, other, complex_);
        x[q].set(
            chosen(inside_ == p, upper, chosen(inside_ == p + 1, lower, x[q].get(), complex_), complex_));
        for (uint32_t r = q; r < left.size(); ++r) {
          const Value row = inside_ + r * s_.subgroup;
          left[r].subtract(entry(p, row), upper);
          left[r].subtract(entry(p + 1, row), lower);
        }
      };
      if (is_software()) {
        k_.for_(word(0), word(s_.subgroup), word(2), pair);
      } else {
        for (uint32_t p = 0; p < s_.subgroup; p += 2) pair(word(p));
      }
    }
  }
  // Of rows as they are given.
  void substitute_quotients(uint32_t first, const std::vector<NumberSum>& left,
                            const std::vector<NumberSum>& x) {
    const auto row_of_set = [&](uint32_t r) { return start_ + (inside_ + (first + r * s_.subgroup)); };
    for (uint32_t q = 0; q < left.size(); ++q) {
      const Number diagonal = t(row_of_set(q), row_of_set(q));
      k_.for_(word(s_.subgroup), [&](Value p) {
        const Number solved = shuffled(quotient_of(left[q].get(), diagonal, complex_), p);
        x[q].set(chosen(inside_ == p, solved, x[q].get(), complex_));
        for (uint32_t r = q; r < left.size(); ++r)
          left[r].subtract(t(row_of_set(r), start_ + (p + (first + q * s_.subgroup))), solved);
      });
    }
  }

  const TriangularPlan& plan_;
  bool turned_, forward_;  // turned: t is a's transpose
  Sizes s_;
  bool complex_;
  Builder k_;
  Array a_, b_, x_, words_, ticket_, squares_, inverses_, safe_, solved_, given_, sums_;
  Value n_, columns_, batch_, number_, inside_, lane_, chain_, matrix_, first_column_, mine_, start_,
      a_first_, x_first_, is_safe_;
  std::vector<NumberSum> block_, sums_of_;
};

Sizes sizes_for(const TriangularPlan& plan, const Limits& limits) {
  const uint32_t subgroup = limits.subgroup_size, square = 2 * subgroup;
  // Two squares a team; numbers of eight bytes and more leave room for half of that.
  const uint32_t of_type = plan.complex || plan.type == Type::f64 ? std::max(subgroup, square / 2) : square;
  return {2 * of_type, of_type, std::bit_ceil(std::min(plan.columns, most_columns)), subgroup};
}

}  // namespace
}  // namespace chained

// By panels c64 of 777 rows took an H200 249 us with 5 right-hand sides and 243 with 16; a chain of one
// took 80.
bool has_triangular_chain(const TriangularPlan& plan, const Limits& limits) {
  constexpr uint32_t few = 16, most_teams = 2048;
  if (plan.columns > few || !has_hands(limits) || !limits.int64 || !limits.int64_atomics) return false;
  const chained::Sizes s = chained::sizes_for(plan, limits);
  const uint64_t numbers = s.rows * (s.square + 2 + s.columns * (2 + s.groups));
  const uint64_t teams = plan.batch * chained::chains_of(plan, s) * ((plan.n + s.rows - 1) / s.rows);
  return plan.n > s.square && teams <= most_teams && s.lanes() <= limits.max_lanes &&
         s.rows * s.columns <= s.lanes() && s.columns <= s.subgroups() &&
         numbers * size_of(plan.type) * (plan.complex ? 2 : 1) + 4 + 4 * s.subgroups() <= limits.shared_bytes;
}

Factor triangular_chain(const TriangularPlan& plan, const Limits& limits) {
  using namespace chained;
  const Sizes s = sizes_for(plan, limits);
  Factor made;
  const uint64_t numbers = first_told + plan.batch * chains_of(plan, s) * plan.n * s.columns;
  const uint64_t pairs = (numbers * ToldNumbers::words(plan.type, plan.complex) + 1) / 2;
  made.scratch = {{16 * pairs}};
  made.programs = {clear_words(), Chain(plan, s).build()};
  const uint64_t teams = plan.batch * chains_of(plan, s) * ((plan.n + s.rows - 1) / s.rows);
  made.passes = {{0, pairs, {3}},
                 {1, teams, {0, 1, 2, 3}, {plan.n, plan.columns, static_cast<uint32_t>(plan.batch)}}};
  return made;
}

}  // namespace adit::ops
