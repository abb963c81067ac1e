// One launch of LU. A team a matrix factors some columns, its rows in registers, with one barrier a column:
// every subgroup puts its best row forward, and all see who wins. The other teams bring tiles of the rest up
// to date with the panel before, whose products the panel's own columns get on their way into registers.
#include "ops/lu_step.hpp"

#include <algorithm>

#include "ops/hands.hpp"
#include "ops/shared_tiles.hpp"

namespace adit::ops::lu_rows {

using namespace kernel;

namespace {

class Step {
 public:
  Step(const FactorPlan& plan, const StepSizes& sizes)
      : complex_(plan.complex),
        type_(plan.type),
        s_(sizes),
        vectors_(plan.type, plan.complex),
        count_(vectors_.count()),
        by_vectors_(plan.n % count_ == 0),
        loop_columns_(sizes.alone ? std::min(sizes.columns, plan.n) : sizes.columns),
        k_("lu_step", Team::many(sizes.lanes)) {
    from_ = k_.buffer("from", type_, Access::read);
    work_ = k_.buffer("work", type_, Access::read_write);
    factors_ = k_.buffer("factors", type_, Access::write);
    order_ = k_.buffer("permutation", Type::i32, Access::read_write);
    sign_ = k_.buffer("sign", Type::i32, Access::read_write);
    list_ = k_.buffer("list", Type::u32, Access::read);
    next_list_ = k_.buffer("next_list", Type::u32, Access::write);
    start_ = k_.scalar("start", Type::u32);
    wide_start_ = k_.scalar("wide_start", Type::u32);
    wide_end_ = k_.scalar("wide_end", Type::u32);
    rows_.n = n_ = k_.scalar("n", Type::u32);
    batch_ = k_.scalar("batch", Type::u32);
    share_memory();
    inside_ = k_.subgroup_lane();
    number_ = k_.subgroup_number();
    lane_ = number_ * s_.subgroup + inside_;
  }

  Program build() {
    const Value team = k_.team();
    if (s_.alone) {
      place(team);
      panel();
      return k_.finish();
    }
    k_.if_(
        team < batch_,
        [&] {
          place(team);
          panel();
        },
        [&] {
          const Value high = (n_ - start_ + (s_.tile_rows() - 1)) / s_.tile_rows();
          const Value across = (wide_end_ - (start_ + s_.columns) + (s_.tile - 1)) / s_.tile;
          const Value rest = team - batch_, tile = rest / across;
          place(tile / high);
          bring_tile(start_ + tile % high * s_.tile_rows(),
                     start_ + s_.columns + rest % across * s_.tile, tile % high == 0);
        });
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value at_row(Value row) { return first_row_ + convert(row, Type::u64); }
  Type key_type() const { return type_ == Type::f32 ? Type::u32 : type_; }
  uint32_t parts() const { return complex_ ? 2 : 1; }
  void place(Value matrix) {
    const Value which = convert(matrix, Type::u64), n = convert(n_, Type::u64);
    matrix_ = matrix;
    rows_.first = which * (n * n);
    first_row_ = which * n;
  }
  void share_memory() {
    keys_ = k_.shared(key_type(), 2 * s_.subgroups());
    spots_ = k_.shared(Type::u32, 2 * s_.subgroups());
    who_ = k_.shared(Type::u32, 2 * s_.subgroups());
    best_rows_ = k_.shared(type_, 2 * s_.subgroups() * s_.columns * parts());
    if (s_.alone) return;
    const uint32_t columns = s_.columns;
    square_ = {k_.shared(type_, columns * columns * parts()), columns, columns, false};
    left_ = {k_.shared(type_, columns * s_.tile_rows() * parts()), columns, s_.tile_rows(), false};
    right_ = {k_.shared(type_, columns * std::max(s_.tile, columns) * parts()), columns, s_.tile, true};
  }
  Number get(const Array& from, Value row, Value column) {
    return load_number(from, rows_.at(row, min(column, n_ - 1)), complex_);
  }
  // The row of x that became row start - columns + i of u, in the panel before.
  Value pivot(Value i) { return convert(order_[at_row(start_ - s_.columns + i)].get(), Type::u32); }

  // --- the panel ---

  void panel() {
    for (uint32_t e = 0; e < s_.each; ++e) load(e);
    if (!s_.alone) k_.if_(start_ > wide_start_, [&] { bring_panel(); });
    const Variable parity = k_.variable(Type::i32, 1);
    for (uint32_t c = 0; c < loop_columns_; ++c) column(c, parity);
    for (uint32_t e = 0; e < s_.each; ++e) k_.if_(position_[e].get() < n_, [&] { store(e); });
    k_.if_(lane_ == 0, [&] {
      const Value which = convert(matrix_, Type::u64);
      const Value before = select(start_ == 0, parity.get().like(1), sign_[which].get());
      sign_[which] = before * parity.get();
    });
  }

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

  // Numbers of a row from column `first` on, in vectors where these begin at a multiple.
  std::vector<Number> load_some(const Array& from, Value row, Value first) {
    if (by_vectors_) {
      const Value at = rows_.at(row, min(first, n_ - count_));
      return vectors_.load(from, count_ == 1 ? at : at / count_);
    }
    std::vector<Number> some;
    for (uint32_t i = 0; i < count_; ++i) some.push_back(get(from, row, first + i));
    return some;
  }

  // The lane's row number e of those left: where it is in memory, and the place that exchanges gave it.
  void load(uint32_t e) {
    const Value spot = start_ + lane_ + e * s_.lanes, safe = min(spot, n_ - 1);
    const Value row = s_.alone ? safe : select(start_ == 0, safe, list_[at_row(safe)].get());
    row_.push_back(row);
    position_.push_back(k_.variable(select(spot < n_, spot, word(nowhere))));
    for (uint32_t c = 0; c < s_.columns; c += count_)
      for (const Number& x : load_some(from_, row, start_ + c)) {
        numbers_.push_back(k_.variable(x.re));
        if (complex_) numbers_.push_back(k_.variable(x.im));
      }
  }

  // The panel's rows of u in the panel before, and the products with them.
  void bring_panel() {
    const SharedTiles tiles(vectors_, lane_, s_.lanes);
    const uint32_t columns = s_.columns;
    const SharedTile upper{right_.memory, columns, columns, true};
    const Value before = start_ - columns;
    const auto square =
        tiles.load(square_, [&](Value p, Value i) { return get(work_, pivot(i), before + p); });
    const auto above = tiles.load(upper, [&](Value p, Value c) { return get(from_, pivot(p), start_ + c); });
    tiles.keep(square_, square);
    tiles.keep(upper, above);
    k_.barrier();
    k_.if_(lane_ < columns, [&] {
      solve(tiles, upper, lane_, [&](uint32_t i) {
        return load_number(upper.memory, lane_ + i * columns, complex_);
      }, start_, word(1) == 1);
    });
    k_.barrier();
    subtract_above(upper, before);
  }

  void subtract_above(const SharedTile& upper, Value before) {
    constexpr uint32_t words_ahead = 32;  // of l, in registers
    const uint32_t words = parts() * static_cast<uint32_t>(size_of(type_)) / 4, columns = s_.columns;
    uint32_t steps = count_;
    while (2 * steps * words * s_.each <= words_ahead && 2 * steps <= columns) steps *= 2;
    k_.for_(word(0), word(columns), word(steps), [&](Value first) {
      std::vector<std::vector<Number>> l(s_.each);
      for (uint32_t e = 0; e < s_.each; ++e)
        for (uint32_t p = 0; p < steps; p += count_)
          for (const Number& x : load_some(work_, row_[e], before + first + p)) l[e].push_back(x);
      for (uint32_t p = 0; p < steps; ++p)
        for (uint32_t v = 0; v < columns / count_; ++v) {
          const std::vector<Number> u = vectors_.load(upper.memory, (first + p) * (columns / count_) + v);
          for (uint32_t e = 0; e < s_.each; ++e)
            for (uint32_t i = 0; i < count_; ++i) {
              const NumberSum sum(k_, number(e, v * count_ + i), complex_);
              sum.subtract(l[e][p], u[i]);
              set(e, v * count_ + i, sum.get());
            }
        }
    });
  }

  void store(uint32_t e) {
    if (!s_.alone) next_list_[at_row(position_[e].get())] = row_[e];
    const Value row = s_.alone ? position_[e].get() : row_[e];
    for (uint32_t c = 0; c < s_.columns; c += count_) {
      std::vector<Number> some;
      for (uint32_t i = 0; i < count_; ++i) some.push_back(number(e, c + i));
      const Array& to = s_.alone ? factors_ : work_;
      if (by_vectors_) {
        const Value at = rows_.at(row, start_ + c);
        k_.if_(start_ + c < n_, [&] { vectors_.store(to, count_ == 1 ? at : at / count_, some); });
        continue;
      }
      for (uint32_t i = 0; i < count_; ++i)
        k_.if_(start_ + (c + i) < n_,
               [&] { store_number(to, rows_.at(row, start_ + (c + i)), some[i], complex_); });
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
    for (uint32_t e = 0; e < s_.each; ++e)
      k_.if_(position_[e].get() == best.position && best.position < n_, [&] {
        who_[slot] = row_[e];
        for (uint32_t v = c / count_; v < s_.columns / count_; ++v) {
          std::vector<Number> some;
          for (uint32_t i = 0; i < count_; ++i) some.push_back(number(e, v * count_ + i));
          vectors_.store(best_rows_, slot * (s_.columns / count_) + v, some);
        }
      });
  }

  void eliminate(uint32_t c, Value diagonal, Value winner, Value position) {
    std::vector<Number> pivot_row(c / count_ * count_);
    for (uint32_t v = c / count_; v < s_.columns / count_; ++v)
      for (const Number& x : vectors_.load(best_rows_, winner * (s_.columns / count_) + v))
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

  // --- a tile of the rest ---

  // Rows of u: `numbers(i)` are one column's, which stands at `lane` of the tile and right of `column`.
  void solve(const SharedTiles& tiles, const SharedTile& to, Value lane,
             const std::function<Number(uint32_t)>& number_of, Value column, Value is_told) {
    std::vector<Number> numbers;
    for (uint32_t i = 0; i < s_.columns; ++i) numbers.push_back(number_of(i));
    tiles.substitute(square_, numbers, true, complex_);
    for (uint32_t i = 0; i < s_.columns; ++i)
      store_number(to.memory, lane + i * to.outer, numbers[i], complex_);
    k_.if_(is_told && column + lane < n_, [&] {
      for (uint32_t i = 0; i < s_.columns; ++i)
        store_number(factors_, rows_.at(start_ - s_.columns + i, column + lane), numbers[i], complex_);
    });
  }

  void bring_tile(Value spot, Value column, Value is_first) {
    constexpr uint32_t each = SharedTiles::each;
    const SharedTiles tiles(vectors_, lane_, s_.lanes);
    const uint32_t across = s_.tile / each;
    const Value before = start_ - s_.columns;
    const Value own_spot = spot + lane_ / across * each, own_column = column + lane_ % across * each;
    const auto row_at = [&](Value place) { return list_[at_row(min(place, n_ - 1))].get(); };
    std::vector<Value> rows;
    std::vector<NumberSum> sums;
    for (uint32_t i = 0; i < each; ++i) {
      rows.push_back(row_at(own_spot + i));
      for (uint32_t j = 0; j < each; ++j)
        sums.emplace_back(k_, get(from_, rows[i], own_column + j), complex_);
    }
    const auto square =
        tiles.load(square_, [&](Value p, Value i) { return get(work_, pivot(i), before + p); });
    const auto left =
        tiles.load(left_, [&](Value p, Value r) { return get(work_, row_at(spot + r), before + p); });
    tiles.keep(square_, square);
    tiles.keep(left_, left);
    k_.barrier();
    // Every team of a column of tiles solves, since that is sooner done than told.
    each_column_solves(tiles, column, is_first);
    k_.barrier();
    tiles.subtract_products(k_, sums, left_, own_spot - spot, right_, own_column - column);
    for (uint32_t i = 0; i < each; ++i)
      k_.if_(own_spot + i < n_, [&] {
        for (uint32_t j = 0; j < each; ++j)
          k_.if_(own_column + j < wide_end_, [&] {
            store_number(work_, rows_.at(rows[i], own_column + j), sums[i * each + j].get(), complex_);
          });
      });
  }

  void each_column_solves(const SharedTiles& tiles, Value column, Value is_first) {
    for (uint32_t first = 0; first < s_.tile; first += s_.lanes) {
      const Value lane = lane_ + first;
      k_.if_(lane < s_.tile, [&] {
        solve(tiles, right_, lane,
              [&](uint32_t i) { return get(from_, pivot(word(i)), column + lane); }, column,
              is_first && column + lane < wide_end_);
      });
    }
  }

  // More than any position, even than one and a subgroup's number in its last byte.
  static constexpr uint32_t nowhere = (1U << 24) - 1;
  bool complex_;
  Type type_;
  StepSizes s_;
  NumberVectors vectors_;
  uint32_t count_;
  bool by_vectors_;
  uint32_t loop_columns_;
  Builder k_;
  RowAccess rows_;
  Array from_, work_, factors_, order_, sign_, list_, next_list_, keys_, spots_, who_, best_rows_;
  SharedTile square_, left_, right_;
  Value start_, wide_start_, wide_end_, n_, batch_, inside_, number_, lane_, matrix_, first_row_;
  std::vector<Value> row_;
  std::vector<Variable> position_, numbers_;
};

}  // namespace

Program step_program(const FactorPlan& plan, const StepSizes& sizes) { return Step(plan, sizes).build(); }

uint64_t step_tiles(const StepSizes& sizes, uint32_t n, uint32_t start, uint32_t wide_end) {
  const uint32_t right = start + sizes.columns;
  if (right >= wide_end) return 0;
  const uint64_t high = (n - start + sizes.tile_rows() - 1) / sizes.tile_rows();
  return high * ((wide_end - right + sizes.tile - 1) / sizes.tile);
}

uint64_t step_shared_bytes(const FactorPlan& plan, const StepSizes& sizes) {
  const uint64_t number = size_of(plan.type) * (plan.complex ? 2 : 1);
  const uint64_t panel = 2 * sizes.subgroups() * (sizes.columns * number + 16);
  if (sizes.alone) return panel;
  return panel + sizes.columns * number *
                     (sizes.columns + sizes.tile_rows() + std::max(sizes.tile, sizes.columns));
}

}  // namespace adit::ops::lu_rows
