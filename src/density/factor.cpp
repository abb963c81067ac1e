#include "density/factor.hpp"

#include <adit/kernel/math.hpp>

namespace adit::sampling {

using graph::Node;

namespace {

void each_row(Chain& chain, int64_t n, const std::function<void(Value)>& body) {
  Builder& k = chain.builder();
  if (chain.by_team())
    k.each(chain.index(n), body);
  else
    k.for_(chain.index(n), body);
}

// start - sum of f(i) for i < count
Value minus_sum(Chain& chain, Value start, Value count, const std::function<Value(Value)>& f) {
  Builder& k = chain.builder();
  const Variable rest = k.variable(start);
  k.for_(count, [&](Value i) { rest = rest.get() - f(i); });
  return rest.get();
}

}  // namespace

// Column by column: L_jj = sqrt(x_jj - sum_k L_jk^2), L_ij = (x_ij - sum_k L_ik L_jk) / L_jj. The diagonal
// entry is computed by every row for itself, so that a column needs one barrier.
void write_cholesky(Chain& chain, const Node& node, const ReadElement& x, const Vector& to,
                    const InScope& scope) {
  Builder& k = chain.builder();
  const int64_t n = node.shape[node.shape.size() - 1];
  const int64_t matrices = element_count(node.shape) / std::max<int64_t>(1, n * n);
  k.for_(chain.index(matrices), [&](Value matrix) {
    const Value first = matrix * (n * n);
    k.for_(chain.index(n), [&](Value j) {
      each_row(chain, n, [&](Value i) {
        scope([&] {
          const auto entry = [&](Value row, Value column) { return to.get(first + row * n + column); };
          const Value pivot = kernel::sqrt(minus_sum(chain, x(first + j * n + j), j, [&](Value c) {
            const Value l = entry(j, c);
            return l * l;
          }));
          const Value below =
              minus_sum(chain, x(first + i * n + j), j, [&](Value c) { return entry(i, c) * entry(j, c); }) /
              pivot;
          const Value result = select(i == j, pivot, select(i > j, below, below.like(0)));
          to.set(first + i * n + j, result);
        });
      });
    });
  });
}

// Substitution: one right-hand side a lane.
void write_triangular(Chain& chain, const Node& node, const ReadElement& a, const ReadElement& b,
                      const Vector& to, const InScope& scope) {
  Builder& k = chain.builder();
  const auto& about = node.as<graph::TriangularAttributes>();
  const Shape& matrix_shape = node.operands[0].shape();
  const int64_t n = matrix_shape[matrix_shape.size() - 1];
  const int64_t matrices = node.operands[0].size() / std::max<int64_t>(1, n * n);
  const int64_t columns = element_count(node.shape) / std::max<int64_t>(1, matrices * n);
  // x a = b is a^T x^T = b^T.
  const bool transposed = about.transpose == about.left_side;
  const bool forward = about.lower != transposed;
  each_row(chain, matrices * columns, [&](Value side) {
    scope([&] {
      const Value matrix = side / columns, column = side % columns, first = matrix * (n * n);
      const auto place = [&](Value row) {
        const Value inside = about.left_side ? row * columns + column : column * n + row;
        return matrix * (n * columns) + inside;
      };
      const auto entry = [&](Value row, Value col) {
        return a(transposed ? first + col * n + row : first + row * n + col);
      };
      k.for_(chain.index(n), [&](Value step) {
        scope([&] {
          const Value row = forward ? step : (n - 1) - step;
          const Variable rest = k.variable(b(place(row)));
          k.for_(step, [&](Value other) {
            scope([&] {
              const Value col = forward ? other : (n - 1) - other;
              rest = rest.get() - entry(row, col) * to.get(place(col));
            });
          });
          to.set(place(row), rest.get() / entry(row, row));
        });
      });
    });
  });
}

}  // namespace adit::sampling
