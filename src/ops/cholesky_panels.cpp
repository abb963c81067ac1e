// Cholesky's factor by panels of columns, a launch a panel. In the launch of a panel that starts at column s,
// what lies right of s lacks the products of one panel, the one before; two kinds of teams bring it further:
//
// - A team of the panel takes some rows below its square. It brings the square and its own rows up to date,
//   factors the square - every team does, since that is sooner done than told - and solves its rows with it.
// - A team of the rest brings a tile of what lies right of the panel up to date.
//
// Of large matrices the rest ends with a wide panel's columns: what lies right of those waits for all of its
// products at once, a matrix product of its own that reads and writes the rest once.
//
// Nobody may overwrite the square while others read it: its factor goes to scratch, and to its place in the
// next launch. What lies above the diagonal becomes zero with the rows that mirror it.
#include <algorithm>
#include <functional>
#include <optional>

#include "ops/cholesky_rows.hpp"
#include "ops/factor_passes.hpp"
#include "ops/factor_writer.hpp"
#include "ops/hands.hpp"
#include "ops/matrix_update.hpp"
#include "ops/number_vectors.hpp"

namespace adit::ops {

using namespace kernel;

namespace cholesky_panels {
namespace {

// Columns of a panel, and what follows from them.
struct Sizes {
  uint32_t columns = 0, subgroup = 0;
  uint32_t tile() const { return 2 * columns; }             // rows and columns of a tile, rows of a team
  uint32_t lanes() const { return columns * columns / 8; }  // 24 results a lane of a panel, 32 of the rest
  uint32_t together() const { return std::min(subgroup, columns); }  // lanes that hold the square
  // Subgroups that solve, a whole square's rows or more each.
  uint32_t solvers() const { return std::min(lanes() / subgroup, tile() / std::max(subgroup, columns)); }
  uint32_t rows() const { return tile() / solvers(); }  // of a solver
  uint32_t stride(const NumberVectors& vectors) const { return columns + vectors.count(); }
};

class Launch {
 public:
  Launch(const FactorPlan& plan, const Sizes& sizes)
      : complex_(plan.complex),
        by_vectors_(plan.n % NumberVectors(plan.type, plan.complex).count() == 0),
        is_large_(plan.n >= 1 << 16),
        s_(sizes),
        vectors_(plan.type, plan.complex),
        stride_(sizes.stride(vectors_)),
        k_("cholesky_panel", Team::many(sizes.lanes())) {
    from_ = k_.buffer("from", plan.type, Access::read);
    done_ = k_.buffer("done", plan.type, Access::read);
    l_ = k_.buffer("l", plan.type, Access::write);
    squares_ = k_.buffer("squares", plan.type, Access::read_write);
    start_ = k_.scalar("start", Type::u32);
    wide_start_ = k_.scalar("wide_start", Type::u32);
    wide_end_ = k_.scalar("wide_end", Type::u32);
    n_ = k_.scalar("n", Type::u32);
    batch_ = k_.scalar("batch", Type::u32);
    shared_ = k_.shared(plan.type, 2 * s_.tile() * stride_ * (complex_ ? 2 : 1));
    lane_ = k_.subgroup_number() * s_.subgroup + k_.subgroup_lane();
    below_ = start_ + s_.columns;
    left_ = select(below_ < n_, n_ - below_, word(0));
    high_ = (left_ + (s_.tile() - 1)) / s_.tile();
    wide_ = (select(below_ < wide_end_, wide_end_ - below_, word(0)) + (s_.tile() - 1)) / s_.tile();
  }

  Program build() {
    const Value team = k_.team(), panels = max(high_, 1), first_tile = panels * batch_;
    k_.if_(
        team < first_tile,
        [&] {
          place(team / panels);
          panel(team % panels);
        },
        [&] {
          const Value rest = team - first_tile, tiles = wide_ * (2 * high_ - wide_ + 1) / 2;
          place(rest / tiles);
          tile(rest % tiles);
        });
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value inside(Value i) { return min(i, n_ - 1); }
  void place(Value matrix) {
    matrix_ = matrix;
    const Value n = as_u64(n_);
    first_ = as_u64(matrix) * n * n;
  }
  static Value as_u64(Value x) { return convert(x, Type::u64); }
  Value at(Value row, Value column) {
    if (is_large_) return first_ + as_u64(row) * as_u64(n_) + as_u64(column);
    return first_ + as_u64(row * n_ + column);
  }

  // Rows of the panel before, as many as fit a tile or two, to shared memory.
  void stage(uint32_t rows, const std::function<Value(Value)>& row_of) {
    const uint32_t count = vectors_.count(), across = s_.columns / count, lanes = s_.lanes();
    std::vector<std::vector<Number>> loaded;
    for (uint32_t e = 0; e < rows * across / lanes; ++e) {
      const Value v = lane_ + e * lanes, row = inside(row_of(v / across));
      const Value index = at(row, start_ - s_.columns + v % across * count);
      if (by_vectors_) {
        loaded.push_back(vectors_.load(done_, count == 1 ? index : index / count));
        continue;
      }
      loaded.emplace_back();
      for (uint32_t i = 0; i < count; ++i) loaded.back().push_back(load_number(done_, index + i, complex_));
    }
    for (uint32_t e = 0; e < loaded.size(); ++e) {
      const Value v = lane_ + e * lanes;
      vectors_.store(shared_, v / across * (stride_ / count) + v % across, loaded[e]);
    }
  }

  std::vector<Number> vector_of(Value row, uint32_t which) {
    const uint32_t count = vectors_.count();
    return vectors_.load(shared_, row * (stride_ / count) + which);
  }

  // A lane's results: rows[i] and columns[j] of what was staged.
  struct Results {
    std::vector<Value> rows, columns;
    std::vector<NumberSum> sums;
  };
  void subtract_products(const Results& results) {
    for (uint32_t v = 0; v < s_.columns / vectors_.count(); ++v) {
      std::vector<std::vector<Number>> rows, columns;
      for (const Value& row : results.rows) rows.push_back(vector_of(row, v));
      for (const Value& column : results.columns) columns.push_back(vector_of(column, v));
      for (uint32_t p = 0; p < vectors_.count(); ++p)
        for (size_t i = 0; i < rows.size(); ++i)
          for (size_t j = 0; j < columns.size(); ++j)
            results.sums[i * columns.size() + j].subtract(rows[i][p], conjugated(columns[j][p], complex_));
    }
  }

  // --- a team of the panel ---

  void panel(Value block) {
    const Value own = below_ + block * s_.tile();  // the first of its rows
    const auto row_of = [&](Value r) { return select(r < s_.columns, start_ + r, own + (r - s_.columns)); };
    bring_up_to_date(row_of);
    k_.barrier();
    factor_and_solve();
    k_.barrier();
    k_.if_(block == 0, [&] { store_square(); });
    store_rows(own);
  }

  // The square and the rows under it, as one block in shared memory.
  void bring_up_to_date(const std::function<Value(Value)>& row_of) {
    constexpr uint32_t high = 6, wide = 4;
    const uint32_t across = s_.columns / wide, down = 3 * s_.columns / high;
    Results results;
    const Value down_lane = lane_ / across, across_lane = lane_ % across;
    for (uint32_t i = 0; i < high; ++i) results.rows.push_back(down_lane + i * down);
    for (uint32_t j = 0; j < wide; ++j) results.columns.push_back(across_lane + j * across);
    for (const Value& row : results.rows)
      for (const Value& column : results.columns)
        results.sums.emplace_back(
            k_, load_number(from_, at(inside(row_of(row)), inside(start_ + column)), complex_), complex_);
    k_.if_(start_ > wide_start_, [&] {
      stage(3 * s_.columns, row_of);
      k_.barrier();
      subtract_products(results);
      k_.barrier();
    });
    for (uint32_t i = 0; i < high; ++i)
      for (uint32_t j = 0; j < wide; ++j)
        store_number(shared_, results.rows[i] * stride_ + results.columns[j],
                     results.sums[i * wide + j].get(), complex_);
  }

  std::vector<Number> read_row(Value row) {
    std::vector<Number> all;
    for (uint32_t v = 0; v < s_.columns / vectors_.count(); ++v)
      for (const Number& number : vector_of(row, v)) all.push_back(number);
    return all;
  }
  void write_row(Value row, const std::vector<Number>& numbers) {
    const uint32_t count = vectors_.count();
    for (uint32_t v = 0; v < s_.columns / count; ++v) {
      const auto first = numbers.begin() + v * count;
      vectors_.store(shared_, row * (stride_ / count) + v, {first, first + count});
    }
  }

  void factor_and_solve() {
    const Value number = k_.subgroup_number();
    k_.if_(number < s_.solvers(), [&] {
      RowCholesky rows(k_, s_.columns, s_.together(), complex_);
      RowSets square, others;
      for (uint32_t t = 0; t < RowCholesky::sets(s_.columns, s_.together()); ++t)
        square.push_back(read_row(rows.lane() + t * s_.together()));
      const Value first = number * s_.rows() + k_.subgroup_lane() + s_.columns;
      for (uint32_t t = 0; t < s_.rows() / s_.subgroup; ++t)
        others.push_back(read_row(first + t * s_.subgroup));
      rows.factor(square, others);
      for (uint32_t t = 0; t < others.size(); ++t) write_row(first + t * s_.subgroup, others[t]);
      // The square was read by all subgroups, and nobody knows which are done with that.
      k_.if_(lane_ < s_.together(), [&] {
        for (uint32_t t = 0; t < square.size(); ++t) write_row(lane_ + t * s_.together() + kept(), square[t]);
      });
    });
  }
  uint32_t kept() const { return 3 * s_.columns; }  // the row of shared memory where the factor is

  // f(row, column) for the square's places, and where its numbers are in scratch.
  void each_of_square(Value panel, const std::function<void(Value, Value, Value)>& f) {
    const uint32_t size = s_.columns * s_.columns;
    const Value first = (matrix_ * 2 + (panel & 1)) * size;
    for (uint32_t e = 0; e < size / s_.lanes(); ++e) {
      const Value place = lane_ + e * s_.lanes();
      f(place / s_.columns, place % s_.columns, first + place);
    }
  }

  void store_square() {
    const Value panel = start_ / s_.columns;
    const auto factor = [&](Value row, Value column) {
      return load_number(shared_, (row + kept()) * stride_ + column, complex_);
    };
    // With the last one nobody is left who reads.
    k_.if_(
        left_ == 0,
        [&] {
          each_of_square(panel, [&](Value row, Value column, Value) {
            k_.if_(start_ + row < n_ && start_ + column < n_, [&] {
              store_number(l_, at(start_ + row, start_ + column), factor(row, column), complex_);
            });
          });
        },
        [&] {
          each_of_square(panel, [&](Value row, Value column, Value to) {
            store_number(squares_, to, factor(row, column), complex_);
          });
        });
    k_.if_(start_ > 0, [&] {
      const Value before = start_ - s_.columns;
      each_of_square(panel - 1, [&](Value row, Value column, Value from) {
        store_number(l_, at(before + row, before + column), load_number(squares_, from, complex_), complex_);
      });
    });
  }

  void store_rows(Value own) {
    const uint32_t lanes = s_.lanes(), columns = s_.columns, tile = s_.tile();
    for (uint32_t e = 0; e < tile * columns / lanes; ++e) {
      const Value place = lane_ + e * lanes, row = place / columns, column = place % columns;
      k_.if_(own + row < n_, [&] {
        store_number(l_, at(own + row, start_ + column),
                     load_number(shared_, (row + columns) * stride_ + column, complex_), complex_);
      });
    }
    const Value zero = k_.constant(shared_.type(), 0);
    for (uint32_t e = 0; e < tile * columns / lanes; ++e) {
      const Value place = lane_ + e * lanes, row = start_ + place / tile, column = own + place % tile;
      k_.if_(column < n_, [&] { store_number(l_, at(row, column), {zero, zero}, complex_); });
    }
  }

  // --- a team of the rest ---

  // Tiles on and below the diagonal. The first column of tiles and the last one together are as long as the
  // second and the last but one.
  void tile(Value number) {
    const Value both = 2 * high_ - wide_ + 1, pair = number / both, along = number % both;
    const Value length = high_ - pair, is_first = along < length;
    const Value j = select(is_first, pair, wide_ - 1 - pair);
    const Value i = j + select(is_first, along, along - length);
    const Value row = below_ + i * s_.tile(), column = below_ + j * s_.tile();
    constexpr uint32_t high = 8, wide = 4;
    const uint32_t across = s_.tile() / wide, down = s_.tile() / high;
    const Value down_lane = lane_ / across, across_lane = lane_ % across;
    Results results;
    std::vector<Value> rows, columns;
    for (uint32_t r = 0; r < high; ++r) {
      rows.push_back(row + (down_lane + r * down));
      results.rows.push_back(down_lane + r * down);
    }
    for (uint32_t c = 0; c < wide; ++c) {
      columns.push_back(column + (across_lane + c * across));
      results.columns.push_back(across_lane + (c * across + s_.tile()));
    }
    for (const Value& r : rows)
      for (const Value& c : columns)
        results.sums.emplace_back(k_, load_number(from_, at(inside(r), inside(c)), complex_), complex_);
    stage(2 * s_.tile(), [&](Value r) { return select(r < s_.tile(), row + r, column + (r - s_.tile())); });
    k_.barrier();
    subtract_products(results);
    for (uint32_t r = 0; r < high; ++r)
      for (uint32_t c = 0; c < wide; ++c)
        k_.if_(columns[c] <= rows[r] && rows[r] < n_ && columns[c] < wide_end_, [&] {
          store_number(l_, at(rows[r], columns[c]), results.sums[r * wide + c].get(), complex_);
        });
  }

  bool complex_, by_vectors_, is_large_;
  Sizes s_;
  NumberVectors vectors_;
  uint32_t stride_;
  Builder k_;
  Array from_, done_, l_, squares_, shared_;
  Value start_, wide_start_, wide_end_, n_, batch_, lane_, below_, left_, high_, wide_, matrix_, first_;
};

uint64_t bytes_of_number(const FactorPlan& plan) { return size_of(plan.type) * (plan.complex ? 2 : 1); }

// The widest panel whose numbers have room: a lane holds two rows of it in registers, a team a tile and
// another beside it in shared memory.
Sizes sizes_for(const FactorPlan& plan, const Limits& limits) {
  constexpr uint64_t row_bytes = 256;
  const NumberVectors vectors(plan.type, plan.complex);
  for (const uint32_t columns : {32U, 16U, 8U}) {
    const Sizes sizes{columns, limits.subgroup_size};
    if (columns * bytes_of_number(plan) > row_bytes || sizes.lanes() > limits.max_lanes) continue;
    // Lanes of small subgroups would hold many rows; some of large ones would have none.
    if (columns > 8 && sizes.subgroup < 16) continue;
    if (sizes.lanes() % sizes.subgroup != 0 || sizes.tile() % sizes.subgroup != 0) continue;
    if (2 * sizes.tile() * sizes.stride(vectors) * bytes_of_number(plan) <= limits.shared_bytes) return sizes;
  }
  return {};
}

UpdatePlan update_plan(const FactorPlan& plan) { return update_of(plan, &UpdatePlan::hermitian); }

// Columns of a wide panel: all of a matrix that is not large. On an H200 2048 columns took 646 us in one and
// 776 in wide panels, 8192 took 12 and 8 ms, and 4096 about the same. Small subgroups are a software
// device's.
uint32_t wide_panel(const FactorPlan& plan, const Limits& limits) {
  const bool is_small = limits.subgroup_size < 16;
  const uint32_t columns = is_small ? 32 : 512, large = is_small ? 48 : 3072;
  return plan.n >= large && Updates::has(update_plan(plan), limits) ? columns : plan.n;
}

}  // namespace
}  // namespace cholesky_panels

bool has_cholesky_panels(const FactorPlan& plan, const Limits& limits) {
  return has_hands(limits) && cholesky_panels::sizes_for(plan, limits).columns > 0;
}

Factor cholesky_by_panels(const FactorPlan& plan, const Limits& limits) {
  using namespace cholesky_panels;
  Factor made;
  if (plan.n == 0 || plan.batch == 0) return made;
  const Sizes sizes = sizes_for(plan, limits);
  made.programs = {Launch(plan, sizes).build()};
  made.scratch = {{2 * plan.batch * sizes.columns * sizes.columns * bytes_of_number(plan)}};
  const uint32_t wide = wide_panel(plan, limits);
  std::optional<Updates> updates;
  if (wide < plan.n) updates.emplace(made, update_plan(plan), limits);
  for (uint32_t first = 0; first < plan.n; first += wide) {
    const uint32_t end = std::min(plan.n, first + wide);
    for (uint32_t start = first; start < end; start += sizes.columns) {
      const uint32_t below = start + sizes.columns;
      const uint64_t high = (plan.n - std::min(plan.n, below) + sizes.tile() - 1) / sizes.tile();
      const uint64_t across = (end - std::min(end, below) + sizes.tile() - 1) / sizes.tile();
      const uint64_t tiles = start == first ? 0 : across * (2 * high - across + 1) / 2;
      const uint8_t from = start <= sizes.columns ? 0 : 1;  // until a panel has changed it, the matrix itself
      made.passes.push_back({0,
                             plan.batch * (std::max<uint64_t>(high, 1) + tiles),
                             {from, 1, 1, 2},
                             {start, first, end, plan.n, static_cast<uint32_t>(plan.batch)}});
    }
    const UpdateMatrix all{plan.n, plan.n};
    if (end < plan.n)
      updates->append(made, {all, all, all}, {end, plan.n, end, plan.n, first, end}, plan.batch,
                      {1, 1, static_cast<uint8_t>(first == 0 ? 0 : 1), 1});
  }
  return made;
}

}  // namespace adit::ops
