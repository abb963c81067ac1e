// Long sums of single planes: lines of x and of the window are put where neighbours of one are multiplied by
// neighbours of the other at one distance for each result. Along an axis that the window goes in steps of d,
// x is cut into d phases.
#include "ops/conv_lines.hpp"
#include "ops/conv_sums.hpp"
#include "support/threads.hpp"

namespace adit::ops {

namespace conv_dots {

using namespace conv_cut;
using namespace conv_lines;

constexpr int64_t most_elements = 1 << 15;  // of a plane of the window, with the ends of lines

template <class T>
class Dots : public ConvWay<T> {
 public:
  explicit Dots(const ConvShape& conv)
      : c_(conv),
        kernels_(conv_kernels<T>()),
        threads_(thread_count()),
        down_(c_.axes[1]),
        along_(c_.axes[2]) {
    line_ = along_.window + (along_.output - 1) * along_.stride / along_.dilation;
    all_lines_ = down_.window + (down_.output - 1) * down_.stride / down_.dilation;
    rows_ = std::clamp<int64_t>(most_elements / line_, 1, down_.window);
    row_parts_ = parts_of(down_.window, rows_);
    rows_ = parts_of(down_.window, row_parts_);
    lines_ = rows_ + all_lines_ - down_.window;
    count_ = rounded_up(rows_ * line_, kernels_.width);
    phase_ = lines_ * line_ + kernels_.width;
    plane_ = phase_ * down_.dilation * along_.dilation;
    for (int64_t o1 = 0; o1 < down_.output; ++o1)
      for (int64_t o2 = 0; o2 < along_.output; ++o2) {
        const int64_t at1 = o1 * down_.stride, at2 = o2 * along_.stride;
        const int64_t phase = at1 % down_.dilation * along_.dilation + at2 % along_.dilation;
        offsets_.push_back(
            static_cast<int32_t>(phase * phase_ + at1 / down_.dilation * line_ + at2 / along_.dilation));
      }
    const int64_t wanted = 4 * int64_t{threads_};
    if (threads_ > 1 && c_.groups < wanted) shares_ = std::min(c_.channels, parts_of(wanted, c_.groups));
  }

  double cycles() const override {
    const auto planes = static_cast<double>(c_.groups * c_.channels * c_.axes[0].window * row_parts_);
    const auto results = static_cast<double>(c_.batch * c_.filters * c_.outputs());
    return planes * (results * (static_cast<double>(count_) / static_cast<double>(kernels_.width) + 8) +
                     0.3 * static_cast<double>(c_.batch * c_.axes[0].output * plane_ + c_.filters * count_));
  }

  int64_t scratch() const override { return alignment + room() * threads_ + partial() * shares_; }

  void run(const T* x, const T* w, T* result, T* scratch) const override {
    T *rooms_of = aligned(scratch), *partials = rooms_of + room() * threads_;
    Rooms rooms(threads_);
    std::fill(partials, partials + partial() * shares_, T{});
    const auto tasks = static_cast<uint64_t>(c_.groups * shares_);
    parallel(threads_, tasks, std::max<uint64_t>(1, tasks / (8 * threads_)),
             [&](uint64_t begin, uint64_t end) {
               const int64_t number = rooms.take();
               for (auto task = static_cast<int64_t>(begin); task < static_cast<int64_t>(end); ++task)
                 one(task / shares_, task % shares_, x, w, rooms_of + number * room(),
                     partials + task % shares_ * partial());
               rooms.give_back(number);
             });
    for (int64_t image = 0; image < c_.batch; ++image)
      for (int64_t i = 0; i < c_.groups * c_.filters * c_.outputs(); ++i) {
        const int64_t group = i / (c_.filters * c_.outputs()), rest = i % (c_.filters * c_.outputs());
        T sum{};
        for (int64_t share = 0; share < shares_; ++share)
          sum += partials[share * partial() + (group * c_.batch + image) * c_.filters * c_.outputs() + rest];
        result[image * c_.groups * c_.filters * c_.outputs() + i] = sum;
      }
  }

 private:
  int64_t partial() const { return c_.groups * c_.batch * c_.filters * c_.outputs(); }
  int64_t planes() const { return c_.batch * c_.axes[0].output; }
  int64_t room() const { return aligned<T>(planes() * plane_) + aligned<T>(c_.filters * count_); }

  // Some of a group's channels: sums [batch, filters, outputs] of the group.
  void one(int64_t group, int64_t share, const T* x, const T* w, T* room, T* sums) const {
    const ConvAxis& deep = c_.axes[0];
    const int64_t flat = down_.output * along_.output;
    T *of_x = room, *of_w = room + aligned<T>(planes() * plane_);
    sums += group * c_.batch * c_.filters * c_.outputs();
    for (int64_t channel = c_.channels * share / shares_; channel < c_.channels * (share + 1) / shares_;
         ++channel)
      for (int64_t k0 = 0; k0 < deep.window; ++k0)
        for (int64_t part = 0; part < row_parts_; ++part) {
          const int64_t row = part * rows_, rows = std::min(rows_, down_.window - row);
          if (rows <= 0) continue;
          for (int64_t f = 0; f < c_.filters; ++f)
            put_w(
                w + group * of_w_[0] + f * of_w_[1] + channel * of_w_[2] + k0 * down_.window * along_.window,
                row, rows, of_w + f * count_);
          for (int64_t image = 0; image < c_.batch; ++image)
            for (int64_t o0 = 0; o0 < deep.output; ++o0) {
              const int64_t p0 = place_on(deep, o0 * deep.stride + k0 * deep.dilation - deep.low);
              if (p0 < 0) continue;
              T* own = of_x + (image * deep.output + o0) * plane_;
              put_x(x + image * of_x_[0] + group * of_x_[1] + channel * of_x_[2] +
                        p0 * down_.input * along_.input,
                    row, own);
              for (int64_t f = 0; f < c_.filters; ++f)
                add(own, of_w + f * count_, sums + ((image * c_.filters + f) * deep.output + o0) * flat);
            }
        }
  }

  void add(const T* x, const T* w, T* sums) const {
    const auto all = static_cast<int64_t>(offsets_.size());
    const int64_t calls = parts_of(all, kernels_.dots_at_once), each = parts_of(all, calls);
    for (int64_t k = 0; k < all; k += each)
      kernels_.dots[std::min(each, all - k)]({w, x, offsets_.data() + k, count_, sums + k});
  }

  void put_w(const T* w, int64_t row, int64_t rows, T* to) const {
    for (int64_t r = 0; r < rows; ++r, to += line_) {
      copy_run(to, w + (row + r) * along_.window, along_.window);
      put_zeros(to + along_.window, line_ - along_.window);
    }
    put_zeros(to, count_ - rows * line_);
  }

  void put_x(const T* x, int64_t row, T* to) const {
    for (int64_t phase1 = 0; phase1 < down_.dilation; ++phase1)
      for (int64_t phase2 = 0; phase2 < along_.dilation; ++phase2, to += kernels_.width) {
        const Line line(along_, phase2 - along_.low, along_.dilation, line_);
        for (int64_t l = 0; l < lines_; ++l, to += line_) {
          const int64_t p1 = place_on(down_, (row + l) * down_.dilation + phase1 - down_.low);
          if (p1 < 0)
            put_zeros(to, line_);
          else
            line.gather(x + p1 * along_.input, to);
        }
        put_zeros(to, kernels_.width);
      }
  }

  const ConvShape c_;
  const ConvKernels<T>& kernels_;
  const unsigned threads_;
  const ConvAxis &down_, &along_;
  int64_t line_ = 0, all_lines_ = 0, rows_ = 0, row_parts_ = 1, lines_ = 0, count_ = 0, phase_ = 0,
          plane_ = 0, shares_ = 1;
  std::vector<int32_t> offsets_;
  const std::array<int64_t, 3> of_x_ = c_.x_apart(), of_w_ = c_.w_apart();
};

}  // namespace conv_dots

template <class T>
std::unique_ptr<ConvWay<T>> conv_by_dots(const ConvShape& conv) {
  for (const ConvAxis& axis : conv.axes)
    if (axis.dilation > 8) return nullptr;
  if (conv.axes[2].window > conv_dots::most_elements) return nullptr;
  return std::make_unique<conv_dots::Dots<T>>(conv);
}

template std::unique_ptr<ConvWay<float>> conv_by_dots(const ConvShape&);
template std::unique_ptr<ConvWay<double>> conv_by_dots(const ConvShape&);

}  // namespace adit::ops
