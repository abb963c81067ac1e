// Windows that move over a tensor, and convolutions. Windows have one extent an axis; a result is made of
// each place where the window fits into the padded tensor. Types stay what they are: integers wrap.
#pragma once

#include <functional>
#include <vector>

#include <adit/ops.hpp>

#pragma GCC visibility push(default)
namespace adit {

// How windows lie on a tensor.
struct WindowOptions {
  Dims strides{};                  // from a window to the next; none: 1 along each axis
  std::vector<Padding> padding{};  // before and behind each axis, negative numbers cut; none: no padding
  Dims dilations{};                // between the elements of a window; none: 1 along each axis
  bool same = false;               // instead of `padding`: so that strides of 1 keep the shape, as in Nx
};

// The windows themselves: axes of the results, then those of the window; `value` stands where x has no
// element.
Tensor windows(const Tensor& x, const Tensor& value, const Dims& window, const WindowOptions& options = {});

Tensor window_sum(const Tensor& x, const Dims& window, const WindowOptions& options = {});
Tensor window_product(const Tensor& x, const Dims& window, const WindowOptions& options = {});
// NaN where a window has one. The last of equal elements has the gradient, as in Nx.
Tensor window_max(const Tensor& x, const Dims& window, const WindowOptions& options = {});
Tensor window_min(const Tensor& x, const Dims& window, const WindowOptions& options = {});
Tensor window_mean(const Tensor& x, const Dims& window, const WindowOptions& options = {});
// Folds each window in row-major order by a function of (accumulator, element) from `initial` on, which pads
// too.
Tensor window_reduce(const Tensor& x, const Tensor& initial, const Dims& window,
                     const std::function<Tensor(Tensor, Tensor)>& combine, const WindowOptions& options = {});
// A tensor of x's shape and of `initial`, to which the place of each window's largest (smallest) element adds
// the window's element of `source`. Of equal ones it is the last; NaN counts as largest (smallest); padding
// is never chosen.
Tensor window_scatter_max(const Tensor& x, const Tensor& source, const Tensor& initial, const Dims& window,
                          const WindowOptions& options = {});
Tensor window_scatter_min(const Tensor& x, const Tensor& source, const Tensor& initial, const Dims& window,
                          const WindowOptions& options = {});

// Pooling of x [batch, channels, spatial...]: windows, strides (none: the window's extents) and padding are
// of the spatial axes. The average counts what is padded only where it is asked to.
Tensor max_pool(const Tensor& x, const Dims& window, const WindowOptions& options = {});
Tensor average_pool(const Tensor& x, const Dims& window, const WindowOptions& options = {},
                    bool count_padding = true);

struct ConvOptions {
  Dims strides{};                  // of the spatial axes, like all but the permutations; none: 1
  std::vector<Padding> padding{};  // none: no padding
  bool same = false;               // instead of `padding`
  Dims input_dilation{}, kernel_dilation{};
  int64_t feature_groups = 1, batch_groups = 1;  // one of them is 1
  // Axis i of [batch, channels, spatial...], of [filters, channels, spatial...] and of the result
  // [batch, filters, spatial...] is axis permutation[i] of the tensor that is given or made; none: as listed.
  Axes input_permutation{}, kernel_permutation{}, output_permutation{};
};

// Sums over channels and kernel of input times kernel, which is not reversed; 1 to 3 spatial axes. Types are
// promoted; f16 and bf16 add up in f32, integers wrap.
Tensor conv(const Tensor& x, const Tensor& kernel, const ConvOptions& options = {});

}  // namespace adit
#pragma GCC visibility pop
