// The gradient of a Cholesky factorisation: the factorisation backwards, in the lower triangle alone, with
// two thirds of the cube of n operations (Murray, "Differentiation of the Cholesky decomposition", 2016).
#include <array>

#include "density/factor.hpp"

namespace adit::sampling {

using graph::Node;

namespace {

using kernel::Reduction;

constexpr int64_t block_rows = 4;  // at a time: what is read and written of other rows serves all of them

// One matrix, while its gradient is made where `to` is.
struct Backwards {
  Chain& chain;
  int64_t n = 0;
  Value first;
  const ReadElement& l;
  const Vector& to;
  const InScope& scope;

  Value place(Value row, Value column) const { return first + row * n + column; }
  Value factor(Value row, Value column) const { return l(place(row, column)); }
  Value get(Value row, Value column) const { return to.get(place(row, column)); }
  void set(Value row, Value column, Value value) const { to.set(place(row, column), value); }
};

using Square = std::array<std::array<Value, block_rows>, block_rows>;
using Few = std::array<Value, block_rows>;

// The rows below a block of columns, times the inverse of the block's own rows.
void divide_below(const Backwards& m, Value begin, int64_t rows, const Square& d, const Few& inverse) {
  const Value end = begin + rows;
  m.chain.builder().each(m.chain.index(m.n) - end, [&](Value e) {
    m.scope([&] {
      Few x;
      for (int64_t s = rows - 1; s >= 0; --s) {
        Value rest = m.get(end + e, begin + s);
        for (int64_t t = s + 1; t < rows; ++t) rest = rest - x[t] * d[t][s];
        m.set(end + e, begin + s, x[s] = rest * inverse[s]);
      }
    });
  });
}

// What the rows below take from the gradient of the block's own rows.
Square totals_below(const Backwards& m, Value begin, int64_t rows) {
  const Value end = begin + rows;
  const std::vector<Reduction> adds(static_cast<size_t>(rows * (rows + 1) / 2), Reduction::add);
  const auto totals = m.chain.builder().reduce(m.chain.index(m.n) - end, adds, [&](Value e) {
    std::vector<Value> parts;
    m.scope([&] {
      for (int64_t a = 0; a < rows; ++a)
        for (int64_t b = 0; b <= a; ++b)
          parts.push_back(m.get(end + e, begin + a) * m.factor(end + e, begin + b));
    });
    return parts;
  });
  Square found;
  auto next = totals.begin();
  for (int64_t a = 0; a < rows; ++a)
    for (int64_t b = 0; b <= a; ++b) found[a][b] = *next++;
  return found;
}

// The same within the block, in registers: g becomes the gradient of its matrix.
void go_back_within(Square& g, int64_t rows, const Square& d, const Few& inverse) {
  for (int64_t k = rows - 1; k >= 0; --k) {
    for (int64_t i = k + 1; i < rows; ++i) {
      g[i][k] = g[i][k] * inverse[k];
      for (int64_t c = 0; c < k; ++c) g[i][c] = g[i][c] - g[i][k] * d[k][c];
      g[k][k] = g[k][k] - d[i][k] * g[i][k];
      for (int64_t c = 0; c < k; ++c) g[k][c] = g[k][c] - g[i][k] * d[i][c];
    }
    const Value twice = g[k][k] * inverse[k];
    for (int64_t c = 0; c < k; ++c) g[k][c] = g[k][c] - twice * d[k][c];
    g[k][k] = twice * twice.like(0.5);
  }
}

// Columns left of the block, `apart` from each other: of its own rows, and of all below it.
void update_left(const Backwards& m, Value begin, int64_t rows, const Square& own, bool has_below,
                 const std::vector<Value>& columns) {
  Builder& k = m.chain.builder();
  std::vector<Few> factors(columns.size());
  std::vector<std::vector<Variable>> rests(columns.size());
  for (size_t v = 0; v < columns.size(); ++v) {
    for (int64_t s = 0; s < rows; ++s) factors[v][s] = m.factor(begin + s, columns[v]);
    for (int64_t s = 0; s < rows; ++s) {
      Value rest = m.get(begin + s, columns[v]);
      for (int64_t t = 0; t < rows; ++t) rest = rest - own[std::max(s, t)][std::min(s, t)] * factors[v][t];
      rests[v].push_back(k.variable(rest));
    }
  }
  if (has_below)
    k.for_(begin + rows, m.chain.index(m.n), m.chain.index(1), [&](Value i) {
      m.scope([&] {
        Few x;
        for (int64_t s = 0; s < rows; ++s) x[s] = m.get(i, begin + s);
        for (size_t v = 0; v < columns.size(); ++v) {
          const Value below = m.factor(i, columns[v]);
          Value rest = m.get(i, columns[v]);
          for (int64_t s = 0; s < rows; ++s) {
            rest = rest - x[s] * factors[v][s];
            rests[v][static_cast<size_t>(s)] = rests[v][static_cast<size_t>(s)].get() - x[s] * below;
          }
          m.set(i, columns[v], rest);
        }
      });
    });
  for (size_t v = 0; v < columns.size(); ++v)
    for (int64_t s = 0; s < rows; ++s) m.set(begin + s, columns[v], rests[v][static_cast<size_t>(s)].get());
}

// Some rows, of which those below are done: `begin` is a multiple of `block_rows`.
void go_back_by_block(const Backwards& m, Value begin, int64_t rows, bool has_below) {
  Builder& k = m.chain.builder();
  Square d, g;
  Few inverse;
  for (int64_t a = 0; a < rows; ++a) {
    for (int64_t b = 0; b <= a; ++b) d[a][b] = m.factor(begin + a, begin + b);
    inverse[a] = m.chain.number(1) / d[a][a];
  }
  Square taken;
  if (has_below) {
    divide_below(m, begin, rows, d, inverse);
    taken = totals_below(m, begin, rows);
  }
  for (int64_t a = 0; a < rows; ++a)
    for (int64_t b = 0; b <= a; ++b) {
      g[a][b] = m.get(begin + a, begin + b);
      if (has_below) g[a][b] = g[a][b] - taken[a][b];
    }
  go_back_within(g, rows, d, inverse);
  m.chain.once([&] {
    for (int64_t a = 0; a < rows; ++a)
      for (int64_t b = 0; b <= a; ++b) m.set(begin + a, begin + b, g[a][b]);
  });
  for (int64_t a = 0; a < rows; ++a) g[a][a] = g[a][a] + g[a][a];  // an entry and its mirror image
  const Value half = begin / 2;  // two at a time, so that each waits less for itself
  k.each(half, [&](Value column) {
    m.scope([&] { update_left(m, begin, rows, g, has_below, {column, column + half}); });
  });
}

void go_back_together(const Backwards& m) {
  const int64_t whole = m.n / block_rows, rest = m.n % block_rows;
  if (rest > 0) go_back_by_block(m, m.chain.index(whole * block_rows), rest, false);
  m.chain.builder().for_(m.chain.index(whole), [&](Value step) {
    m.scope([&] { go_back_by_block(m, ((whole - 1) - step) * block_rows, block_rows, true); });
  });
}

// Row by row, by one lane.
void go_back_alone(const Backwards& m) {
  Builder& k = m.chain.builder();
  const Value zero = m.chain.index(0), one = m.chain.index(1), n = m.chain.index(m.n);
  k.for_(n, [&](Value step) {
    m.scope([&] {
      const Value row = (m.n - 1) - step, inverse = m.chain.number(1) / m.factor(row, row);
      const Variable own = k.variable(m.get(row, row));
      k.for_(row + 1, n, one, [&](Value i) {
        m.scope([&] {
          const Value x = m.get(i, row) * inverse;
          m.set(i, row, x);
          own = own.get() - x * m.factor(i, row);
          k.for_(zero, row, one, [&](Value c) {
            m.scope([&] {
              m.set(i, c, m.get(i, c) - x * m.factor(row, c));
              m.set(row, c, m.get(row, c) - x * m.factor(i, c));
            });
          });
        });
      });
      const Value twice = own.get() * inverse;
      k.for_(zero, row, one,
             [&](Value c) { m.scope([&] { m.set(row, c, m.get(row, c) - twice * m.factor(row, c)); }); });
      m.set(row, row, twice * twice.like(0.5));
    });
  });
}

}  // namespace

void write_cholesky_vjp(Chain& chain, const Node& node, const ReadElement& l, const ReadElement& g,
                        const Vector& to, const InScope& scope) {
  Builder& k = chain.builder();
  const int64_t n = node.shape[node.shape.size() - 1];
  const int64_t matrices = element_count(node.shape) / std::max<int64_t>(1, n * n);
  const auto copy = [&](Value e) {
    scope([&] {
      const Value value = g(e);
      to.set(e, select(e / n % n >= e % n, value, value.like(0)));
    });
  };
  const auto of = [&](Value matrix) { return Backwards{chain, n, matrix * (n * n), l, to, scope}; };
  const auto alone = [&](Value matrix) { scope([&] { go_back_alone(of(matrix)); }); };
  const Value all = chain.index(element_count(node.shape)), count = chain.index(matrices);
  if (!chain.by_team()) {
    k.for_(all, copy);
    k.for_(count, alone);
    return;
  }
  k.each(all, copy);
  if (!wants_turned(node))
    k.each(count, alone);
  else
    k.for_(count, [&](Value matrix) { go_back_together(of(matrix)); });
}

}  // namespace adit::sampling
