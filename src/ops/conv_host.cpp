// Convolutions on a CPU: the way that takes the fewest cycles.
#include <memory>

#include "ops/conv_bands.hpp"
#include "ops/conv_sums.hpp"
#include "support/threads.hpp"

namespace adit::ops {

namespace conv_host {

// Axes whose lines follow each other in x, in the window and in the result are one.
bool follow_each_other(const ConvAxis& down, const ConvAxis& along) {
  const auto is_plain = [](const ConvAxis& axis) { return axis.low == 0 && axis.spread == 1; };
  const auto is_window_of_one = [](const ConvAxis& axis) {
    return axis.window == 1 && axis.stride == 1 && axis.output == axis.input;
  };
  const auto is_whole_window = [](const ConvAxis& axis) {
    return axis.output == 1 && axis.dilation == 1 && axis.window == axis.input;
  };
  if (!is_plain(down) || !is_plain(along)) return false;
  return (is_window_of_one(down) && is_window_of_one(along)) ||
         (is_whole_window(down) && is_whole_window(along));
}

ConvShape joined(ConvShape conv) {
  ConvAxis &deep = conv.axes[0], &down = conv.axes[1], &along = conv.axes[2];
  const auto join = [](ConvAxis& first, ConvAxis& second) {
    second.input *= first.input, second.window *= first.window, second.output *= first.output;
    first = {};
  };
  if (follow_each_other(deep, down)) join(deep, down);
  if (follow_each_other(down, along)) join(down, along);
  for (ConvAxis& axis : conv.axes) {
    if (axis.window == 1) axis.dilation = 1;
    if (axis.output == 1) axis.stride = 1;
  }
  return conv;
}

template <class T>
std::unique_ptr<ConvWay<T>> best_way(const ConvShape& given) {
  const ConvShape conv = joined(given);
  std::vector<std::unique_ptr<ConvWay<T>>> ways;
  for (const Lanes lanes : {Lanes::filters, Lanes::columns, Lanes::places})
    ways.push_back(conv_by_bands<T>(conv, lanes));
  if (conv.outputs() < conv.windows()) {
    ways.push_back(conv_by_sums<T>(conv, SumLanes::images));
    ways.push_back(conv_by_sums<T>(conv, SumLanes::filters));
    ways.push_back(conv_by_dots<T>(conv));
  }
  size_t best = 0;
  for (size_t i = 1; i < ways.size(); ++i)
    if (ways[i] && ways[i]->cycles() < ways[best]->cycles()) best = i;
  return std::move(ways[best]);
}

// An x with gaps of s - 1 along an axis, as gradients of strided convolutions have: every s-th result meets
// the same elements of the window, and the others only gaps. Each such set of results is a convolution
// without gaps.
constexpr int64_t most_phases = 8;

bool has_phases(const ConvShape& conv) {
  bool any = false;
  for (const ConvAxis& axis : conv.axes) {
    any = any || axis.spread > 1;
    if (axis.spread > 1 && (axis.spread > most_phases || axis.stride != 1 || axis.dilation != 1))
      return false;
  }
  return any;
}

template <class T>
class Phases : public ConvWay<T> {
 public:
  explicit Phases(const ConvShape& conv) : c_(conv) {
    for (int64_t p0 = 0; p0 < conv.axes[0].spread; ++p0)
      for (int64_t p1 = 0; p1 < conv.axes[1].spread; ++p1)
        for (int64_t p2 = 0; p2 < conv.axes[2].spread; ++p2) add({p0, p1, p2});
  }
  double cycles() const override { return 0; }
  int64_t scratch() const override { return weights_ + results_ + scratch_; }

  void run(const T* x, const T* w, T* result, T* scratch) const override {
    for (const Phase& phase : phases_) {
      T *own_w = scratch, *own_result = scratch + weights_;
      if (phase.way) {
        put_weights(phase, w, own_w);
        phase.way->run(x, own_w, own_result, own_result + results_);
      }
      take(phase, own_result, result);
    }
  }

 private:
  struct Phase {
    ConvShape conv;
    std::array<int64_t, 3> place{}, first{};  // of the results, and of the window's elements
    std::unique_ptr<ConvWay<T>> way;          // none where results meet only gaps
  };

  void add(const std::array<int64_t, 3>& place) {
    Phase phase{c_, place, {}, nullptr};
    phase.conv.w_strides = std::nullopt;
    for (size_t i = 0; i < 3; ++i) {
      ConvAxis& axis = phase.conv.axes[i];
      const int64_t gap = axis.spread, first = ((axis.low - place[i]) % gap + gap) % gap;
      phase.first[i] = first;
      axis.low = (axis.low - place[i] - first) / gap;
      axis.window = std::max<int64_t>(0, (axis.window - first + gap - 1) / gap);
      axis.output = (axis.output - place[i] + gap - 1) / gap;
      axis.spread = 1;
    }
    if (phase.conv.outputs() <= 0) return;
    if (phase.conv.windows() > 0) {
      phase.way = best_way<T>(phase.conv);
      weights_ = std::max(weights_, phase.conv.groups * phase.conv.filters * phase.conv.steps());
      results_ = std::max(results_, phase.conv.results());
      scratch_ = std::max(scratch_, phase.way->scratch());
    }
    phases_.push_back(std::move(phase));
  }

  void put_weights(const Phase& phase, const T* w, T* to) const {
    const ConvShape& c = phase.conv;
    const std::array<int64_t, 3> apart = c_.w_apart();
    const auto all = static_cast<uint64_t>(c.groups * c.filters);
    parallel(thread_count(), all, all / 4 + 1, [&](uint64_t begin, uint64_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i)
        for (int64_t channel = 0; channel < c.channels; ++channel) {
          const T* from = w + i / c.filters * apart[0] + i % c.filters * apart[1] + channel * apart[2];
          T* own = to + (i * c.channels + channel) * c.windows();
          for (int64_t k0 = 0; k0 < c.axes[0].window; ++k0)
            for (int64_t k1 = 0; k1 < c.axes[1].window; ++k1)
              for (int64_t k2 = 0; k2 < c.axes[2].window; ++k2)
                *own++ = from[((phase.first[0] + k0 * c_.axes[0].spread) * c_.axes[1].window +
                               phase.first[1] + k1 * c_.axes[1].spread) *
                                  c_.axes[2].window +
                              phase.first[2] + k2 * c_.axes[2].spread];
        }
    });
  }

  void take(const Phase& phase, const T* from, T* result) const {
    const ConvShape& c = phase.conv;
    const auto planes = static_cast<uint64_t>(c.batch * c.groups * c.filters);
    const int64_t apart = c_.axes[2].spread;
    parallel(thread_count(), planes, planes / 8 + 1, [&](uint64_t begin, uint64_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i)
        for (int64_t o0 = 0; o0 < c.axes[0].output; ++o0)
          for (int64_t o1 = 0; o1 < c.axes[1].output; ++o1) {
            const int64_t line = (o0 * c_.axes[0].spread + phase.place[0]) * c_.axes[1].output +
                                 o1 * c_.axes[1].spread + phase.place[1];
            T* to = result + i * c_.outputs() + line * c_.axes[2].output + phase.place[2];
            const T* own = from + ((i * c.axes[0].output + o0) * c.axes[1].output + o1) * c.axes[2].output;
            for (int64_t o2 = 0; o2 < c.axes[2].output; ++o2) to[o2 * apart] = phase.way ? own[o2] : T{};
          }
    });
  }

  const ConvShape c_;
  std::vector<Phase> phases_;
  int64_t weights_ = 0, results_ = 0, scratch_ = 0;
};

template <class T>
std::unique_ptr<ConvWay<T>> way_of(const ConvShape& conv) {
  if (has_phases(conv)) return std::make_unique<Phases<T>>(conv);
  return best_way<T>(conv);
}

template <class T>
void run(const ConvShape& conv, const void* x, const void* w, void* result, void* scratch) {
  way_of<T>(conv)->run(static_cast<const T*>(x), static_cast<const T*>(w), static_cast<T*>(result),
                       static_cast<T*>(scratch));
}

}  // namespace conv_host

bool has_host_conv(DType type) { return type == DType::f32 || type == DType::f64 || has_library_conv(type); }

uint64_t host_conv_bytes(const ConvShape& conv, DType type) {
  if (type == DType::f32) return 4 * static_cast<uint64_t>(conv_host::way_of<float>(conv)->scratch());
  if (type == DType::f64) return 8 * static_cast<uint64_t>(conv_host::way_of<double>(conv)->scratch());
  return library_conv_bytes(conv, type);
}

void host_conv(const ConvShape& conv, DType type, const void* x, const void* w, void* result, void* scratch) {
  if (type == DType::f32) return conv_host::run<float>(conv, x, w, result, scratch);
  if (type == DType::f64) return conv_host::run<double>(conv, x, w, result, scratch);
  library_conv(conv, type, x, w, result, scratch);
}

}  // namespace adit::ops
