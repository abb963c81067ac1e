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

// A column left of the block: of its own rows, and of all below it.
void update_left(const Backwards& m, Value begin, int64_t rows, const Square& own, bool has_below,
                 Value column) {
  Builder& k = m.chain.builder();
  Few factors;
  std::vector<Variable> rests;
  for (int64_t s = 0; s < rows; ++s) factors[s] = m.factor(begin + s, column);
  for (int64_t s = 0; s < rows; ++s) {
    Value rest = m.get(begin + s, column);
    for (int64_t t = 0; t < rows; ++t) rest = rest - own[std::max(s, t)][std::min(s, t)] * factors[t];
    rests.push_back(k.variable(rest));
  }
  if (has_below)
    k.for_(begin + rows, m.chain.index(m.n), m.chain.index(1), [&](Value i) {
      m.scope([&] {
        const Value below = m.factor(i, column);
        Value rest = m.get(i, column);
        for (int64_t s = 0; s < rows; ++s) {
          const Value x = m.get(i, begin + s);
          const Variable& own_rest = rests[static_cast<size_t>(s)];
          rest = rest - x * factors[s];
          own_rest = own_rest.get() - x * below;
        }
        m.set(i, column, rest);
      });
    });
  for (int64_t s = 0; s < rows; ++s) m.set(begin + s, column, rests[static_cast<size_t>(s)].get());
}

// Some rows, of which those below are done: `begin` is a multiple of `block_rows`.
void go_back_by_block(const Backwards& m, Value begin, int64_t rows, bool has_below) {
  Builder& k = m.chain.builder();
  Square d, g;
  Few inverse;
  for (int64_t a = 0; a < rows; ++a) {
    for (int64_t b = 0; b <= a; ++b) d[a][b] = m.factor(begin + a, begin + b);
    inverse[a] = d[a][a].like(1) / d[a][a];
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
  k.each(begin, [&](Value column) { m.scope([&] { update_left(m, begin, rows, g, has_below, column); }); });
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
      const Value row = (m.n - 1) - step, pivot = m.factor(row, row), inverse = pivot.like(1) / pivot;
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
  const Value zero = k.constant(compute_type(node.type), 0.0);
  const auto each = [&](Value items, const std::function<void(Value)>& body) {
    chain.by_team() ? k.each(items, body) : k.for_(items, body);
  };
  k.for_(chain.index(matrices * n), [&](Value line) {
    const Value row = matrices == 1 ? line : line % n, begin = line * n;
    each(row + 1, [&](Value e) { scope([&] { to.set(begin + e, g(begin + e)); }); });
    each((n - 1) - row, [&](Value e) { to.set(begin + row + 1 + e, zero); });
  });
  const auto of = [&](Value matrix) { return Backwards{chain, n, matrix * (n * n), l, to, scope}; };
  const auto alone = [&](Value matrix) { scope([&] { go_back_alone(of(matrix)); }); };
  const Value count = chain.index(matrices);
  if (!chain.by_team())
    k.for_(count, alone);
  else if (!shares_out_rows(node))
    k.each(count, alone);
  else
    k.for_(count, [&](Value matrix) { go_back_together(of(matrix)); });
}

}  // namespace adit::sampling
