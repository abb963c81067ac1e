// Long sums along lines: lines of x and of the window are put where neighbours of one are multiplied by
// neighbours of the other at one distance for each result, plane after plane. Along an axis that the window
// goes in steps of d, x is cut into d phases.
#include <cmath>

#include "ops/conv_copy.hpp"
#include "ops/conv_lines.hpp"
#include "ops/conv_sums.hpp"
#include "support/threads.hpp"

namespace adit::ops {

namespace conv_dots {

using namespace conv_cut;
using namespace conv_lines;

// What tiles share stays in the first cache, and what they read in turn in the second.
constexpr int64_t elements_of_a_run = 1 << 10, filters_at_once = 128, most_offsets = 24;

// Rows of the window by offsets into x that a tile has, and what a vector of its steps takes: two products
// and two reads a cycle, and those of x lie across two lines of the cache.
struct DotCut {
  int64_t rows = 1, offsets = 1;
  double cycles = std::numeric_limits<double>::infinity();
};

template <class T>
DotCut best_dots(int64_t rows, int64_t offsets) {
  const ConvKernels<T>& kernels = conv_kernels<T>();
  DotCut best;
  for (int64_t j = 1; j <= std::min<int64_t>(rows, ConvKernels<T>::most_rows); ++j) {
    const int64_t beside = kernels.dots_beside[static_cast<size_t>(j)];
    if (beside == 0) continue;
    const int64_t calls = parts_of(offsets, beside), k = parts_of(offsets, calls);
    const double each = static_cast<double>(std::max<int64_t>({j * k, j + 2 * k, 8})) / 2;
    const double cycles = static_cast<double>(parts_of(rows, j) * calls) * each;
    if (cycles < best.cycles) best = {j, k, cycles};
  }
  return best;
}

template <class T>
class Dots : public ConvWay<T> {
 public:
  explicit Dots(const ConvShape& conv)
      : c_(conv),
        kernels_(conv_kernels<T>()),
        copies_(line_kernels<T>()),
        threads_(thread_count()),
        deep_(c_.axes[0]),
        down_(c_.axes[1]),
        along_(c_.axes[2]) {
    column_parts_ = parts_of(along_.window, 2 * elements_of_a_run);
    columns_ = parts_of(along_.window, column_parts_);
    line_ = columns_ + (along_.output - 1) * along_.stride / along_.dilation;
    const int64_t below = (down_.output - 1) * down_.stride / down_.dilation;
    rows_ = std::clamp<int64_t>(2 * elements_of_a_run / line_, 1, down_.window);
    row_parts_ = parts_of(down_.window, rows_);
    rows_ = parts_of(down_.window, row_parts_);
    lines_ = rows_ + below;
    const int64_t plane = lines_ * line_;
    if (row_parts_ * column_parts_ == 1)
      planes_ = std::clamp<int64_t>(elements_of_a_run / plane, 1, all_planes());
    planes_ = parts_of(all_planes(), parts_of(all_planes(), planes_));
    count_ = rounded_up((planes_ - 1) * plane + rows_ * line_, kernels_.width);
    // A run from the last offset reads as far beyond its lines as that lies behind the first: zeros there.
    phase_ = planes_ * plane + (line_ - columns_) + kernels_.width;
    find_phases();
    image_ = phase_ * static_cast<int64_t>(phases_.size());
    const int64_t each = c_.outputs(), images = std::clamp<int64_t>(most_offsets / each, 1, c_.batch);
    image_parts_ = parts_of(c_.batch, images);
    images_ = parts_of(c_.batch, image_parts_);
    cut_ = best_dots<T>(std::min(c_.filters, filters_at_once), images_ * each);
    find_offsets();
    share();
  }

  double cycles() const override {
    const auto all = static_cast<double>(parts()), images = static_cast<double>(c_.batch),
               filters = static_cast<double>(c_.filters);
    const double tiles = static_cast<double>(parts_of(c_.filters, cut_.rows)) /
                         static_cast<double>(parts_of(std::min(c_.filters, filters_at_once), cut_.rows)) *
                         static_cast<double>(image_parts_);
    const double vectors = static_cast<double>(count_ / kernels_.width);
    const double of_a_line = 4 + 2 * static_cast<double>(parts_of(line_, kernels_.width));
    const double lines = static_cast<double>(planes_ * lines_) * images *
                             static_cast<double>(deep_.output * static_cast<int64_t>(phases_.size()) *
                                                 parts_of(c_.filters, filters_at_once)) +
                         static_cast<double>(planes_ * rows_) * filters * static_cast<double>(image_shares_);
    return static_cast<double>(c_.groups) * all *
           (tiles * cut_.cycles * vectors + 5 * images * filters * static_cast<double>(c_.outputs()) +
            of_a_line * lines);
  }

  int64_t scratch() const override { return alignment + room() * threads_ + partial() * shares_; }

  void run(const T* x, const T* w, T* result, T* scratch) const override {
    T *rooms_of = aligned(scratch), *partials = rooms_of + room() * threads_;
    Rooms rooms(threads_);
    std::fill(partials, partials + partial() * shares_, T{});
    const int64_t of_a_group = image_shares_ * shares_;
    const auto tasks = static_cast<uint64_t>(c_.groups * of_a_group);
    parallel(
        threads_, tasks, std::max<uint64_t>(1, tasks / (8 * threads_)), [&](uint64_t begin, uint64_t end) {
          const int64_t number = rooms.take();
          for (auto task = static_cast<int64_t>(begin); task < static_cast<int64_t>(end); ++task) {
            const int64_t share = task % of_a_group / image_shares_;
            Task{*this, x, w, rooms_of + number * room(), partials + share * partial(), task / of_a_group}
                .run(share, task % image_shares_);
          }
          rooms.give_back(number);
        });
    take(x, w, partials, result);
  }

 private:
  // A plane of the window: a channel, and a place along axis 0.
  int64_t all_planes() const { return c_.channels * deep_.window; }
  int64_t parts() const { return parts_of(all_planes(), planes_) * row_parts_ * column_parts_; }
  // Sums of all groups: [filters, images, outputs].
  int64_t of_a_filter() const { return c_.batch * c_.outputs(); }
  int64_t partial() const { return c_.groups * c_.filters * of_a_filter(); }
  int64_t room_of_x() const { return aligned<T>(images_ * deep_.output * image_); }
  int64_t room() const { return room_of_x() + aligned<T>(std::min(c_.filters, filters_at_once) * count_); }

  // Of x, those that any result meets.
  int64_t phase_of(int64_t at1, int64_t at2) const {
    return at1 % down_.dilation * along_.dilation + at2 % along_.dilation;
  }
  void find_phases() {
    for (int64_t o1 = 0; o1 < down_.output; ++o1)
      for (int64_t o2 = 0; o2 < along_.output; ++o2) {
        const int64_t phase = phase_of(o1 * down_.stride, o2 * along_.stride);
        if (std::find(phases_.begin(), phases_.end(), phase) == phases_.end()) phases_.push_back(phase);
      }
  }

  void find_offsets() {
    for (int64_t image = 0; image < images_; ++image)
      for (int64_t o0 = 0; o0 < deep_.output; ++o0)
        for (int64_t o1 = 0; o1 < down_.output; ++o1)
          for (int64_t o2 = 0; o2 < along_.output; ++o2) {
            const int64_t at1 = o1 * down_.stride, at2 = o2 * along_.stride;
            const int64_t phase =
                std::find(phases_.begin(), phases_.end(), phase_of(at1, at2)) - phases_.begin();
            offsets_.push_back(static_cast<int32_t>((image * deep_.output + o0) * image_ + phase * phase_ +
                                                    at1 / down_.dilation * line_ + at2 / along_.dilation));
          }
  }

  // Threads have images of their own, and where those are few, parts of the steps and sums of their own.
  void share() {
    const int64_t wanted = 4 * int64_t{threads_};
    if (threads_ == 1 || c_.groups >= wanted) return;
    image_shares_ = std::min(image_parts_, parts_of(wanted, c_.groups));
    shares_ = std::min(parts(), parts_of(wanted, c_.groups * image_shares_));
  }

  struct Task {
    const Dots& d;
    const T *x, *w;
    T *room, *sums;
    int64_t group;
    int64_t plane = 0, planes = 0, row = 0, rows = 0, column = 0, columns = 0;

    T* of_w() const { return room + d.room_of_x(); }

    void run(int64_t share, int64_t image_share) {
      const ConvShape& c = d.c_;
      sums += group * c.filters * d.of_a_filter();
      const int64_t first = d.image_parts_ * image_share / d.image_shares_,
                    last = d.image_parts_ * (image_share + 1) / d.image_shares_;
      for (int64_t filter = 0; filter < c.filters; filter += filters_at_once) {
        const int64_t filters = std::min(filters_at_once, c.filters - filter);
        for (int64_t part = d.parts() * share / d.shares_; part < d.parts() * (share + 1) / d.shares_;
             ++part) {
          if (!find_part(part)) continue;
          for (int64_t f = 0; f < filters; ++f) put_w(filter + f, of_w() + f * d.count_);
          for (int64_t i = first; i < last; ++i) {
            const int64_t image = i * d.images_, images = std::min(d.images_, c.batch - image);
            if (images <= 0) continue;
            for (int64_t k = 0; k < images * d.deep_.output; ++k)
              put_x(image + k / d.deep_.output, k % d.deep_.output, room + k * d.image_);
            add(images * c.outputs(), filters, sums + filter * d.of_a_filter() + image * c.outputs());
          }
        }
      }
    }

    bool find_part(int64_t part) {
      column = part % d.column_parts_ * d.columns_, columns = std::min(d.columns_, d.along_.window - column);
      part /= d.column_parts_;
      row = part % d.row_parts_ * d.rows_, rows = std::min(d.rows_, d.down_.window - row);
      plane = part / d.row_parts_ * d.planes_, planes = std::min(d.planes_, d.all_planes() - plane);
      return planes > 0 && rows > 0 && columns > 0;
    }

    void add(int64_t offsets, int64_t filters, T* to) const {
      const int64_t calls = parts_of(offsets, d.cut_.offsets), each = parts_of(offsets, calls);
      for (int64_t f = 0; f < filters; f += d.cut_.rows) {
        const int64_t some = std::min(d.cut_.rows, filters - f);
        for (int64_t k = 0; k < offsets; k += each)
          d.kernels_.dots[some][std::min(each, offsets - k)]({of_w() + f * d.count_, room, d.count_,
                                                              d.offsets_.data() + k, d.count_,
                                                              to + f * d.of_a_filter() + k, d.of_a_filter()});
      }
    }

    void put_w(int64_t filter, T* to) const {
      const auto [of_group, of_filter, of_channel] = d.c_.w_apart();
      const int64_t size = d.down_.window * d.along_.window, apart = d.lines_ * d.line_;
      T* end = to + d.count_;
      for (int64_t p = 0; p < planes; ++p, to += apart) {
        const int64_t channel = (plane + p) / d.deep_.window, k0 = (plane + p) % d.deep_.window;
        const T* from = w + group * of_group + filter * of_filter + channel * of_channel + k0 * size +
                        row * d.along_.window + column;
        d.copies_.copy({from, d.along_.window, to, d.line_, rows, 0, columns, d.line_, 1});
        T* rest = to + rows * d.line_;
        put_zeros(rest, std::min<int64_t>(end - rest, apart - rows * d.line_));
      }
      if (to < end) put_zeros(to, end - to);
    }

    void put_x(int64_t image, int64_t o0, T* to) const {
      const auto [of_image, of_group, of_channel] = d.c_.x_apart();
      const ConvAxis &down = d.down_, &along = d.along_;
      for (const int64_t phase : d.phases_) {
        const int64_t phase1 = phase / along.dilation, phase2 = phase % along.dilation;
        const Line line(along, column * along.dilation + phase2 - along.low, along.dilation, d.line_);
        for (int64_t p = 0; p < planes; ++p, to += d.lines_ * d.line_) {
          const int64_t channel = (plane + p) / d.deep_.window, k0 = (plane + p) % d.deep_.window;
          const int64_t p0 = place_on(d.deep_, o0 * d.deep_.stride + k0 * d.deep_.dilation - d.deep_.low);
          if (p0 < 0)
            put_zeros(to, d.lines_ * d.line_);
          else
            put_plane(line,
                      x + image * of_image + group * of_group + channel * of_channel +
                          p0 * down.input * along.input,
                      phase1, to);
        }
        const int64_t rest = d.phase_ - planes * d.lines_ * d.line_;
        put_zeros(to, rest);
        to += rest;
      }
    }

    void put_plane(const Line& line, const T* from, int64_t phase, T* to) const {
      const ConvAxis& down = d.down_;
      const int64_t first = row * down.dilation + phase - down.low;
      if (down.spread != 1 || d.along_.spread != 1) {
        for (int64_t l = 0; l < d.lines_; ++l, to += d.line_) {
          const int64_t place = place_on(down, first + l * down.dilation);
          if (place < 0)
            put_zeros(to, d.line_);
          else
            line.gather(from + place * d.along_.input, to);
        }
        return;
      }
      const int64_t begin =
                        std::clamp<int64_t>(first >= 0 ? 0 : parts_of(-first, down.dilation), 0, d.lines_),
                    end = std::clamp<int64_t>(parts_of(down.input - first, down.dilation), begin, d.lines_);
      put_zeros(to, begin * d.line_);
      put_zeros(to + end * d.line_, (d.lines_ - end) * d.line_);
      d.copies_.copy(
          {from + (first + begin * down.dilation) * d.along_.input + line.first + line.begin * line.step,
           d.along_.input * down.dilation, to + begin * d.line_, d.line_, end - begin, line.begin, line.end,
           d.line_, line.step});
    }
  };

  // One result by itself, from what it meets alone.
  T alone(const T* x, const T* w, int64_t filter, int64_t place) const {
    const auto x_apart = c_.x_apart(), w_apart = c_.w_apart();
    const int64_t group = filter / c_.filters, o = place % c_.outputs();
    const int64_t o2 = o % along_.output, o1 = o / along_.output % down_.output,
                  o0 = o / along_.output / down_.output;
    const T* of_x = x + place / c_.outputs() * x_apart[0] + group * x_apart[1];
    const T* of_w = w + group * w_apart[0] + filter % c_.filters * w_apart[1];
    T sum{};
    for (int64_t k = 0; k < c_.channels * deep_.window * down_.window * along_.window; ++k) {
      const int64_t k2 = k % along_.window, k1 = k / along_.window % down_.window,
                    k0 = k / along_.window / down_.window % deep_.window,
                    channel = k / along_.window / down_.window / deep_.window;
      const int64_t p0 = place_on(deep_, o0 * deep_.stride + k0 * deep_.dilation - deep_.low),
                    p1 = place_on(down_, o1 * down_.stride + k1 * down_.dilation - down_.low),
                    p2 = place_on(along_, o2 * along_.stride + k2 * along_.dilation - along_.low);
      if (p0 < 0 || p1 < 0 || p2 < 0) continue;
      sum += of_x[channel * x_apart[2] + (p0 * down_.input + p1) * along_.input + p2] *
             of_w[channel * w_apart[2] + (k0 * down_.window + k1) * along_.window + k2];
    }
    return sum;
  }

  // Runs go over elements beside the window too, times 0: an infinity there is none of the result's.
  void take(const T* x, const T* w, const T* partials, T* result) const {
    const int64_t outputs = c_.outputs(), filters = c_.groups * c_.filters;
    parallel(threads_, static_cast<uint64_t>(filters), static_cast<uint64_t>(filters) / threads_ + 1,
             [&](uint64_t begin, uint64_t end) {
               for (auto filter = static_cast<int64_t>(begin); filter < static_cast<int64_t>(end); ++filter)
                 for (int64_t i = 0; i < of_a_filter(); ++i) {
                   T sum{};
                   for (int64_t share = 0; share < shares_; ++share)
                     sum += partials[share * partial() + filter * of_a_filter() + i];
                   if (!std::isfinite(sum)) sum = alone(x, w, filter, i);
                   result[(i / outputs * filters + filter) * outputs + i % outputs] = sum;
                 }
             });
  }

  const ConvShape c_;
  const ConvKernels<T>& kernels_;
  const LineKernels<T>& copies_;
  const unsigned threads_;
  const ConvAxis &deep_, &down_, &along_;
  // Of a part: rows, and lines of x that they meet, planes, elements of a run; of x: elements of a phase, of
  // an image's plane.
  int64_t line_ = 0, rows_ = 0, row_parts_ = 1, lines_ = 0, planes_ = 1, count_ = 0, phase_ = 0, image_ = 0;
  int64_t columns_ = 1, column_parts_ = 1, images_ = 1, image_parts_ = 1, image_shares_ = 1, shares_ = 1;
  DotCut cut_;
  std::vector<int64_t> phases_;
  std::vector<int32_t> offsets_;
};

}  // namespace conv_dots

template <class T>
std::unique_ptr<ConvWay<T>> conv_by_dots(const ConvShape& conv) {
  for (const ConvAxis& axis : conv.axes)
    if (axis.dilation > 8) return nullptr;
  return std::make_unique<conv_dots::Dots<T>>(conv);
}

template std::unique_ptr<ConvWay<float>> conv_by_dots(const ConvShape&);
template std::unique_ptr<ConvWay<double>> conv_by_dots(const ConvShape&);

}  // namespace adit::ops
