// Triangular systems with few right-hand sides: a team a block of rows, all in one launch. A team subtracts
// the products of each block before its own as soon as that block is solved, and its part of the matrix is in
// registers by then. Teams take tickets, so that those a team waits for have begun; a solved number travels
// in words with a bit that tells that it is there, so that no order between words is asked for.
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

constexpr uint32_t first_word = 1;  // the word before counts tickets

// Words of a number, each with a part of its bits and one that tells that it is there.
class Travel {
 public:
  Travel(Type type, bool complex) : type_(type), complex_(complex) {}
  uint32_t words() const { return of_part() * (complex_ ? 2 : 1); }
  void send(const Array& to, Value at, Number number) const {
    send_part(to, at, number.re);
    if (complex_) send_part(to, at + of_part(), number.im);
  }
  Number wait_for(Builder& k, const Array& from, Value at) const {
    const std::vector<Value> seen = wait_for_words(
        k, words(),
        [&](size_t w) { return from.atomic_or(at + static_cast<uint32_t>(w), k.constant(Type::u32, 0)); },
        [](Value word) { return (word & there) != 0; });
    const Value re = part_of(seen, 0);
    return {re, complex_ ? part_of(seen, of_part()) : re};
  }

 private:
  static constexpr uint32_t there = 1U << 31;

  uint32_t of_part() const { return type_ == Type::f32 ? 2 : 3; }
  uint32_t bits() const { return type_ == Type::f32 ? 16 : 22; }
  Type whole() const { return type_ == Type::f32 ? Type::u32 : Type::u64; }
  void send_part(const Array& to, Value at, Value number) const {
    const Value all = bitcast(number, whole());
    for (uint32_t w = 0; w < of_part(); ++w) {
      const Value part = convert(all >> (w * bits()) & ((1U << bits()) - 1), Type::u32);
      to.atomic_exchange(at + w, part | there);
    }
  }
  Value part_of(const std::vector<Value>& seen, uint32_t first) const {
    Value all = convert(seen[first] & ~there, whole());
    for (uint32_t w = 1; w < of_part(); ++w)
      all = all | convert(seen[first + w] & ~there, whole()) << (w * bits());
    return bitcast(all, type_);
  }

  Type type_;
  bool complex_;
};

class Chain {
 public:
  Chain(const TriangularPlan& plan, const Sizes& sizes)
      : plan_(plan),
        turned_(plan.transpose == plan.left_side),
        forward_(plan.lower != turned_),
        s_(sizes),
        complex_(plan.complex),
        travel_(plan.type, plan.complex),
        k_("triangular_chain", Team::many(sizes.lanes())) {
    a_ = k_.buffer("a", plan.type, Access::read);
    b_ = k_.buffer("b", plan.type, Access::read);
    x_ = k_.buffer("x", plan.type, Access::write);
    words_ = k_.buffer("words", Type::u32, Access::read_write);
    n_ = k_.scalar("n", Type::u32);
    columns_ = k_.scalar("columns", Type::u32);
    batch_ = k_.scalar("batch", Type::u32);
    ticket_ = k_.shared(Type::u32, 1);
    const uint32_t parts = complex_ ? 2 : 1;
    squares_ = k_.shared(plan.type, s_.rows * stride() * parts);
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
    k_.for_(word(0), mine_, word(1), [&](Value before) {
      const std::vector<Number> now = block_now(), next = load_block(before + 1);
      for (size_t i = 0; i < next.size(); ++i) block_[i].set(next[i]);
      k_.if_(lane_ < s_.rows * s_.columns, [&] {
        const Value row = before * s_.rows + lane_ % s_.rows;
        put(solved_, lane_, travel_.wait_for(k_, words_, word_at(row, lane_ / s_.rows)));
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
  uint32_t stride() const { return s_.square + 1; }  // against bank conflicts
  // A lane's numbers of a block: where rows of t lie side by side in memory, a row's are spread over a
  // subgroup; else a lane has one row, and every fourth number of it.
  uint32_t rows_each() const { return turned_ ? 1 : s_.rows / s_.subgroups(); }
  uint32_t steps_each() const { return turned_ ? s_.rows / s_.groups : s_.rows / s_.subgroup; }
  uint32_t step_stride() const { return s_.rows / steps_each(); }
  Value row_in_block(uint32_t i) { return turned_ ? lane_ % s_.rows : number_ * rows_each() + i; }
  Value first_step() { return turned_ ? lane_ / s_.rows : inside_; }

  void take_ticket() {
    const Value ticket = ops::take_ticket(k_, words_, ticket_, lane_);
    matrix_ = ticket % batch_;
    mine_ = ticket / batch_;
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
    const Value row = wide(row_of(i)), column = wide(min(c, columns_ - 1));
    return x_first_ + (plan_.left_side ? row * wide(columns_) + column : column * wide(n_) + row);
  }
  Value word_at(Value row, Value c) {
    return ((matrix_ * n_ + row) * s_.columns + c) * travel_.words() + first_word;
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

  // A subgroup a right-hand side; lanes hold some rows each.
  void solve_square(uint32_t first) {
    const uint32_t sets = s_.square / s_.subgroup;
    std::vector<NumberSum> left, x;
    std::vector<Number> diagonal, inverse;
    Value is_safe = number_ == number_;
    for (uint32_t q = 0; q < sets; ++q) {
      const Value row = inside_ + q * s_.subgroup;
      left.push_back(variable(left_of(row + first, number_)));
      x.push_back(variable(none()));
      diagonal.push_back(get(squares_, (row + first) * stride() + row));
      inverse.push_back(quotient_of({none().re.like(1), none().re}, diagonal[q], complex_));
      const double far = plan_.type == Type::f32 ? 0x1p100 : 0x1p1000;
      const Number d = diagonal[q];
      const Value size = complex_ ? max(abs(d.re), abs(d.im)) : abs(d.re);
      is_safe = is_safe && size < far && size > 1 / far;
    }
    const auto substitute = [&](const std::function<Number(uint32_t)>& quotient) {
      const uint32_t unrolled = std::min(8U, s_.subgroup);
      for (uint32_t q = 0; q < sets; ++q)
        k_.for_(word(0), word(s_.subgroup), word(unrolled), [&](Value some) {
          for (uint32_t u = 0; u < unrolled; ++u) {
            const Value p = some + u;
            const Number mine = quotient(q);
            const Value re = k_.subgroup_shuffle(mine.re, p);
            const Number solved{re, complex_ ? k_.subgroup_shuffle(mine.im, p) : re};
            x[q].set(chosen(inside_ == p, solved, x[q].get(), complex_));
            // Rows that are solved take part too, for nothing: what they become nobody reads.
            for (uint32_t r = q; r < sets; ++r) {
              const Value at = (p + (first + q * s_.subgroup)) * stride() + (inside_ + r * s_.subgroup);
              left[r].subtract(get(squares_, at), solved);
            }
          }
        });
    };
    if (plan_.unit) {
      substitute([&](uint32_t q) { return left[q].get(); });
    } else {
      k_.if_(
          k_.subgroup_all(is_safe),
          [&] { substitute([&](uint32_t q) { return product_of(left[q].get(), inverse[q], complex_); }); },
          [&] { substitute([&](uint32_t q) { return quotient_of(left[q].get(), diagonal[q], complex_); }); });
    }
    for (uint32_t q = 0; q < sets; ++q) {
      const Value row = inside_ + (first + q * s_.subgroup), place = start_ + row;
      put(solved_, number_ * s_.rows + row, x[q].get());
      k_.if_(place < n_, [&] {
        travel_.send(words_, word_at(place, number_), x[q].get());
        k_.if_(number_ < columns_, [&] { put(x_, x_at(place, number_), x[q].get()); });
      });
    }
  }

  const TriangularPlan& plan_;
  bool turned_, forward_;  // turned: t is a's transpose
  Sizes s_;
  bool complex_;
  Travel travel_;
  Builder k_;
  Array a_, b_, x_, words_, ticket_, squares_, solved_, given_, sums_;
  Value n_, columns_, batch_, number_, inside_, lane_, matrix_, mine_, start_, a_first_, x_first_;
  std::vector<NumberSum> block_, sums_of_;
};

Program clear() {
  Builder k("triangular_clear", Team::one());
  const Array words = k.buffer("words", Type::u32, Access::write);
  words[k.team()] = 0;
  return k.finish();
}

Sizes sizes_for(const TriangularPlan& plan, const Limits& limits) {
  const uint32_t subgroup = limits.subgroup_size, square = 2 * subgroup;
  // Two squares a team; numbers of eight bytes and more leave room for half of that.
  const uint32_t of_type = plan.complex || plan.type == Type::f64 ? std::max(subgroup, square / 2) : square;
  return {2 * of_type, of_type, std::bit_ceil(plan.columns), subgroup};
}

}  // namespace
}  // namespace chained

bool has_triangular_chain(const TriangularPlan& plan, const Limits& limits) {
  constexpr uint32_t most_columns = 4, most_teams = 2048;
  if (plan.columns > most_columns || !has_hands(limits)) return false;
  const chained::Sizes s = chained::sizes_for(plan, limits);
  const uint64_t numbers = s.rows * (s.square + 1 + s.columns * (2 + s.groups));
  const uint64_t teams = plan.batch * ((plan.n + s.rows - 1) / s.rows);
  return plan.n > s.square && teams <= most_teams && s.lanes() <= limits.max_lanes &&
         s.rows * s.columns <= s.lanes() && s.columns <= s.subgroups() &&
         numbers * size_of(plan.type) * (plan.complex ? 2 : 1) + 16 <= limits.shared_bytes;
}

Factor triangular_chain(const TriangularPlan& plan, const Limits& limits) {
  using namespace chained;
  const Sizes s = sizes_for(plan, limits);
  Factor made;
  const uint64_t words =
      first_word + plan.batch * plan.n * s.columns * Travel(plan.type, plan.complex).words();
  made.scratch = {{4 * words}};
  made.programs = {clear(), Chain(plan, s).build()};
  const uint64_t teams = plan.batch * ((plan.n + s.rows - 1) / s.rows);
  made.passes = {{0, words, {3}},
                 {1, teams, {0, 1, 2, 3}, {plan.n, plan.columns, static_cast<uint32_t>(plan.batch)}}};
  return made;
}

}  // namespace adit::ops
