#include "ops/conv_sums.hpp"

#include <map>

#include "ops/conv_lines.hpp"
#include "support/threads.hpp"

namespace adit::ops {

namespace conv_sums {

using namespace conv_cut;
using namespace conv_lines;

constexpr int64_t steps_of_a_part = 384, most_columns = 512;
constexpr int64_t most_bytes_of_sums = 8 << 20;  // of all threads, where each has sums of its own

// A part of the steps: some whole sheets of a channel and a place of the window along axis 0, or some rows of
// one, and some columns. x lies as [sheets, outputs 0, lines, columns] of elements that are side by side.
struct Parts {
  int64_t columns = 1, rows = 1, sheets = 1, column_parts = 1, row_parts = 1, sheet_parts = 1;
  int64_t lines = 1, line = 1;

  explicit Parts(const ConvShape& c) {
    const ConvAxis &down = c.axes[1], &along = c.axes[2];
    column_parts = parts_of(along.window, most_columns);
    columns = parts_of(along.window, column_parts);
    const int64_t wanted = std::max<int64_t>(1, steps_of_a_part / columns),
                  all = c.channels * c.axes[0].window;
    row_parts = parts_of(down.window, std::min(wanted, down.window));
    rows = parts_of(down.window, row_parts);
    sheets = row_parts > 1 ? 1 : std::clamp<int64_t>(wanted / rows, 1, all);
    sheet_parts = parts_of(all, sheets);
    sheets = parts_of(all, sheet_parts);
    lines = (rows - 1) * down.dilation + (down.output - 1) * down.stride + 1;
    line = (columns - 1) * along.dilation + (along.output - 1) * along.stride + 1;
  }
  int64_t count() const { return column_parts * row_parts * sheet_parts; }
  int64_t steps() const { return sheets * rows * columns; }
  int64_t sheet_of_x(const ConvShape& c) const { return c.axes[0].output * lines * line; }
};

template <class T>
class Sums : public ConvWay<T> {
 public:
  Sums(const ConvShape& conv, SumLanes lanes)
      : c_(conv),
        by_images_(lanes == SumLanes::images),
        kernels_(conv_kernels<T>()),
        threads_(thread_count()),
        parts_(conv) {
    const int64_t in_lanes = by_images_ ? c_.batch : c_.filters, others = by_images_ ? c_.filters : c_.batch;
    cut_ = best_cut<T>(parts_of(in_lanes, kernels_.width), others);
    vectors_ = vector_blocks<T>(cut_, in_lanes);
    scalars_ = scalar_blocks(cut_, others);
    row_ = rounded_up(in_lanes, kernels_.width);
    sums_ = aligned<T>(c_.outputs() * others * row_);
    share();
    for (const Block& block : images())
      if (!x_at_.contains(block.width)) x_at_[block.width] = places_of_x(block.width);
    for (const Block& block : filters())
      if (!w_at_.contains(block.width)) w_at_[block.width] = steps_by(block.width, parts_.steps());
  }

  double cycles() const override {
    const auto steps = static_cast<double>(parts_.count() * parts_.steps());
    const auto x = static_cast<double>(parts_.count() * parts_.sheets * parts_.sheet_of_x(c_) * c_.batch);
    return static_cast<double>(c_.groups) *
           (steps * static_cast<double>(c_.outputs()) * cut_.cycles + 0.7 * x +
            0.7 * steps * static_cast<double>(c_.filters) + 4 * static_cast<double>(sums_));
  }

  int64_t scratch() const override { return alignment + room() * tasks(); }

  void run(const T* x, const T* w, T* result, T* scratch) const override {
    T* rooms = aligned(scratch);
    for (int64_t group = 0; group < c_.groups; group += together_) {
      const int64_t groups = std::min(together_, c_.groups - group);
      parallel(threads_, static_cast<uint64_t>(groups * shares_), 1, [&](uint64_t begin, uint64_t end) {
        for (uint64_t task = begin; task < end; ++task) {
          const auto number = static_cast<int64_t>(task);
          Task{*this, x, w, rooms + number * room(), group + number / shares_}.run(number % shares_);
        }
      });
      const auto rows = static_cast<uint64_t>(groups * c_.filters);
      parallel(threads_, rows, std::max<uint64_t>(1, rows / threads_), [&](uint64_t begin, uint64_t end) {
        for (uint64_t i = begin; i < end; ++i)
          take(rooms + static_cast<int64_t>(i) / c_.filters * shares_ * room(),
               group + static_cast<int64_t>(i) / c_.filters, static_cast<int64_t>(i) % c_.filters, result);
      });
    }
  }

 private:
  const std::vector<Block>& images() const { return by_images_ ? vectors_ : scalars_; }
  const std::vector<Block>& filters() const { return by_images_ ? scalars_ : vectors_; }
  int64_t tasks() const { return together_ * shares_; }
  int64_t room() const {
    return sums_ + aligned<T>(padded(images()) * parts_.sheets * parts_.sheet_of_x(c_)) +
           aligned<T>(padded(filters()) * parts_.steps());
  }
  static int64_t padded(const std::vector<Block>& blocks) {
    return blocks.back().first + blocks.back().width;
  }

  // Threads have groups of their own, or parts of the steps and sums of their own; where those would be
  // large, blocks of filters.
  void share() {
    const int64_t wanted = threads_;
    together_ = std::min<int64_t>(c_.groups, 2 * wanted);
    if (threads_ == 1) together_ = 1;
    if (c_.groups >= 2 * wanted || threads_ == 1) return;
    const int64_t shares = parts_of(wanted, together_);
    shares_ = std::min(shares, parts_.count());
    if (sums_ * static_cast<int64_t>(sizeof(T)) * shares > most_bytes_of_sums || shares_ < shares) {
      by_filters_ = true;
      shares_ = std::min(shares, static_cast<int64_t>(filters().size()));
    }
  }

  std::vector<int32_t> places_of_x(int64_t width) const {
    std::vector<int32_t> at;
    for (int64_t sheet = 0; sheet < parts_.sheets; ++sheet)
      for (int64_t row = 0; row < parts_.rows; ++row)
        for (int64_t column = 0; column < parts_.columns; ++column)
          at.push_back(static_cast<int32_t>(width * (sheet * parts_.sheet_of_x(c_) +
                                                     row * c_.axes[1].dilation * parts_.line +
                                                     column * c_.axes[2].dilation)));
    return at;
  }

  struct Task {
    const Sums& s;
    const T *x, *w;
    T* room;
    int64_t group;
    int64_t sheet = 0, sheets = 0, row = 0, rows = 0, column = 0, columns = 0;
    bool adds = false;

    T* of_x() const { return room + s.sums_; }
    T* of_w() const {
      return of_x() + aligned<T>(padded(s.images()) * s.parts_.sheets * s.parts_.sheet_of_x(s.c_));
    }

    void run(int64_t share) {
      const auto blocks = static_cast<int64_t>(s.filters().size());
      int64_t first = 0, last = s.parts_.count(), first_block = 0, last_block = blocks;
      if (s.by_filters_)
        first_block = blocks * share / s.shares_, last_block = blocks * (share + 1) / s.shares_;
      else
        first = s.parts_.count() * share / s.shares_, last = s.parts_.count() * (share + 1) / s.shares_;
      for (int64_t part = first; part < last; ++part) {
        place(part);
        if (columns <= 0 || rows <= 0 || sheets <= 0) continue;
        put_x();
        for (int64_t i = first_block; i < last_block; ++i) put_w(s.filters()[static_cast<size_t>(i)]);
        add(first_block, last_block);
        adds = true;
      }
      if (!adds) std::fill(room, room + s.sums_, T{});
    }

    void place(int64_t part) {
      const Parts& p = s.parts_;
      column = part % p.column_parts * p.columns;
      columns = std::min(p.columns, s.c_.axes[2].window - column);
      row = part / p.column_parts % p.row_parts * p.rows;
      rows = std::min(p.rows, s.c_.axes[1].window - row);
      sheet = part / p.column_parts / p.row_parts * p.sheets;
      sheets = std::min(p.sheets, s.c_.channels * s.c_.axes[0].window - sheet);
    }
    // Steps are counted as if columns were all there; rows and sheets that are not come last.
    int64_t steps() const { return (rows == s.parts_.rows ? sheets * rows : rows) * s.parts_.columns; }

    void put_x() const {
      const ConvShape& c = s.c_;
      const ConvAxis &deep = c.axes[0], &down = c.axes[1], &along = c.axes[2];
      const auto [image, of_group, of_channel] = c.x_apart();
      const Line line(along, column * along.dilation - along.low, 1, s.parts_.line);
      for (const Block& block : s.images()) {
        T* to = of_x() + block.first * s.parts_.sheets * s.parts_.sheet_of_x(c);
        for (int64_t i = 0; i < sheets; ++i)
          for (int64_t o0 = 0; o0 < deep.output; ++o0) {
            const int64_t channel = (sheet + i) / deep.window, k0 = (sheet + i) % deep.window;
            const int64_t p0 = place_on(deep, o0 * deep.stride + k0 * deep.dilation - deep.low);
            const T* from = x + block.first * image + group * of_group + channel * of_channel +
                            p0 * down.input * along.input;
            for (int64_t l = 0; l < s.parts_.lines; ++l, to += s.parts_.line * block.width) {
              const int64_t p1 = p0 < 0 ? -1 : place_on(down, row * down.dilation + l - down.low);
              if (p1 < 0)
                std::fill(to, to + s.parts_.line * block.width, T{});
              else
                put_line(line, from + p1 * along.input, image, block, to);
            }
          }
      }
    }

    static void put_line(const Line& line, const T* from, int64_t image, const Block& block, T* to) {
      if (line.axis.spread != 1) {
        std::vector<T> one(static_cast<size_t>(line.count));
        std::fill(to, to + line.count * block.width, T{});
        for (int64_t i = 0; i < block.count; ++i) {
          line.gather(from + i * image, one.data());
          for (int64_t k = 0; k < line.count; ++k) to[k * block.width + i] = one[static_cast<size_t>(k)];
        }
        return;
      }
      std::fill(to, to + line.begin * block.width, T{});
      pack(from + line.first + line.begin, image, line.end - line.begin, block,
           to + line.begin * block.width);
      std::fill(to + line.end * block.width, to + line.count * block.width, T{});
    }

    void put_w(const Block& block) const {
      const ConvShape& c = s.c_;
      const int64_t down = c.axes[1].window, along = c.axes[2].window;
      const auto [of_group, of_filter, of_channel] = c.w_apart();
      T* to = of_w() + block.first * s.parts_.steps();
      for (int64_t i = 0; i < sheets; ++i) {
        const int64_t channel = (sheet + i) / c.axes[0].window, k0 = (sheet + i) % c.axes[0].window;
        const T* from = w + group * of_group + block.first * of_filter + channel * of_channel +
                        (k0 * down + row) * along + column;
        if (columns == along && columns == s.parts_.columns) {
          pack(from, of_filter, rows * columns, block, to);
          to += rows * columns * block.width;
          continue;
        }
        for (int64_t r = 0; r < rows; ++r, to += s.parts_.columns * block.width) {
          pack(from + r * along, of_filter, columns, block, to);
          std::fill(to + columns * block.width, to + s.parts_.columns * block.width, T{});
        }
      }
    }

    void add(int64_t first_block, int64_t last_block) const {
      const auto some = [&](const std::vector<Block>& all, bool is_shared, const auto& f) {
        const auto begin = is_shared ? first_block : 0,
                   end = is_shared ? last_block : static_cast<int64_t>(all.size());
        for (int64_t i = begin; i < end; ++i) f(all[static_cast<size_t>(i)]);
      };
      some(s.vectors_, !s.by_images_, [&](const Block& vectors) {
        some(s.scalars_, s.by_images_, [&](const Block& scalars) { tiles(vectors, scalars); });
      });
    }

    void tiles(const Block& vectors, const Block& scalars) const {
      const ConvShape& c = s.c_;
      const Block &images = s.by_images_ ? vectors : scalars, &filters = s.by_images_ ? scalars : vectors;
      const T *own_x = of_x() + images.first * s.parts_.sheets * s.parts_.sheet_of_x(c),
              *own_w = of_w() + filters.first * s.parts_.steps();
      const int32_t *x_at = s.x_at_.at(images.width).data(), *w_at = s.w_at_.at(filters.width).data();
      ConvTile<T> tile;
      tile.vector_at = s.by_images_ ? x_at : w_at;
      tile.scalar_at = s.by_images_ ? w_at : x_at;
      tile.steps = steps();
      tile.row = s.row_;
      tile.adds = adds;
      const int64_t others = s.by_images_ ? c.filters : c.batch;
      T* sums = room + scalars.first * s.row_ + vectors.first;
      for (int64_t o0 = 0; o0 < c.axes[0].output; ++o0)
        for (int64_t o1 = 0; o1 < c.axes[1].output; ++o1)
          for (int64_t o2 = 0; o2 < c.axes[2].output; ++o2, sums += others * s.row_) {
            const T* shifted = own_x + ((o0 * s.parts_.lines + o1 * c.axes[1].stride) * s.parts_.line +
                                        o2 * c.axes[2].stride) *
                                           images.width;
            tile.vectors = s.by_images_ ? shifted : own_w;
            tile.scalars = s.by_images_ ? own_w : shifted;
            tile.sums = sums;
            s.kernels_.tile[vectors.kind][scalars.count](tile);
          }
    }
  };

  // The results of a filter.
  void take(const T* rooms, int64_t group, int64_t filter, T* result) const {
    const int64_t outputs = c_.outputs(), others = by_images_ ? c_.filters : c_.batch;
    const int64_t shares = by_filters_ ? 1 : shares_;
    if (by_filters_) rooms += share_of(filter) * room();
    for (int64_t image = 0; image < c_.batch; ++image)
      for (int64_t o = 0; o < outputs; ++o) {
        const int64_t at =
            by_images_ ? (o * others + filter) * row_ + image : (o * others + image) * row_ + filter;
        T sum = rooms[at];
        for (int64_t i = 1; i < shares; ++i) sum += rooms[i * room() + at];
        result[((image * c_.groups + group) * c_.filters + filter) * outputs + o] = sum;
      }
  }
  int64_t share_of(int64_t filter) const {
    const auto blocks = static_cast<int64_t>(filters().size());
    int64_t block = 0;
    while (block + 1 < blocks && filters()[static_cast<size_t>(block + 1)].first <= filter) ++block;
    int64_t share = 0;
    while (blocks * (share + 1) / shares_ <= block) ++share;
    return share;
  }

  const ConvShape c_;
  const bool by_images_;
  const ConvKernels<T>& kernels_;
  const unsigned threads_;
  const Parts parts_;
  Cut cut_;
  std::vector<Block> vectors_, scalars_;
  int64_t row_ = 0, sums_ = 0, together_ = 1, shares_ = 1;
  bool by_filters_ = false;
  std::map<int64_t, std::vector<int32_t>> x_at_, w_at_;
};

}  // namespace conv_sums

template <class T>
std::unique_ptr<ConvWay<T>> conv_by_sums(const ConvShape& conv, SumLanes lanes) {
  return std::make_unique<conv_sums::Sums<T>>(conv, lanes);
}

template std::unique_ptr<ConvWay<float>> conv_by_sums(const ConvShape&, SumLanes);
template std::unique_ptr<ConvWay<double>> conv_by_sums(const ConvShape&, SumLanes);

}  // namespace adit::ops
