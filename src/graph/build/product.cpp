// Builders of products and factorisations.
#include <fmt/format.h>

#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit {

using namespace graph;

namespace {

void check(std::string_view op, std::string_view name, const Tensor& x) {
  if (!x) fail(op, name, "expected a tensor, got none");
}

std::pair<Tensor, Tensor> promoted(const Tensor& a, const Tensor& b) {
  const DType type = promote(a.dtype(), b.dtype());
  return {as_type(a, type), as_type(b, type)};
}

Axes normal_in_order(const Axes& axes, int rank) {
  Axes normal;
  for (const int64_t axis : axes) normal.push_back(normal_axis("dot", axis, rank));
  return normal;
}

// The leading axes of a and b that are not of matrices, as they broadcast.
Shape common_batch(std::string_view op, const Tensor& a, const Tensor& b) {
  const int count_a = a.rank() - 2, count_b = b.rank() - 2, count = std::max(count_a, count_b);
  Shape batch;
  for (int i = 0; i < count; ++i) {
    const int at_a = i - (count - count_a), at_b = i - (count - count_b);
    const int64_t extent_a = at_a < 0 ? 1 : a.shape()[at_a], extent_b = at_b < 0 ? 1 : b.shape()[at_b];
    if (extent_a != extent_b && extent_a != 1 && extent_b != 1)
      fail(op, "b",
           fmt::format("expected leading axes that broadcast with those of {}, got shape {}",
                       to_string(a.shape()), to_string(b.shape())));
    batch.push_back(extent_a == 1 ? extent_b : extent_a);
  }
  return batch;
}

Tensor with_leading(const Tensor& x, const Shape& batch) {
  Shape shape = batch;
  shape.push_back(x.dim(-2));
  shape.push_back(x.dim(-1));
  return broadcast_to(x, shape);
}

}  // namespace

Tensor dot(const Tensor& a, const Axes& contract_a, const Axes& batch_a, const Tensor& b,
           const Axes& contract_b, const Axes& batch_b) {
  check("dot", "a", a);
  check("dot", "b", b);
  const auto [x, y] = promoted(a, b);
  return make(Op::dot, {x, y},
              DotAttributes{normal_in_order(contract_a, a.rank()), normal_in_order(batch_a, a.rank()),
                            normal_in_order(contract_b, b.rank()), normal_in_order(batch_b, b.rank())});
}

Tensor dot(const Tensor& a, const Tensor& b) {
  check("dot", "a", a);
  check("dot", "b", b);
  if (a.rank() == 0 || b.rank() == 0) return multiply(a, b);
  const int last = a.rank() - 1, second = b.rank() == 1 ? 0 : b.rank() - 2;
  if (a.shape()[last] != b.shape()[second])
    fail("dot", "b",
         fmt::format("expected extent {} along axis {}, that of the last axis of a, got shape {}",
                     a.shape()[last], second, to_string(b.shape())));
  return dot(a, {last}, {}, b, {second}, {});
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  check("matmul", "a", a);
  check("matmul", "b", b);
  if (a.rank() == 0) fail("matmul", "a", "expected at least one axis, got a scalar");
  if (b.rank() == 0) fail("matmul", "b", "expected at least one axis, got a scalar");
  const int64_t inner = a.dim(-1);
  if (b.dim(b.rank() == 1 ? 0 : -2) != inner)
    fail("matmul", "b",
         fmt::format("expected extent {}, that of the last axis of a, along axis {}, got shape {}", inner,
                     b.rank() == 1 ? 0 : b.rank() - 2, to_string(b.shape())));
  // One matrix (or vector) b for all: the leading axes of a are rows of one product.
  if (b.rank() <= 2) return dot(a, {-1}, {}, b, {0}, {});
  if (a.rank() == 1) return dot(b, {-2}, {}, a, {0}, {});
  const Shape batch = common_batch("matmul", a, b);
  const Axes axes = Dims::counted(batch.size());
  return dot(with_leading(a, batch), {-1}, axes, with_leading(b, batch), {-2}, axes);
}

Tensor outer(const Tensor& a, const Tensor& b) {
  check("outer", "a", a);
  check("outer", "b", b);
  return multiply(reshape(a, {a.size(), 1}), reshape(b, {1, b.size()}));
}

Tensor cholesky(const Tensor& x) {
  check("cholesky", "a", x);
  return make(Op::cholesky, {as_type(x, float_of(x.dtype()))});
}

Tensor triangular_solve(const Tensor& a, const Tensor& b, TriangularOptions options) {
  check("triangular_solve", "a", a);
  check("triangular_solve", "b", b);
  if (a.rank() < 2 || a.dim(-1) != a.dim(-2))
    fail("triangular_solve", "a",
         fmt::format("expected square matrices, got shape {}", to_string(a.shape())));
  auto [x, y] = promoted(a, b);
  x = as_type(x, float_of(x.dtype()));
  y = as_type(y, float_of(y.dtype()));
  Shape vector = a.shape();
  vector.erase(a.rank() - 1);
  const bool is_vector = b.shape() == vector;
  if (is_vector) {
    Shape matrix = vector;
    matrix.insert(options.left_side ? vector.size() : vector.size() - 1, 1);
    y = reshape(y, matrix);
  }
  if (y.rank() < 2)
    fail("triangular_solve", "b",
         fmt::format("expected vectors of {} or matrices, got shape {}", a.dim(-1), to_string(b.shape())));
  const Shape batch = common_batch("triangular_solve", x, y);
  const Tensor solved = make(Op::triangular_solve, {with_leading(x, batch), with_leading(y, batch)},
                             TriangularAttributes{options.lower, options.left_side, options.transpose});
  return is_vector ? reshape(solved, b.shape()) : solved;
}

}  // namespace adit
