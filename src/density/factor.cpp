#include "density/factor.hpp"

#include <adit/kernel/math.hpp>

#include "ops/cholesky_blocks.hpp"
#include "ops/factor_writer.hpp"

namespace adit::sampling {

using graph::Node;

namespace {

// start - sum of f(i) for begin <= i < end
Value minus_sum(Chain& chain, Value start, Value begin, Value end, const std::function<Value(Value)>& f) {
  Builder& k = chain.builder();
  const Variable rest = k.variable(start), other = k.variable(start.like(0));
  // Two sums side by side: one would wait for itself.
  const Value even = begin + ((end - begin) & ~end.like(1));
  k.for_(begin, even, begin.like(2), [&](Value i) {
    rest = rest.get() - f(i);
    other = other.get() - f(i + 1);
  });
  k.for_(even, end, begin.like(1), [&](Value i) { rest = rest.get() - f(i); });
  return rest.get() + other.get();
}

// One lane, row by row: L_ij = (x_ij - sum_c L_ic L_jc) / L_jj.
void cholesky_alone(Chain& chain, int64_t n, Value first, const ReadElement& x, const Vector& to,
                    const InScope& scope) {
  Builder& k = chain.builder();
  const auto entry = [&](Value row, Value column) { return to.get(first + row * n + column); };
  k.for_(chain.index(n), [&](Value i) {
    k.for_(i, [&](Value j) {
      scope([&] {
        const Value rest = minus_sum(chain, x(first + i * n + j), chain.index(0), j,
                                     [&](Value c) { return entry(i, c) * entry(j, c); });
        to.set(first + i * n + j, rest / entry(j, j));
      });
    });
    scope([&] {
      const Value rest = minus_sum(chain, x(first + i * n + i), chain.index(0), i, [&](Value c) {
        const Value l = entry(i, c);
        return l * l;
      });
      const Value root = kernel::sqrt(rest);
      to.set(first + i * n + i, select(rest > 0, root, ops::nan_like(root)));
      k.for_(i + 1, chain.index(n), chain.index(1),
             [&](Value j) { to.set(first + i * n + j, root.like(0)); });
    });
  });
}

// By the lanes of a team.
void cholesky_together(Chain& chain, int64_t n, Value first, const ReadElement& x, const Vector& to,
                       bool on_cpu, const InScope& scope) {
  const auto number = [](Value value) { return ops::Number{value, value}; };
  ops::CholeskyBlocks blocks{chain.builder(), n};
  blocks.rows_together = on_cpu ? 2 : 1;
  blocks.given = [&](Value row, Value column) { return number(x(first + row * n + column)); };
  blocks.get = [&](Value row, Value column) { return number(to.get(first + row * n + column)); };
  blocks.put = [&](Value row, Value column, ops::Number value) {
    to.set(first + row * n + column, value.re);
  };
  blocks.scope = scope;
  ops::write_cholesky_blocks(blocks);
}

// Right-hand sides that are solved side by side: they share what is read of the matrix.
constexpr int64_t sides_together = 4;

struct Triangle {
  int64_t matrices = 0, n = 0, columns = 0;
  bool left_side = true, transposed = false, forward = true;
};

// Some right-hand sides by one lane: substitution. Those of one matrix, `apart` from each other, wait for
// themselves side by side, and share what they read of it.
void solve_alone(Chain& chain, const Triangle& about, Value side, const ReadElement& a, const ReadElement& b,
                 const Vector& to, const InScope& scope, int64_t sides = 1, int64_t apart = 0) {
  Builder& k = chain.builder();
  const int64_t n = about.n, columns = about.columns;
  const bool is_one = about.matrices == 1;
  const Value matrix = is_one ? side.like(0) : side / columns, column = is_one ? side : side % columns;
  const Value first = matrix * (n * n);
  const auto place = [&](Value row, int64_t s) {
    const Value at = column + s * apart;
    return matrix * (n * columns) + (about.left_side ? row * columns + at : at * n + row);
  };
  const auto entry = [&](Value row, Value col) {
    return a(about.transposed ? first + col * n + row : first + row * n + col);
  };
  const auto product = [&](Value row, Value other, const std::function<void(int64_t, Value)>& use) {
    scope([&] {
      const Value col = about.forward ? other : (n - 1) - other, factor = entry(row, col);
      for (int64_t s = 0; s < sides; ++s) use(s, factor * to.get(place(col, s)));
    });
  };
  k.for_(chain.index(n), [&](Value step) {
    scope([&] {
      const Value row = about.forward ? step : (n - 1) - step;
      std::vector<Value> rests;
      if (sides == 1) {
        rests.push_back(minus_sum(chain, b(place(row, 0)), chain.index(0), step, [&](Value other) {
          Value found;
          product(row, other, [&](int64_t, Value x) { found = x; });
          return found;
        }));
      } else {
        std::vector<Variable> open;
        for (int64_t s = 0; s < sides; ++s) open.push_back(k.variable(b(place(row, s))));
        k.for_(step, [&](Value other) {
          product(row, other, [&](int64_t s, Value x) {
            const Variable& rest = open[static_cast<size_t>(s)];
            rest = rest.get() - x;
          });
        });
        for (const Variable& rest : open) rests.push_back(rest.get());
      }
      const Value pivot = entry(row, row), inverse = pivot.like(1) / pivot;
      for (int64_t s = 0; s < sides; ++s) to.set(place(row, s), rests[static_cast<size_t>(s)] * inverse);
    });
  });
}

// Many right-hand sides of one matrix, by the lanes of a CPU's vector, several vectors at a time.
void solve_by_vectors(Chain& chain, const Triangle& about, const ReadElement& a, const ReadElement& b,
                      const Vector& to, const InScope& scope) {
  Builder& k = chain.builder();
  const int64_t apart = about.columns / sides_together, whole = apart * sides_together;
  k.each(chain.index(apart),
         [&](Value side) { solve_alone(chain, about, side, a, b, to, scope, sides_together, apart); });
  if (whole < about.columns)
    k.each(chain.index(about.columns - whole),
           [&](Value side) { solve_alone(chain, about, side + whole, a, b, to, scope); });
}

// Few right-hand sides, by all lanes: what is solved is taken out of all that comes after it.
void solve_together(Chain& chain, const Triangle& about, Value matrix, const ReadElement& a,
                    const ReadElement& b, const Vector& to, const InScope& scope) {
  Builder& k = chain.builder();
  const int64_t n = about.n, columns = about.columns;
  const Value first = matrix * (n * n), begin = matrix * (n * columns);
  const auto place = [&](Value row, Value column) {
    return begin + (about.left_side ? row * columns + column : column * n + row);
  };
  const auto entry = [&](Value row, Value col) {
    return a(about.transposed ? first + col * n + row : first + row * n + col);
  };
  k.each(chain.index(n * columns), [&](Value i) { scope([&] { to.set(begin + i, b(begin + i)); }); });
  const auto solve_some = [&](Value step, Value column, int64_t sides) {
    const Value row = about.forward ? step : (n - 1) - step;
    scope([&] {
      std::vector<Value> found;
      const Value pivot = entry(row, row), inverse = pivot.like(1) / pivot;
      for (int64_t s = 0; s < sides; ++s) found.push_back(to.get(place(row, column + s)) * inverse);
      chain.once([&] {
        for (int64_t s = 0; s < sides; ++s) to.set(place(row, column + s), found[static_cast<size_t>(s)]);
      });
      k.each((n - 1) - step, [&](Value e) {
        scope([&] {
          const Value other = about.forward ? row + 1 + e : e, factor = entry(other, row);
          for (int64_t s = 0; s < sides; ++s) {
            const Value at = place(other, column + s);
            to.set(at, to.get(at) - factor * found[static_cast<size_t>(s)]);
          }
        });
      });
    });
  };
  const int64_t whole = columns / sides_together * sides_together;
  k.for_(chain.index(n), [&](Value step) {
    k.for_(chain.index(0), chain.index(whole), chain.index(sides_together),
           [&](Value column) { solve_some(step, column, sides_together); });
    k.for_(chain.index(whole), chain.index(columns), chain.index(1),
           [&](Value column) { solve_some(step, column, 1); });
  });
}

// Rows become columns, where they lie.
void turn(Chain& chain, int64_t n, Value first, const Vector& x) {
  Builder& k = chain.builder();
  k.each(chain.index(n * n), [&](Value e) {
    const Value i = e / n, j = e % n;
    k.if_(i < j, [&] {
      const Value here = first + e, there = first + j * n + i, kept = x.get(here);
      x.set(here, x.get(there));
      x.set(there, kept);
    });
  });
}

// As many right-hand sides as there are rows, and each a row, by lanes of a GPU: one after the other they
// would read what lies a row apart, all from one bank of their memory. They are turned before and after.
void solve_turned(Chain& chain, const Triangle& about, Value matrix, const ReadElement& a,
                  const ReadElement& b, const Vector& to, const InScope& scope) {
  Builder& k = chain.builder();
  const int64_t n = about.n;
  const Value first = matrix * (n * n);
  k.each(chain.index(n * n), [&](Value e) { scope([&] { to.set(first + e, b(first + e)); }); });
  turn(chain, n, first, to);
  Triangle columns = about;
  columns.left_side = true;
  const ReadElement itself = [&](Value at) { return to.get(at); };
  k.each(chain.index(n),
         [&](Value side) { solve_alone(chain, columns, matrix * n + side, a, itself, to, scope); });
  turn(chain, n, first, to);
}

}  // namespace

bool shares_out_rows(const Node& node) {
  const int64_t n = node.shape[node.shape.size() - 1];
  return element_count(node.shape) < n * n * n;  // fewer matrices than rows
}

void write_cholesky(Chain& chain, int64_t n, const ReadElement& x, const Vector& to) {
  const InScope scope = [](const std::function<void()>& body) { body(); };
  if (chain.by_team())
    cholesky_together(chain, n, chain.index(0), x, to, false, scope);
  else
    cholesky_alone(chain, n, chain.index(0), x, to, scope);
}

void write_cholesky(Chain& chain, const Node& node, const ReadElement& x, const Vector& to, bool on_cpu,
                    const InScope& scope) {
  Builder& k = chain.builder();
  const int64_t n = node.shape[node.shape.size() - 1];
  const Value matrices = chain.index(element_count(node.shape) / std::max<int64_t>(1, n * n));
  const auto alone = [&](Value matrix) { cholesky_alone(chain, n, matrix * (n * n), x, to, scope); };
  if (!chain.by_team())
    k.for_(matrices, alone);
  else if (!shares_out_rows(node))
    k.each(matrices, alone);
  else
    k.for_(matrices,
           [&](Value matrix) { cholesky_together(chain, n, matrix * (n * n), x, to, on_cpu, scope); });
}

void write_triangular(Chain& chain, const Node& node, const ReadElement& a, const ReadElement& b,
                      const Vector& to, bool on_cpu, const InScope& scope) {
  Builder& k = chain.builder();
  const auto& given = node.as<graph::TriangularAttributes>();
  const Shape& shape = node.operands[0].shape();
  const int64_t n = shape[shape.size() - 1];
  const int64_t matrices = node.operands[0].size() / std::max<int64_t>(1, n * n);
  const int64_t columns = element_count(node.shape) / std::max<int64_t>(1, matrices * n);
  // x a = b is a^T x^T = b^T.
  const bool transposed = given.transpose == given.left_side;
  const Triangle about{matrices, n, columns, given.left_side, transposed, given.lower != transposed};
  const auto alone = [&](Value side) { solve_alone(chain, about, side, a, b, to, scope); };
  constexpr int64_t few_sides = 8;  // fewer right-hand sides than keep the lanes of a vector busy
  // Right-hand sides that are rows: the lanes of a CPU count the elements of each, which lie side by side.
  const bool across = on_cpu && !given.left_side && n >= few_sides;
  const bool turns = !on_cpu && !given.left_side && columns == n && n >= few_sides;
  if (!chain.by_team())
    k.for_(chain.index(matrices * columns), alone);
  else if (turns)
    k.for_(chain.index(matrices), [&](Value matrix) { solve_turned(chain, about, matrix, a, b, to, scope); });
  else if (on_cpu && !across && matrices == 1 && columns >= sides_together * few_sides)
    solve_by_vectors(chain, about, a, b, to, scope);
  else if ((matrices * columns >= few_sides && !across) || n < few_sides)
    k.each(chain.index(matrices * columns), alone);
  else
    k.for_(chain.index(matrices),
           [&](Value matrix) { solve_together(chain, about, matrix, a, b, to, scope); });
}

}  // namespace adit::sampling
