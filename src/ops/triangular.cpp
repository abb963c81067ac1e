#include "ops/triangular.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include <adit/error.hpp>
#include <adit/kernel/builder.hpp>

#include "ops/factor_writer.hpp"

namespace adit::ops {

using namespace kernel;

namespace {

constexpr uint32_t block_rows = 8;
constexpr uint32_t column_lanes = 64;

// Every case as one: t x = b with t lower triangular, rows taken from the first to the last, where
// t[i][p] = a[corner + i * row_step + p * column_step] and b[i][c] = x[x_corner + i * x_row + c * x_column].
class Solve {
 public:
  Solve(const TriangularPlan& plan, const char* name, Team team)
      : plan_(plan), n_(plan.n), k_(name, team), complex_(plan.complex) {
    a_ = k_.buffer("a", plan.type, Access::read);
    x_ = k_.buffer("x", plan.type, Access::read_write);
    const bool turned = plan.transpose == plan.left_side;  // t is a's transpose
    const bool forward = plan.lower != turned;
    int64_t row = turned ? 1 : int64_t{n_}, column = turned ? int64_t{n_} : 1;
    x_row_ = plan.left_side ? int64_t{plan.columns} : 1;
    x_column_ = plan.left_side ? 1 : int64_t{n_};
    if (!forward) {  // the last row first: steps run backward from the last corner
      corner_ = uint64_t{n_} * n_ - 1;
      x_corner_ = static_cast<uint64_t>(x_row_) * (n_ - 1);
      row = -row, column = -column, x_row_ = -x_row_;
    }
    row_ = row, column_ = column;
  }

  Program alone() {
    const Value team = k_.team(Type::u64);
    place(team / plan_.columns);
    const Value c = convert(team % plan_.columns, Type::u32);
    k_.for_(word(n_), [&](Value i) { one_row(i, word(0), c); });
    return k_.finish();
  }

  Program columns() {
    const uint32_t groups = column_groups(plan_);
    const Value team = k_.team(Type::u64);
    place(team / groups);
    const Value first = convert(team % groups, Type::u32) * column_lanes;
    k_.each(min(word(plan_.columns) - first, word(column_lanes)), [&](Value lane) {
      const Value c = first + lane;
      const uint32_t whole = n_ / block_rows * block_rows;
      if (whole > 0)
        k_.for_(word(0), word(whole), word(block_rows), [&](Value start) { column_block(start, c); });
      if (n_ > whole) k_.for_(word(whole), word(n_), word(1), [&](Value i) { one_row(i, word(0), c); });
    });
    return k_.finish();
  }

  Program rows() {
    place(k_.team(Type::u64));
    k_.for_(word(0), word(n_), word(block_rows), [&](Value start) { row_block(start); });
    return k_.finish();
  }

  static uint32_t column_groups(const TriangularPlan& plan) {
    return (plan.columns + column_lanes - 1) / column_lanes;
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  void place(Value matrix) {
    a_first_ = matrix * (uint64_t{n_} * n_) + corner_;
    x_first_ = matrix * (uint64_t{n_} * plan_.columns) + x_corner_;
  }
  // Offsets wrap as unsigned numbers, so steps may run backward.
  static Value stepped(Value first, Value i, int64_t step) {
    return first + convert(i, Type::u64) * static_cast<uint64_t>(step);
  }
  Number solved_by(Number sum, Value i) const {
    return plan_.unit ? sum : quotient_of(sum, t(i, i), complex_);
  }
  Number t(Value i, Value p) const {
    return load_number(a_, stepped(stepped(a_first_, i, row_), p, column_), complex_);
  }
  Value x_at(Value i, Value c) const { return stepped(stepped(x_first_, i, x_row_), c, x_column_); }
  Number b(Value i, Value c) const { return load_number(x_, x_at(i, c), complex_); }
  void store(Value i, Value c, Number value) const { store_number(x_, x_at(i, c), value, complex_); }
  // One element of one right-hand side, from the rows p .. i that are solved and not yet subtracted.
  void one_row(Value i, Value from, Value c) {
    const NumberSum sum(k_, b(i, c), complex_);
    k_.for_(from, i, i.like(1), [&](Value p) { sum.subtract(t(i, p), b(p, c)); });
    store(i, c, solved_by(sum.get(), i));
  }

  // Some rows of one right-hand side, in registers.
  void column_block(Value start, Value c) {
    std::vector<NumberSum> sums;
    for (uint32_t r = 0; r < block_rows; ++r) sums.emplace_back(k_, b(start + r, c), complex_);
    k_.for_(start, [&](Value p) {
      const Number above = b(p, c);
      for (uint32_t r = 0; r < block_rows; ++r) sums[r].subtract(t(start + r, p), above);
    });
    std::vector<Number> solved;
    for (uint32_t r = 0; r < block_rows; ++r) {
      for (uint32_t p = 0; p < r; ++p) sums[r].subtract(t(start + r, start + p), solved[p]);
      solved.push_back(solved_by(sums[r].get(), start + r));
      store(start + r, c, solved.back());
    }
  }

  void row_block(Value start) {
    const Value below = min(start + block_rows, word(n_));
    k_.each(word(plan_.columns),
            [&](Value c) { k_.for_(start, below, start.like(1), [&](Value i) { one_row(i, start, c); }); });
    // Only a whole block has rows below.
    k_.each((word(n_) - below) * plan_.columns, [&](Value e) {
      const Value i = below + e / plan_.columns, c = e % plan_.columns;
      const NumberSum sum(k_, b(i, c), complex_);
      for (uint32_t r = 0; r < block_rows; ++r) sum.subtract(t(i, start + r), b(start + r, c));
      store(i, c, sum.get());
    });
  }

  const TriangularPlan& plan_;
  uint32_t n_;
  Builder k_;
  bool complex_;
  Array a_, x_;
  uint64_t corner_ = 0, x_corner_ = 0;
  int64_t row_ = 0, column_ = 0, x_row_ = 0, x_column_ = 0;
  Value a_first_, x_first_;
};

constexpr uint32_t row_lanes(uint32_t n) { return n <= 128 ? 64 : 256; }

uint64_t trips(const TriangularPlan& plan, TriangularMethod method) {
  const uint64_t n = plan.n, blocks = (n + block_rows - 1) / block_rows;
  if (method == TriangularMethod::alone) return n * (n + 1) / 2 + n;
  if (method == TriangularMethod::columns) return blocks * n / 2 + blocks + block_rows * (n + 1) + 1;
  const uint64_t lanes = row_lanes(plan.n), solving = (plan.columns + lanes - 1) / lanes;
  return blocks * (1 + solving * block_rows * block_rows + (n * plan.columns + lanes - 1) / lanes);
}

}  // namespace

TriangularMethod choose_method(const TriangularPlan& plan) {
  if (plan.columns >= column_lanes / 2) return TriangularMethod::columns;
  return plan.n <= 32 ? TriangularMethod::alone : TriangularMethod::rows;
}

Triangular triangular_solve(const TriangularPlan& plan) {
  return triangular_solve(plan, choose_method(plan));
}

Triangular triangular_solve(const TriangularPlan& plan, TriangularMethod method) {
  if (plan.type != Type::f32 && plan.type != Type::f64)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[triangular_solve] a: expected f32 or f64, got {}", kernel::name_of(plan.type)));
  Triangular result;
  result.loop_trips = trips(plan, method);
  if (plan.n == 0 || plan.columns == 0 || plan.batch == 0) return result;
  switch (method) {
    case TriangularMethod::alone:
      result.program = Solve(plan, "triangular_alone", Team::one()).alone();
      result.teams = plan.batch * plan.columns;
      break;
    case TriangularMethod::columns:
      result.program = Solve(plan, "triangular_columns", Team::many(column_lanes)).columns();
      result.teams = plan.batch * Solve::column_groups(plan);
      break;
    case TriangularMethod::rows:
      result.program = Solve(plan, "triangular_rows", Team::many(row_lanes(plan.n))).rows();
      result.teams = plan.batch;
      break;
  }
  return result;
}

}  // namespace adit::ops
