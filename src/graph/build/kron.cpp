// Products of all elements with all elements, and sums over pairs of axes.
#include <adit/einsum.hpp>

#include "graph/build/arguments.hpp"

namespace adit {

using namespace graph;

// Blocks of b, each times an element of a: axes of both side by side, then joined in pairs.
Tensor kron(const Tensor& a, const Tensor& b) {
  expect_tensor("kron", "a", a);
  expect_tensor("kron", "b", b);
  const int rank = std::max(a.rank(), b.rank());
  if (2 * rank > max_rank)
    fail("kron", a.rank() == rank ? "a" : "b",
         fmt::format("expected at most {} axes, got the shape {}", max_rank / 2,
                     to_string(a.rank() == rank ? a.shape() : b.shape())));
  Shape of_a, of_b, joined;
  for (int axis = 0; axis < rank; ++axis) {
    const int at_a = axis - (rank - a.rank()), at_b = axis - (rank - b.rank());
    const int64_t extent_a = at_a < 0 ? 1 : a.shape()[at_a], extent_b = at_b < 0 ? 1 : b.shape()[at_b];
    of_a.push_back(extent_a), of_a.push_back(1);
    of_b.push_back(1), of_b.push_back(extent_b);
    joined.push_back(extent_a * extent_b);
  }
  return reshape(multiply(reshape(a, of_a), reshape(b, of_b)), joined);
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& axes_a, const Axes& axes_b) {
  expect_tensor("tensordot", "a", a);
  expect_tensor("tensordot", "b", b);
  if (axes_a.size() != axes_b.size())
    fail("tensordot", "axes_b",
         fmt::format("expected {} axes, as many as of a, got {}", axes_a.size(), axes_b.size()));
  const auto distinct = [](std::string_view name, const Axes& axes, int rank) {
    Axes normal;
    for (const int64_t axis : axes) {
      const int64_t place = normal_axis("tensordot", axis, rank);
      if (normal.contains(place))
        fail("tensordot", name, fmt::format("expected axes that are different, got {}", to_string(axes)));
      normal.push_back(place);
    }
    return normal;
  };
  const Axes of_a = distinct("axes_a", axes_a, a.rank()), of_b = distinct("axes_b", axes_b, b.rank());
  for (int i = 0; i < of_a.size(); ++i) {
    const int64_t expected = a.dim(static_cast<int>(of_a[i])), got = b.dim(static_cast<int>(of_b[i]));
    if (expected != got)
      fail("tensordot", "b", fmt::format("expected extent {} along axis {}, got {}", expected, of_b[i], got));
  }
  return dot(a, of_a, {}, b, of_b, {});
}

Tensor tensordot(const Tensor& a, const Tensor& b, int count) {
  expect_tensor("tensordot", "a", a);
  expect_tensor("tensordot", "b", b);
  if (count < 0 || count > std::min(a.rank(), b.rank()))
    fail("tensordot", "count",
         fmt::format("expected from 0 to {} axes, got {}", std::min(a.rank(), b.rank()), count));
  Axes of_a;
  for (int axis = a.rank() - count; axis < a.rank(); ++axis) of_a.push_back(axis);
  return tensordot(a, b, of_a, Axes::counted(count));
}

}  // namespace adit
