#include "ops/cholesky_blocks.hpp"

#include <vector>

#include "ops/cholesky_rows.hpp"

namespace adit::ops {

using kernel::Value;

namespace cholesky_blocks {
namespace {

constexpr int64_t block_columns = 4;

Value number(const CholeskyBlocks& m, int64_t value) { return m.k.constant(m.index, value); }

// Done columns and those under way lie turned above the diagonal, and on it.
Number kept(const CholeskyBlocks& m, Value row, Value column) { return m.get(column, row); }
void keep(const CholeskyBlocks& m, Value row, Value column, Number value) { m.put(column, row, value); }
void finish(const CholeskyBlocks& m, Value row, Value column, Number value) {
  keep(m, row, column, value);
  m.put(row, column, value);
}

// Rows of the block's columns, less what the columns before them make of it. What stands above the diagonal
// comes along into places that are written again before anyone reads them.
void subtract_before(const CholeskyBlocks& m, Value begin, int64_t columns, const std::vector<Value>& rows) {
  std::vector<std::vector<NumberSum>> rests(rows.size());
  for (size_t v = 0; v < rows.size(); ++v)
    for (int64_t s = 0; s < columns; ++s) rests[v].emplace_back(m.k, m.given(rows[v], begin + s), m.complex);
  m.k.for_(begin, [&](Value c) {
    m.scope([&] {
      std::vector<Number> own;
      for (int64_t s = 0; s < columns; ++s) own.push_back(conjugated(kept(m, begin + s, c), m.complex));
      for (size_t v = 0; v < rows.size(); ++v) {
        const Number entry = kept(m, rows[v], c);
        for (int64_t s = 0; s < columns; ++s)
          rests[v][static_cast<size_t>(s)].subtract(entry, own[static_cast<size_t>(s)]);
      }
    });
  });
  for (size_t v = 0; v < rows.size(); ++v)
    for (int64_t s = 0; s < columns; ++s) keep(m, rows[v], begin + s, rests[v][static_cast<size_t>(s)].get());
}

void take_out(const CholeskyBlocks& m, Value begin, int64_t columns) {
  const Value count = number(m, m.n) - begin;
  if (m.rows_together == 1) {
    m.k.each(count, [&](Value e) { m.scope([&] { subtract_before(m, begin, columns, {begin + e}); }); });
    return;
  }
  // The row in the middle may come twice.
  const Value half = (count + 1) / 2;
  m.k.each(half, [&](Value e) {
    m.scope([&] { subtract_before(m, begin, columns, {begin + e, begin + (count - half) + e}); });
  });
}

void factor_block(const CholeskyBlocks& m, Value begin, int64_t columns) {
  take_out(m, begin, columns);
  // Every lane factors the block's own rows, in registers.
  RowSets square;
  for (int64_t a = 0; a < columns; ++a) {
    square.emplace_back();
    for (int64_t b = 0; b <= a; ++b) square.back().push_back(kept(m, begin + a, begin + b));
    square.back().resize(static_cast<size_t>(columns), square.back()[0]);  // nobody reads what is above
  }
  RowCholesky block(m.k, static_cast<uint32_t>(columns), 1, m.complex);
  RowSets others;
  block.factor(square, others);
  m.k.once([&] {
    for (int64_t a = 0; a < columns; ++a)
      for (int64_t b = 0; b <= a; ++b)
        finish(m, begin + a, begin + b, square[static_cast<size_t>(a)][static_cast<size_t>(b)]);
  });
  m.k.each((number(m, m.n) - begin) - columns, [&](Value e) {
    m.scope([&] {
      const Value row = begin + columns + e;
      std::vector<Number> below;
      for (int64_t s = 0; s < columns; ++s) below.push_back(kept(m, row, begin + s));
      block.solve(square, below);
      for (int64_t s = 0; s < columns; ++s) finish(m, row, begin + s, below[static_cast<size_t>(s)]);
    });
  });
}

}  // namespace
}  // namespace cholesky_blocks

void write_cholesky_blocks(const CholeskyBlocks& m) {
  using namespace cholesky_blocks;
  const int64_t whole = m.n / block_columns, rest = m.n % block_columns;
  m.k.for_(number(m, whole),
           [&](Value block) { m.scope([&] { factor_block(m, block * block_columns, block_columns); }); });
  if (rest > 0) factor_block(m, number(m, whole * block_columns), rest);
  m.k.for_(number(m, m.n), [&](Value i) {
    m.k.each((m.n - 1) - i, [&](Value e) {
      const Number old = m.get(i, (i + 1) + e);
      m.put(i, (i + 1) + e, zero_like(old));
    });
  });
}

uint64_t cholesky_blocks_trips(uint64_t n, uint64_t lanes) {
  const uint64_t blocks = (n + cholesky_blocks::block_columns - 1) / cholesky_blocks::block_columns;
  const uint64_t passes = (n + lanes - 1) / lanes;
  return blocks * (1 + passes * (n + 2)) + n * (1 + passes);
}

}  // namespace adit::ops
