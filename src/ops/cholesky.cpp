#include "ops/cholesky.hpp"

#include <fmt/format.h>

#include <adit/error.hpp>
#include <adit/kernel/builder.hpp>
#include <adit/kernel/math.hpp>

#include "ops/cholesky_blocks.hpp"
#include "ops/cholesky_rows.hpp"
#include "ops/factor_writer.hpp"

namespace adit::ops {

using namespace kernel;

namespace {

constexpr uint32_t in_registers = 8;  // the largest matrix of a single invocation; of complex numbers half

// The matrix in registers, every step unrolled.
Program small(const CholeskyPlan& plan) {
  Builder k("cholesky_small", Team::one());
  const Array x = k.buffer("x", plan.type, Access::read), l = k.buffer("l", plan.type, Access::write);
  const uint32_t n = plan.n;
  const Value first = k.team(Type::u64) * (uint64_t{n} * n);
  RowSets rows(n), others;
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t j = 0; j <= i; ++j) rows[i].push_back(load_number(x, first + i * n + j, plan.complex));
    rows[i].resize(n, rows[i][0]);  // nobody reads what is above
  }
  RowCholesky(k, n, 1, plan.complex).factor(rows, others);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < n; ++j) store_number(l, first + i * n + j, rows[i][j], plan.complex);
  return k.finish();
}

// A team for a matrix.
uint32_t team_lanes(uint32_t n) { return n <= 64 ? 64 : 256; }

Program by_team(const CholeskyPlan& plan) {
  Builder k("cholesky", Team::many(team_lanes(plan.n)));
  const Array from = k.buffer("x", plan.type, Access::read);
  const Array to = k.buffer("l", plan.type, Access::read_write);
  const Value first = k.team(Type::u64) * (uint64_t{plan.n} * plan.n);
  const MatrixView x(from, first, plan.n, plan.complex), l(to, first, plan.n, plan.complex);
  CholeskyBlocks blocks{k, plan.n, plan.complex};
  blocks.given = [&](Value row, Value column) { return x.get(row, column); };
  blocks.get = [&](Value row, Value column) { return l.get(row, column); };
  blocks.put = [&](Value row, Value column, Number value) { l.put(row, column, value); };
  write_cholesky_blocks(blocks);
  return k.finish();
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
  const bool is_small = plan.n <= (plan.complex ? in_registers / 2 : in_registers);
  result.loop_trips = is_small ? 0 : cholesky_blocks_trips(plan.n, team_lanes(plan.n));
  result.program = is_small ? small(plan) : by_team(plan);
  return result;
}

}  // namespace adit::ops
