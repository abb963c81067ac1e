// The matrix product's view of x: a column is a window, a step of k one of its elements.
#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "ops/conv.hpp"

namespace adit::ops {

namespace conv_map {

using kernel::Array;
using kernel::Builder;
using kernel::Type;
using kernel::Value;

constexpr int64_t most_of_32_bits = std::numeric_limits<int32_t>::max();

uint32_t narrow(int64_t number) { return static_cast<uint32_t>(number); }

// By a number known here; shifts where it is a power of two.
Value quotient_by(Value a, uint32_t b) {
  if (b == 1) return a;
  return std::has_single_bit(b) ? a >> std::countr_zero(b) : a / b;
}
Value rest_by(Value a, uint32_t b) {
  if (b == 1) return a.like(0);
  return std::has_single_bit(b) ? a & (b - 1) : a % b;
}

// Numbers below zero wrap: they are larger than any place then.
Value minus(Value a, int64_t b) {
  if (b == 0) return a;
  return b > 0 ? a - a.like(b) : a + a.like(-b);
}

// A column of the product: an image, and one of its results. What lies side by side in x comes last.
std::pair<Value, Value> taken_apart(const ConvShape& conv, Value column) {
  const uint32_t last = narrow(conv.images_last ? conv.batch : conv.outputs());
  const Value above = quotient_by(column, last), below = rest_by(column, last);
  return conv.images_last ? std::pair(below, above) : std::pair(above, below);
}

class Column {
 public:
  Column(const ConvShape& conv, uint32_t channels_last, uint32_t block_k, Value group, Value column)
      : conv_(conv), channels_last_(channels_last), block_k_(block_k) {
    const bool is_wide = conv.x_count() > most_of_32_bits;
    index_type_ = is_wide ? Type::u64 : Type::u32;
    const auto [image, output] = taken_apart(conv, column);
    Value left = output;
    for (size_t i = 3; i-- > 0;) {
      const ConvAxis& axis = conv.axes[i];
      const Value at = i == 0 ? left : rest_by(left, narrow(axis.output));
      if (i > 0) left = quotient_by(left, narrow(axis.output));
      first_[i] = minus(axis.stride == 1 ? at : at * at.like(axis.stride), axis.low);
    }
    const Value plane = convert(image, index_type_);
    base_ = conv.images_last ? plane : plane * plane.like(conv.groups * conv.channels * conv.inputs());
    if (conv.groups > 1)
      base_ = base_ + convert(group, index_type_) * plane.like(conv.channels * conv.inputs() * unit());
    if (conv.is_within_x()) base_ = base_ + offset_of(first_);
  }

  MatmulHooks::Element at(Value tile, Value line) const {
    std::optional<Value> inside;
    const auto require = [&](Value condition) { inside = inside ? *inside && condition : condition; };
    const Step step = step_at(tile, line);
    if (channels_last_ == 0 && conv_.steps() % block_k_ != 0)
      require(tile * block_k_ + line < narrow(conv_.steps()));
    if (channels_last_ > narrow(conv_.channels)) require(step.channel < narrow(conv_.channels));
    const Value channel = convert(step.channel, index_type_) * base_.like(conv_.inputs() * unit());
    // What a step adds is the same for all columns, and computed once for those of a lane.
    if (conv_.is_within_x()) return guarded(base_ + (channel + offset_of(distances(step))), inside);
    Value index = base_ + channel;
    int64_t pitch = unit();
    for (size_t i = 3; i-- > 0;) {
      const ConvAxis& axis = conv_.axes[i];
      const Value k = step.window[i];
      Value place = first_[i];
      if (axis.window > 1) place = place + (axis.dilation == 1 ? k : k * k.like(axis.dilation));
      if (axis.leaves_x()) require(place <= place.like(axis.last()));
      if (axis.spread != 1) {
        require(rest_by(place, narrow(axis.spread)) == 0);
        place = quotient_by(place, narrow(axis.spread));
      }
      if (axis.input > 1) index = index + convert(place, index_type_) * index.like(pitch);
      pitch *= axis.input;
    }
    return guarded(index, inside);
  }

 private:
  static MatmulHooks::Element guarded(Value index, const std::optional<Value>& inside) {
    MatmulHooks::Element element{index, {}, inside.has_value()};
    if (inside) {
      element.inside = *inside;
      element.index = select(*inside, index, index.like(0));
    }
    return element;
  }
  // From a place of x to its neighbour.
  int64_t unit() const { return conv_.images_last ? conv_.batch : 1; }
  // Of places along the axes, from the first element of a channel.
  Value offset_of(const std::array<Value, 3>& places) const {
    Value offset = base_.like(0);
    int64_t pitch = unit();
    for (size_t i = 3; i-- > 0;) {
      if (conv_.axes[i].input > 1) offset = offset + convert(places[i], index_type_) * base_.like(pitch);
      pitch *= conv_.axes[i].input;
    }
    return offset;
  }
  // A step of k: a channel, and an element of the window.
  struct Step {
    Value channel;
    std::array<Value, 3> window;
  };

  std::array<Value, 3> distances(const Step& step) const {
    std::array<Value, 3> list = step.window;
    for (size_t i = 0; i < 3; ++i)
      if (conv_.axes[i].dilation != 1) list[i] = list[i] * list[i].like(conv_.axes[i].dilation);
    return list;
  }

  Step step_of(Value channel, Value window) const {
    Step step{channel, {}};
    for (size_t i = 3; i-- > 1;) {
      step.window[i] = rest_by(window, narrow(conv_.axes[i].window));
      window = quotient_by(window, narrow(conv_.axes[i].window));
    }
    step.window[0] = window;
    return step;
  }

  // What all lines of a tile share is found once for all of them: divisions cost more than what they serve.
  Step step_at(Value tile, Value line) const {
    const auto windows = narrow(conv_.windows());
    if (channels_last_ > 0) {
      // All of a tile's steps belong to one element of the window.
      const uint32_t tiles = channels_last_ / block_k_;
      return step_of(rest_by(tile, tiles) * block_k_ + line, quotient_by(tile, tiles));
    }
    const Value first = tile * block_k_;
    const auto [depth, height, width] =
        std::array{narrow(conv_.axes[0].window), narrow(conv_.axes[1].window), narrow(conv_.axes[2].window)};
    // A number that one step of a digit above takes back into its range.
    const auto carried = [](Value number, uint32_t range) {
      const Value over = number >= range;
      return std::pair(select(over, number - range, number), select(over, number.like(1), number.like(0)));
    };
    if (width >= block_k_) {
      const Step start = step_of(quotient_by(first, windows), rest_by(first, windows));
      const auto [column, next_row] = carried(start.window[2] + line, width);
      const auto [row, next_plane] = carried(start.window[1] + next_row, height);
      const auto [plane, next_channel] = carried(start.window[0] + next_plane, depth);
      return {start.channel + next_channel, {plane, row, column}};
    }
    if (windows >= block_k_) {
      const auto [window, next_channel] = carried(rest_by(first, windows) + line, windows);
      return step_of(quotient_by(first, windows) + next_channel, window);
    }
    const Value step = first + line;
    return step_of(quotient_by(step, windows), rest_by(step, windows));
  }

  ConvShape conv_;
  uint32_t channels_last_, block_k_;
  Type index_type_{};
  Value base_;
  std::array<Value, 3> first_;
};

// So many steps of k that channels fill tiles, which each cost about one step more; a multiple of the lines
// that lanes read at the same time.
int64_t steps_of_a_tile(int64_t channels, const MatmulTiling& tiling) {
  const int64_t lanes = int64_t{tiling.block_m / tiling.part_m} * (tiling.block_n / tiling.part_n),
                lines = std::max<int64_t>(1, lanes / tiling.block_n), most = tiling.block_k;
  const auto cost = [&](int64_t steps) { return (channels + steps - 1) / steps * (steps + 1); };
  int64_t best = most;
  for (int64_t steps = most; 2 * steps >= most; --steps)
    if (steps % lines == 0 && cost(steps) < cost(best)) best = steps;
  return best;
}

}  // namespace conv_map

bool ConvShape::is_within_x() const {
  return std::none_of(axes.begin(), axes.end(),
                      [](const ConvAxis& axis) { return axis.leaves_x() || axis.spread != 1; });
}

bool ConvShape::fits_32_bits() const {
  using conv_map::most_of_32_bits;
  for (const ConvAxis& axis : axes)
    if (std::max({std::abs(axis.least()), std::abs(axis.most()), axis.last(), axis.spread,
                  axis.stride * axis.output}) > most_of_32_bits)
      return false;
  return std::max({steps(), filters, batch * outputs(), groups * filters * steps(), groups}) <=
         most_of_32_bits;
}

ConvPlan plan_conv(const ConvShape& conv, kernel::Type type, const Limits& limits) {
  ConvPlan plan;
  plan.shape.type = plan.shape.result = type;
  plan.shape.m = conv_map::narrow(conv.filters);
  plan.shape.n = conv_map::narrow(conv.batch * conv.outputs());
  plan.shape.k = conv_map::narrow(conv.steps());
  plan.shape.batch = conv_map::narrow(conv.groups);
  plan.shape.a_stride = static_cast<uint64_t>(conv.filters * conv.steps());
  plan.shape.mapped = true;
  plan.shape.transpose_b = conv.runs_along_steps() && conv.is_within_x() && !conv.images_last;
  plan.tiling = choose_tiling(plan.shape, limits);
  // Kernels are turned first, which is cheap where they are small, with zeros for channels that fill a tile
  // and for filters that fill a vector.
  constexpr int64_t most_turned = 1024;
  const int64_t block = conv_map::steps_of_a_tile(conv.channels, plan.tiling),
                filled = (conv.channels + block - 1) / block * block, pitch = (conv.filters + 3) / 4 * 4;
  const int64_t turned = conv.groups * conv.windows() * filled * pitch;
  if (!plan.shape.transpose_b && !conv.images_last && conv.windows() > 1 && conv.windows() <= most_turned &&
      4 * filled <= 5 * conv.channels && turned <= conv_map::most_of_32_bits) {
    plan.channels_last = conv_map::narrow(filled);
    plan.tiling.block_k = conv_map::narrow(block);
    plan.shape.transpose_a = true;
    plan.shape.a_pitch = conv_map::narrow(pitch);
    plan.shape.k = conv_map::narrow(conv.windows() * filled);
    plan.shape.a_stride = static_cast<uint64_t>(conv.windows() * filled * pitch);
    plan.tiling.split_k = fitting_splits(plan.shape, plan.tiling);
  }
  return plan;
}

MatmulHooks conv_hooks(const ConvShape& conv, const ConvPlan& plan) {
  MatmulHooks hooks;
  hooks.column = [conv, plan](kernel::Builder&, kernel::Value batch, kernel::Value column) {
    const conv_map::Column one(conv, plan.channels_last, plan.tiling.block_k, batch, column);
    return [one](kernel::Value tile, kernel::Value line) { return one.at(tile, line); };
  };
  const int64_t outputs = conv.outputs();
  hooks.run = conv.images_last ? 1 : conv_map::narrow(outputs);
  if (plan.channels_last == conv_map::narrow(conv.channels))
    hooks.apart = static_cast<uint64_t>(conv.inputs());
  hooks.beside = conv.images_last && conv.batch % 4 == 0 ? 4 : 1;
  hooks.place = [conv, outputs](kernel::Builder&, kernel::Value batch, kernel::Value row,
                                kernel::Value column) {
    const kernel::Type type =
        conv.results() > conv_map::most_of_32_bits ? kernel::Type::u64 : kernel::Type::u32;
    const auto wide = [&](kernel::Value v) { return convert(v, type); };
    const auto [image, output] = conv_map::taken_apart(conv, column);
    kernel::Value plane = wide(image);
    if (conv.groups > 1) plane = plane * plane.like(conv.groups) + wide(batch);
    return (plane * plane.like(conv.filters) + wide(row)) * plane.like(outputs) + wide(output);
  };
  return hooks;
}

}  // namespace adit::ops
