// LU with row exchanges, by panels of columns:
//
// 1. panel: a team a matrix factors the columns of the panel, rows from the diagonal down. It notes which row
//    each row came from, so that the exchanges of all other columns are loads that do not wait for each
//    other.
// 2. beside: a lane a column outside of the panel exchanges its rows; to the right it also solves with the
//    panel's unit triangle, which makes rows of u.
// 3. trailing: what lies right of and below the panel loses l u.
#include <algorithm>
#include <functional>

#include "ops/factor_passes.hpp"
#include "ops/factor_writer.hpp"
#include "ops/trailing.hpp"

namespace adit::ops {

using namespace kernel;

namespace lu_kernels {
namespace {

constexpr uint32_t portable_columns = 32;

enum Tensors : uint8_t { matrix, permutation, sign, came_from, pivots };

class Panel {
 public:
  Panel(const FactorPlan& plan, uint32_t columns)
      : n_(plan.n), columns_(columns), complex_(plan.complex), k_("lu_panel", Team::many(lanes_for(plan))) {
    const Array memory = k_.buffer("a", plan.type, Access::read_write);
    ids_ = k_.buffer("came_from", Type::i32, Access::read_write);
    pivots_ = k_.buffer("pivots", Type::i32, Access::write);
    sign_ = k_.buffer("sign", Type::i32, Access::read_write);
    start_ = k_.scalar("start", Type::u32);
    const Value team = k_.team(Type::u64);
    team_ = team;
    a_ = {memory, team * (uint64_t{n_} * n_), n_, complex_};
    first_ = team * uint64_t{n_};
    end_ = min(start_ + columns_, word(n_));
  }
  static uint32_t lanes_for(const FactorPlan& plan) {
    return plan.n <= 32   ? 32
           : plan.n <= 64 ? 64
                          : std::min(plan.lanes, plan.n <= 128   ? 128U
                                                 : plan.n <= 256 ? 256U
                                                                 : 512U);
  }

  Program build() {
    k_.each(word(n_) - start_, [&](Value r) { ids_[at(start_ + r)] = convert(start_ + r, Type::i32); });
    const Variable parity = k_.variable(Type::i32, 1);
    k_.for_(start_, end_, word(1), [&](Value c) {
      const Value p = pivot_of(c);
      k_.once([&] { pivots_[at(c)] = convert(p, Type::i32); });
      parity = select(p == c, parity.get(), -parity.get());
      exchange(c, p);
      eliminate(c);
    });
    k_.once([&] {
      const Value before = select(start_ == 0, parity.get().like(1), sign_[team_].get());
      sign_[team_] = before * parity.get();
    });
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value at(Value row) { return first_ + convert(row, Type::u64); }
  Value size_of_number(Number x) const { return complex_ ? abs(x.re) + abs(x.im) : abs(x.re); }

  // The row, from c on, whose number in column c is the largest; the first of equal ones, and c where all are
  // NaN.
  Value pivot_of(Value c) {
    const Value rows = word(n_) - c;
    const Value largest =
        k_.reduce(rows, Reduction::max, [&](Value r) { return size_of_number(a_.get(c + r, c)); });
    const Value row = k_.reduce(rows, Reduction::min, [&](Value r) {
      return select(size_of_number(a_.get(c + r, c)) == largest, c + r, word(n_));
    });
    return select(row == n_, c, row);
  }

  void exchange(Value c, Value p) {
    k_.if_(p != c, [&] {
      k_.each(end_ - start_, [&](Value j) {
        const Number mine = a_.get(c, start_ + j), other = a_.get(p, start_ + j);
        a_.put(c, start_ + j, other);
        a_.put(p, start_ + j, mine);
      });
      k_.once([&] {
        const Value mine = ids_[at(c)], other = ids_[at(p)];
        ids_[at(c)] = other;
        ids_[at(p)] = mine;
      });
    });
  }

  // A lane a row: its numbers of the panel lie beside each other.
  void eliminate(Value c) {
    k_.each(word(n_) - c - 1, [&](Value r) {
      const Value row = c + 1 + r;
      const Number pivot = a_.get(c, c), mine = a_.get(row, c);
      const Number share = quotient_of(mine, pivot, complex_);
      // A column of zeros stays one: the matrix is singular, and u tells.
      const Value nothing = pivot.re == 0 && (complex_ ? pivot.im == 0 : pivot.re == 0);
      const Number l = {select(nothing, mine.re, share.re), select(nothing, mine.im, share.im)};
      a_.put(row, c, l);
      k_.for_(c + 1, end_, word(1), [&](Value j) {
        const NumberSum sum(k_, a_.get(row, j), complex_);
        sum.subtract(l, a_.get(c, j));
        a_.put(row, j, sum.get());
      });
    });
  }

  uint32_t n_, columns_;
  bool complex_;
  Builder k_;
  Array ids_, pivots_, sign_;
  Value start_, team_, first_, end_;
  MatrixView a_;
};

// Lanes are the columns, and one more for the permutation.
class Beside {
 public:
  Beside(const FactorPlan& plan, uint32_t columns)
      : n_(plan.n), columns_(columns), complex_(plan.complex), k_("lu_beside", Team::one()) {
    const Array memory = k_.buffer("a", plan.type, Access::read_write);
    ids_ = k_.buffer("came_from", Type::i32, Access::read);
    pivots_ = k_.buffer("pivots", Type::i32, Access::read);
    order_ = k_.buffer("permutation", Type::i32, Access::read_write);
    start_ = k_.scalar("start", Type::u32);
    const Value team = k_.team(Type::u64), lanes = k_.constant(Type::u64, uint64_t{n_} + 1);
    const Value which = team / lanes;
    column_ = convert(team % lanes, Type::u32);
    a_ = {memory, which * (uint64_t{n_} * n_), n_, complex_};
    first_ = which * uint64_t{n_};
    end_ = min(start_ + columns_, word(n_));
  }

  Program build() {
    k_.if_(
        column_ == n_, [&] { reorder(); },
        [&] { k_.if_(column_ < start_ || end_ <= column_, [&] { exchange_and_solve(); }); });
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value at(Value row) { return first_ + convert(row, Type::u64); }
  Value source(Value row) { return convert(ids_[at(row)], Type::u32); }
  Value pivot(Value row) { return convert(pivots_[at(row)], Type::u32); }
  uint32_t rows() const { return std::min(columns_, n_); }

  // Before the first panel the permutation is not written yet.
  void reorder() {
    k_.if_(start_ == 0, [&] { k_.for_(word(n_), [&](Value r) { order_[at(r)] = convert(r, Type::i32); }); });
    std::vector<Value> inside, outside, to;
    for (uint32_t i = 0; i < rows(); ++i) {
      const Value row = min(start_ + i, word(n_ - 1)), p = pivot(row);
      inside.push_back(order_[at(source(row))]);
      to.push_back(p);
      outside.push_back(order_[at(source(p))]);
    }
    for (uint32_t i = 0; i < rows(); ++i) {
      const Value row = start_ + i;
      k_.if_(row < n_, [&] {
        order_[at(row)] = inside[i];
        k_.if_(to[i] >= end_, [&] { order_[at(to[i])] = outside[i]; });
      });
    }
  }

  void exchange_and_solve() {
    std::vector<Number> inside, outside;
    std::vector<Value> to;
    for (uint32_t i = 0; i < rows(); ++i) {
      const Value row = min(start_ + i, word(n_ - 1)), p = pivot(row);
      inside.push_back(a_.get(source(row), column_));
      to.push_back(p);
      outside.push_back(a_.get(source(p), column_));
    }
    for (uint32_t i = 0; i < rows(); ++i)
      k_.if_(start_ + i < n_ && to[i] >= end_, [&] { a_.put(to[i], column_, outside[i]); });
    k_.if_(
        column_ < start_,
        [&] {
          for (uint32_t i = 0; i < rows(); ++i)
            k_.if_(start_ + i < n_, [&] { a_.put(start_ + i, column_, inside[i]); });
        },
        [&] { solve(inside); });
  }

  // Only a whole panel has columns to its right.
  void solve(const std::vector<Number>& rows_of_panel) {
    if (n_ <= columns_) return;
    std::vector<Number> solved;
    for (uint32_t i = 0; i < columns_; ++i) {
      const NumberSum sum(k_, rows_of_panel[i], complex_);
      for (uint32_t p = 0; p < i; ++p) sum.subtract(a_.get(start_ + i, start_ + p), solved[p]);
      solved.push_back(sum.get());
      a_.put(start_ + i, column_, solved.back());
    }
  }

  uint32_t n_, columns_;
  bool complex_;
  Builder k_;
  Array ids_, pivots_, order_;
  Value start_, column_, first_, end_;
  MatrixView a_;
};

// Back-edges of the busiest lane of a panel.
uint64_t trips(const FactorPlan& plan) {
  const uint64_t lanes = Panel::lanes_for(plan), rows = (plan.n + lanes - 1) / lanes;
  return portable_columns * (3 + 3 * rows + rows * portable_columns / 2) + 2 * rows + plan.n;
}

}  // namespace
}  // namespace lu_kernels

Program permute_rows(const FactorPlan& plan, uint32_t columns) {
  Builder k("permute_rows", Team::one());
  const Array from = k.buffer("from", plan.type, Access::read),
              order = k.buffer("order", Type::i32, Access::read),
              to = k.buffer("to", plan.type, Access::write);
  const Value place = k.team(Type::u64), row = place / columns, matrix = row / plan.n;
  const Value source = matrix * plan.n + convert(order[row], Type::u64);
  store_number(to, place, load_number(from, source * columns + place % columns, plan.complex), plan.complex);
  return k.finish();
}

Factor lu(const FactorPlan& plan) {
  using namespace lu_kernels;
  Factor made;
  if (plan.n == 0 || plan.batch == 0) return made;
  constexpr uint32_t columns = portable_columns;
  made.loop_trips = trips(plan);
  made.scratch = {{plan.batch * plan.n * 4}, {plan.batch * plan.n * 4}};
  made.programs.push_back(Panel(plan, columns).build());
  made.programs.push_back(Beside(plan, columns).build());
  if (plan.n > columns)
    made.programs.push_back(trailing_program({plan.type, plan.complex, plan.n, columns, false}));
  for (uint32_t start = 0; start < plan.n; start += columns) {
    made.passes.push_back({0, plan.batch, {matrix, came_from, pivots, sign}, {start}});
    made.passes.push_back(
        {1, plan.batch * (uint64_t{plan.n} + 1), {matrix, came_from, pivots, permutation}, {start}});
    const uint32_t end = start + columns;
    if (end >= plan.n) continue;
    made.passes.push_back({2, trailing_teams(plan.n - end, plan.batch), {matrix}, {end}});
  }
  return made;
}

}  // namespace adit::ops
