#include "stats/constraint/parts.hpp"

#include <fmt/format.h>

namespace adit::stats {

std::string number_words(const Tensor& bound) {
  const auto number = literal_of(bound);
  return number ? fmt::format("{:.10g}", *number) : "its bound";
}

void expect_bound(std::string_view where, std::string_view argument, const Tensor& bound, const Shape& x) {
  const Shape& shape = bound.shape();
  bool fits = shape.size() <= x.size();
  for (int i = 1; fits && i <= shape.size(); ++i) {
    const int64_t extent = shape[shape.size() - i];
    fits = extent == 1 || extent == x[x.size() - i];
  }
  if (!fits)
    graph::fail(
        where, argument,
        fmt::format("expected a shape that broadcasts to {}, got {}", to_string(x), to_string(shape)));
}

void expect_vector(std::string_view where, const Shape& x) {
  if (x.empty() || x.back() < 1)
    graph::fail(where, "shape", fmt::format("expected a last axis of at least 1, got {}", to_string(x)));
}

void expect_square(std::string_view where, const Shape& x) {
  if (x.size() < 2 || x.back() < 1 || x.back() != x[x.size() - 2])
    graph::fail(where, "shape",
                fmt::format("expected [..., K, K] with K of at least 1, got {}", to_string(x)));
}

Tensor total(const Tensor& term, const Shape& x) { return sum(broadcast_to(term, x)); }

Tensor triangle(int64_t size, Side side) {
  const Shape shape{size, size};
  const Tensor row = iota(shape, DType::f64, 0), column = iota(shape, DType::f64, 1);
  const Tensor mask = side == Side::below   ? greater(row, column)
                      : side == Side::up_to ? less_equal(row, column)
                                            : less(row, column);
  return as_type(mask, DType::f64);
}

namespace {

Tensor part(const Tensor& x, int64_t start, int64_t count) {
  Dims starts = Dims::filled(x.rank(), 0), lengths = x.shape();
  starts[x.rank() - 1] = start;
  lengths[x.rank() - 1] = count;
  return slice(x, starts, lengths);
}

}  // namespace

Tensor first(const Tensor& x, int64_t count) { return part(x, 0, count); }
Tensor rest(const Tensor& x, int64_t from) { return part(x, from, x.dim(-1) - from); }

Tensor all_of_event(const Tensor& mask, int axes) {
  Axes last;
  for (int i = mask.rank() - axes; i < mask.rank(); ++i) last.push_back(i);
  return axes == 0 ? mask : all(mask, last);
}

Shape with_last(Shape shape, int64_t extent) {
  shape[shape.size() - 1] = extent;
  return shape;
}

Shape turned(std::string_view where, Shape shape) {
  if (shape.size() < 2) graph::fail(where, "shape", "expected a matrix, got " + to_string(shape));
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

Tensor turned(const Tensor& x) {
  Axes axes = Axes::counted(x.rank());
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return transpose(x, axes);
}

}  // namespace adit::stats
