// The gradient of cholesky, by two triangular systems.
#include "graph/cholesky.hpp"

#include <optional>

#include "graph/derive.hpp"
#include "graph/op.hpp"
#include "graph/rows/matrices.hpp"

namespace adit::graph {

using matrices::swapped;

namespace {

Tensor half_diagonal(const Tensor& x) {
  return select(matrices::on_diagonal(x.shape()), x * constant(x.dtype(), 0.5), x);
}

// A x B^T with no more columns than half of its rows.
bool is_thin_product(const Tensor& x) {
  const Node& node = node_of(x);
  if (node.op != Op::dot || x.rank() != 2) return false;
  const auto& d = node.as<DotAttributes>();
  if (!d.batch_a.empty() || d.contract_a.size() > 1) return false;
  const Tensor& a = node.operands[0];
  if (a.rank() != 1 + d.contract_a.size()) return false;
  return d.contract_a.empty() || 2 * a.dim(static_cast<int>(d.contract_a[0])) <= x.dim(0);
}

// L^T M where M is a sum of thin products, as of L z for a vector z: L^T goes to their thin side. Nothing
// where it is not.
std::optional<Tensor> product_with_thin(const Tensor& transposed, const Tensor& m) {
  const Node& node = node_of(m);
  if (node.computed) return std::nullopt;
  const auto of = [&](size_t i) { return product_with_thin(transposed, node.operands[i]); };
  if (node.op == Op::negate) {
    const auto x = of(0);
    return x ? std::optional(negate(*x)) : x;
  }
  if (node.op == Op::add) {
    const auto a = of(0), b = a ? of(1) : a;
    return b ? std::optional(*a + *b) : b;
  }
  if (node.op == Op::reshape && node_of(node.operands[0]).shape == node.shape) return of(0);
  if (!is_thin_product(m)) return std::nullopt;
  const auto& d = node.as<DotAttributes>();
  const Tensor &a = node.operands[0], &b = node.operands[1];
  const Axes free_a = d.contract_a.contains(0) ? Axes{1} : Axes{0};
  const Tensor near = dot(transposed, {1}, {}, a, free_a, {});
  return dot(near, d.contract_a.empty() ? Axes{} : Axes{1}, {}, b, d.contract_b, {});
}

}  // namespace

// A = L L^H, dL = L phi(L^-1 dA L^-H), where phi takes the lower triangle with half the diagonal. With W the
// conjugated cotangent, S = L^-H phi(L^H W) L^-1; as only the lower triangle of A is read, an entry below the
// diagonal stands for two: the gradient is the lower triangle of S + S^H, with half the diagonal.
Tensor cholesky_vjp_by_solves(const Tensor& l, const Tensor& g) {
  const bool complex_numbers = is_complex(g.dtype());
  const auto conjugated = [&](const Tensor& x) { return complex_numbers ? conjugate(x) : x; };
  const Tensor l_conjugate = conjugated(l);
  const auto thin = complex_numbers || l.rank() != 2 ? std::nullopt : product_with_thin(swapped(l), g);
  const Tensor w = thin ? *thin : matrices::product(swapped(l_conjugate), conjugated(g));
  const Tensor p = half_diagonal(matrices::lower_part(w));
  const Tensor y = triangular_solve(l_conjugate, p, {.lower = true, .left_side = true, .transpose = true});
  const Tensor s = triangular_solve(l, y, {.lower = true, .left_side = false, .transpose = false});
  return conjugated(half_diagonal(matrices::lower_part(s + swapped(conjugated(s)))));
}

}  // namespace adit::graph
