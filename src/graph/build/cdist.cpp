// Distances between all rows of two matrices.
#include <adit/einsum.hpp>

#include "graph/build/arguments.hpp"
#include "graph/operands.hpp"

namespace adit {

using namespace graph;

namespace distances {

// Up to here differences are taken one by one: exact where rows are close, and no slower than a product.
constexpr int64_t most_differences = 64;

void check(std::string_view name, const Tensor& x) {
  expect_tensor("cdist", name, x);
  if (x.rank() < 2)
    fail("cdist", name, fmt::format("expected rows in matrices, got the shape {}", to_string(x.shape())));
  if (is_complex(x.dtype()))
    fail("cdist", name, fmt::format("expected real numbers, got {}", name_of(x.dtype())));
}

// a[i] - b[j] for all i and j: [..., m, n, d].
Tensor differences(const Tensor& a, const Tensor& b) { return expand_dims(a, -2) - expand_dims(b, -3); }

Tensor with_leading(const Tensor& x, Shape batch) {
  batch.push_back(x.dim(-2));
  batch.push_back(x.dim(-1));
  return broadcast_to(x, batch);
}

// |a|^2 - 2 a b + |b|^2, of rows moved so that the middle of b is zero: what all have in common
// does not cancel. What is left of that shows where two rows are much closer to each other than to the
// middle.
Tensor squares_by_product(const Tensor& a, const Tensor& b) {
  const Tensor middle = stop_gradient(mean(b, {-2}, true));
  const Tensor x = a - middle, y = b - middle;
  const Axes batch = Axes::counted(a.rank() - 2);
  const Tensor products = dot(x, {-1}, batch, y, {-1}, batch);
  const Tensor of_x = expand_dims(sum(square(x), {-1}), -1), of_y = expand_dims(sum(square(y), {-1}), -2);
  const DType type = products.dtype();
  return maximum(of_x + of_y - constant(type, 2) * products, constant(type, 0));
}

Tensor squares(const Tensor& a, const Tensor& b) {
  const bool exact = a.dim(-1) <= most_differences;
  return exact ? sum(square(differences(a, b)), {-1}) : squares_by_product(a, b);
}

// The root, whose derivative at zero is zero.
Tensor root(const Tensor& x) {
  const Tensor none = equal(x, constant(x.dtype(), 0));
  return select(none, constant(x.dtype(), 0), sqrt(select(none, constant(x.dtype(), 1), x)));
}

}  // namespace distances

Tensor cdist(const Tensor& a, const Tensor& b, Distance distance) {
  using namespace distances;
  check("a", a);
  check("b", b);
  if (a.dim(-1) != b.dim(-1))
    fail("cdist", "b",
         fmt::format("expected extent {} along the last axis, as a has, got shape {}", a.dim(-1),
                     to_string(b.shape())));
  const DType type = float_of(promote(a.dtype(), b.dtype()));
  const DType working = size_of(type) == 2 ? DType::f32 : type;
  Shape batch_a = a.shape(), batch_b = b.shape();
  for (Shape* shape : {&batch_a, &batch_b}) shape->erase(shape->size() - 1), shape->erase(shape->size() - 1);
  const Shape batch = broadcast_shapes("cdist", "b", batch_a, batch_b);
  const Tensor x = with_leading(as_type(a, working), batch), y = with_leading(as_type(b, working), batch);
  Shape result = batch;
  result.push_back(a.dim(-2));
  result.push_back(b.dim(-2));
  if (element_count(result) == 0 || a.dim(-1) == 0) return zeros(result, type);
  if (result.size() + 1 > max_rank)
    fail("cdist", "a",
         fmt::format("expected at most {} axes, got the shape {}", max_rank - 1, to_string(result)));
  switch (distance) {
    case Distance::squared: return as_type(squares(x, y), type);
    case Distance::manhattan: return as_type(sum(abs(differences(x, y)), {-1}), type);
    case Distance::chebyshev: return as_type(reduce_max(abs(differences(x, y)), {-1}), type);
    default: return as_type(root(squares(x, y)), type);
  }
}

}  // namespace adit
