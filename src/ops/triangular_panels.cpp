// Triangular systems by blocks of rows, a launch a block. Every case is one: t x = b with t lower triangular,
// rows counted from the end that is solved first. In the launch of the block that starts at row s, the rows
// from s on lack the products of one block, the one before; two kinds of teams bring them further:
//
// - A team of the block takes some right-hand sides. It brings their rows of the block up to date and solves
//   them by substitution, a lane a right-hand side in registers.
// - A team of the rest brings a tile of what lies below up to date.
//
// Where there are many rows and right-hand sides, "below" ends with a wide block of rows: what lies further
// below waits for all of its products at once, a matrix product of its own that reads and writes the
// right-hand sides once.
#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <vector>

#include "ops/factor_passes.hpp"
#include "ops/factor_writer.hpp"
#include "ops/matrix_update.hpp"
#include "ops/shared_tiles.hpp"
#include "ops/triangular_chain.hpp"

namespace adit::ops {

using namespace kernel;

namespace triangular_panels {
namespace {

constexpr uint32_t each = SharedTiles::each;

struct Sizes {
  uint32_t rows = 0, columns = 0;  // of a tile
  uint32_t wide = 0;               // rows of a wide block, a multiple of a tile's
  uint32_t lanes() const { return rows * columns / (each * each); }
};

// Whether t is a's transpose.
bool is_turned(const TriangularPlan& plan) { return plan.transpose == plan.left_side; }
bool is_forward(const TriangularPlan& plan) { return plan.lower != is_turned(plan); }

class Launch {
 public:
  Launch(const TriangularPlan& plan, const Sizes& sizes)
      : plan_(plan),
        complex_(plan.complex),
        turned_(is_turned(plan)),
        forward_(is_forward(plan)),
        s_(sizes),
        k_("triangular_panel", Team::many(sizes.lanes())),
        lane_(k_.lane()),
        tiles_({plan.type, plan.complex}, lane_, sizes.lanes()) {
    a_ = k_.buffer("a", plan.type, Access::read);
    from_ = k_.buffer("from", plan.type, Access::read);
    x_ = k_.buffer("x", plan.type, Access::read_write);
    start_ = k_.scalar("start", Type::u32);
    wide_start_ = k_.scalar("wide_start", Type::u32);
    wide_end_ = k_.scalar("wide_end", Type::u32);
    n_ = k_.scalar("n", Type::u32);
    columns_ = k_.scalar("columns", Type::u32);
    batch_ = k_.scalar("batch", Type::u32);
    const uint32_t words = complex_ ? 2 : 1;
    t_tile_ = {k_.shared(plan.type, s_.rows * s_.rows * words), s_.rows, s_.rows, turned_};
    x_tile_ = {k_.shared(plan.type, s_.rows * s_.columns * words), s_.rows, s_.columns, plan.left_side};
    solved_ = k_.shared(plan.type, s_.rows * s_.columns * words);
    // Lanes beside each other are so in x too.
    const uint32_t across = s_.columns / each, down = s_.rows / each;
    own_row_ = (plan.left_side ? lane_ / across : lane_ % down) * each;
    own_column_ = (plan.left_side ? lane_ % across : lane_ / down) * each;
  }

  Program build() {
    const Value team = k_.team(), wide = (columns_ + (s_.columns - 1)) / s_.columns;
    const Value first_of_rest = wide * batch_;
    k_.if_(
        team < first_of_rest,
        [&] {
          place(team / wide, team % wide);
          block();
        },
        [&] {
          const Value high = (wide_end_ - start_ - 1) / s_.rows;  // blocks below this one
          const Value rest = team - first_of_rest, tile = rest / wide;
          place(tile / high, rest % wide);
          below(start_ + (tile % high + 1) * s_.rows);
        });
    return k_.finish();
  }

 private:
  static Value wide(Value x) { return convert(x, Type::u64); }
  void place(Value matrix, Value tile) {
    a_first_ = wide(matrix) * wide(n_) * wide(n_);
    x_first_ = wide(matrix) * wide(n_) * wide(columns_);
    first_column_ = tile * s_.columns;
  }
  // What lies outside is read inside, and not stored.
  Value row_of(Value i) { return forward_ ? min(i, n_ - 1) : n_ - 1 - min(i, n_ - 1); }
  Number t(Value i, Value p) {
    const Value row = row_of(turned_ ? p : i), column = row_of(turned_ ? i : p);
    return load_number(a_, a_first_ + wide(row) * wide(n_) + wide(column), complex_);
  }
  Value x_at(Value i, Value c) {
    const Value row = wide(row_of(i)), column = wide(min(c, columns_ - 1));
    return x_first_ + (plan_.left_side ? row * wide(columns_) + column : column * wide(n_) + row);
  }
  void put(Value i, Value c, Number number) {
    k_.if_(i < n_ && c < columns_, [&] { store_number(x_, x_at(i, c), number, complex_); });
  }

  // A lane's numbers of the rows from `row` on, without the products of the block before `start`.
  std::vector<NumberSum> bring_up_to_date(Value row) {
    std::vector<NumberSum> sums;
    for (uint32_t i = 0; i < each; ++i)
      for (uint32_t j = 0; j < each; ++j) {
        const Value at = x_at(row + own_row_ + i, first_column_ + own_column_ + j);
        sums.emplace_back(k_, load_number(from_, at, complex_), complex_);
      }
    k_.if_(start_ > wide_start_, [&] {
      const Value before = start_ - s_.rows;
      const auto t_numbers = tiles_.load(t_tile_, [&](Value p, Value i) { return t(row + i, before + p); });
      const auto x_numbers = tiles_.load(x_tile_, [&](Value p, Value c) {
        return load_number(x_, x_at(before + p, first_column_ + c), complex_);
      });
      tiles_.keep(t_tile_, t_numbers);
      tiles_.keep(x_tile_, x_numbers);
      k_.barrier();
      tiles_.subtract_products(k_, sums, t_tile_, own_row_, x_tile_, own_column_);
    });
    return sums;
  }

  void below(Value row) {
    const std::vector<NumberSum> sums = bring_up_to_date(row);
    for (uint32_t i = 0; i < each; ++i)
      for (uint32_t j = 0; j < each; ++j)
        put(row + own_row_ + i, first_column_ + own_column_ + j, sums[i * each + j].get());
  }

  void block() {
    const auto square = tiles_.load(t_tile_, [&](Value p, Value i) { return t(start_ + i, start_ + p); });
    const std::vector<NumberSum> sums = bring_up_to_date(start_);
    k_.barrier();
    tiles_.keep(t_tile_, square);
    for (uint32_t i = 0; i < each; ++i)
      for (uint32_t j = 0; j < each; ++j)
        store_number(solved_, (own_row_ + i) * s_.columns + (own_column_ + j), sums[i * each + j].get(),
                     complex_);
    k_.barrier();
    k_.if_(lane_ < s_.columns, [&] { substitute(); });
    k_.barrier();
    const uint32_t total = s_.rows * s_.columns;
    for (uint32_t e = 0; e < total / s_.lanes(); ++e) {
      const Value v = lane_ + e * s_.lanes();
      const Value i = plan_.left_side ? v / s_.columns : v % s_.rows;
      const Value c = plan_.left_side ? v % s_.columns : v / s_.rows;
      put(start_ + i, first_column_ + c, load_number(solved_, i * s_.columns + c, complex_));
    }
  }

  void substitute() {
    std::vector<Number> numbers;
    for (uint32_t i = 0; i < s_.rows; ++i)
      numbers.push_back(load_number(solved_, lane_ + i * s_.columns, complex_));
    tiles_.substitute(t_tile_, numbers, plan_.unit, complex_);
    for (uint32_t i = 0; i < s_.rows; ++i)
      store_number(solved_, lane_ + i * s_.columns, numbers[i], complex_);
  }

  const TriangularPlan& plan_;
  bool complex_, turned_, forward_;
  Sizes s_;
  Builder k_;
  Value lane_;
  SharedTiles tiles_;
  SharedTile t_tile_, x_tile_;
  Array a_, from_, x_, solved_;
  Value start_, wide_start_, wide_end_, n_, columns_, batch_, own_row_, own_column_;
  Value a_first_, x_first_, first_column_;
};

// Products of a wide block of rows, t's numbers of it with x's: what they are of in memory.
UpdatePlan update_plan(const TriangularPlan& plan) {
  UpdatePlan update{plan.type, plan.complex};
  update.turned_a = plan.left_side && is_turned(plan);
  update.turned_b = !plan.left_side && !is_turned(plan);
  const uint32_t count = NumberVectors(plan.type, plan.complex).count();
  update.by_vectors = plan.n % count == 0 && (!plan.left_side || plan.columns % count == 0);
  return update;
}

// What lies below a wide block [start, end), without the block's products.
void append_update(Factor& made, const Updates& updates, const TriangularPlan& plan, uint32_t start,
                   uint32_t end) {
  const bool forward = is_forward(plan);
  const uint32_t first = forward ? end : 0, last = forward ? plan.n : plan.n - end;
  const uint32_t first_step = forward ? start : plan.n - end, end_step = forward ? end : plan.n - start;
  const uint8_t from = start == 0 ? 1 : 2;
  const UpdateMatrix a{plan.n, plan.n};
  if (plan.left_side) {
    const UpdateMatrix x{plan.n, plan.columns};
    updates.append(made, {a, x, x}, {first, last, 0, plan.columns, first_step, end_step}, plan.batch,
                   {0, 2, from, 2});
  } else {
    const UpdateMatrix x{plan.columns, plan.n};
    updates.append(made, {x, a, x}, {0, plan.columns, first, last, first_step, end_step}, plan.batch,
                   {2, 0, from, 2});
  }
}

// From how many right-hand sides on wide blocks pay, and how wide they are: 2048 of 2048 took 559 us on an
// H200 in blocks of 512 rows, 613 of 256 and 657 of 128. Small subgroups are a software device's.
uint32_t wide_block(const TriangularPlan& plan, const Limits& limits, uint32_t rows) {
  const bool is_small = limits.subgroup_size < 16;
  const uint32_t blocks = is_small ? 2 : 8, many_columns = is_small ? 16 : 64;
  const bool pays =
      plan.columns >= many_columns && plan.n > blocks * rows && Updates::has(update_plan(plan), limits);
  return pays ? blocks * rows : (plan.n + rows - 1) / rows * rows;
}

// As many rows as a lane's registers and a team's shared memory hold. Mesa's software device compiles long
// programs for minutes; its subgroups tell it.
Sizes sizes_for(const TriangularPlan& plan, const Limits& limits) {
  constexpr uint64_t column_bytes = 256, smallest = 16;
  const uint64_t bytes = size_of(plan.type) * (plan.complex ? 2 : 1);
  for (const uint32_t rows : {64U, 32U, 16U}) {
    const uint32_t columns =
        std::clamp<uint32_t>(std::bit_ceil(std::min(plan.columns, rows)), smallest, rows);
    const Sizes sizes{rows, columns, wide_block(plan, limits, rows)};
    if (rows > smallest && (rows * bytes > column_bytes || limits.subgroup_size < 16)) continue;
    if (sizes.lanes() > limits.max_lanes) continue;
    if ((rows + 2 * columns) * rows * bytes <= limits.shared_bytes) return sizes;
  }
  return {};
}

}  // namespace
}  // namespace triangular_panels

bool has_triangular_panels(const TriangularPlan& plan, const Limits& limits) {
  return limits.lanes_by_hand && triangular_panels::sizes_for(plan, limits).rows > 0;
}

Factor triangular_by_panels(const TriangularPlan& plan, const Limits& limits) {
  using namespace triangular_panels;
  Factor made;
  if (plan.n == 0 || plan.columns == 0 || plan.batch == 0) return made;
  if (plan.may_wait) return triangular_chain(plan, limits);
  const Sizes sizes = sizes_for(plan, limits);
  made.programs = {Launch(plan, sizes).build()};
  std::optional<Updates> updates;
  if (sizes.wide < plan.n) updates.emplace(made, update_plan(plan), limits);
  const uint64_t wide = (uint64_t{plan.columns} + sizes.columns - 1) / sizes.columns;
  for (uint32_t first = 0; first < plan.n; first += sizes.wide) {
    const uint32_t end = std::min(plan.n, first + sizes.wide);
    for (uint32_t start = first; start < end; start += sizes.rows) {
      const uint64_t high = start == first ? 0 : (end - start - 1) / sizes.rows;
      const uint8_t from = start <= sizes.rows ? 1 : 2;  // until a launch has changed it, b itself
      made.passes.push_back({0,
                             plan.batch * wide * (1 + high),
                             {0, from, 2},
                             {start, first, end, plan.n, plan.columns, static_cast<uint32_t>(plan.batch)}});
    }
    if (end < plan.n) append_update(made, *updates, plan, first, end);
  }
  return made;
}

}  // namespace adit::ops
