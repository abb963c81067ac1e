// LU with row exchanges on a GPU, where no row moves: who was chosen as a pivot is noted, and each other row
// keeps the position that exchanges would have given it.
//
// 1. panel: a team a matrix factors some columns, rows in registers, with one barrier a column. Every
// subgroup
//    puts its best row forward; all see who wins.
// 2. rest: teams solve the pivots' rows right of the panel, which makes rows of u - every team of a column of
//    tiles does, since that is sooner done than told - and subtract l u from a tile of the rows still left.
// 3. gather: rows of l, and of u inside of the panels, go where they belong.
#include <algorithm>

#include "ops/factor_passes.hpp"
#include "ops/hands.hpp"
#include "ops/shared_tiles.hpp"

namespace adit::ops {

using namespace kernel;

namespace lu_rows {
namespace {

enum Tensors : uint8_t { matrix, factors, permutation, sign, work, positions };

struct Sizes {
  uint32_t columns = 0, subgroup = 0, lanes = 0, each = 0;  // each: rows of a lane
  uint32_t tile = 0;                                        // of the rest, rows and columns
  uint32_t subgroups() const { return lanes / subgroup; }
  uint32_t tile_lanes() const { return tile * tile / (SharedTiles::each * SharedTiles::each); }
};

// Numbers of a row from column `start` on, some at a time where rows begin at a multiple of that.
struct RowAccess {
  NumberVectors vectors;
  uint32_t n;
  bool complex, by_vectors;
  RowAccess(const FactorPlan& plan)
      : vectors(plan.type, plan.complex),
        n(plan.n),
        complex(plan.complex),
        by_vectors(plan.n % vectors.count() == 0) {}
  Value at(Value first, Value row, Value column) const {
    return first + convert(row, Type::u64) * uint64_t{n} + convert(column, Type::u64);
  }
};

class Panel {
 public:
  Panel(const FactorPlan& plan, const Sizes& sizes)
      : n_(plan.n),
        complex_(plan.complex),
        alone_(plan.n <= sizes.columns),
        type_(plan.type),
        s_(sizes),
        rows_(plan),
        k_("lu_panel", Team::many(sizes.lanes)) {
    from_ = k_.buffer("from", plan.type, Access::read);
    to_ = k_.buffer("to", plan.type, Access::write);
    order_ = k_.buffer("permutation", Type::i32, Access::write);
    sign_ = k_.buffer("sign", Type::i32, Access::read_write);
    positions_ = k_.buffer("positions", Type::u32, Access::read_write);
    start_ = k_.scalar("start", Type::u32);
    keys_ = k_.shared(key_type(), 2 * s_.subgroups());
    spots_ = k_.shared(Type::u32, 2 * s_.subgroups());
    who_ = k_.shared(Type::u32, 2 * s_.subgroups());
    best_rows_ = k_.shared(plan.type, 2 * s_.subgroups() * s_.columns * (complex_ ? 2 : 1));
    team_ = k_.team(Type::u64);
    first_ = team_ * (uint64_t{n_} * n_);
    first_row_ = team_ * uint64_t{n_};
    inside_ = k_.subgroup_lane();
    number_ = k_.subgroup_number();
    lane_ = number_ * s_.subgroup + inside_;
  }

  Program build() {
    for (uint32_t e = 0; e < s_.each; ++e) load(e);
    const Variable parity = k_.variable(Type::i32, 1);
    for (uint32_t c = 0; c < std::min(s_.columns, n_); ++c) column(c, parity);
    for (uint32_t e = 0; e < s_.each; ++e) k_.if_(row_[e] < n_, [&] { store(e); });
    k_.if_(lane_ == 0, [&] {
      const Value before = select(start_ == 0, parity.get().like(1), sign_[team_].get());
      sign_[team_] = before * parity.get();
    });
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value at_row(Value row) { return first_row_ + convert(row, Type::u64); }
  Type key_type() const { return type_ == Type::f32 ? Type::u32 : type_; }
  uint32_t parts() const { return complex_ ? 2 : 1; }
  const Variable& part(uint32_t e, uint32_t c, uint32_t which) const {
    return numbers_[(e * s_.columns + c) * parts() + which];
  }
  Number number(uint32_t e, uint32_t c) const {
    return {part(e, c, 0).get(), part(e, c, complex_ ? 1 : 0).get()};
  }
  void set(uint32_t e, uint32_t c, Number x) const {
    part(e, c, 0) = x.re;
    if (complex_) part(e, c, 1) = x.im;
  }

  void load(uint32_t e) {
    const Value row = lane_ + e * s_.lanes, safe = min(row, n_ - 1);
    row_.push_back(row);
    const Value position = select(start_ == 0, safe, positions_[at_row(safe)].get());
    position_.push_back(k_.variable(select(row < n_, position, word(nowhere))));
    const uint32_t count = rows_.vectors.count();
    for (uint32_t c = 0; c < s_.columns; c += count) {
      std::vector<Number> some;
      if (rows_.by_vectors) {
        const Value column = min(start_ + c, n_ - count), at = rows_.at(first_, safe, column);
        some = rows_.vectors.load(from_, count == 1 ? at : at / count);
      } else {
        for (uint32_t i = 0; i < count; ++i)
          some.push_back(load_number(from_, rows_.at(first_, safe, min(start_ + (c + i), n_ - 1)), complex_));
      }
      for (const Number& x : some) {
        numbers_.push_back(k_.variable(x.re));
        if (complex_) numbers_.push_back(k_.variable(x.im));
      }
    }
  }

  void store(uint32_t e) {
    const Value row = alone_ ? position_[e].get() : row_[e];
    if (!alone_) positions_[at_row(row)] = position_[e].get();
    const uint32_t count = rows_.vectors.count();
    for (uint32_t c = 0; c < s_.columns; c += count) {
      std::vector<Number> some;
      for (uint32_t i = 0; i < count; ++i) some.push_back(number(e, c + i));
      if (rows_.by_vectors) {
        const Value at = rows_.at(first_, row, start_ + c);
        k_.if_(start_ + c < n_, [&] { rows_.vectors.store(to_, count == 1 ? at : at / count, some); });
        continue;
      }
      for (uint32_t i = 0; i < count; ++i)
        k_.if_(start_ + (c + i) < n_,
               [&] { store_number(to_, rows_.at(first_, row, start_ + (c + i)), some[i], complex_); });
    }
  }

  // What the largest number has most of; NaN less than any number, and a row that is done less than NaN.
  Value key_of(uint32_t e, uint32_t c, Value diagonal) {
    const Number x = number(e, c);
    const Value size = complex_ ? abs(x.re) + abs(x.im) : abs(x.re), position = position_[e];
    const Value is_left = position >= diagonal && position < n_, is_number = size >= 0;
    if (type_ == Type::f32)
      return select(is_left, select(is_number, bitcast(size, Type::u32) + 2, word(1)), word(0));
    return select(is_left, select(is_number, size, size.like(-1)), size.like(-2));
  }

  struct Best {
    Value key, position;
  };
  Best best_of_subgroup(Best mine) {
    const Value key = k_.subgroup_reduce(Reduction::max, mine.key);
    const Value position = select(mine.key == key, mine.position, word(nowhere));
    return {key, k_.subgroup_reduce(Reduction::min, position)};
  }

  void column(uint32_t c, const Variable& parity) {
    const Value diagonal = start_ + c;
    Best mine{key_of(0, c, diagonal), position_[0].get()};
    for (uint32_t e = 1; e < s_.each; ++e) {
      const Value key = key_of(e, c, diagonal), position = position_[e];
      const Value is_better = mine.key < key || (key == mine.key && position < mine.position);
      mine = {select(is_better, key, mine.key), select(is_better, position, mine.position)};
    }
    put_forward(c, best_of_subgroup(mine));
    k_.barrier();  // the next column writes elsewhere, so one is enough
    const uint32_t first = c % 2 * s_.subgroups();
    Value winner = word(first), position = spots_[word(first)];
    if (s_.subgroups() > 1) {
      const Value other = first + min(inside_, s_.subgroups() - 1);
      const Best best = best_of_subgroup({keys_[other], spots_[other].get() * 256 + other});
      winner = best.position % 256;
      position = best.position / 256;
    }
    // Columns beyond the last have no row left; barriers stand outside of conditions.
    k_.if_(diagonal < n_, [&] {
      k_.if_(lane_ == 0, [&] { order_[at_row(diagonal)] = convert(who_[winner].get(), Type::i32); });
      parity = select(position == diagonal, parity.get(), -parity.get());
      eliminate(c, diagonal, winner, position);
    });
  }

  void put_forward(uint32_t c, const Best& best) {
    const Value slot = number_ + c % 2 * s_.subgroups();
    k_.if_(inside_ == 0, [&] {
      keys_[slot] = best.key;
      spots_[slot] = best.position;
    });
    const uint32_t count = rows_.vectors.count();
    for (uint32_t e = 0; e < s_.each; ++e)
      k_.if_(position_[e].get() == best.position && row_[e] < n_, [&] {
        who_[slot] = row_[e];
        for (uint32_t v = c / count; v < s_.columns / count; ++v) {
          std::vector<Number> some;
          for (uint32_t i = 0; i < count; ++i) some.push_back(number(e, v * count + i));
          rows_.vectors.store(best_rows_, slot * (s_.columns / count) + v, some);
        }
      });
  }

  void eliminate(uint32_t c, Value diagonal, Value winner, Value position) {
    const uint32_t count = rows_.vectors.count();
    std::vector<Number> pivot_row(c / count * count);
    for (uint32_t v = c / count; v < s_.columns / count; ++v)
      for (const Number& x : rows_.vectors.load(best_rows_, winner * (s_.columns / count) + v))
        pivot_row.push_back(x);
    const Number pivot = pivot_row[c];
    // A column of zeros stays one: the matrix is singular, and u tells.
    const Value nothing = complex_ ? pivot.re == 0 && pivot.im == 0 : pivot.re == 0;
    for (uint32_t e = 0; e < s_.each; ++e) {
      const Value before = position_[e];
      const Value now = select(before == position, diagonal, select(before == diagonal, position, before));
      position_[e] = now;
      k_.if_(now > diagonal, [&] {
        const Number mine = number(e, c), share = quotient_of(mine, pivot, complex_);
        const Number l{select(nothing, mine.re, share.re), select(nothing, mine.im, share.im)};
        set(e, c, l);
        for (uint32_t j = c + 1; j < s_.columns; ++j) {
          const NumberSum sum(k_, number(e, j), complex_);
          sum.subtract(l, pivot_row[j]);
          set(e, j, sum.get());
        }
      });
    }
  }

  // More than any position, even than one and a subgroup's number in its last byte.
  static constexpr uint32_t nowhere = (1U << 24) - 1;
  uint32_t n_;
  bool complex_, alone_;  // alone: a panel that is the whole matrix
  Type type_;
  Sizes s_;
  RowAccess rows_;
  Builder k_;
  Array from_, to_, order_, sign_, positions_, keys_, spots_, who_, best_rows_;
  Value start_, team_, first_, first_row_, inside_, number_, lane_;
  std::vector<Value> row_;
  std::vector<Variable> position_, numbers_;
};

class Rest {
 public:
  Rest(const FactorPlan& plan, const Sizes& sizes)
      : n_(plan.n),
        complex_(plan.complex),
        s_(sizes),
        rows_(plan),
        k_("lu_rest", Team::many(sizes.tile_lanes())) {
    from_ = k_.buffer("from", plan.type, Access::read);
    work_ = k_.buffer("work", plan.type, Access::read_write);
    factors_ = k_.buffer("factors", plan.type, Access::write);
    order_ = k_.buffer("permutation", Type::i32, Access::read);
    positions_ = k_.buffer("positions", Type::u32, Access::read);
    start_ = k_.scalar("start", Type::u32);
    const uint32_t words = complex_ ? 2 : 1, columns = s_.columns;
    square_ = {k_.shared(plan.type, columns * columns * words), columns, columns, false};
    left_ = {k_.shared(plan.type, columns * s_.tile * words), columns, s_.tile, false};
    right_ = {k_.shared(plan.type, columns * s_.tile * words), columns, s_.tile, true};
    lane_ = k_.lane();
  }

  Program build() {
    const uint32_t across = s_.tile / SharedTiles::each;
    const SharedTiles tiles(rows_.vectors, lane_, s_.tile_lanes());
    const Value end = start_ + s_.columns, team = k_.team();
    const Value wide = (n_ - end + (s_.tile - 1)) / s_.tile;
    const uint32_t high = (n_ + s_.tile - 1) / s_.tile;
    const Value row = team / wide % high * s_.tile, column = end + team % wide * s_.tile;
    const Value which = convert(team / wide / high, Type::u64);
    first_ = which * (uint64_t{n_} * n_);
    first_row_ = which * uint64_t{n_};
    const Value own_row = row + lane_ / across * SharedTiles::each;
    const Value own_column = column + lane_ % across * SharedTiles::each;

    std::vector<NumberSum> sums;
    for (uint32_t i = 0; i < SharedTiles::each; ++i)
      for (uint32_t j = 0; j < SharedTiles::each; ++j)
        sums.emplace_back(k_, get(from_, own_row + i, own_column + j), complex_);
    const auto square =
        tiles.load(square_, [&](Value p, Value i) { return get(work_, pivot(i), start_ + p); });
    const auto left = tiles.load(left_, [&](Value p, Value r) { return get(work_, row + r, start_ + p); });
    tiles.keep(square_, square);
    tiles.keep(left_, left);
    k_.barrier();
    k_.if_(lane_ < s_.tile, [&] { solve(tiles, row, column); });
    k_.barrier();
    tiles.subtract_products(k_, sums, left_, own_row - row, right_, own_column - column);
    for (uint32_t i = 0; i < SharedTiles::each; ++i) {
      const Value r = own_row + i, position = positions_[at_row(min(r, n_ - 1))];
      k_.if_(r < n_ && position >= end, [&] {
        for (uint32_t j = 0; j < SharedTiles::each; ++j)
          k_.if_(own_column + j < n_, [&] {
            store_number(work_, rows_.at(first_, r, own_column + j), sums[i * SharedTiles::each + j].get(),
                         complex_);
          });
      });
    }
    return k_.finish();
  }

 private:
  Value at_row(Value row) { return first_row_ + convert(row, Type::u64); }
  Value pivot(Value i) { return convert(order_[at_row(start_ + i)].get(), Type::u32); }
  Number get(const Array& from, Value row, Value column) {
    return load_number(from, rows_.at(first_, min(row, n_ - 1), min(column, n_ - 1)), complex_);
  }

  void solve(const SharedTiles& tiles, Value row, Value column) {
    std::vector<Number> numbers;
    for (uint32_t i = 0; i < s_.columns; ++i)
      numbers.push_back(get(from_, pivot(lane_.like(i)), column + lane_));
    tiles.substitute(square_, numbers, true, complex_);
    for (uint32_t i = 0; i < s_.columns; ++i)
      store_number(right_.memory, lane_ + i * s_.tile, numbers[i], complex_);
    k_.if_(row == 0 && column + lane_ < n_, [&] {
      for (uint32_t i = 0; i < s_.columns; ++i)
        store_number(factors_, rows_.at(first_, start_ + i, column + lane_), numbers[i], complex_);
    });
  }

  uint32_t n_;
  bool complex_;
  Sizes s_;
  RowAccess rows_;
  Builder k_;
  Array from_, work_, factors_, order_, positions_;
  SharedTile square_, left_, right_;
  Value start_, lane_, first_, first_row_;
};

// An invocation a number: row i up to the end of its panel.
Program gather(const FactorPlan& plan, uint32_t columns) {
  Builder k("lu_gather", Team::one());
  const Array from = k.buffer("work", plan.type, Access::read),
              order = k.buffer("permutation", Type::i32, Access::read),
              to = k.buffer("factors", plan.type, Access::write);
  const Value place = k.team(Type::u64), row = place / plan.n, column = place % plan.n;
  const Value last = (row % plan.n / columns + 1) * columns;
  k.if_(column < last, [&] {
    const Value source = row / plan.n * plan.n + convert(order[row].get(), Type::u64);
    store_number(to, place, load_number(from, source * plan.n + column, plan.complex), plan.complex);
  });
  return k.finish();
}

// Numbers that a lane's registers hold: rows times columns, in words of four bytes.
Sizes sizes_for(const FactorPlan& plan, const Limits& limits) {
  constexpr uint32_t most_lanes = 512, room = 64;
  const NumberVectors vectors(plan.type, plan.complex);
  const uint32_t words = static_cast<uint32_t>(size_of(plan.type)) / 4 * (plan.complex ? 2 : 1);
  const uint32_t subgroup = limits.subgroup_size;
  const uint32_t most = std::min({most_lanes, limits.max_lanes, subgroup * subgroup}) / subgroup * subgroup;
  const uint32_t lanes = std::min(most, (plan.n + subgroup - 1) / subgroup * subgroup);
  const uint32_t each = (plan.n + lanes - 1) / lanes;
  // Lanes of small subgroups are a software device's, which compiles long programs for minutes.
  const bool is_small = subgroup < 16;
  for (const uint32_t widest : {64U, 32U, 16U, 8U}) {
    if (widest == 64 && plan.n > widest) continue;  // pays only where it is the whole matrix
    if (is_small && widest > 8 && plan.n > 16) continue;
    const uint32_t multiple = std::max(vectors.count(), 4U);
    const uint32_t columns = std::min(widest, (plan.n + multiple - 1) / multiple * multiple);
    if (columns * each * words <= room) return {columns, subgroup, lanes, each, is_small ? 16U : 64U};
  }
  return {};
}

}  // namespace
}  // namespace lu_rows

bool has_lu_by_rows(const FactorPlan& plan, const Limits& limits) {
  if (!has_hands(limits) || plan.n == 0) return false;
  const lu_rows::Sizes sizes = lu_rows::sizes_for(plan, limits);
  const uint64_t number = size_of(plan.type) * (plan.complex ? 2 : 1);
  return sizes.columns > 0 && sizes.tile_lanes() <= limits.max_lanes &&
         (sizes.columns + 2 * sizes.tile) * sizes.columns * number <= limits.shared_bytes &&
         2 * sizes.subgroups() * (sizes.columns * number + 16) <= limits.shared_bytes;
}

Factor lu_by_rows(const FactorPlan& plan, const Limits& limits) {
  using namespace lu_rows;
  Factor made;
  if (plan.n == 0 || plan.batch == 0) return made;
  const Sizes sizes = sizes_for(plan, limits);
  const uint64_t number = size_of(plan.type) * (plan.complex ? 2 : 1);
  made.programs.push_back(Panel(plan, sizes).build());
  if (plan.n <= sizes.columns) {
    made.scratch = {{4}, {4 * plan.batch * plan.n}};
    made.passes.push_back({0, plan.batch, {matrix, factors, permutation, sign, positions}, {0}});
    return made;
  }
  made.scratch = {{plan.batch * plan.n * plan.n * number}, {4 * plan.batch * plan.n}};
  made.programs.push_back(Rest(plan, sizes).build());
  made.programs.push_back(gather(plan, sizes.columns));
  for (uint32_t start = 0; start < plan.n; start += sizes.columns) {
    const uint8_t from = start == 0 ? matrix : work;
    made.passes.push_back({0, plan.batch, {from, work, permutation, sign, positions}, {start}});
    const uint32_t end = start + sizes.columns;
    if (end >= plan.n) continue;
    const uint64_t wide = (plan.n - end + sizes.tile - 1) / sizes.tile;
    const uint64_t high = (plan.n + sizes.tile - 1) / sizes.tile;
    made.passes.push_back(
        {1, plan.batch * wide * high, {from, work, factors, permutation, positions}, {start}});
  }
  made.passes.push_back({2, plan.batch * plan.n * plan.n, {work, permutation, factors}, {}});
  return made;
}

}  // namespace adit::ops
