// Places in rows that ascend.
#include <bit>
#include <limits>

#include <adit/einsum.hpp>

#include "graph/build/arguments.hpp"

namespace adit {

using namespace graph;

namespace searches {

void check(const Tensor& sorted, const Tensor& values) {
  constexpr std::string_view op = "searchsorted";
  expect_tensor(op, "sorted", sorted);
  expect_tensor(op, "values", values);
  for (const auto& [name, x] :
       {std::pair<std::string_view, const Tensor&>{"sorted", sorted}, {"values", values}})
    if (is_complex(x.dtype()))
      fail(op, name, fmt::format("expected numbers that have an order, got {}", name_of(x.dtype())));
  if (sorted.rank() == 0) fail(op, "sorted", "expected at least one axis, got a scalar");
  if (sorted.rank() == 1) return;
  Shape expected = sorted.shape();
  if (values.rank() > 0) expected[sorted.rank() - 1] = values.dim(-1);
  if (!(expected == values.shape()))
    fail(op, "values",
         fmt::format("expected the leading axes of sorted, which has shape {}, got shape {}",
                     to_string(sorted.shape()), to_string(values.shape())));
}

// Whether an element stands before the place of a value. NaN comes last.
Tensor before(const Tensor& element, const Tensor& value, Side side) {
  const bool ordered = is_integer(value.dtype());
  if (side == Side::right)
    return ordered ? less_equal(element, value) : logical_or(less_equal(element, value), is_nan(value));
  const Tensor smaller = less(element, value);
  return ordered ? smaller : logical_or(smaller, logical_and(is_nan(value), logical_not(is_nan(element))));
}

}  // namespace searches

// As many rounds as the length has bits: each asks whether as many elements more stand before. All values
// take the same steps, so that there is nothing to branch on.
Tensor searchsorted(const Tensor& sorted, const Tensor& values, Side side) {
  searches::check(sorted, values);
  const int64_t n = sorted.dim(-1);
  const DType places = n > std::numeric_limits<int32_t>::max() ? DType::i64 : DType::i32;
  if (n == 0 || values.size() == 0) return zeros(values.shape(), places);
  const DType type = promote(sorted.dtype(), values.dtype());
  const Tensor row = as_type(stop_gradient(sorted), type);
  const Tensor wanted = as_type(stop_gradient(sorted.rank() == 1 ? flatten(values) : values), type);
  Tensor count = zeros(wanted.shape(), places);
  const Tensor length = constant_integer(places, n);
  for (int64_t step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n))); step > 0; step /= 2) {
    const Tensor more = count + constant_integer(places, step), at = more - constant_integer(places, 1);
    const Tensor element = take_along_axis(row, at, -1);
    const Tensor further = logical_and(less_equal(more, length), searches::before(element, wanted, side));
    count = select(further, more, count);
  }
  return reshape(count, values.shape());
}

}  // namespace adit
