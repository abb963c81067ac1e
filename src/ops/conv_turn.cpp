// x with its images side by side, as gradients of kernels read it: [groups, channels, places, images], with
// padding and gaps as zeros. Steps of their sums are places, and columns of one place then lie side by side.
#include <limits>

#include "ops/conv.hpp"
#include "ops/cumulative_numbers.hpp"

namespace adit::ops {

namespace conv_turn {

using kernel::Access;
using kernel::Array;
using kernel::Builder;
using kernel::Team;
using kernel::Type;
using kernel::Value;

constexpr uint32_t side = 32, lanes = 256;  // of a tile, and of a team

class Turner {
 public:
  Turner(const ConvShape& from, Type type) : from_(from), to_(turned_conv(from)), type_(stored_as(type)) {
    const std::array<int64_t, 3> apart = from.x_apart();
    const int64_t last = (from.batch - 1) * apart[0] + (from.groups - 1) * apart[1] +
                         (from.channels - 1) * apart[2] + from.inputs();
    index_type_ = last > std::numeric_limits<int32_t>::max() ? Type::u64 : Type::u32;
  }

  // A tile of places by images goes through shared memory, so that reads and writes are both consecutive.
  kernel::Program run() {
    Builder k("conv_turn", Team::many(lanes));
    const Array x = k.buffer("x", type_, Access::read), to = k.buffer("to", type_, Access::write);
    // Shared memory has no halves.
    const Type held = type_ == Type::u16 ? Type::u32 : type_ == Type::bf16 ? Type::f32 : type_;
    const Array tile = k.shared(held, side * (side + 1));
    const auto places = narrow(to_.inputs()), images = narrow(to_.batch);
    const Value lane = k.lane(), team = k.team();
    const Value image = team % tiles_of(images) * side, rest = team / tiles_of(images);
    const Value place = rest % tiles_of(places) * side, plane = rest / tiles_of(places);
    const Value right = lane % side, below = lane / side;
    const Place read = place_at(plane, min(place + right, place.like(places - 1)));
    for (uint32_t step = 0; step < side; step += lanes / side) {
      const Value one = min(image + (below + step), image.like(images - 1));
      const Value index = read.index + convert(one, index_type_) * read.index.like(from_.x_apart()[0]);
      const Value value = convert(x.load(select(read.inside, index, index.like(0))), held);
      tile.store((below + step) * (side + 1) + right, select(read.inside, value, value.like(0)));
    }
    k.barrier();
    for (uint32_t step = 0; step < side; step += lanes / side) {
      const Value one = image + right, at = place + (below + step);
      k.if_(one < images && at < places, [&] {
        to.store((plane * places + at) * images + one,
                 convert(tile.load(right * (side + 1) + (below + step)), type_));
      });
    }
    return k.finish();
  }
  uint64_t teams() const {
    return uint64_t{tiles_of(narrow(to_.batch))} * tiles_of(narrow(to_.inputs())) *
           static_cast<uint64_t>(to_.groups * to_.channels);
  }

 private:
  static uint32_t narrow(int64_t number) { return static_cast<uint32_t>(number); }
  static uint32_t tiles_of(uint32_t count) { return (count + side - 1) / side; }

  struct Place {
    Value index;  // in x, of the first image
    Value inside;
  };
  Place place_at(Value plane, Value place) const {
    const auto wide = [&](Value v) { return convert(v, index_type_); };
    const std::array<int64_t, 3> apart = from_.x_apart();
    const Value group = wide(plane / narrow(from_.channels)), channel = wide(plane % narrow(from_.channels));
    Place found{group * group.like(apart[1]) + channel * channel.like(apart[2]), place == place};
    int64_t pitch = 1;
    for (size_t i = 3; i-- > 0;) {
      const ConvAxis& axis = from_.axes[i];
      const auto extent = narrow(to_.axes[i].input), gap = narrow(axis.spread);
      // Below zero it wraps, and is larger than any place.
      Value at = (i == 0 ? place : place % extent) - place.like(axis.low);
      if (i > 0) place = place / extent;
      found.inside = found.inside && at <= at.like(axis.last());
      if (gap > 1) found.inside = found.inside && at % gap == 0;
      found.index = found.index + wide(gap > 1 ? at / gap : at) * found.index.like(pitch);
      pitch *= axis.input;
    }
    return found;
  }

  const ConvShape from_, to_;
  const Type type_;
  Type index_type_{};
};

}  // namespace conv_turn

ConvShape turned_conv(const ConvShape& conv) {
  ConvShape turned = conv;
  turned.images_last = true;
  turned.x_strides = std::nullopt;
  for (ConvAxis& axis : turned.axes) {
    axis.input = axis.most() - axis.least() + 1;
    axis.low = 0;
    axis.spread = 1;
  }
  return turned;
}

kernel::Program conv_turn_program(const ConvShape& conv, kernel::Type type) {
  return conv_turn::Turner(conv, type).run();
}
uint64_t conv_turn_teams(const ConvShape& conv, kernel::Type type) {
  return conv_turn::Turner(conv, type).teams();
}

}  // namespace adit::ops
