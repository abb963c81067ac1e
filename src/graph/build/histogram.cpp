// Counts of numbers and of elements in bins.
#include <cmath>
#include <limits>

#include <adit/einsum.hpp>

#include "graph/build/arguments.hpp"

namespace adit {

using namespace graph;

namespace counts {

void check_weights(std::string_view op, const Tensor& x, const Tensor& weights) {
  if (weights && !(weights.shape() == x.shape()))
    fail(op, "weights",
         fmt::format("expected the shape {}, one for each element, got {}", to_string(x.shape()),
                     to_string(weights.shape())));
}

// Sums of integers and of halves have room.
DType total_type(DType type) {
  if (is_integer(type) && size_of(type) < 8) return is_unsigned(type) ? DType::u32 : DType::i32;
  return is_float(type) && size_of(type) == 2 ? DType::f32 : type;
}

// Elements (or weights) at places from 0 to length - 1; what lies elsewhere counts nothing.
Tensor counted(const Tensor& places, int64_t length, const Tensor& weights) {
  const DType count_type = places.size() > std::numeric_limits<int32_t>::max() ? DType::i64 : DType::i32;
  const DType type = weights ? total_type(weights.dtype()) : count_type;
  const Tensor result = zeros({length}, type);
  if (length == 0 || places.size() == 0)
    return weights ? as_type(result, is_float(weights.dtype()) ? weights.dtype() : type) : result;
  const Tensor flat = flatten(places);
  const Tensor inside = logical_and(greater_equal(flat, constant_integer(flat.dtype(), 0)),
                                    less(flat, constant_integer(flat.dtype(), length)));
  const Tensor amounts =
      weights ? select(inside, as_type(flatten(weights), type), constant(type, 0)) : as_type(inside, type);
  const Tensor totals = indexed_add(result, expand_dims(flat, -1), amounts);
  return weights && is_float(weights.dtype()) ? as_type(totals, weights.dtype()) : totals;
}

void check_range(std::string_view op, int64_t bins, double low, double high) {
  if (bins < 1) fail(op, "bins", fmt::format("expected at least 1, got {}", bins));
  if (!std::isfinite(low)) fail(op, "low", fmt::format("expected a finite number, got {}", low));
  if (!std::isfinite(high) || high < low)
    fail(op, "high", fmt::format("expected a finite number of at least {}, got {}", low, high));
}

}  // namespace counts

Tensor bincount(const Tensor& x, int64_t length, const Tensor& weights) {
  expect_integers("bincount", "x", x);
  counts::check_weights("bincount", x, weights);
  if (length < 0) fail("bincount", "length", fmt::format("expected at least 0, got {}", length));
  const bool narrow = size_of(x.dtype()) < 4 || x.dtype() == DType::i32;
  const DType places = narrow && length <= std::numeric_limits<int32_t>::max() ? DType::i32 : DType::i64;
  return counts::counted(as_type(x, places), length, weights);
}

Tensor histogram(const Tensor& x, const Tensor& edges, const Tensor& weights, bool density) {
  constexpr std::string_view op = "histogram";
  expect_tensor(op, "x", x);
  expect_tensor(op, "edges", edges);
  counts::check_weights(op, x, weights);
  if (is_complex(x.dtype())) fail(op, "x", fmt::format("expected real numbers, got {}", name_of(x.dtype())));
  if (is_complex(edges.dtype()))
    fail(op, "edges", fmt::format("expected real numbers, got {}", name_of(edges.dtype())));
  if (edges.rank() != 1 || edges.size() < 2)
    fail(op, "edges",
         fmt::format("expected at least 2 numbers that ascend, got the shape {}", to_string(edges.shape())));
  const int64_t bins = edges.size() - 1;
  const Tensor above = searchsorted(edges, x, Side::right);
  const Tensor last = slice(edges, {bins}, {1});
  const Tensor at_end = equal(x, reshape(last, {}));
  const Tensor places =
      select(at_end, constant_integer(above.dtype(), bins - 1), above - constant_integer(above.dtype(), 1));
  const Tensor totals = counts::counted(places, bins, weights);
  if (!density) return totals;
  const Tensor widths = slice(edges, {1}, {bins}) - slice(edges, {0}, {bins});
  return totals / as_type(widths, float_of(edges.dtype())) / sum(totals);
}

Tensor histogram_edges(int64_t bins, double low, double high, DType type) {
  counts::check_range("histogram_edges", bins, low, high);
  if (!is_float(type))
    fail("histogram_edges", "type", fmt::format("expected a float type, got {}", name_of(type)));
  // A range of one point is made wider, as NumPy does.
  return low == high ? linspace(low - 0.5, high + 0.5, bins + 1, type) : linspace(low, high, bins + 1, type);
}

Tensor histogram(const Tensor& x, int64_t bins, double low, double high, const Tensor& weights,
                 bool density) {
  expect_tensor("histogram", "x", x);
  counts::check_range("histogram", bins, low, high);
  // Edges as exact as the elements are.
  const bool wide = x.dtype() == DType::f64 || (is_integer(x.dtype()) && size_of(x.dtype()) > 2);
  return histogram(x, histogram_edges(bins, low, high, wide ? DType::f64 : DType::f32), weights, density);
}

}  // namespace adit
