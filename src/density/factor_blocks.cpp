// A Cholesky factor on a CPU, some columns at a time: what is read of those before them serves all of them.
#include <array>

#include <adit/kernel/math.hpp>

#include "density/factor.hpp"

namespace adit::sampling {

namespace {

constexpr int64_t block_columns = 4;

using Square = std::array<std::array<Value, block_columns>, block_columns>;
using Few = std::array<Value, block_columns>;

// The columns lie in `turned` one after the other, so that lanes read side by side.
struct Columns {
  Chain& chain;
  int64_t n = 0;
  Value first;
  const ReadElement& x;
  const Vector &to, &turned;
  const InScope& scope;

  Value get(Value row, Value column) const { return turned.get(column * n + row); }
  void set(Value row, Value column, Value value) const { turned.set(column * n + row, value); }
  void finish(Value row, Value column, Value value) const {
    set(row, column, value);
    to.set(first + row * n + column, value);
  }
};

// Rows of the block's columns, less what the columns before them make of it. What stands above the diagonal
// comes along, and is not read.
void subtract_before(const Columns& m, Value begin, int64_t columns, const std::vector<Value>& rows) {
  Builder& k = m.chain.builder();
  std::vector<std::vector<Variable>> rests(rows.size());
  for (size_t v = 0; v < rows.size(); ++v)
    for (int64_t s = 0; s < columns; ++s)
      rests[v].push_back(k.variable(m.x(m.first + rows[v] * m.n + (begin + s))));
  k.for_(begin, [&](Value c) {
    m.scope([&] {
      Few own;
      for (int64_t s = 0; s < columns; ++s) own[s] = m.get(begin + s, c);
      for (size_t v = 0; v < rows.size(); ++v) {
        const Value entry = m.get(rows[v], c);
        for (int64_t s = 0; s < columns; ++s) {
          const Variable& rest = rests[v][static_cast<size_t>(s)];
          rest = rest.get() - entry * own[s];
        }
      }
    });
  });
  for (size_t v = 0; v < rows.size(); ++v)
    for (int64_t s = 0; s < columns; ++s) m.set(rows[v], begin + s, rests[v][static_cast<size_t>(s)].get());
}

// The block's own rows, in registers; hands out the inverses of the diagonal.
Few factor_within(Square& d, int64_t columns, Value one) {
  Few inverse;
  for (int64_t c = 0; c < columns; ++c) {
    d[c][c] = kernel::sqrt(d[c][c]);
    inverse[c] = one / d[c][c];
    for (int64_t i = c + 1; i < columns; ++i) {
      d[i][c] = d[i][c] * inverse[c];
      for (int64_t b = c + 1; b <= i; ++b) d[i][b] = d[i][b] - d[i][c] * d[b][c];
    }
  }
  return inverse;
}

void factor_block(const Columns& m, Value begin, int64_t columns) {
  Builder& k = m.chain.builder();
  // Two rows at a time, so that each waits less for itself; the one in the middle may come twice.
  const Value count = m.chain.index(m.n) - begin, half = (count + 1) / 2;
  k.each(half, [&](Value e) {
    m.scope([&] { subtract_before(m, begin, columns, {begin + e, begin + (count - half) + e}); });
  });
  Square d;
  for (int64_t a = 0; a < columns; ++a)
    for (int64_t b = 0; b <= a; ++b) d[a][b] = m.get(begin + a, begin + b);
  const Few inverse = factor_within(d, columns, m.chain.number(1));
  m.chain.once([&] {
    for (int64_t a = 0; a < columns; ++a)
      for (int64_t b = 0; b <= a; ++b) m.finish(begin + a, begin + b, d[a][b]);
  });
  k.each(count - columns, [&](Value e) {
    m.scope([&] {
      const Value row = begin + columns + e;
      Few found;
      for (int64_t s = 0; s < columns; ++s) {
        Value rest = m.get(row, begin + s);
        for (int64_t t = 0; t < s; ++t) rest = rest - found[t] * d[s][t];
        m.finish(row, begin + s, found[s] = rest * inverse[s]);
      }
    });
  });
}

}  // namespace

void write_cholesky_by_blocks(Chain& chain, int64_t n, Value first, const ReadElement& x, const Vector& to,
                              const Vector& turned, const InScope& scope) {
  Builder& k = chain.builder();
  const Columns m{chain, n, first, x, to, turned, scope};
  const int64_t whole = n / block_columns, rest = n % block_columns;
  k.for_(chain.index(whole),
         [&](Value block) { scope([&] { factor_block(m, block * block_columns, block_columns); }); });
  if (rest > 0) factor_block(m, chain.index(whole * block_columns), rest);
  k.for_(chain.index(n), [&](Value i) {
    k.each((n - 1) - i, [&](Value e) { to.set(first + i * n + (i + 1) + e, chain.number(0)); });
  });
}

}  // namespace adit::sampling
