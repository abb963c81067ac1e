// Results of a convolution that meet the same elements of the window. Where x has gaps of s - 1 along an
// axis, as gradients of strided convolutions have, every s-th result does, and the others meet other
// elements. All of them read the same lines of x, without its gaps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "ops/conv.hpp"

namespace adit::ops::conv_phases {

constexpr int64_t most_phases = 8;  // along an axis; more gaps than that are read as zeros

struct Phase {
  std::array<int64_t, 3> place{};   // of its first result along each axis
  std::vector<int32_t> of_w, of_x;  // elements that it meets: in w, and in the window of what is read
};

struct Phases {
  ConvShape base;                         // what is read, without gaps; it has the results of one phase
  std::array<int64_t, 3> apart{1, 1, 1};  // results of a phase along each axis
  std::array<int64_t, 3> outputs{};       // of all phases
  std::vector<Phase> list;                // those along the last axis follow each other

  explicit Phases(const ConvShape& conv) : base(conv) {
    std::array<Axis, 3> axes;
    for (size_t i = 0; i < 3; ++i) {
      outputs[i] = conv.axes[i].output;
      axes[i] = along(conv.axes[i], base.axes[i]);
      apart[i] = static_cast<int64_t>(axes[i].size());
    }
    base.w_strides = conv.w_apart();
    for (int64_t p0 = 0; p0 < apart[0]; ++p0)
      for (int64_t p1 = 0; p1 < apart[1]; ++p1)
        for (int64_t p2 = 0; p2 < apart[2]; ++p2) add(conv, axes, {p0, p1, p2});
  }
  // Results of a phase along an axis, of those from `first` on.
  int64_t count(size_t axis, int64_t place, int64_t first, int64_t most) const {
    const int64_t all = (outputs[axis] - place + apart[axis] - 1) / apart[axis];
    return std::clamp<int64_t>(all - first, 0, most);
  }

 private:
  using Elements = std::vector<std::pair<int64_t, int64_t>>;  // of the window: in w, in what is read
  using Axis = std::vector<Elements>;                         // by phase

  static Axis along(const ConvAxis& axis, ConvAxis& read) {
    const bool has_phases = axis.spread > 1 && axis.spread <= most_phases && axis.stride == 1;
    Axis phases(static_cast<size_t>(has_phases ? axis.spread : 1));
    if (!has_phases) {
      for (int64_t k = 0; k < axis.window; ++k) phases[0].emplace_back(k, k);
      return phases;
    }
    int64_t least = 0, most = 0;
    bool any = false;
    for (int64_t p = 0; p < axis.spread; ++p)
      for (int64_t k = 0; k < axis.window; ++k) {
        const int64_t at = p + k * axis.dilation - axis.low;
        if (at % axis.spread != 0) continue;
        const int64_t place = at / axis.spread;
        phases[static_cast<size_t>(p)].emplace_back(k, place);
        least = any ? std::min(least, place) : place, most = any ? std::max(most, place) : place;
        any = true;
      }
    for (Elements& elements : phases)
      for (auto& [k, place] : elements) place -= least;
    read.window = most - least + 1;
    read.output = (axis.output + axis.spread - 1) / axis.spread;
    read.dilation = read.spread = 1;
    read.low = -least;
    return phases;
  }

  void add(const ConvShape& conv, const std::array<Axis, 3>& axes, const std::array<int64_t, 3>& place) {
    Phase phase{place, {}, {}};
    const auto of = [&](size_t i) -> const Elements& { return axes[i][static_cast<size_t>(place[i])]; };
    for (const auto& [k0, x0] : of(0))
      for (const auto& [k1, x1] : of(1))
        for (const auto& [k2, x2] : of(2)) {
          const int64_t k = (k0 * conv.axes[1].window + k1) * conv.axes[2].window + k2;
          phase.of_w.push_back(static_cast<int32_t>(conv.w_reversed ? conv.windows() - 1 - k : k));
          phase.of_x.push_back(
              static_cast<int32_t>((x0 * base.axes[1].window + x1) * base.axes[2].window + x2));
        }
    list.push_back(std::move(phase));
  }
};

}  // namespace adit::ops::conv_phases
