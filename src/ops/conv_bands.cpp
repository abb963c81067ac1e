#include "ops/conv_bands.hpp"

#include <map>
#include <numeric>

#include "ops/conv_copy.hpp"
#include "ops/conv_lines.hpp"
#include "ops/conv_phases.hpp"
#include "support/threads.hpp"

namespace adit::ops {

namespace conv_bands {

using namespace conv_cut;
using namespace conv_lines;
using namespace conv_phases;

// What a band reads stays in the second cache and what tiles share in the first; timed on two x86-64 cores.
constexpr int64_t places_of_a_band = 512, most_places = 4096, elements_of_a_band = 1 << 14,
                  fewest_places = 56, bytes_of_a_band = 3 << 18, steps_of_a_tile = 256;

// Where elements of a sheet lie: the lines that some rows of results read, and of the planes that neighbours
// along axis 0 read: [channels, planes, lines, phases, columns]. With a stride s along lines a phase is every
// s-th column, so that neighbours are results side by side.
struct Sheet {
  int64_t pitch = 0, line = 0, lines = 0, plane = 0, planes = 0, channel = 0;
  std::vector<int64_t> phases;            // those that are read
  std::vector<int32_t> window;            // where each element of the window lies
  std::vector<bool> has_line, has_plane;  // by number modulo the stride: whether any result reads it

  Sheet(const ConvShape& c, int64_t depth, int64_t rows, int64_t columns) {
    const ConvAxis &deep = c.axes[0], &down = c.axes[1], &along = c.axes[2];
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
    lines = read_by(down, rows);
    plane = lines * line;
    planes = read_by(deep, depth);
    channel = planes * plane;
    has_line = met_by(down), has_plane = met_by(deep);
    for (int64_t k0 = 0; k0 < deep.window; ++k0)
      for (int64_t k1 = 0; k1 < down.window; ++k1)
        for (size_t k2 = 0; k2 < slot.size(); ++k2)
          window.push_back(static_cast<int32_t>(k0 * deep.dilation * plane + k1 * down.dilation * line +
                                                slot[k2] * pitch + shift[k2]));
  }

 private:
  static int64_t read_by(const ConvAxis& axis, int64_t results) {
    return (results - 1) * axis.stride + (axis.window - 1) * axis.dilation + 1;
  }
  static std::vector<bool> met_by(const ConvAxis& axis) {
    std::vector<bool> met(static_cast<size_t>(axis.stride));
    for (int64_t k = 0; k < axis.window; ++k)
      met[static_cast<size_t>(k * axis.dilation % axis.stride)] = true;
    return met;
  }
};

template <class T>
class Bands : public ConvWay<T> {
 public:
  Bands(const ConvShape& conv, Lanes lanes)
      : parts_(conv),
        c_(parts_.base),
        lanes_(lanes),
        kernels_(conv_kernels<T>()),
        copies_(line_kernels<T>()),
        threads_(thread_count()),
        sheet_(cut_bands()) {
    const int64_t width = kernels_.width, flat = (rows_ - 1) * sheet_.line + columns_;
    run_ = lanes == Lanes::places ? rounded_up(flat, width) : rounded_up(columns_, width);
    const int64_t units = sheets_ * depth_;
    if (lanes == Lanes::filters) {
      cut_ = best_cut<T>(parts_of(c_.filters, width), columns_);
      blocks_ = vector_blocks<T>(cut_, c_.filters);
      row_of_sums_ = rounded_up(c_.filters, width);
      sums_ = aligned<T>(units * rows_ * columns_ * row_of_sums_);
      for (const Block& block : blocks_) turned_ = std::max(turned_, block.width * columns_);
    } else {
      cut_ = best_cut<T>(run_ / width, c_.filters);
      blocks_ = scalar_blocks(cut_, c_.filters);
      row_of_sums_ = units * (lanes == Lanes::places ? run_ : rows_ * run_);
      sums_ = aligned<T>(c_.filters * row_of_sums_);
    }
    const int64_t bytes = sheets_ * sheet_.channel * static_cast<int64_t>(sizeof(T));
    channels_ = std::clamp<int64_t>(bytes_of_a_band / bytes, 1, c_.channels);
    channels_ = parts_of(c_.channels, parts_of(c_.channels, channels_));
    share_filters();
    find_steps();
    for (int64_t part = 0; part < column_parts_; ++part)
      for (const int64_t phase : sheet_.phases) {
        const ConvAxis& along = c_.axes[2];
        lines_.emplace_back(along, part * columns_ * along.stride + phase - along.low, along.stride,
                            sheet_.pitch);
      }
  }

  // Beside the sums: results on their way out, and lines on their way in.
  double cycles() const override {
    const auto runs = static_cast<double>(bands() * sheets_ * depth_ * (lanes_ == Lanes::places ? 1 : rows_));
    const double count = static_cast<double>(parts_.list.size()),
                 outputs = count * static_cast<double>(c_.batch * c_.outputs() * c_.filters);
    const double vectors = static_cast<double>(parts_of(sheet_.pitch, kernels_.width)) + 1,
                 lines = static_cast<double>(bands() * sheets_ * c_.channels * sheet_.channel) /
                         static_cast<double>(sheet_.pitch);
    const double out =
        lanes_ == Lanes::filters ? outputs : outputs * (0.15 + 4 / static_cast<double>(c_.axes[2].output));
    double sums = 0;
    for (const Part& part : phases_)
      sums += cut_.cycles * static_cast<double>(c_.channels * part.windows) + 20;
    return static_cast<double>(c_.groups) * (runs * sums + out + 2 * vectors * lines);
  }

  int64_t scratch() const override { return alignment + weights() * c_.groups + room() * threads_; }

  void run(const T* x, const T* w, T* result, T* scratch) const override {
    T* packed = aligned(scratch);
    const uint64_t blocks = blocks_.size(), of_a_group = blocks * phases_.size();
    parallel(threads_, static_cast<uint64_t>(c_.groups) * of_a_group, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) {
        const auto group = static_cast<int64_t>(i / of_a_group);
        put_weights(w, group, i / blocks % phases_.size(), blocks_[i % blocks], packed + group * weights());
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
  // Bands are whole sheets of an image and some places along axis 0, or some rows of one, and some columns.
  Sheet cut_bands() {
    const ConvAxis &deep = c_.axes[0], &down = c_.axes[1], &along = c_.axes[2];
    // Where there is little to do for a place, bands are larger.
    const int64_t of_a_place = c_.filters * parts_.apart[2] + c_.channels * deep.window;
    const int64_t places = std::clamp(elements_of_a_band / of_a_place, places_of_a_band, most_places);
    column_parts_ = parts_of(along.output, places);
    columns_ = parts_of(along.output, column_parts_);
    const int64_t all_rows = c_.batch * deep.output * down.output;
    int64_t rows = std::max<int64_t>(1, places / columns_);
    if (threads_ > 1) {
      const int64_t share = parts_of(all_rows * c_.groups * column_parts_, 4 * int64_t{threads_});
      rows = std::min(rows, std::max(share, parts_of(fewest_places, columns_)));
    }
    const int64_t of_a_line = c_.channels * deep.window * down.stride * along.stride * columns_;
    rows = std::clamp<int64_t>(bytes_of_a_band / static_cast<int64_t>(sizeof(T)) / of_a_line, 1, rows);
    row_parts_ = parts_of(down.output, std::min(rows, down.output));
    rows_ = parts_of(down.output, row_parts_);
    if (row_parts_ == 1) depth_ = std::clamp<int64_t>(rows / rows_, 1, deep.output);
    depth_parts_ = parts_of(deep.output, depth_);
    depth_ = parts_of(deep.output, depth_parts_);
    if (row_parts_ == 1 && depth_parts_ == 1)
      sheets_ = std::clamp<int64_t>(rows / (rows_ * depth_), 1, c_.batch);
    sheet_parts_ = parts_of(c_.batch, sheets_);
    sheets_ = parts_of(c_.batch, sheet_parts_);
    return Sheet(c_, depth_, rows_, columns_);
  }

  // Where there are too few bands for all threads they share the filters too.
  void share_filters() {
    const int64_t tasks = bands() * c_.groups;
    if (threads_ > 1 && tasks < 2 * int64_t{threads_})
      shares_ = std::clamp<int64_t>(parts_of(2 * int64_t{threads_}, tasks), 1,
                                    static_cast<int64_t>(blocks_.size()));
  }

  // Of a phase: where the steps of some channels read, and where its weights lie.
  struct Part {
    int64_t windows = 0, weights = 0;
    std::vector<int32_t> at;
  };

  void find_steps() {
    const int64_t filters = rounded_up(c_.filters, kernels_.width);
    for (const Phase& phase : parts_.list) {
      Part part{static_cast<int64_t>(phase.of_x.size()), all_weights_, {}};
      all_weights_ += aligned<T>(filters * c_.channels * part.windows);
      for (int64_t i = 0; i < channels_; ++i)
        for (const int32_t k : phase.of_x)
          part.at.push_back(static_cast<int32_t>(i * sheet_.channel + sheet_.window[static_cast<size_t>(k)]));
      phases_.push_back(std::move(part));
    }
    for (const Block& block : blocks_)
      if (!by_width_.contains(block.width)) by_width_[block.width] = steps_by(block.width, steps_of_a_tile);
  }

  int64_t bands() const { return sheet_parts_ * depth_parts_ * row_parts_ * column_parts_; }
  int64_t weights() const { return all_weights_; }
  int64_t packed() const { return aligned<T>(sheets_ * channels_ * sheet_.channel + kernels_.width); }
  int64_t room() const { return packed() + (sums_ + aligned<T>(turned_)) * parts_.apart[2]; }

  void put_weights(const T* w, int64_t group, size_t number, const Block& block, T* to) const {
    const std::vector<int32_t>& of_w = parts_.list[number].of_w;
    const auto count = static_cast<int64_t>(of_w.size());
    const std::array<int64_t, 3> apart = c_.w_apart();
    const T* from = w + group * apart[0] + block.first * apart[1];
    to += phases_[number].weights + block.first * c_.channels * count;
    if (count == 0) return;
    // Neighbours in w, in their order or turned round.
    const int64_t by = count == 1 ? 1 : of_w[1] - of_w[0];
    const bool is_run = std::abs(by) == 1 && of_w.back() - of_w.front() == by * (count - 1);
    if (is_run && by == 1 && apart[2] == count && of_w[0] == 0)
      return pack(from, apart[1], c_.channels * count, block, to);
    for (int64_t channel = 0; channel < c_.channels; ++channel, from += apart[2], to += count * block.width) {
      if (block.count < block.width) std::fill(to, to + count * block.width, T{});
      if (is_run)
        kernels_.turn({from + std::min(of_w.front(), of_w.back()), apart[1],
                       by == 1 ? to : to + (count - 1) * block.width, by * block.width, block.count, count});
      else
        for (int64_t i = 0; i < count; ++i)
          for (int64_t f = 0; f < block.count; ++f)
            to[i * block.width + f] = from[f * apart[1] + of_w[static_cast<size_t>(i)]];
    }
  }

  // A band of a group, and some of its filters.
  struct Task {
    const Bands& b;
    const T *x, *weights;
    T *result, *room;
    int64_t group = 0, image = 0, images = 0, plane = 0, planes = 0, row = 0, rows = 0, column = 0,
            columns = 0;

    void run(int64_t number) {
      const int64_t share = number % b.shares_;
      if (!find_band(number / b.shares_)) return;
      const auto count = static_cast<int64_t>(b.blocks_.size());
      const int64_t first = count * share / b.shares_, last = count * (share + 1) / b.shares_;
      const auto side_by_side = static_cast<size_t>(b.parts_.apart[2]);
      for (size_t phase = 0; phase < b.phases_.size(); phase += side_by_side) {
        for (int64_t channel = 0; channel < b.c_.channels; channel += b.channels_) {
          const int64_t channels = std::min(b.channels_, b.c_.channels - channel);
          if (phase == 0 || b.channels_ < b.c_.channels) put_sheets(channel, channels);
          for (size_t slot = 0; slot < side_by_side; ++slot)
            for (int64_t i = first; i < last; ++i)
              add(b.blocks_[static_cast<size_t>(i)], b.phases_[phase + slot], slot, channel, channels);
        }
        for (int64_t i = first; i < last; ++i) take(b.blocks_[static_cast<size_t>(i)], phase);
      }
    }

    bool find_band(int64_t band) {
      const auto next = [&](int64_t parts) { return std::exchange(band, band / parts) % parts; };
      column = next(b.column_parts_) * b.columns_;
      columns = std::min(b.columns_, b.c_.axes[2].output - column);
      row = next(b.row_parts_) * b.rows_;
      rows = std::min(b.rows_, b.c_.axes[1].output - row);
      plane = next(b.depth_parts_) * b.depth_;
      planes = std::min(b.depth_, b.c_.axes[0].output - plane);
      image = next(b.sheet_parts_) * b.sheets_;
      images = std::min(b.sheets_, b.c_.batch - image);
      group = band;
      return columns > 0 && rows > 0 && planes > 0 && images > 0;
    }

    T* sums(size_t slot) const { return room + b.packed() + static_cast<int64_t>(slot) * b.sums_; }
    T* turned(size_t slot) const {
      return sums(static_cast<size_t>(b.parts_.apart[2])) + static_cast<int64_t>(slot) * b.turned_;
    }

    void put_sheets(int64_t channel, int64_t channels) const {
      for (int64_t i = 0; i < images; ++i)
        put_sheet(image + i, channel, channels, room + i * b.channels_ * b.sheet_.channel);
      T* end = room + images * b.channels_ * b.sheet_.channel;
      std::fill(end, end + b.kernels_.width, T{});
    }

    void put_sheet(int64_t number, int64_t channel, int64_t channels, T* to) const {
      const ConvAxis& deep = b.c_.axes[0];
      const std::array<int64_t, 3> apart = b.c_.x_apart();
      const int64_t size = b.c_.axes[1].input * b.c_.axes[2].input;
      for (int64_t i = 0; i < channels; ++i)
        for (int64_t z = 0; z < b.sheet_.planes; ++z, to += b.sheet_.plane) {
          if (!b.sheet_.has_plane[static_cast<size_t>(z % deep.stride)]) continue;
          const int64_t place = place_on(deep, plane * deep.stride + z - deep.low);
          if (place < 0)
            put_zeros(to, b.sheet_.plane);
          else
            put_lines(x + number * apart[0] + group * apart[1] + (channel + i) * apart[2] + place * size, to);
        }
    }

    // The lines of a plane.
    void put_lines(const T* from, T* to) const {
      const ConvAxis &down = b.c_.axes[1], &along = b.c_.axes[2];
      const Sheet& sheet = b.sheet_;
      const size_t count = sheet.phases.size();
      const Line* phases = b.lines_.data() + static_cast<size_t>(column / b.columns_) * count;
      const int64_t first = row * down.stride - down.low;
      if (down.spread != 1 || along.spread != 1) {
        for (int64_t line = 0; line < sheet.lines; ++line, to += sheet.line) {
          const int64_t place = place_on(down, first + line);
          if (place < 0) put_zeros(to, sheet.line);
          for (size_t p = 0; place >= 0 && p < count; ++p)
            phases[p].gather(from + place * along.input, to + static_cast<int64_t>(p) * sheet.pitch);
        }
        return;
      }
      const int64_t begin = std::clamp<int64_t>(-first, 0, sheet.lines),
                    end = std::clamp<int64_t>(down.input - first, begin, sheet.lines);
      put_zeros(to, begin * sheet.line);
      put_zeros(to + end * sheet.line, (sheet.lines - end) * sheet.line);
      for (int64_t rest = 0; rest < down.stride; ++rest) {
        const int64_t line = begin + ((rest - begin) % down.stride + down.stride) % down.stride;
        if (line >= end || !sheet.has_line[static_cast<size_t>(rest)]) continue;
        for (size_t p = 0; p < count; ++p) {
          const Line& one = phases[p];
          b.copies_.copy({from + (first + line) * along.input + one.first + one.begin * one.step,
                          along.input * down.stride,
                          to + line * sheet.line + static_cast<int64_t>(p) * sheet.pitch,
                          sheet.line * down.stride, parts_of(end - line, down.stride), one.begin, one.end,
                          sheet.pitch, one.step});
        }
      }
    }

    // The products of a block of filters with some channels, so many steps at a time.
    void add(const Block& block, const Part& part, size_t slot, int64_t channel, int64_t channels) const {
      const int64_t steps = channels * part.windows, before = channel * part.windows;
      if (steps == 0) {
        std::fill(sums(slot), sums(slot) + b.sums_, T{});
        return;
      }
      const T* own = weights + group * b.weights() + part.weights +
                     block.first * b.c_.channels * part.windows + before * block.width;
      const int32_t *at = part.at.data(), *by_width = b.by_width_.at(block.width).data();
      for (int64_t step = 0; step < steps; step += steps_of_a_tile) {
        ConvTile<T> tile;
        tile.steps = std::min(steps_of_a_tile, steps - step);
        tile.adds = before + step > 0;
        tile.row = b.row_of_sums_;
        if (b.lanes_ == Lanes::filters) {
          tile.vectors = own + step * block.width, tile.vector_at = by_width, tile.scalar_at = at + step;
          by_rows(tile, block, slot);
        } else {
          tile.scalars = own + step * block.width, tile.scalar_at = by_width, tile.vector_at = at + step;
          by_runs(tile, block, slot);
        }
      }
    }

    // Image i, place d along axis 0, row r: all of the band.
    const T* line_of(int64_t i, int64_t d, int64_t r) const {
      return room + i * b.channels_ * b.sheet_.channel + d * b.c_.axes[0].stride * b.sheet_.plane +
             r * b.c_.axes[1].stride * b.sheet_.line;
    }
    int64_t unit(int64_t i, int64_t d) const { return i * b.depth_ + d; }
    template <class F>
    void for_each_unit(const F& f) const {
      for (int64_t i = 0; i < images; ++i)
        for (int64_t d = 0; d < planes; ++d) f(i, d);
    }

    void by_rows(ConvTile<T>& tile, const Block& block, size_t slot) const {
      for_each_unit([&](int64_t i, int64_t d) {
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t place = 0; place < columns; place += b.cut_.scalars) {
            const int64_t count = std::min(b.cut_.scalars, columns - place);
            tile.scalars = line_of(i, d, r) + place;
            tile.sums =
                sums(slot) + ((unit(i, d) * b.rows_ + r) * b.columns_ + place) * b.row_of_sums_ + block.first;
            b.kernels_.tile[block.kind][count](tile);
          }
      });
    }

    void by_runs(ConvTile<T>& tile, const Block& block, size_t slot) const {
      const int64_t runs = b.lanes_ == Lanes::places ? 1 : rows, width = b.kernels_.width;
      const int64_t length =
          rounded_up(b.lanes_ == Lanes::places ? (rows - 1) * b.sheet_.line + columns : columns, width);
      for_each_unit([&](int64_t i, int64_t d) {
        for (int64_t r = 0; r < runs; ++r) {
          int kind = b.cut_.kind;
          for (int64_t place = 0; place < length;) {
            while (kind > 0 && place + (width << kind) > length) --kind;
            tile.vectors = line_of(i, d, r) + place;
            tile.sums = sums_of(slot, unit(i, d), r) + block.first * b.row_of_sums_ + place;
            b.kernels_.tile[kind][block.count](tile);
            place += width << kind;
          }
        }
      });
    }

    // Of a row, where lanes are columns or places.
    T* sums_of(size_t slot, int64_t unit, int64_t r) const {
      return sums(slot) +
             (b.lanes_ == Lanes::places ? unit * b.run_ + r * b.sheet_.line : (unit * b.rows_ + r) * b.run_);
    }

    // Sums of phases side by side to where they belong.
    void take(const Block& block, size_t phase) const {
      const auto [deep, down, along] = b.parts_.outputs;
      const auto [place0, place1, none] = b.parts_.list[phase].place;
      const auto [apart0, apart1, apart2] = b.parts_.apart;
      const int64_t own_planes = b.parts_.count(0, place0, plane, planes),
                    own_rows = b.parts_.count(1, place1, row, rows),
                    length = std::min(columns * apart2, along - column * apart2);
      for (int64_t i = 0; i < images; ++i)
        for (int64_t d = 0; d < own_planes; ++d) {
          const int64_t filter = ((image + i) * b.c_.groups + group) * b.c_.filters + block.first,
                        line = ((plane + d) * apart0 + place0) * down + row * apart1 + place1;
          T* to = result + (filter * deep * down + line) * along + column * apart2;
          take_unit(block, unit(i, d), {to, apart1 * along, deep * down * along, own_rows, length});
        }
    }

    struct Place {
      T* to;
      int64_t row, filter, rows,
          length;  // rows and filters: how far apart; rows and elements of one: how many
    };

    void take_unit(const Block& block, int64_t unit, const Place& p) const {
      if (b.lanes_ == Lanes::filters)
        return b.parts_.apart[2] == 1 ? turn(block, unit, p) : turn_and_join(block, unit, p);
      const int64_t apart = b.lanes_ == Lanes::places ? b.sheet_.line : b.run_;
      for (int64_t f = 0; f < block.count; ++f)
        join([&](size_t slot) { return sums_of(slot, unit, 0) + (block.first + f) * b.row_of_sums_; }, apart,
             p.to + f * p.filter, p.row, p.rows, p.length);
    }

    const T* turned_sums(const Block& block, size_t slot, int64_t unit, int64_t r) const {
      return sums(slot) + (unit * b.rows_ + r) * b.columns_ * b.row_of_sums_ + block.first;
    }

    void turn(const Block& block, int64_t unit, const Place& p) const {
      const bool whole = p.length == b.columns_ && p.length == p.row;
      for (int64_t r = 0; r < (whole ? 1 : p.rows); ++r)
        b.kernels_.turn({turned_sums(block, 0, unit, r), b.row_of_sums_, p.to + r * p.row, p.filter,
                         whole ? p.rows * p.length : p.length, block.count});
    }

    void turn_and_join(const Block& block, int64_t unit, const Place& p) const {
      const auto slots = static_cast<size_t>(b.parts_.apart[2]);
      for (int64_t r = 0; r < p.rows; ++r) {
        for (size_t slot = 0; slot < slots; ++slot)
          b.kernels_.turn({turned_sums(block, slot, unit, r), b.row_of_sums_, turned(slot), b.columns_,
                           columns, block.count});
        join([&](size_t slot) { return turned(slot); }, b.columns_, p.to + r * p.row, p.filter, block.count,
             p.length);
      }
    }

    // Lines of phases side by side: their elements in turn.
    template <class From>
    void join(const From& from, int64_t from_row, T* to, int64_t to_row, int64_t lines,
              int64_t length) const {
      const int64_t phases = b.parts_.apart[2];
      if (phases == 1) return b.copies_.copy({from(0), from_row, to, to_row, lines, 0, length, length, 1});
      if (phases == 2) return b.copies_.join({{from(0), from(1)}, from_row, to, to_row, lines, length});
      for (int64_t l = 0; l < lines; ++l)
        for (int64_t p = 0; p < phases; ++p) {
          const T* own = from(static_cast<size_t>(p)) + l * from_row;
          for (int64_t i = p; i < length; i += phases) to[l * to_row + i] = *own++;
        }
    }
  };

  const Phases parts_;
  const ConvShape& c_;
  const Lanes lanes_;
  const ConvKernels<T>& kernels_;
  const LineKernels<T>& copies_;
  const unsigned threads_;
  int64_t columns_ = 1, rows_ = 1, depth_ = 1, sheets_ = 1;  // of a band
  int64_t column_parts_ = 1, row_parts_ = 1, depth_parts_ = 1, sheet_parts_ = 1;
  const Sheet sheet_;
  int64_t run_ = 0;  // elements of a run of vectors
  Cut cut_;
  std::vector<Block> blocks_;
  int64_t row_of_sums_ = 0, sums_ = 0, turned_ = 0, channels_ = 1, shares_ = 1, all_weights_ = 0;
  std::vector<Part> phases_;
  std::map<int64_t, std::vector<int32_t>> by_width_;
  std::vector<Line> lines_;  // of each part of the columns
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
