// Convolutions on a CPU: the way that takes the fewest cycles.
#include <memory>

#include "ops/conv_bands.hpp"
#include "ops/conv_places.hpp"
#include "ops/conv_sums.hpp"

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
  ways.push_back(conv_by_places<T>(conv));
  if (conv.has_long_sums()) {
    ways.push_back(conv_by_sums<T>(conv, SumLanes::images));
    ways.push_back(conv_by_sums<T>(conv, SumLanes::filters));
    ways.push_back(conv_by_dots<T>(conv));
  }
  size_t best = 0;
  for (size_t i = 1; i < ways.size(); ++i)
    if (ways[i] && ways[i]->cycles() < ways[best]->cycles()) best = i;
  return std::move(ways[best]);
}

template <class T>
class Own : public HostConv {
 public:
  explicit Own(const ConvShape& conv) : way_(best_way<T>(conv)) {}
  uint64_t bytes() const override { return sizeof(T) * static_cast<uint64_t>(way_->scratch()); }
  void run(const void* x, const void* w, void* result, void* scratch) const override {
    way_->run(static_cast<const T*>(x), static_cast<const T*>(w), static_cast<T*>(result),
              static_cast<T*>(scratch));
  }

 private:
  std::unique_ptr<ConvWay<T>> way_;
};

class ByLibrary : public HostConv {
 public:
  ByLibrary(const ConvShape& conv, DType type) : conv_(conv), type_(type) {}
  uint64_t bytes() const override { return library_conv_bytes(conv_, type_); }
  void run(const void* x, const void* w, void* result, void* scratch) const override {
    library_conv(conv_, type_, x, w, result, scratch);
  }

 private:
  ConvShape conv_;
  DType type_;
};

}  // namespace conv_host

bool has_host_conv(DType type) { return type == DType::f32 || type == DType::f64 || has_library_conv(type); }

std::shared_ptr<const HostConv> make_host_conv(const ConvShape& conv, DType type) {
  if (type == DType::f32) return std::make_shared<conv_host::Own<float>>(conv);
  if (type == DType::f64) return std::make_shared<conv_host::Own<double>>(conv);
  return std::make_shared<conv_host::ByLibrary>(conv, type);
}

}  // namespace adit::ops
