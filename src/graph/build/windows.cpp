// Builders of windows: reductions over the index map of windows. Where a window has more elements than are
// combined where they are read, it goes axis by axis, and a long axis in parts of parts.
#include "graph/build/windows.hpp"

#include <limits>

#include <adit/windows.hpp>

#include "graph/build/arguments.hpp"
#include "graph/derive.hpp"
#include "graph/op.hpp"
#include "graph/windows.hpp"

namespace adit {

using namespace graph;

namespace graph {

namespace {

void expect_each(std::string_view op, std::string_view argument, const Dims& numbers, int64_t least) {
  for (const int64_t number : numbers)
    if (number < least)
      fail(op, argument, fmt::format("expected numbers of at least {}, got {}", least, to_string(numbers)));
}

Dims given_or_ones(std::string_view op, std::string_view argument, const Dims& given, int count) {
  if (given.empty()) return Dims::filled(count, 1);
  expect_count(op, argument, count, given.size());
  expect_each(op, argument, given, 1);
  return given;
}

}  // namespace

void expect_one_axis_each(std::string_view op, std::string_view argument, const Dims& given, int count) {
  expect_count(op, argument, count, given.size());
  expect_each(op, argument, given, 1);
}

WindowAttributes window_plan(std::string_view op, const Dims& extents, const Dims& window,
                             const Dims& strides, const std::vector<Padding>& padding, bool same,
                             const Dims& dilations, const Dims& spread, std::string_view names) {
  const int count = extents.size();
  WindowAttributes plan;
  plan.axes = Dims::counted(count);
  plan.lengths = window;
  plan.strides = given_or_ones(op, "strides", strides, count);
  plan.dilations = given_or_ones(op, names == "kernel" ? "kernel_dilation" : "dilations", dilations, count);
  plan.spread = given_or_ones(op, "input_dilation", spread, count);
  if (!padding.empty()) {
    if (same) fail(op, "padding", "expected none beside `same`, got some");
    expect_count(op, "padding", count, static_cast<int>(padding.size()));
  }
  constexpr int64_t most = int64_t{1} << 40;
  for (int i = 0; i < count; ++i) {
    if (plan.lengths[i] > most || plan.dilations[i] > most || plan.spread[i] > most || plan.strides[i] > most)
      fail(op, names, fmt::format("expected numbers of at most 2^40 along axis {}, got more", i));
    const int64_t reach = (plan.lengths[i] - 1) * plan.dilations[i] + 1;
    Padding edge = padding.empty() ? Padding{} : padding[static_cast<size_t>(i)];
    if (same) edge = {(reach - 1) / 2, reach / 2, 0};
    if (edge.interior != 0)
      fail(op, "padding", fmt::format("expected nothing between elements, got {}", edge.interior));
    if (std::abs(edge.low) > most || std::abs(edge.high) > most)
      fail(op, "padding",
           fmt::format("expected at most 2^40 along axis {}, got {} and {}", i, edge.low, edge.high));
    const int64_t spanned = extents[i] == 0 ? 0 : (extents[i] - 1) * plan.spread[i] + 1;
    const int64_t padded = spanned + edge.low + edge.high;
    plan.low.push_back(edge.low);
    if (extents[i] == 0 && padded == 0 && reach == 1) {  // no windows, of no elements
      plan.results.push_back(0);
      continue;
    }
    if (padded < reach)
      fail(op, names,
           fmt::format("expected at most {} elements along axis {}, as the padded tensor has, got {}",
                       std::max<int64_t>(padded, 0), i, reach));
    plan.results.push_back((padded - reach) / plan.strides[i] + 1);
  }
  return plan;
}

}  // namespace graph

namespace window_build {

constexpr int64_t combined_where_read = 8;  // as many are unrolled by the compiler

WindowAttributes plan_of(std::string_view op, const Tensor& x, const Dims& window,
                         const WindowOptions& options) {
  expect_tensor(op, "x", x);
  expect_one_axis_each(op, "window", window, x.rank());
  return window_plan(op, x.shape(), window, options.strides, options.padding, options.same, options.dilations,
                     {}, "window");
}

// The attributes of one axis of a plan.
WindowAttributes part_of(const WindowAttributes& plan, int i) {
  WindowAttributes one;
  one.axes.push_back(plan.axes[i]);
  one.lengths.push_back(plan.lengths[i]);
  one.results.push_back(plan.results[i]);
  one.strides.push_back(plan.strides[i]);
  one.dilations.push_back(plan.dilations[i]);
  one.low.push_back(plan.low[i]);
  one.spread.push_back(plan.spread[i]);
  return one;
}

bool changes_nothing(const WindowAttributes& plan, int i, const Shape& shape) {
  return plan.lengths[i] == 1 && plan.strides[i] == 1 && plan.low[i] == 0 &&
         plan.results[i] == shape[static_cast<int>(plan.axes[i])];
}

// Only the axes along which something happens.
WindowAttributes lean(const WindowAttributes& plan, const Shape& shape) {
  WindowAttributes some;
  for (int i = 0; i < plan.axes.size(); ++i) {
    if (changes_nothing(plan, i, shape)) continue;
    const WindowAttributes one = part_of(plan, i);
    some.axes.push_back(one.axes[0]);
    some.lengths.push_back(one.lengths[0]);
    some.results.push_back(one.results[0]);
    some.strides.push_back(one.strides[0]);
    some.dilations.push_back(one.dilations[0]);
    some.low.push_back(one.low[0]);
    some.spread.push_back(one.spread[0]);
  }
  return some;
}

Shape shape_of_windows(const WindowAttributes& plan, Shape shape) {
  for (int i = 0; i < plan.axes.size(); ++i) shape[static_cast<int>(plan.axes[i])] = plan.results[i];
  for (const int64_t length : plan.lengths) shape.push_back(length);
  return shape;
}

Tensor view(const Tensor& x, const Tensor& value, const WindowAttributes& plan) {
  if (plan.axes.empty()) return x;
  const Shape shape = shape_of_windows(plan, x.shape());
  if (x.size() == 0 || element_count(shape) == 0) return broadcast_to(value, shape);
  return make_windows(x, value, plan);
}

// What a window is reduced by.
struct Combination {
  Op op;
  Tensor nothing;  // that changes no result
};

Tensor reduced(const Tensor& x, const Combination& by, const Axes& axes) {
  if (axes.empty()) return x;
  if (by.op == Op::sum) return as_type(sum(x, axes), x.dtype());
  if (by.op == Op::product) return as_type(product(x, axes), x.dtype());
  int64_t count = 1;
  Shape rest;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (axes.contains(axis))
      count *= x.shape()[axis];
    else
      rest.push_back(x.shape()[axis]);
  if (count == 1) return reshape(x, rest);
  return make(by.op, {x}, ReduceAttributes{axes, true, {}});
}

Tensor reduced_windows(const Tensor& x, const Combination& by, const WindowAttributes& plan) {
  const Tensor seen = view(x, by.nothing, plan);
  Axes axes = Dims::counted(plan.axes.size());
  for (int64_t& axis : axes) axis += x.rank();
  return reduced(seen, by, axes);
}

Tensor combined(const Tensor& first, const Tensor& second, const Combination& by) {
  if (by.op == Op::sum) return first + second;
  if (by.op == Op::product) return first * second;
  return reduced(stack({first, second}, first.rank()), by, {first.rank()});
}

// Windows along one axis. Where they overlap much, results of 8 are combined again: each step goes through 8
// elements or fewer for a result, whatever the length.
Tensor along_axis(const Tensor& x, const Combination& by, const WindowAttributes& one) {
  constexpr int64_t part = combined_where_read;
  const int64_t length = one.lengths[0], stride = one.strides[0], dilation = one.dilations[0];
  if (length <= part || length <= part * stride) return reduced_windows(x, by, one);
  const int64_t parts = length / part, rest = length % part;
  WindowAttributes inner = one, outer = one;
  inner.lengths[0] = part;
  inner.strides[0] = 1;
  inner.results[0] = (one.results[0] - 1) * stride + (parts - 1) * part * dilation + 1;
  outer.lengths[0] = parts;
  outer.dilations[0] = part * dilation;
  outer.low[0] = 0;
  const Tensor most = along_axis(reduced_windows(x, by, inner), by, outer);
  if (rest == 0) return most;
  WindowAttributes last = one;
  last.lengths[0] = rest;
  last.low[0] = one.low[0] - parts * part * dilation;
  return combined(most, reduced_windows(x, by, last), by);
}

// The last axis first, so that of equal elements the last one in row-major order is the last one here.
Tensor over_windows(const Tensor& x, const Combination& by, const WindowAttributes& plan) {
  const WindowAttributes some = lean(plan, x.shape());
  int64_t count = 1;
  for (const int64_t length : some.lengths) count = std::min<int64_t>(count * length, 1 << 20);
  if (count <= combined_where_read && x.rank() + some.axes.size() <= max_rank)
    return reduced_windows(x, by, some);
  Tensor result = x;
  for (int i = some.axes.size() - 1; i >= 0; --i) result = along_axis(result, by, part_of(some, i));
  return result;
}

Tensor summed(const Tensor& x, Op op, const WindowAttributes& plan) {
  // Parts of sums of halves are not rounded to halves.
  const bool is_half = is_float(x.dtype()) && size_of(x.dtype()) == 2;
  const Tensor wide = is_half ? as_type(x, DType::f32) : x;
  const Tensor nothing = is_integer(wide.dtype()) ? constant_integer(wide.dtype(), op == Op::sum ? 0 : 1)
                                                  : constant(wide.dtype(), op == Op::sum ? 0 : 1);
  return as_type(over_windows(wide, {op, nothing}, plan), x.dtype());
}

Tensor lowest_or_highest(DType type, bool lowest) {
  if (!is_integer(type)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return constant(type, lowest ? -infinity : infinity);
  }
  const auto bits = 8 * static_cast<int>(size_of(type));
  if (is_unsigned(type)) {
    const uint64_t highest = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    return constant_integer(type, lowest ? 0 : static_cast<int64_t>(highest));
  }
  const int64_t highest = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  return constant_integer(type, lowest ? -highest - 1 : highest);
}

void expect_order(std::string_view op, const Tensor& x) {
  if (is_complex(x.dtype()))
    fail(op, "x", fmt::format("expected numbers that have an order, got {}", name_of(x.dtype())));
}

Tensor extreme(const char* name, Op op, const Tensor& x, const Dims& window, const WindowOptions& options) {
  const WindowAttributes plan = plan_of(name, x, window, options);
  expect_order(name, x);
  return over_windows(x, {op, lowest_or_highest(x.dtype(), op == Op::reduce_max)}, plan);
}

void expect_scalar(std::string_view op, std::string_view argument, const Tensor& x) {
  expect_tensor(op, argument, x);
  if (x.rank() != 0)
    fail(op, argument, fmt::format("expected a scalar, got the shape {}", to_string(x.shape())));
}

bool leaves_x(const WindowAttributes& plan, const Shape& shape) {
  for (int i = 0; i < plan.axes.size(); ++i) {
    const int64_t end = (plan.results[i] - 1) * plan.strides[i] + (plan.lengths[i] - 1) * plan.dilations[i];
    if (plan.low[i] > 0 || end - plan.low[i] >= shape[i]) return true;
  }
  return false;
}

// What stands at each place of a window, as one number; the axes of windows come last.
Tensor numbers_in_windows(const Shape& shape, const Axes& axes) {
  Tensor number;
  for (const int64_t axis : axes) {
    const auto along = static_cast<int>(axis);
    const Tensor own = iota(shape, DType::i32, along);
    number = number ? number * constant_integer(DType::i32, shape[along]) + own : own;
  }
  return number;
}

Tensor scattered(const char* name, Op op, const Tensor& x, const Tensor& source, const Tensor& initial,
                 const Dims& window, const WindowOptions& options) {
  const WindowAttributes plan = plan_of(name, x, window, options);
  expect_order(name, x);
  expect_tensor(name, "source", source);
  expect_scalar(name, "initial", initial);
  if (source.shape() != plan.results)
    fail(name, "source",
         fmt::format("expected the shape {}, one element a window, got {}", to_string(plan.results),
                     to_string(source.shape())));
  const DType type = promote(source.dtype(), initial.dtype());
  const Tensor start = broadcast_to(as_type(initial, type), x.shape());
  if (x.size() == 0 || source.size() == 0) return start;
  const WindowAttributes some = lean(plan, x.shape());
  const Tensor given = as_type(source, type);
  if (some.axes.empty()) return start + given;
  if (x.rank() + some.axes.size() > max_rank)
    fail(name, "window",
         fmt::format("expected at most {} axes of x and of windows, got {}", max_rank,
                     x.rank() + some.axes.size()));
  // Of each window, the last place that holds the extreme.
  const Tensor fixed = stop_gradient(x);
  const Tensor seen = view(fixed, lowest_or_highest(x.dtype(), op == Op::reduce_max), some);
  const Axes own = Dims::counted(x.rank());
  Axes inner = Dims::counted(some.axes.size());
  for (int64_t& axis : inner) axis += x.rank();
  const auto repeated = [&](const Tensor& one) { return broadcast_in(one, seen.shape(), own); };
  Tensor hit = equal(seen, repeated(reduced(seen, {op, {}}, inner)));
  if (is_float(x.dtype())) hit = logical_or(hit, is_nan(seen));
  if (leaves_x(plan, x.shape()))
    hit = logical_and(hit, view(full_integer(x.shape(), 1, DType::u8), constant_integer(DType::u8, 0), some));
  const Tensor numbers = numbers_in_windows(seen.shape(), inner);
  const Tensor none = broadcast_to(constant_integer(DType::i32, -1), seen.shape());
  const Tensor place = reduced(select(hit, numbers, none), {Op::reduce_max, {}}, inner);
  const Tensor parts = select(equal(numbers, repeated(place)), repeated(given), zeros(seen.shape(), type));
  return start + as_type(collected(parts, some, x.shape()), type);
}

// A plan of the spatial axes of [batch, channels, spatial...] for all axes.
WindowOptions of_all_axes(const WindowOptions& spatial, const Dims& window) {
  WindowOptions all = spatial;
  if (all.strides.empty()) all.strides = window;
  for (Dims* numbers : {&all.strides, &all.dilations})
    if (!numbers->empty())
      for (int i = 0; i < 2; ++i) numbers->insert(0, 1);
  if (!all.padding.empty()) all.padding.insert(all.padding.begin(), 2, Padding{});
  return all;
}

Dims pooled_window(std::string_view op, const Tensor& x, const Dims& window, const WindowOptions& options) {
  expect_tensor(op, "x", x);
  if (x.rank() < 3)
    fail(op, "x", fmt::format("expected at least 3 axes, got the shape {}", to_string(x.shape())));
  const int spatial = x.rank() - 2;
  expect_one_axis_each(op, "window", window, spatial);
  if (!options.strides.empty()) expect_one_axis_each(op, "strides", options.strides, spatial);
  if (!options.dilations.empty()) expect_one_axis_each(op, "dilations", options.dilations, spatial);
  if (!options.padding.empty())
    expect_count(op, "padding", spatial, static_cast<int>(options.padding.size()));
  Dims all = window;
  for (int i = 0; i < 2; ++i) all.insert(0, 1);
  return all;
}

Tensor divided(const Tensor& total, const Tensor& x, const Tensor& count) {
  return as_type(total / count, float_of(x.dtype()));
}

// Integers and halves are averaged in f32.
Tensor wide(const Tensor& x) {
  return as_type(x, is_integer(x.dtype()) || size_of(x.dtype()) == 2 ? DType::f32 : x.dtype());
}

}  // namespace window_build

Tensor windows(const Tensor& x, const Tensor& value, const Dims& window, const WindowOptions& options) {
  using namespace window_build;
  const WindowAttributes plan = plan_of("windows", x, window, options);
  expect_scalar("windows", "value", value);
  if (2 * x.rank() > max_rank)
    fail("windows", "x", fmt::format("expected at most {} axes, got {}", max_rank / 2, x.rank()));
  const DType type = promote(x.dtype(), value.dtype());
  const Tensor seen = view(as_type(x, type), as_type(value, type), lean(plan, x.shape()));
  return reshape(seen, shape_of_windows(plan, x.shape()));
}

Tensor window_sum(const Tensor& x, const Dims& window, const WindowOptions& options) {
  return window_build::summed(x, Op::sum, window_build::plan_of("window_sum", x, window, options));
}

Tensor window_product(const Tensor& x, const Dims& window, const WindowOptions& options) {
  return window_build::summed(x, Op::product, window_build::plan_of("window_product", x, window, options));
}

Tensor window_max(const Tensor& x, const Dims& window, const WindowOptions& options) {
  return window_build::extreme("window_max", Op::reduce_max, x, window, options);
}

Tensor window_min(const Tensor& x, const Dims& window, const WindowOptions& options) {
  return window_build::extreme("window_min", Op::reduce_min, x, window, options);
}

Tensor window_mean(const Tensor& x, const Dims& window, const WindowOptions& options) {
  using namespace window_build;
  const WindowAttributes plan = plan_of("window_mean", x, window, options);
  const Tensor total = summed(wide(x), Op::sum, plan);
  return divided(total, x, constant(total.dtype(), static_cast<double>(element_count(window))));
}

Tensor window_reduce(const Tensor& x, const Tensor& initial, const Dims& window,
                     const std::function<Tensor(Tensor, Tensor)>& combine, const WindowOptions& options) {
  using namespace window_build;
  const WindowAttributes plan = plan_of("window_reduce", x, window, options);
  expect_scalar("window_reduce", "initial", initial);
  if (!combine) fail("window_reduce", "combine", "expected a function, got none");
  const DType type = promote(x.dtype(), initial.dtype());
  const WindowAttributes some = lean(plan, x.shape());
  // Without an axis that does anything the function is still called once an element.
  Tensor seen = view(as_type(x, type), as_type(initial, type), some);
  Axes inner;
  if (some.axes.empty()) seen = expand_dims(seen, x.rank());
  for (int axis = x.rank(); axis < seen.rank(); ++axis) inner.push_back(axis);
  return reduce(seen, as_type(initial, type), inner, combine);
}

Tensor window_scatter_max(const Tensor& x, const Tensor& source, const Tensor& initial, const Dims& window,
                          const WindowOptions& options) {
  return window_build::scattered("window_scatter_max", Op::reduce_max, x, source, initial, window, options);
}

Tensor window_scatter_min(const Tensor& x, const Tensor& source, const Tensor& initial, const Dims& window,
                          const WindowOptions& options) {
  return window_build::scattered("window_scatter_min", Op::reduce_min, x, source, initial, window, options);
}

Tensor max_pool(const Tensor& x, const Dims& window, const WindowOptions& options) {
  using namespace window_build;
  const Dims all = pooled_window("max_pool", x, window, options);
  return extreme("max_pool", Op::reduce_max, x, all, of_all_axes(options, window));
}

Tensor average_pool(const Tensor& x, const Dims& window, const WindowOptions& options, bool count_padding) {
  using namespace window_build;
  const Dims all = pooled_window("average_pool", x, window, options);
  const WindowAttributes plan = plan_of("average_pool", x, all, of_all_axes(options, window));
  const Tensor total = summed(wide(x), Op::sum, plan);
  if (count_padding || !leaves_x(plan, x.shape()))
    return divided(total, x, constant(total.dtype(), static_cast<double>(element_count(window))));
  return divided(total, x, summed(ones(x.shape(), total.dtype()), Op::sum, plan));
}

}  // namespace adit
