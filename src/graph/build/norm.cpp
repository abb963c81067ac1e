// Normalisation over axes, of reductions that share a kernel.
#include <cmath>

#include <adit/network.hpp>

#include "graph/build/arguments.hpp"

namespace adit {

using namespace graph;

namespace norms {

struct Norm {
  Axes axes;
  DType result, working;
};

Norm norm_of(std::string_view op, const Tensor& x, const Tensor& scale, const Tensor& shift, const Axes& axes,
             double epsilon) {
  expect_tensor(op, "x", x);
  if (x.rank() == 0) fail(op, "x", "expected at least one axis, got a scalar");
  Norm norm;
  norm.axes = axes.empty() ? Axes::counted(x.rank()) : normal_axes(op, axes, x.rank());
  norm.result = float_of(x.dtype());
  Shape extents;
  for (const int64_t axis : norm.axes) extents.push_back(x.shape()[static_cast<int>(axis)]);
  const auto add = [&](std::string_view name, const Tensor& part) {
    if (!part) return;
    if (!(part.shape() == extents))
      fail(op, name,
           fmt::format("expected the extents {} of the axes, got the shape {}", to_string(extents),
                       to_string(part.shape())));
    norm.result = promote(norm.result, part.dtype());
  };
  add("scale", scale);
  add("shift", shift);
  for (const auto& [name, part] :
       {std::pair<std::string_view, const Tensor&>{"x", x}, {"scale", scale}, {"shift", shift}})
    if (part && is_complex(part.dtype()))
      fail(op, name, fmt::format("expected real numbers, got {}", name_of(part.dtype())));
  if (!(epsilon >= 0) || std::isinf(epsilon))
    fail(op, "epsilon", fmt::format("expected a number of at least 0, got {}", epsilon));
  norm.working = size_of(norm.result) == 2 ? DType::f32 : norm.result;
  return norm;
}

// centred / sqrt(mean square + epsilon) * scale + shift.
Tensor scaled(const Tensor& centred, const Tensor& scale, const Tensor& shift, const Norm& norm,
              double epsilon) {
  const Tensor power = mean(square(centred), norm.axes, true);
  Tensor result = centred * rsqrt(power + epsilon);
  const auto spread = [&](const Tensor& part) {
    return broadcast_in(as_type(part, norm.working), centred.shape(), norm.axes);
  };
  if (scale) result = result * spread(scale);
  if (shift) result = result + spread(shift);
  return as_type(result, norm.result);
}

}  // namespace norms

Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, const Axes& axes,
                  double epsilon) {
  const norms::Norm norm = norms::norm_of("layer_norm", x, scale, shift, axes, epsilon);
  if (x.size() == 0) return as_type(x, norm.result);
  const Tensor working = as_type(x, norm.working);
  return norms::scaled(working - mean(working, norm.axes, true), scale, shift, norm, epsilon);
}

Tensor rms_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, const Axes& axes, double epsilon) {
  const norms::Norm norm = norms::norm_of("rms_norm", x, scale, shift, axes, epsilon);
  if (x.size() == 0) return as_type(x, norm.result);
  return norms::scaled(as_type(x, norm.working), scale, shift, norm, epsilon);
}

}  // namespace adit
