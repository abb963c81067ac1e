// Convolutions of complex numbers on a CPU: blocks of the matrix whose columns are windows, each multiplied
// by the library before the next is gathered. The matrix is gathered along lines of x: with a step of k a row
// where windows are many, with a column a row where windows are long.
#include <algorithm>
#include <cstring>

#include "ops/blas.hpp"
#include "ops/conv.hpp"
#include "ops/conv_lines.hpp"
#include "support/process_end.hpp"
#include "support/threads.hpp"

namespace adit::ops {

namespace conv_library {

using namespace conv_lines;

// A block stays in the cache between the two. Timed on two x86-64 cores with 2 MiB each.
constexpr int64_t bytes_of_a_block = 5 << 18, columns_of_a_block = 512, fewest_columns = 96;

struct Triple {
  int64_t of[3];
  int64_t operator[](int i) const { return of[i]; }
};

// One side of the matrix: rows, or the lines that a row is made of. Element (plane, a0, a1, a2) of a side
// adds a_i * step_i to the place along axis i.
struct Side {
  int64_t planes;
  Triple extents, steps;
  int64_t count() const { return planes * extents[0] * extents[1] * extents[2]; }
  int64_t lines() const { return planes * extents[0] * extents[1]; }
};

struct Plan {
  ConvShape conv;
  Side rows, along;
  bool by_column;                 // rows are columns of the product
  int64_t columns, lines, depth;  // of a block: columns of the product; lines of a row; steps of k
  int64_t threads;

  explicit Plan(const ConvShape& c, int64_t size) : conv(c), threads(thread_count()) {
    Side windows{c.channels, {}, {}}, places{c.batch, {}, {}};
    for (int i = 0; i < 3; ++i) {
      const ConvAxis& axis = c.axes[static_cast<size_t>(i)];
      windows.extents.of[i] = axis.window, windows.steps.of[i] = axis.dilation;
      places.extents.of[i] = axis.output, places.steps.of[i] = axis.stride;
    }
    by_column = windows.extents[2] > places.extents[2];
    rows = by_column ? places : windows;
    along = by_column ? windows : places;
    const int64_t line = along.extents[2];
    if (by_column) {
      const int64_t parts = threads == 1 ? 1 : 2 * threads, shared = (rows.count() + parts - 1) / parts;
      columns = std::min(rows.count(), std::clamp(shared, fewest_columns, columns_of_a_block));
      depth = bytes_of_a_block / size / columns;
      lines = std::clamp<int64_t>(depth / line, 1, along.lines());
      depth = lines * line;
    } else {
      lines = std::clamp<int64_t>(columns_of_a_block / line, 1, along.lines());
      columns = lines * line;
      depth = std::clamp<int64_t>(bytes_of_a_block / size / columns, 1, rows.count());
      const int64_t parts = (rows.count() + depth - 1) / depth;
      depth = (rows.count() + parts - 1) / parts;
    }
  }
  // Blocks of results, and whether each is one thread's: else all share each block.
  int64_t blocks() const {
    const int64_t all = by_column ? rows.count() : along.lines(), each = by_column ? columns : lines;
    return (all + each - 1) / each * conv.groups;
  }
  bool by_thread() const { return threads > 1 && blocks() >= 2 * threads; }
  int64_t elements() const { return columns * depth; }
  int64_t scratch() const { return (elements() + conv.filters * columns) * (by_thread() ? threads : 1); }
};

template <class T>
void gather_row(const Plan& plan, int64_t group, int64_t row, int64_t first_line, int64_t lines, const T* x,
                T* to) {
  const ConvShape& c = plan.conv;
  const Side& along = plan.along;
  int64_t offset[3], left = row;
  for (int i = 2; i >= 0; --i) {
    offset[i] = left % plan.rows.extents[i] * plan.rows.steps[i] - c.axes[static_cast<size_t>(i)].low;
    left /= plan.rows.extents[i];
  }
  const Line line(c.axes[2], offset[2], along.steps[2], along.extents[2]);
  int64_t along1 = first_line % along.extents[1], along0 = first_line / along.extents[1] % along.extents[0],
          plane = first_line / along.extents[1] / along.extents[0];
  while (lines > 0) {
    // Lines that lie one below the other.
    const int64_t image = plan.by_column ? left : plane, channel = plan.by_column ? plane : left;
    const int64_t p0 = place_on(c.axes[0], offset[0] + along0 * along.steps[0]);
    const T* from = x + (((image * c.groups + group) * c.channels + channel) * c.axes[0].input + p0) *
                            c.axes[1].input * c.axes[2].input;
    for (; along1 < along.extents[1] && lines > 0; ++along1, --lines, to += line.count) {
      const int64_t p1 = p0 < 0 ? -1 : place_on(c.axes[1], offset[1] + along1 * along.steps[1]);
      if (p1 < 0)
        std::fill(to, to + line.count, T{});
      else
        line.gather(from + p1 * c.axes[2].input, to);
    }
    along1 = 0;
    if (++along0 == along.extents[0]) along0 = 0, ++plane;
  }
}

// Sums of a block's columns, [filters, columns], to where they belong.
template <class T>
void put(const Plan& plan, int64_t group, int64_t first, int64_t columns, const T* sums, T* result) {
  const ConvShape& c = plan.conv;
  const int64_t outputs = c.outputs();
  for (int64_t filter = 0; filter < c.filters; ++filter)
    for (int64_t at = first; at < first + columns;) {
      const int64_t image = at / outputs, within = at % outputs;
      const int64_t count = std::min(first + columns - at, outputs - within);
      T* to = result + ((image * c.groups + group) * c.filters + filter) * outputs + within;
      std::memcpy(to, sums + filter * columns + (at - first), static_cast<size_t>(count) * sizeof(T));
      at += count;
    }
}

template <class T>
class Conv {
 public:
  Conv(const ConvShape& conv, DType type, const T* x, const T* w, T* result, T* scratch)
      : plan_(conv, sizeof(T)), type_(type), x_(x), w_(w), result_(result), scratch_(scratch) {}

  void run() {
    const int64_t each = plan_.blocks() / plan_.conv.groups;
    const auto one = [&](int64_t number, T* room) {
      if (plan_.by_column)
        column_block(number / each, number % each * plan_.columns, room);
      else
        line_block(number / each, number % each * plan_.lines, room);
    };
    if (!plan_.by_thread()) {
      for (int64_t number = 0; number < plan_.blocks(); ++number) one(number, scratch_);
      return;
    }
    const SerialProducts serial;
    Rooms rooms(plan_.threads);
    const auto count = static_cast<uint64_t>(plan_.blocks());
    parallel(static_cast<unsigned>(plan_.threads), count, 1, [&](uint64_t begin, uint64_t end) {
      const int64_t room = rooms.take();
      for (uint64_t number = begin; number < end; ++number)
        one(static_cast<int64_t>(number), scratch_ + room * (plan_.scratch() / plan_.threads));
      rooms.give_back(room);
    });
  }

 private:
  void gather(int64_t group, int64_t first_row, int64_t rows, int64_t first_line, int64_t lines, T* matrix) {
    const int64_t length = lines * plan_.along.extents[2];
    const auto some = [&](uint64_t begin, uint64_t end) {
      for (auto row = static_cast<int64_t>(begin); row < static_cast<int64_t>(end); ++row)
        gather_row(plan_, group, first_row + row, first_line, lines, x_, matrix + row * length);
    };
    const auto count = static_cast<uint64_t>(rows);
    if (plan_.by_thread()) return some(0, count);
    parallel(thread_count(), count, static_cast<uint64_t>(std::max<int64_t>(1, 16384 / length)), some);
  }

  const T* weights(int64_t group, int64_t step) const {
    return w_ + group * plan_.conv.filters * plan_.conv.steps() + step;
  }

  // Some lines of results; a row of the matrix is a step of k.
  void line_block(int64_t group, int64_t line, T* room) {
    const int64_t length = plan_.along.extents[2], steps = plan_.conv.steps();
    const int64_t lines = std::min(plan_.lines, plan_.along.lines() - line), columns = lines * length;
    T* sums = room + plan_.elements();
    for (int64_t step = 0; step < steps; step += plan_.depth) {
      const int64_t depth = std::min(plan_.depth, steps - step);
      gather(group, step, depth, line, lines, room);
      multiply_part(type_, {false, plan_.conv.filters, columns, depth, steps, columns, step > 0},
                    weights(group, step), room, sums);
    }
    put(plan_, group, line * length, columns, sums, result_);
  }

  // Some results, each a row of the matrix.
  void column_block(int64_t group, int64_t column, T* room) {
    const int64_t all = plan_.along.lines(), length = plan_.along.extents[2];
    const int64_t columns = std::min(plan_.columns, plan_.rows.count() - column);
    T* sums = room + plan_.elements();
    for (int64_t line = 0; line < all; line += plan_.lines) {
      const int64_t lines = std::min(plan_.lines, all - line), depth = lines * length;
      gather(group, column, columns, line, lines, room);
      multiply_part(type_, {true, plan_.conv.filters, columns, depth, plan_.conv.steps(), depth, line > 0},
                    weights(group, line * length), room, sums);
    }
    put(plan_, group, column, columns, sums, result_);
  }

  Plan plan_;
  DType type_;
  const T *x_, *w_;
  T *result_, *scratch_;
};

struct Bytes16 {
  uint64_t words[2];
};

template <class T>
void run(const ConvShape& conv, DType type, const void* x, const void* w, void* result, void* scratch) {
  Conv<T>(conv, type, static_cast<const T*>(x), static_cast<const T*>(w), static_cast<T*>(result),
          static_cast<T*>(scratch))
      .run();
}

}  // namespace conv_library

bool has_library_conv(DType type) { return has_blas() && is_complex(type); }

uint64_t library_conv_bytes(const ConvShape& conv, DType type) {
  const auto size = static_cast<int64_t>(size_of(type));
  const conv_library::Plan plan(conv, size);
  return static_cast<uint64_t>(plan.scratch() * size);
}

void library_conv(const ConvShape& conv, DType type, const void* x, const void* w, void* result,
                  void* scratch) {
  const process_end::Visit visit;  // of the library; threads that help are part of it
  visit.expect();
  if (type == DType::c64)
    conv_library::run<uint64_t>(conv, type, x, w, result, scratch);
  else
    conv_library::run<conv_library::Bytes16>(conv, type, x, w, result, scratch);
}

}  // namespace adit::ops
