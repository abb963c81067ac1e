#include "ops/conv_bands.hpp"

#include <map>

#include "ops/conv_lines.hpp"
#include "support/threads.hpp"

namespace adit::ops {

namespace conv_bands {

using namespace conv_cut;
using namespace conv_lines;

// What a band reads stays in the second cache and what tiles share in the first; timed on two x86-64 cores.
constexpr int64_t places_of_a_band = 512, most_places = 4096, elements_of_a_band = 1 << 14,
                  fewest_places = 56, bytes_of_a_band = 3 << 18, steps_of_a_tile = 256;

// Where elements of a sheet lie: the lines that some rows of results read, [channels, window 0, lines,
// phases, columns]. With a stride s along lines a phase is every s-th column, so that neighbours are results
// side by side.
struct Sheet {
  int64_t pitch = 0, line = 0, lines = 0, channel = 0;
  std::vector<int64_t> phases;  // those that are read
  std::vector<int32_t> window;  // where each element of the window lies
  std::vector<bool> has_line;   // by line modulo the stride: whether any row reads it

  Sheet(const ConvShape& c, int64_t rows, int64_t columns) {
    const ConvAxis &down = c.axes[1], &along = c.axes[2];
    std::vector<int64_t> slot(static_cast<size_t>(along.window)), shift = slot;
    for (int64_t k = 0; k < along.window; ++k) {
      const int64_t phase = k * along.dilation % along.stride;
      const auto found = std::find(phases.begin(), phases.end(), phase);
      slot[static_cast<size_t>(k)] = found - phases.begin();
      if (found == phases.end()) phases.push_back(phase);
      shift[static_cast<size_t>(k)] = k * along.dilation / along.stride;
    }
    pitch = columns + shift.back();
    line = pitch * static_cast<int64_t>(phases.size());
    lines = (rows - 1) * down.stride + (down.window - 1) * down.dilation + 1;
    channel = c.axes[0].window * lines * line;
    has_line.resize(static_cast<size_t>(down.stride));
    for (int64_t k = 0; k < down.window; ++k)
      has_line[static_cast<size_t>(k * down.dilation % down.stride)] = true;
    for (int64_t k0 = 0; k0 < c.axes[0].window; ++k0)
      for (int64_t k1 = 0; k1 < down.window; ++k1)
        for (size_t k2 = 0; k2 < slot.size(); ++k2)
          window.push_back(
              static_cast<int32_t>((k0 * lines + k1 * down.dilation) * line + slot[k2] * pitch + shift[k2]));
  }
};

template <class T>
class Bands : public ConvWay<T> {
 public:
  Bands(const ConvShape& conv, Lanes lanes)
      : c_(conv), lanes_(lanes), kernels_(conv_kernels<T>()), threads_(thread_count()), sheet_(cut_bands()) {
    const int64_t width = kernels_.width, flat = (rows_ - 1) * sheet_.line + columns_;
    run_ = lanes == Lanes::places ? rounded_up(flat, width) : rounded_up(columns_, width);
    if (lanes == Lanes::filters) {
      cut_ = best_cut<T>(parts_of(c_.filters, width), columns_);
      blocks_ = vector_blocks<T>(cut_, c_.filters);
      row_of_sums_ = rounded_up(c_.filters, width);
      sums_ = sheets_ * rows_ * columns_ * row_of_sums_;
    } else {
      cut_ = best_cut<T>(run_ / width, c_.filters);
      blocks_ = scalar_blocks(cut_, c_.filters);
      row_of_sums_ = sheets_ * (lanes == Lanes::places ? run_ : rows_ * run_);
      sums_ = c_.filters * row_of_sums_;
    }
    const int64_t bytes = sheets_ * sheet_.channel * static_cast<int64_t>(sizeof(T));
    channels_ = std::clamp<int64_t>(bytes_of_a_band / bytes, 1, c_.channels);
    channels_ = parts_of(c_.channels, parts_of(c_.channels, channels_));
    share_filters();
    for (int64_t i = 0; i < channels_; ++i)
      for (const int32_t at : sheet_.window) at_.push_back(static_cast<int32_t>(i * sheet_.channel) + at);
    for (const Block& block : blocks_)
      if (!by_width_.contains(block.width)) by_width_[block.width] = steps_by(block.width, steps_of_a_tile);
    for (int64_t part = 0; part < column_parts_; ++part)
      for (const int64_t phase : sheet_.phases) {
        const ConvAxis& along = c_.axes[2];
        phases_.emplace_back(along, part * columns_ * along.stride + phase - along.low, along.stride,
                             sheet_.pitch);
      }
  }

  // Beside the sums: results on their way out, and lines on their way in.
  double cycles() const override {
    const auto runs = static_cast<double>(bands() * sheets_ * (lanes_ == Lanes::places ? 1 : rows_));
    const auto outputs = static_cast<double>(c_.batch * c_.outputs()),
               filters = static_cast<double>(c_.filters);
    const double packed = static_cast<double>(bands() * sheets_ * c_.channels * sheet_.channel);
    const double out = (lanes_ == Lanes::filters ? 1.0 : 0.3) * outputs * filters;
    return static_cast<double>(c_.groups) *
           (runs * (cut_.cycles * static_cast<double>(c_.steps()) + 20) + out + 0.3 * packed);
  }

  int64_t scratch() const override { return alignment + weights() * c_.groups + room() * threads_; }

  void run(const T* x, const T* w, T* result, T* scratch) const override {
    T* packed = aligned(scratch);
    const std::array<int64_t, 3> apart = c_.w_apart();
    parallel(threads_, static_cast<uint64_t>(c_.groups) * blocks_.size(), 1,
             [&](uint64_t begin, uint64_t end) {
               for (uint64_t i = begin; i < end; ++i) {
                 const auto group = static_cast<int64_t>(i / blocks_.size());
                 const Block& block = blocks_[i % blocks_.size()];
                 T* to = packed + group * weights() + block.first * c_.steps();
                 const T* from = w + group * apart[0] + block.first * apart[1];
                 if (apart[2] == c_.windows())
                   pack(from, apart[1], c_.steps(), block, to);
                 else
                   for (int64_t channel = 0; channel < c_.channels; ++channel)
                     pack(from + channel * apart[2], apart[1], c_.windows(), block,
                          to + channel * c_.windows() * block.width);
               }
             });
    Rooms rooms(threads_);
    const auto tasks = static_cast<uint64_t>(c_.groups * bands() * shares_);
    parallel(threads_, tasks, std::max<uint64_t>(1, tasks / (8 * threads_)),
             [&](uint64_t begin, uint64_t end) {
               const int64_t number = rooms.take();
               T* room = packed + weights() * c_.groups + number * this->room();
               for (uint64_t task = begin; task < end; ++task)
                 Task{*this, x, packed, result, room}.run(static_cast<int64_t>(task));
               rooms.give_back(number);
             });
  }

 private:
  // Bands are whole sheets of an image and a place along axis 0, or some rows of one, and some columns.
  Sheet cut_bands() {
    const ConvAxis &down = c_.axes[1], &along = c_.axes[2];
    // Where there is little to do for a place, bands are larger.
    const int64_t of_a_place = c_.filters + c_.channels * c_.axes[0].window;
    const int64_t places = std::clamp(elements_of_a_band / of_a_place, places_of_a_band, most_places);
    column_parts_ = parts_of(along.output, places);
    columns_ = parts_of(along.output, column_parts_);
    const int64_t all_sheets = c_.batch * c_.axes[0].output, all_rows = all_sheets * down.output;
    int64_t rows = std::max<int64_t>(1, places / columns_);
    if (threads_ > 1) {
      const int64_t share = parts_of(all_rows * c_.groups * column_parts_, 4 * int64_t{threads_});
      rows = std::min(rows, std::max(share, parts_of(fewest_places, columns_)));
    }
    const int64_t of_a_line = c_.channels * c_.axes[0].window * down.stride * along.stride * columns_;
    rows = std::clamp<int64_t>(bytes_of_a_band / static_cast<int64_t>(sizeof(T)) / of_a_line, 1, rows);
    row_parts_ = parts_of(down.output, std::min(rows, down.output));
    rows_ = parts_of(down.output, row_parts_);
    sheets_ = row_parts_ > 1 ? 1 : std::clamp<int64_t>(rows / rows_, 1, all_sheets);
    sheet_parts_ = parts_of(all_sheets, sheets_);
    sheets_ = parts_of(all_sheets, sheet_parts_);
    return Sheet(c_, rows_, columns_);
  }

  // Where there are too few bands for all threads they share the filters too.
  void share_filters() {
    const int64_t tasks = bands() * c_.groups;
    if (threads_ > 1 && tasks < 2 * int64_t{threads_})
      shares_ = std::clamp<int64_t>(parts_of(2 * int64_t{threads_}, tasks), 1,
                                    static_cast<int64_t>(blocks_.size()));
  }

  int64_t bands() const { return sheet_parts_ * row_parts_ * column_parts_; }
  int64_t weights() const { return aligned<T>(rounded_up(c_.filters, kernels_.width) * c_.steps()); }
  int64_t packed() const { return aligned<T>(sheets_ * channels_ * sheet_.channel + kernels_.width); }
  int64_t room() const { return packed() + aligned<T>(sums_); }

  // A band of a group, and some of its filters.
  struct Task {
    const Bands& b;
    const T *x, *weights;
    T *result, *room;
    int64_t group = 0, sheet = 0, sheets = 0, row = 0, rows = 0, column = 0, columns = 0;

    void run(int64_t number) {
      const int64_t share = number % b.shares_, band = number / b.shares_ % b.bands();
      group = number / b.shares_ / b.bands();
      column = band % b.column_parts_ * b.columns_;
      columns = std::min(b.columns_, b.c_.axes[2].output - column);
      row = band / b.column_parts_ % b.row_parts_ * b.rows_;
      rows = std::min(b.rows_, b.c_.axes[1].output - row);
      sheet = band / b.column_parts_ / b.row_parts_ * b.sheets_;
      sheets = std::min(b.sheets_, b.c_.batch * b.c_.axes[0].output - sheet);
      if (columns <= 0 || rows <= 0 || sheets <= 0) return;
      const auto count = static_cast<int64_t>(b.blocks_.size());
      const int64_t first = count * share / b.shares_, last = count * (share + 1) / b.shares_;
      for (int64_t channel = 0; channel < b.c_.channels; channel += b.channels_) {
        const int64_t channels = std::min(b.channels_, b.c_.channels - channel);
        for (int64_t i = 0; i < sheets; ++i)
          put_sheet(sheet + i, channel, channels, room + i * b.channels_ * b.sheet_.channel);
        T* end = room + sheets * b.channels_ * b.sheet_.channel;
        std::fill(end, end + b.kernels_.width, T{});
        for (int64_t i = first; i < last; ++i) add(b.blocks_[static_cast<size_t>(i)], channel, channels);
      }
      for (int64_t i = first; i < last; ++i) take(b.blocks_[static_cast<size_t>(i)]);
    }

    T* sums() const { return room + b.packed(); }

    void put_sheet(int64_t number, int64_t channel, int64_t channels, T* to) const {
      const ConvShape& c = b.c_;
      const ConvAxis &deep = c.axes[0], &down = c.axes[1], &along = c.axes[2];
      const int64_t image = number / deep.output, plane = down.input * along.input;
      const std::array<int64_t, 3> apart = c.x_apart();
      const size_t count = b.sheet_.phases.size();
      const Line* phases = b.phases_.data() + static_cast<size_t>(column / b.columns_) * count;
      for (int64_t i = 0; i < channels; ++i)
        for (int64_t k0 = 0; k0 < deep.window; ++k0) {
          const int64_t p0 =
              place_on(deep, number % deep.output * deep.stride + k0 * deep.dilation - deep.low);
          const T* from = x + image * apart[0] + group * apart[1] + (channel + i) * apart[2] + p0 * plane;
          for (int64_t line = 0; line < b.sheet_.lines; ++line, to += b.sheet_.line) {
            if (!b.sheet_.has_line[static_cast<size_t>(line % down.stride)]) continue;
            const int64_t p1 = p0 < 0 ? -1 : place_on(down, row * down.stride + line - down.low);
            if (p1 < 0) {
              put_zeros(to, b.sheet_.line);
              continue;
            }
            for (size_t p = 0; p < count; ++p)
              phases[p].gather(from + p1 * along.input, to + static_cast<int64_t>(p) * b.sheet_.pitch);
          }
        }
    }

    // The products of a block of filters with some channels, so many steps at a time.
    void add(const Block& block, int64_t channel, int64_t channels) const {
      const int64_t windows = b.c_.windows(), steps = channels * windows, before = channel * windows;
      const T* own = weights + group * b.weights() + block.first * b.c_.steps() + before * block.width;
      const int32_t *at = b.at_.data(), *by_width = b.by_width_.at(block.width).data();
      for (int64_t step = 0; step < steps; step += steps_of_a_tile) {
        ConvTile<T> tile;
        tile.steps = std::min(steps_of_a_tile, steps - step);
        tile.adds = before + step > 0;
        tile.row = b.row_of_sums_;
        if (b.lanes_ == Lanes::filters) {
          tile.vectors = own + step * block.width, tile.vector_at = by_width, tile.scalar_at = at + step;
          by_rows(tile, block);
        } else {
          tile.scalars = own + step * block.width, tile.scalar_at = by_width, tile.vector_at = at + step;
          by_runs(tile, block);
        }
      }
    }

    const T* line_of(int64_t i, int64_t r) const {
      return room + i * b.channels_ * b.sheet_.channel + r * b.c_.axes[1].stride * b.sheet_.line;
    }

    void by_rows(ConvTile<T>& tile, const Block& block) const {
      for (int64_t i = 0; i < sheets; ++i)
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t place = 0; place < columns; place += b.cut_.scalars) {
            const int64_t count = std::min(b.cut_.scalars, columns - place);
            tile.scalars = line_of(i, r) + place;
            tile.sums = sums() + ((i * b.rows_ + r) * b.columns_ + place) * b.row_of_sums_ + block.first;
            b.kernels_.tile[block.kind][count](tile);
          }
    }

    void by_runs(ConvTile<T>& tile, const Block& block) const {
      const int64_t runs = b.lanes_ == Lanes::places ? 1 : rows, width = b.kernels_.width;
      const int64_t length =
          rounded_up(b.lanes_ == Lanes::places ? (rows - 1) * b.sheet_.line + columns : columns, width);
      for (int64_t i = 0; i < sheets; ++i)
        for (int64_t r = 0; r < runs; ++r) {
          int kind = b.cut_.kind;
          for (int64_t place = 0; place < length;) {
            while (kind > 0 && place + (width << kind) > length) --kind;
            tile.vectors = line_of(i, r) + place;
            tile.sums = sums_of(i, r) + block.first * b.row_of_sums_ + place;
            b.kernels_.tile[kind][block.count](tile);
            place += width << kind;
          }
        }
    }

    // Of a row, where lanes are columns or places.
    T* sums_of(int64_t i, int64_t r) const {
      return sums() +
             (b.lanes_ == Lanes::places ? i * b.run_ + r * b.sheet_.line : (i * b.rows_ + r) * b.run_);
    }

    // Sums to where they belong.
    void take(const Block& block) const {
      const ConvShape& c = b.c_;
      const int64_t lines = c.axes[0].output * c.axes[1].output, length = c.axes[2].output;
      for (int64_t i = 0; i < sheets; ++i) {
        const int64_t image = (sheet + i) / c.axes[0].output,
                      line = (sheet + i) % c.axes[0].output * c.axes[1].output + row;
        T* to = result + (((image * c.groups + group) * c.filters + block.first) * lines + line) * length +
                column;
        if (b.lanes_ == Lanes::filters) {
          const bool whole = columns == length && columns == b.columns_;
          const T* from = sums() + i * b.rows_ * b.columns_ * b.row_of_sums_ + block.first;
          for (int64_t r = 0; r < (whole ? 1 : rows); ++r)
            b.kernels_.turn({from + r * b.columns_ * b.row_of_sums_, b.row_of_sums_, to + r * length,
                             lines * length, whole ? rows * columns : columns, block.count});
          continue;
        }
        for (int64_t f = 0; f < block.count; ++f)
          for (int64_t r = 0; r < rows; ++r)
            copy_run(to + (f * lines + r) * length, sums_of(i, r) + (block.first + f) * b.row_of_sums_,
                     columns);
      }
    }
  };

  const ConvShape c_;
  const Lanes lanes_;
  const ConvKernels<T>& kernels_;
  const unsigned threads_;
  int64_t columns_ = 1, rows_ = 1, sheets_ = 1, column_parts_ = 1, row_parts_ = 1, sheet_parts_ = 1;
  const Sheet sheet_;
  int64_t run_ = 0;  // elements of a run of vectors
  Cut cut_;
  std::vector<Block> blocks_;
  int64_t row_of_sums_ = 0, sums_ = 0, channels_ = 1, shares_ = 1;
  std::vector<int32_t> at_;  // where each step of some channels reads
  std::map<int64_t, std::vector<int32_t>> by_width_;
  std::vector<Line> phases_;  // of each part of the columns
};

}  // namespace conv_bands

template <class T>
std::unique_ptr<ConvWay<T>> conv_by_bands(const ConvShape& conv, Lanes lanes) {
  const bool is_dense = conv.axes[1].stride == 1 && conv.axes[2].stride == 1;
  if (lanes == Lanes::places && !is_dense) return nullptr;
  return std::make_unique<conv_bands::Bands<T>>(conv, lanes);
}

template std::unique_ptr<ConvWay<float>> conv_by_bands(const ConvShape&, Lanes);
template std::unique_ptr<ConvWay<double>> conv_by_bands(const ConvShape&, Lanes);

}  // namespace adit::ops
