// The builder of convolutions: axes in the row's order, batches in groups as groups of features.
#include <adit/windows.hpp>

#include "graph/build/arguments.hpp"
#include "graph/build/windows.hpp"
#include "graph/derive.hpp"
#include "graph/windows.hpp"

namespace adit {

using namespace graph;

namespace conv_build {

// Axes in the order of a permutation, which names each once; none: as they are.
Axes order_of(std::string_view argument, const Axes& permutation, int rank) {
  if (permutation.empty()) return Dims::counted(rank);
  Axes order;
  for (const int64_t axis : permutation)
    if (axis >= -rank && axis < rank && !order.contains(axis < 0 ? axis + rank : axis))
      order.push_back(axis < 0 ? axis + rank : axis);
  if (order.size() != rank || permutation.size() != rank)
    fail("conv", argument,
         fmt::format("expected each of {} axes once, got {}", rank, to_string(permutation)));
  return order;
}

void check_ranks(const Tensor& x, const Tensor& kernel) {
  expect_tensor("conv", "x", x);
  expect_tensor("conv", "kernel", kernel);
  if (x.rank() < 3 || x.rank() > 5)
    fail("conv", "x",
         fmt::format("expected batch, channels and 1 to 3 spatial axes, got the shape {}",
                     to_string(x.shape())));
  if (kernel.rank() != x.rank())
    fail("conv", "kernel",
         fmt::format("expected {} axes, as x has, got the shape {}", x.rank(), to_string(kernel.shape())));
}

void check_groups(const Tensor& x, const Tensor& w, int64_t features, int64_t batches) {
  if (features < 1) fail("conv", "feature_groups", fmt::format("expected at least 1, got {}", features));
  if (batches < 1) fail("conv", "batch_groups", fmt::format("expected at least 1, got {}", batches));
  if (features != 1 && batches != 1)
    fail("conv", "batch_groups",
         fmt::format("expected 1 beside {} feature groups, got {}", features, batches));
  if (x.dim(1) != w.dim(1) * features)
    fail("conv", "kernel",
         fmt::format("expected channels that are those of x, {}, in {} groups, got {}", x.dim(1), features,
                     w.dim(1)));
  if (w.dim(0) % (features * batches) != 0)
    fail("conv", "kernel",
         fmt::format("expected a number of filters that {} divides, got {}", features * batches, w.dim(0)));
  if (x.dim(0) % batches != 0)
    fail("conv", "batch_groups",
         fmt::format("expected a divisor of the batch of {}, got {}", x.dim(0), batches));
}

Dims spatial(const Shape& shape) {
  Dims extents;
  for (int axis = 2; axis < shape.size(); ++axis) extents.push_back(shape[axis]);
  return extents;
}

// [groups * batch, channels, ...] as [batch, groups * channels, ...]
Tensor batches_as_features(const Tensor& x, int64_t groups) {
  Shape apart = x.shape(), joined = x.shape();
  apart[0] /= groups;
  apart.insert(0, groups);
  joined[0] /= groups;
  joined[1] *= groups;
  return reshape(move_axis(reshape(x, apart), 0, 1), joined);
}

}  // namespace conv_build

Tensor conv(const Tensor& x, const Tensor& kernel, const ConvOptions& options) {
  using namespace conv_build;
  check_ranks(x, kernel);
  const int rank = x.rank();
  const DType type = promote(x.dtype(), kernel.dtype());
  Tensor from = transpose(as_type(x, type), order_of("input_permutation", options.input_permutation, rank));
  const Tensor with =
      transpose(as_type(kernel, type), order_of("kernel_permutation", options.kernel_permutation, rank));
  const Axes to = order_of("output_permutation", options.output_permutation, rank);
  check_groups(from, with, options.feature_groups, options.batch_groups);
  const Dims window = spatial(with.shape());
  expect_one_axis_each("conv", "kernel", window, rank - 2);
  WindowAttributes plan =
      window_plan("conv", spatial(from.shape()), window, options.strides, options.padding, options.same,
                  options.kernel_dilation, options.input_dilation, "kernel");
  for (int64_t& axis : plan.axes) axis += 2;
  plan.groups = options.feature_groups * options.batch_groups;
  if (options.batch_groups > 1) from = batches_as_features(from, options.batch_groups);
  const Tensor result = make_conv(from, with, plan);
  Axes order = to;
  for (int axis = 0; axis < rank; ++axis) order[static_cast<int>(to[axis])] = axis;
  return transpose(result, order);
}

}  // namespace adit
