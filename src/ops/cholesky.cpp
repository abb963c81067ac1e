#include "ops/cholesky.hpp"

#include <fmt/format.h>
#include <functional>
#include <limits>
#include <vector>

#include <adit/error.hpp>
#include <adit/kernel/builder.hpp>
#include <adit/kernel/math.hpp>

#include "ops/number.hpp"

namespace adit::ops {

using namespace kernel;

namespace {

constexpr uint32_t in_registers = 8;  // the largest matrix of a single invocation
constexpr uint32_t block_rows = 16;   // rows that are factored together

Value not_a_number(Value like) { return like.like(std::numeric_limits<double>::quiet_NaN()); }

// The matrix in registers, every step unrolled.
Program small(const CholeskyPlan& plan) {
  Builder k("cholesky_small", Team::one());
  const Array x = k.buffer("x", plan.type, Access::read), l = k.buffer("l", plan.type, Access::write);
  const uint32_t n = plan.n;
  const Value first = k.team(Type::u64) * (uint64_t{n} * n);
  std::vector<std::vector<Value>> a(n, std::vector<Value>(n));
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j <= i; ++j) a[i][j] = x[first + i * n + j];
  for (uint32_t j = 0; j < n; ++j) {
    for (uint32_t p = 0; p < j; ++p) a[j][j] = fma(-a[j][p], a[j][p], a[j][j]);
    const Value root = select(a[j][j] > 0, sqrt(a[j][j]), not_a_number(a[j][j]));
    a[j][j] = root;
    for (uint32_t i = j + 1; i < n; ++i) {
      for (uint32_t p = 0; p < j; ++p) a[i][j] = fma(-a[i][p], a[j][p], a[i][j]);
      a[i][j] = a[i][j] / root;
    }
  }
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < n; ++j)
      l[first + i * n + j] = j <= i ? a[i][j] : first.builder().constant(plan.type, 0);
  return k.finish();
}

// A team for a matrix. It makes u = l^H (conjugated and turned) row by row in the upper triangle, where
// neighbouring lanes work on neighbouring columns, and turns it around at the end. For each block of rows:
//
// 1. the square on the diagonal takes what the rows above subtract from it;
// 2. it is factored as u^H d^-1 u, which needs one barrier a row, then its rows are divided by the roots of
// d;
// 3. each column to the right, all rows of the block in registers: subtract, then solve with the square.
class TeamCholesky {
 public:
  explicit TeamCholesky(const CholeskyPlan& plan)
      : n_(plan.n), complex_(plan.complex), k_("cholesky", Team::many(lanes_for(plan.n))) {
    x_ = k_.buffer("x", plan.type, Access::read);
    u_ = k_.buffer("l", plan.type, Access::read_write);
    roots_ = k_.shared(plan.type, block_rows);
    inverses_ = k_.shared(plan.type, block_rows);
    first_ = k_.team(Type::u64) * (uint64_t{n_} * n_);
  }
  static uint32_t lanes_for(uint32_t n) { return n <= 64 ? 64 : 256; }

  Program build() {
    const Value n = word(n_);
    // Rows are copied from the lower triangle: u[i][j] is the conjugate of x[j][i].
    k_.for_(n, [&](Value row) {
      k_.each(n - row, [&](Value c) {
        put(row, row + c, conjugate(load_number(x_, offset(row + c, row), complex_)));
      });
    });
    k_.for_(word(0), n, word(block_rows), [&](Value start) {
      square_takes(start);
      factor_square(start);
      if (n_ > block_rows) solve_columns(start);
    });
    k_.for_(n, [&](Value row) {
      k_.each(row, [&](Value column) {
        const Number turned = conjugate(at(column, row));
        put(row, column, turned);
        put(column, row, {turned.re.like(0), turned.re.like(0)});
      });
    });
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value offset(Value row, Value column) { return first_ + convert(row * n_ + column, Type::u64); }
  Number at(Value row, Value column) { return load_number(u_, offset(row, column), complex_); }
  void put(Value row, Value column, Number value) { store_number(u_, offset(row, column), value, complex_); }
  Number conjugate(Number x) const { return conjugated(x, complex_); }
  NumberSum sum_from(Number start) { return {k_, start, complex_}; }
  Value pivot_at(Value row) { return at(row, row).re; }  // the diagonal is real
  Number times(Number x, Value real) const { return {x.re * real, complex_ ? x.im * real : x.im}; }
  // f(row, column) for the square's elements on and above the diagonal, from row and column `from` on; the
  // last square may reach beyond the matrix.
  void each_of_square(Value start, Value from, const std::function<void(Value, Value)>& f) {
    k_.each(word(block_rows * block_rows), [&](Value e) {
      const Value row = start + e / block_rows, column = start + e % block_rows;
      k_.if_(from <= row && row <= column && column < n_, [&] { f(row, column); });
    });
  }

  void square_takes(Value start) {
    each_of_square(start, start, [&](Value row, Value column) {
      const NumberSum sum = sum_from(at(row, column));
      k_.for_(start, [&](Value p) { sum.subtract(conjugate(at(p, row)), at(p, column)); });
      put(row, column, sum.get());
    });
  }

  void factor_square(Value start) {
    const Value end = min(start + block_rows, word(n_));
    k_.for_(start, end, start.like(1), [&](Value r) {
      each_of_square(start, r + 1, [&](Value row, Value column) {
        const Value pivot = pivot_at(r), share = select(pivot > 0, 1 / pivot, not_a_number(pivot));
        const NumberSum sum = sum_from(at(row, column));
        sum.subtract(times(conjugate(at(r, row)), share), at(r, column));
        put(row, column, sum.get());
      });
    });
    k_.each(end - start, [&](Value r) {
      const Value pivot = pivot_at(start + r);
      const Value root = select(pivot > 0, sqrt(pivot), not_a_number(pivot));
      roots_[r] = root;
      inverses_[r] = 1 / root;
    });
    each_of_square(start, start, [&](Value row, Value column) {
      const Value r = row - start, root = roots_[r], is_pivot = row == column;
      const Number scaled = times(at(row, column), inverses_[r]);
      put(row, column, {select(is_pivot, root, scaled.re), select(is_pivot, root.like(0), scaled.im)});
    });
  }

  // Only a whole block has columns to its right.
  void solve_columns(Value start) {
    const Value right = min(start + block_rows, word(n_));
    k_.each(word(n_) - right, [&](Value c) {
      const Value column = right + c;
      std::vector<NumberSum> sums;
      for (uint32_t r = 0; r < block_rows; ++r) sums.push_back(sum_from(at(start + r, column)));
      k_.for_(start, [&](Value p) {
        const Number above = at(p, column);
        for (uint32_t r = 0; r < block_rows; ++r) sums[r].subtract(conjugate(at(p, start + r)), above);
      });
      std::vector<Number> solved;
      for (uint32_t r = 0; r < block_rows; ++r) {
        for (uint32_t p = 0; p < r; ++p) sums[r].subtract(conjugate(at(start + p, start + r)), solved[p]);
        solved.push_back(times(sums[r].get(), inverses_[r]));
        put(start + r, column, solved.back());
      }
    });
  }

  uint32_t n_;
  bool complex_;
  Builder k_;
  Array x_, u_, roots_, inverses_;
  Value first_;
};

// Back-edges of the busiest lane: rows copied and turned, the rows above each block, for each of its columns.
uint64_t trips(uint32_t n) {
  const uint64_t lanes = TeamCholesky::lanes_for(n), blocks = (n + block_rows - 1) / block_rows;
  const uint64_t passes = (n + lanes - 1) / lanes, squares = (block_rows * block_rows + lanes - 1) / lanes;
  return 2 * n * (1 + passes) + blocks * (block_rows + 2) * (1 + squares) +
         blocks * n / 2 * (passes + squares) + blocks;
}

}  // namespace

Cholesky cholesky(const CholeskyPlan& plan) {
  if (plan.type != Type::f32 && plan.type != Type::f64)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[cholesky] x: expected f32 or f64, got {}", kernel::name_of(plan.type)));
  if (plan.n > 32768)
    throw Error(ErrorKind::unsupported,
                fmt::format("[cholesky] x: expected at most 32768 rows, got {}", plan.n));
  Cholesky result;
  result.teams = plan.n == 0 ? 0 : plan.batch;
  if (result.teams == 0) return result;
  const bool is_small = plan.n <= in_registers && !plan.complex;
  result.loop_trips = is_small ? 0 : trips(plan.n);
  result.program = is_small ? small(plan) : TeamCholesky(plan).build();
  return result;
}

}  // namespace adit::ops
