#include "ops/conv_places.hpp"

#include "ops/conv_lines.hpp"
#include "support/threads.hpp"

namespace adit::ops {

namespace conv_places {

using namespace conv_cut;
using namespace conv_lines;

// What tiles share stays in the first cache, and what they read in turn in the second.
constexpr int64_t elements_of_a_chunk = 1 << 15, most_places = 1 << 10, steps_of_a_tile = 256;

template <class T>
class Places : public ConvWay<T> {
 public:
  explicit Places(const ConvShape& conv)
      : c_(conv), kernels_(conv_kernels<T>()), threads_(thread_count()), rows_(c_.filters * c_.windows()) {
    const int64_t width = kernels_.width, inputs = c_.inputs();
    const int64_t most = std::clamp(elements_of_a_chunk / c_.channels, 4 * width, most_places);
    chunks_ = parts_of(inputs, std::min(most, inputs));
    chunk_ = rounded_up(parts_of(inputs, chunks_), width);
    cut_ = best_cut<T>(chunk_ / width, rows_);
    blocks_ = scalar_blocks(cut_, rows_);
    tasks_ = c_.batch * c_.groups;
    if (threads_ > 1 && tasks_ < 2 * int64_t{threads_})
      shares_ = std::min<int64_t>(parts_of(2 * int64_t{threads_}, tasks_), std::ssize(blocks_));
    for (int64_t s = 0; s < c_.channels; ++s) places_at_.push_back(static_cast<int32_t>(s * chunk_));
    for (const Block& block : {blocks_.front(), blocks_.back()})
      by_width_[static_cast<size_t>(block.width)] = steps_by(block.width, steps_of_a_tile);
  }

  // Beside the products: sums on their way to the results, line by line, and x on its way in.
  double cycles() const override {
    const double products = static_cast<double>(chunks_ * c_.channels) * cut_.cycles,
                 lines = static_cast<double>(c_.axes[0].input * c_.axes[1].input + chunks_);
    const double vectors = static_cast<double>(parts_of(c_.axes[2].input, kernels_.width)),
                 of_a_line =
                     12 + (c_.axes[2].spread == 1 ? 2 : 4 * static_cast<double>(kernels_.width)) * vectors;
    const double moved =
        lines * (static_cast<double>(rows_) * of_a_line + 2 * vectors * static_cast<double>(c_.channels));
    return static_cast<double>(tasks_) * (products + moved + static_cast<double>(c_.filters * c_.outputs()));
  }

  int64_t scratch() const override {
    return alignment + weights() * c_.groups + room() * threads_ +
           (shares_ == 1 ? 0 : tasks_ * shares_ * results());
  }

  void run(const T* x, const T* w, T* result, T* scratch) const override {
    T* packed = aligned(scratch);
    T* rooms_begin = packed + weights() * c_.groups;
    T* partials = rooms_begin + room() * threads_;
    for (int64_t group = 0; group < c_.groups; ++group) put_weights(w, group, packed + group * weights());
    Rooms rooms(threads_);
    parallel(threads_, static_cast<uint64_t>(tasks_ * shares_), 1, [&](uint64_t begin, uint64_t end) {
      const int64_t number = rooms.take();
      for (auto task = static_cast<int64_t>(begin); task < static_cast<int64_t>(end); ++task) {
        const int64_t one = task / shares_;
        Task{*this, x + one / c_.groups * c_.x_apart()[0] + one % c_.groups * c_.x_apart()[1],
             packed + one % c_.groups * weights(), rooms_begin + number * room(),
             shares_ == 1 ? result + one * results() : partials + task * results()}
            .run(task % shares_);
      }
      rooms.give_back(number);
    });
    if (shares_ > 1) add_up(partials, result);
  }

 private:
  int64_t weights() const { return aligned<T>(rows_ * c_.channels); }
  int64_t room_of_x() const { return aligned<T>(c_.channels * chunk_); }
  int64_t room() const { return room_of_x() + aligned<T>(cut_.scalars * chunk_); }
  int64_t results() const { return c_.filters * c_.outputs(); }  // of an image and a group

  // Blocks of rows: [channels, rows of the block]. A row is a filter and an element of its window.
  void put_weights(const T* w, int64_t group, T* to) const {
    const std::array<int64_t, 3> apart = c_.w_apart();
    const int64_t windows = c_.windows(), step = c_.w_reversed ? -1 : 1;
    for (const Block& block : blocks_)
      for (int64_t done = 0, some = 0; done < block.count; done += some) {
        const int64_t filter = (block.first + done) / windows, k = (block.first + done) % windows;
        some = std::min(windows - k, block.count - done);
        const T* from = w + group * apart[0] + filter * apart[1] + (c_.w_reversed ? windows - 1 - k : k);
        for (int64_t channel = 0; channel < c_.channels; ++channel, from += apart[2])
          for (int64_t i = 0; i < some; ++i)
            to[block.first * c_.channels + channel * block.width + done + i] = from[i * step];
      }
  }

  void add_up(const T* partials, T* result) const {
    for (int64_t i = 0; i < tasks_ * results(); ++i) {
      const T* from = partials + i / results() * shares_ * results() + i % results();
      T sum{};
      for (int64_t share = 0; share < shares_; ++share) sum += from[share * results()];
      result[i] = sum;
    }
  }

  // An image of a group, and some of its rows.
  struct Task {
    const Places& p;
    const T *x, *weights;
    T *room, *result;

    void run(int64_t share) const {
      std::fill(result, result + p.results(), T{});
      const auto count = static_cast<int64_t>(p.blocks_.size());
      const int64_t first = count * share / p.shares_, last = count * (share + 1) / p.shares_;
      for (int64_t begin = 0, all = p.c_.inputs(); begin < all; begin += p.chunk_) {
        const int64_t places = std::min(p.chunk_, all - begin);
        put_places(begin, places);
        for (int64_t i = first; i < last; ++i) {
          const Block& block = p.blocks_[static_cast<size_t>(i)];
          multiply(block, rounded_up(places, p.kernels_.width));
          for (int64_t row = 0; row < block.count; ++row)
            add(block.first + row, begin, places, sums() + row * p.chunk_);
        }
      }
    }

    T* sums() const { return room + p.room_of_x(); }

    void put_places(int64_t begin, int64_t places) const {
      const int64_t whole = rounded_up(places, p.kernels_.width), apart = p.c_.x_apart()[2];
      for (int64_t channel = 0; channel < p.c_.channels; ++channel) {
        T* to = room + channel * p.chunk_;
        copy_run(to, x + channel * apart + begin, places);
        put_zeros(to + places, whole - places);
      }
    }

    void multiply(const Block& block, int64_t places) const {
      const int64_t width = p.kernels_.width;
      ConvTile<T> tile;
      tile.row = p.chunk_;
      tile.scalar_at = p.by_width_[static_cast<size_t>(block.width)].data();
      for (int64_t step = 0; step < p.c_.channels; step += steps_of_a_tile) {
        tile.steps = std::min(steps_of_a_tile, p.c_.channels - step);
        tile.adds = step > 0;
        tile.vector_at = p.places_at_.data() + step;
        tile.scalars = weights + block.first * p.c_.channels + step * block.width;
        int kind = p.cut_.kind;
        for (int64_t place = 0; place < places; place += width << kind) {
          while (kind > 0 && place + (width << kind) > places) --kind;
          tile.vectors = room + place;
          tile.sums = sums() + place;
          p.kernels_.tile[kind][block.count](tile);
        }
      }
    }

    // The products of one row with places from `begin` on, line by line.
    void add(int64_t row, int64_t begin, int64_t places, const T* from) const {
      const auto& [deep, down, along] = p.c_.axes;
      const int64_t k2 = row % along.window, k1 = row / along.window % down.window,
                    k0 = row / (along.window * down.window) % deep.window, filter = row / p.c_.windows();
      T* to = result + filter * p.c_.outputs();
      const int64_t shift = along.low - k2 * along.dilation;
      const int64_t first = shift >= 0 ? 0 : parts_of(-shift, along.spread),
                    last = std::min(along.input,
                                    parts_of(std::max<int64_t>(0, along.output - shift), along.spread));
      for (int64_t at = begin, end = begin + places; at < end;) {
        const int64_t line = at / along.input, column = at - line * along.input;
        const int64_t some = std::min(along.input - column, end - at);
        const int64_t r0 = line / down.input * deep.spread + deep.low - k0 * deep.dilation,
                      r1 = line % down.input * down.spread + down.low - k1 * down.dilation;
        const int64_t i = std::max(first, column), count = std::min(last, column + some) - i;
        if (r0 >= 0 && r0 < deep.output && r1 >= 0 && r1 < down.output && count > 0)
          add_line(from + (at - begin) + (i - column),
                   to + (r0 * down.output + r1) * along.output + i * along.spread + shift, count);
        at += some;
      }
    }

    void add_line(const T* from, T* to, int64_t count) const {
      const int64_t apart = p.c_.axes[2].spread;
      if (apart == 1)
        for (int64_t i = 0; i < count; ++i) to[i] += from[i];
      else
        for (int64_t i = 0; i < count; ++i) to[i * apart] += from[i];
    }
  };

  const ConvShape c_;
  const ConvKernels<T>& kernels_;
  const unsigned threads_;
  const int64_t rows_;
  int64_t chunk_ = 0, chunks_ = 1;  // places that are multiplied together
  int64_t tasks_ = 1, shares_ = 1;  // shares of the rows, each with results of its own
  Cut cut_;
  std::vector<Block> blocks_;
  std::vector<int32_t> places_at_;  // of each channel
  std::array<std::vector<int32_t>, ConvKernels<T>::most_scalars + 1> by_width_;
};

}  // namespace conv_places

template <class T>
std::unique_ptr<ConvWay<T>> conv_by_places(const ConvShape& conv) {
  for (const ConvAxis& axis : conv.axes)
    if (axis.stride != 1) return nullptr;
  return std::make_unique<conv_places::Places<T>>(conv);
}

template std::unique_ptr<ConvWay<float>> conv_by_places(const ConvShape&);
template std::unique_ptr<ConvWay<double>> conv_by_places(const ConvShape&);

}  // namespace adit::ops
