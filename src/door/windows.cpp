// Windows and convolutions.
#include <fmt/format.h>

#include <adit/windows.hpp>

#include "door/window_call.hpp"

namespace adit::door {

namespace {

constexpr const char* window_words = "window, strides=1, low=0, high=0, same=0, dilations=1";

using Windowed = Tensor (*)(const Tensor&, const Dims&, const WindowOptions&);
Operation windowed(const char* name, Windowed f) {
  return {{name, "x", window_words}, 1, 1, [f](const Call& c) -> Tensors {
            return {f(c[0], c.dims("window"), window_options(c))};
          }};
}
using Scattered = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Dims&, const WindowOptions&);
Operation scattered(const char* name, Scattered f) {
  return {{name, "x, source, initial", window_words}, 3, 3, [f](const Call& c) -> Tensors {
            return {f(c[0], c[1], c[2], c.dims("window"), window_options(c))};
          }};
}

Tensors conv_of(const Call& c) {
  ConvOptions options;
  options.strides = c.dims("strides", {});
  options.padding = window_padding(c);
  options.same = c.flag("same", false);
  options.input_dilation = c.dims("input_dilation", {});
  options.kernel_dilation = c.dims("kernel_dilation", {});
  options.feature_groups = c.integer("feature_groups", 1);
  options.batch_groups = c.integer("batch_groups", 1);
  options.input_permutation = c.dims("input_permutation", {});
  options.kernel_permutation = c.dims("kernel_permutation", {});
  options.output_permutation = c.dims("output_permutation", {});
  return {conv(c[0], c[1], options)};
}

}  // namespace

std::vector<Operation> window_operations() {
  return {
      windowed("window_sum", window_sum),
      windowed("window_product", window_product),
      windowed("window_max", window_max),
      windowed("window_min", window_min),
      windowed("window_mean", window_mean),
      windowed("max_pool", max_pool),
      {{"windows", "x, value", window_words},
       2,
       2,
       [](const Call& c) -> Tensors { return {windows(c[0], c[1], c.dims("window"), window_options(c))}; }},
      {{"average_pool", "x", "window, strides=window, low=0, high=0, same=0, dilations=1, count_padding=1"},
       1,
       1,
       [](const Call& c) -> Tensors {
         return {average_pool(c[0], c.dims("window"), window_options(c), c.flag("count_padding", true))};
       }},
      scattered("window_scatter_max", window_scatter_max),
      scattered("window_scatter_min", window_scatter_min),
      {{"conv", "x, kernel",
        "strides=1, low=0, high=0, same=0, input_dilation=1, kernel_dilation=1, feature_groups=1, "
        "batch_groups=1, input_permutation, kernel_permutation, output_permutation"},
       2,
       2,
       conv_of},
  };
}

}  // namespace adit::door
