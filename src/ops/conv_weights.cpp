// Kernels of convolutions as the product reads them on a GPU: [groups, windows, channels, filters], filled
// with zeros. A tile of filters by channels by windows goes through shared memory, so that reads and writes
// are both consecutive.
#include <algorithm>

#include "ops/conv.hpp"

namespace adit::ops {

namespace conv_weights {

using kernel::Access;
using kernel::Array;
using kernel::Builder;
using kernel::Team;
using kernel::Value;

// Of a team and its tile; every device has so many lanes, and so much shared memory.
constexpr uint32_t lanes = 128, filters = 32, channels = 8, shared_bytes = 16384;

uint32_t narrow(int64_t number) { return static_cast<uint32_t>(number); }
uint32_t most_windows(const ConvPlan& plan) {
  return shared_bytes / (channels * (filters + 1) * narrow(kernel::size_of(accumulator_type(plan.shape))));
}
uint32_t tiles_of(int64_t count, uint32_t each) { return (narrow(count) + each - 1) / each; }

class Turner {
 public:
  Turner(const ConvShape& conv, const ConvPlan& plan)
      : conv_(conv), plan_(plan), windows_(std::min(narrow(conv.windows()), most_windows(plan))) {}

  kernel::Program run() const {
    const kernel::Type type = plan_.shape.type, held = accumulator_type(plan_.shape);
    Builder k("conv_weights", Team::many(lanes));
    const Array from = k.buffer("w", type, Access::read), to = k.buffer("to", type, Access::write);
    const Array tile = k.shared(held, windows_ * channels * (filters + 1));
    const auto pitch = plan_.shape.a_pitch, filled = plan_.channels_last, windows = narrow(conv_.windows());
    const std::array<int64_t, 3> apart = conv_.w_apart();
    Value left = k.team();
    const auto next = [&](uint32_t count) {
      const Value place = left % count;
      left = left / count;
      return place;
    };
    const Value filter = next(tiles_of(pitch, filters)) * filters,
                channel = next(tiles_of(filled, channels)) * channels,
                window = next(tiles_of(windows, windows_)) * windows_, group = left;
    for_each(k, [&](Value id) {
      const Value own = id % windows_, other = id / windows_;
      const bool by_filters = apart[1] < apart[2];  // what lies closest comes first
      const Value f = by_filters ? other % filters : other / channels,
                  c = by_filters ? other / filters : other % channels;
      const Value w = window + own, inside = filter + f < narrow(conv_.filters) &&
                                             channel + c < narrow(conv_.channels) && w < windows;
      const Value place = conv_.w_reversed ? windows - 1 - w : w;
      const Value index = group * narrow(apart[0]) + (filter + f) * narrow(apart[1]) +
                          (channel + c) * narrow(apart[2]) + place;
      const Value value = convert(from.load(select(inside, index, index.like(0))), held);
      tile.store((own * channels + c) * (filters + 1) + f, select(inside, value, value.like(0)));
    });
    k.barrier();
    for_each(k, [&](Value id) {
      const Value f = id % filters, line = id / filters, c = line % channels, own = line / channels;
      const Value w = window + own;
      k.if_(filter + f < pitch && channel + c < filled && w < windows, [&] {
        to.store(((group * windows + w) * filled + channel + c) * pitch + filter + f,
                 convert(tile.load(line * (filters + 1) + f), type));
      });
    });
    return k.finish();
  }

  uint64_t teams() const {
    return uint64_t{tiles_of(plan_.shape.a_pitch, filters)} * tiles_of(plan_.channels_last, channels) *
           tiles_of(conv_.windows(), windows_) * narrow(conv_.groups);
  }

 private:
  // The tile's elements, spread over the lanes; all are whole numbers of lanes.
  void for_each(Builder& k, const std::function<void(Value)>& body) const {
    for (uint32_t done = 0; done < filters * channels * windows_; done += lanes) body(k.lane() + done);
  }

  const ConvShape& conv_;
  const ConvPlan& plan_;
  const uint32_t windows_;
};
static_assert(filters * channels % lanes == 0);

}  // namespace conv_weights

kernel::Program conv_weights_program(const ConvShape& conv, const ConvPlan& plan) {
  return conv_weights::Turner(conv, plan).run();
}
uint64_t conv_weights_teams(const ConvShape& conv, const ConvPlan& plan) {
  return conv_weights::Turner(conv, plan).teams();
}
uint64_t conv_weights_count(const ConvShape& conv, const ConvPlan& plan) {
  return static_cast<uint64_t>(conv.groups * conv.windows()) * plan.channels_last * plan.shape.a_pitch;
}

}  // namespace adit::ops
