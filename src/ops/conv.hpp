// Convolutions of x [batch, groups * channels, spatial...] with w [groups * filters, channels, spatial...],
// as kernels: by tiles of the matrix product, whose second operand is read from x through an index map, and
// directly, a result an invocation. On a CPU the host computes them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <adit/dtype.hpp>

#include "ops/matmul.hpp"

namespace adit::ops {

// Along each axis, element k of window o is at place p of x where p * spread = o * stride + k * dilation -
// low; axes that a convolution does not have come first, with extents of 1.
struct ConvAxis {
  int64_t input = 1, window = 1, output = 1;
  int64_t stride = 1, dilation = 1, low = 0, spread = 1;
  int64_t last() const { return (input - 1) * spread; }
  int64_t least() const { return -low; }
  int64_t most() const { return (output - 1) * stride + (window - 1) * dilation - low; }
  bool leaves_x() const { return least() < 0 || most() > last(); }
};

struct ConvShape {
  int64_t batch = 1, groups = 1, filters = 1, channels = 1;  // the last two: of a group
  std::array<ConvAxis, 3> axes;
  // How far apart images, groups and channels of x lie, and groups, filters and channels of w, where that is
  // not as listed; by the host, and by what turns x or w.
  std::optional<std::array<int64_t, 3>> x_strides{}, w_strides{};
  bool w_reversed = false;  // the last element of each window lies first; by the host without long sums, and
                            // by what turns w

  std::array<int64_t, 3> x_apart() const {
    return x_strides.value_or(std::array{groups * channels * inputs(), channels * inputs(), inputs()});
  }
  std::array<int64_t, 3> w_apart() const {
    return w_strides.value_or(std::array{filters * steps(), steps(), windows()});
  }
  int64_t inputs() const { return axes[0].input * axes[1].input * axes[2].input; }
  int64_t windows() const { return axes[0].window * axes[1].window * axes[2].window; }
  int64_t outputs() const { return axes[0].output * axes[1].output * axes[2].output; }
  int64_t steps() const { return channels * windows(); }  // products of one result
  int64_t x_count() const { return batch * groups * channels * inputs(); }
  int64_t results() const { return batch * groups * filters * outputs(); }
  // More neighbours in x are steps of one sum than windows: lanes then read along the steps, as do gradients
  // of kernels, whose windows are as large as results.
  bool runs_along_steps() const { return windows() > outputs(); }
  // x lies as [groups, channels, inputs, images]; on a GPU alone.
  bool images_last = false;

  bool has_long_sums() const { return outputs() < windows(); }
  bool is_within_x() const;   // no window leaves x, which has no gaps
  bool fits_32_bits() const;  // places along each axis, and everything but x and the results
};

// On a GPU: c [groups][filters, batch * outputs] = w [groups][filters, steps] * x seen as a matrix.
struct ConvPlan {
  MatmulShape shape;
  MatmulTiling tiling;
  // Steps of k go through so many channels of an element of the window: w must lie as [windows, channels,
  // filters], with zeros where there are fewer than that or than shape.a_pitch; 0: it is as it lies.
  uint32_t channels_last = 0;
};
ConvPlan plan_conv(const ConvShape& conv, kernel::Type type, const Limits& limits);
// How the product reads x and where it puts its results.
MatmulHooks conv_hooks(const ConvShape& conv, const ConvPlan& plan);
// w [groups, filters, channels, windows], at any distances, as the plan wants it. Parameters: from, to, of so
// many elements.
kernel::Program conv_weights_program(const ConvShape& conv, const ConvPlan& plan);
uint64_t conv_weights_teams(const ConvShape& conv, const ConvPlan& plan);
uint64_t conv_weights_count(const ConvShape& conv, const ConvPlan& plan);

// On a GPU, for gradients of kernels: x with its images side by side, and the same convolution of that.
ConvShape turned_conv(const ConvShape& conv);
// Parameters: x, turned.
kernel::Program conv_turn_program(const ConvShape& conv, kernel::Type type);
uint64_t conv_turn_teams(const ConvShape& conv, kernel::Type type);

// Directly, with the parameters x, w and result: one invocation a result, or (rows, for a CPU) a team a
// filter's results of an image, line by line.
kernel::Program direct_conv_program(const ConvShape& conv, DType type, bool rows);

// With few filters a group, on a GPU: an invocation has `together` neighbouring results of all of them. Not
// for an x with gaps, nor for complex numbers. Parameters: x, w, result.
kernel::Program few_conv_program(const ConvShape& conv, kernel::Type type, int64_t together);
int64_t few_conv_teams(const ConvShape& conv, int64_t together);

// With few results of many steps a group, on a GPU: a team has them all, of a share of the steps; what the
// teams of a group have is added up by a second kernel where there are splits. Not for complex numbers.
bool has_few_results(const ConvShape& conv);
int64_t conv_steps_splits(const ConvShape& conv, const Limits& limits);
// One team a group and split. Parameters: x, w, and the result or, with splits, sums [splits, results].
kernel::Program conv_steps_program(const ConvShape& conv, kernel::Type type, int64_t splits);
// One invocation a result. Parameters: sums, result.
kernel::Program conv_steps_sum_program(const ConvShape& conv, kernel::Type type, int64_t splits);

// On a CPU, by the host:
bool has_host_conv(DType type);
// A convolution whose way is found, to be run any number of times.
struct HostConv {
  virtual ~HostConv() = default;
  virtual uint64_t bytes() const = 0;  // that it needs beside its operands
  virtual void run(const void* x, const void* w, void* result, void* scratch) const = 0;
};
std::shared_ptr<const HostConv> make_host_conv(const ConvShape& conv, DType type);

// The same by the library's products; complex numbers alone.
bool has_library_conv(DType type);
uint64_t library_conv_bytes(const ConvShape& conv, DType type);
void library_conv(const ConvShape& conv, DType type, const void* x, const void* w, void* result,
                  void* scratch);

}  // namespace adit::ops
