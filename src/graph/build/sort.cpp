#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include <adit/sort.hpp>

#include "graph/build/arguments.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit {

using namespace graph;

namespace {

std::vector<Tensor> sorted(std::string_view name, const Tensor& x, int axis, Direction direction) {
  expect_tensor(name, "x", x);
  if (x.rank() == 0) return {x, zeros({}, DType::i64)};
  return make_several(Op::sort, {x},
                      SortAttributes{normal_axis(name, axis, x.rank()), direction == Direction::descending});
}

Tensor front(const Tensor& x, int axis, int64_t first, int64_t count) {
  Dims starts(x.shape()), lengths(x.shape());
  for (int other = 0; other < x.rank(); ++other) starts[other] = 0;
  starts[axis] = first;
  lengths[axis] = count;
  return slice(x, starts, lengths);
}

// The first k of a row in falling order. Of long rows those of each part first, and then of what is left:
// short parts are sorted in one pass, and few of their elements are looked at again. Equal elements stay in
// order, since parts do.
Sorted largest(const Tensor& x, int64_t k) {
  constexpr int64_t left_over = 16, shortest_part = 256, longest_part = 2048, many_parts = 16;
  const int axis = x.rank() - 1;
  const int64_t n = x.dim(axis), part = std::max<int64_t>(
                                     shortest_part, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(
                                                        left_over * std::min(k, longest_part)))));
  if (k == 0 || part > longest_part || n < many_parts * part || x.rank() == max_rank) {
    const auto all = sorted("top_k", x, -1, Direction::descending);
    return {front(all[0], axis, 0, k), front(all[1], axis, 0, k)};
  }
  const int64_t parts = n / part, whole = parts * part;
  Shape cut = x.shape(), joined = x.shape();
  cut[axis] = parts;
  cut.push_back(part);
  joined[axis] = parts * k;
  const auto in_parts = sorted("top_k", reshape(front(x, axis, 0, whole), cut), -1, Direction::descending);
  const auto first_ones = [&](const Tensor& t) { return front(t, axis + 1, 0, k); };
  const Tensor places = first_ones(in_parts[1]);
  const Tensor before = iota(places.shape(), DType::i64, axis) * constant_integer(DType::i64, part);
  std::vector<Tensor> values{reshape(first_ones(in_parts[0]), joined)},
      origins{reshape(places + before, joined)};
  if (whole < n) {
    values.push_back(front(x, axis, whole, n - whole));
    origins.push_back(iota(values.back().shape(), DType::i64, axis) + constant_integer(DType::i64, whole));
  }
  const Sorted found = largest(concatenate(values, axis), k);
  return {found.values, take_along_axis(concatenate(origins, axis), found.places, axis)};
}

}  // namespace

Sorted sort_with_places(const Tensor& x, int axis, Direction direction) {
  const auto parts = sorted("sort", x, axis, direction);
  return {parts[0], parts[1]};
}
Tensor sort(const Tensor& x, int axis, Direction direction) { return sorted("sort", x, axis, direction)[0]; }
Tensor argsort(const Tensor& x, int axis, Direction direction) {
  return sorted("argsort", x, axis, direction)[1];
}

Sorted top_k(const Tensor& x, int64_t k) {
  expect_tensor("top_k", "x", x);
  if (x.rank() == 0) fail("top_k", "x", "expected at least one axis, got a scalar");
  if (k < 0 || k > x.dim(-1)) fail("top_k", "k", fmt::format("expected 0 to {}, got {}", x.dim(-1), k));
  return largest(x, k);
}

Tensor median(const Tensor& x, int axis, bool keep_axis) {
  expect_tensor("median", "x", x);
  if (x.rank() == 0) return x;
  const int at = normal_axis("median", axis, x.rank());
  const int64_t n = x.dim(at);
  if (n == 0) fail("median", "x", fmt::format("expected elements along axis {}, got none", at));
  const Tensor real = as_type(x, float_of(x.dtype()));
  const Tensor in_order = sort(real, at);
  const Tensor below = front(in_order, at, (n - 1) / 2, 1), above = front(in_order, at, n / 2, 1);
  const Tensor last = front(in_order, at, n - 1, 1);  // NaN stands there
  const Tensor half = constant(real.dtype(), 0.5);
  const Tensor middle = n % 2 == 1 ? below : below * half + above * half;
  const Tensor found = select(is_nan(last), last, middle);
  return keep_axis ? found : squeeze(found, {at});
}

Unique unique(const Tensor& x) {
  expect_tensor("unique", "x", x);
  const int64_t n = x.size();
  const Tensor flat = reshape(x, {n});
  if (n == 0)
    return {flat, reshape(zeros({0}, DType::i64), x.shape()), zeros({0}, DType::i64), zeros({}, DType::i64)};
  const Sorted in_order = sort_with_places(flat, 0);
  const Tensor before = front(in_order.values, 0, 0, n - 1), after = front(in_order.values, 0, 1, n - 1);
  // NaN are one element, as in NumPy.
  const Tensor same_nan =
      logical_and(is_nan(as_type(before, float_of(x.dtype()))), is_nan(as_type(after, float_of(x.dtype()))));
  const Tensor starts = logical_and(before != after, logical_not(same_nan));
  const Tensor is_new = concatenate({ones({1}, DType::i64), as_type(starts, DType::i64)}, 0);
  const Tensor number = cumulative_sum(is_new, 0) - constant_integer(DType::i64, 1);
  const Tensor at = reshape(number, {n, 1});
  const Tensor filler = broadcast_to(front(in_order.values, 0, n - 1, 1), {n});
  // Equal elements may be told apart (-0 and 0): of each the first is taken.
  const Tensor beyond = constant_integer(DType::i64, n);
  const Tensor to = select(is_new != constant_integer(DType::i64, 0), number, beyond);
  const Tensor places =
      indexed_put(zeros({n + 1}, DType::i64), reshape(to, {n, 1}), iota({n}, DType::i64, 0), {0});
  const Tensor count = front(number, 0, n - 1, 1) + constant_integer(DType::i64, 1);
  const Tensor is_real = iota({n}, DType::i64, 0) < count;
  const Tensor values = select(is_real, take(in_order.values, front(places, 0, 0, n), 0), filler);
  const Tensor counts = indexed_add(zeros({n}, DType::i64), at, ones({n}, DType::i64), {0});
  const Tensor inverse = indexed_put(zeros({n}, DType::i64), reshape(in_order.places, {n, 1}), number, {0});
  return {values, reshape(inverse, x.shape()), counts, reshape(count, {})};
}

}  // namespace adit
