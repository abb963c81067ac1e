// What lies right of a panel of LU: teams solve the pivots' rows, which makes rows of u - every team of a
// column of tiles does, since that is sooner done than told - and subtract l u from a tile of the rows still
// left.
#include "ops/lu_kernels.hpp"
#include "ops/shared_tiles.hpp"

namespace adit::ops::lu_rows {

using namespace kernel;

namespace {

class Rest {
 public:
  Rest(const FactorPlan& plan, const RestSizes& sizes)
      : complex_(plan.complex),
        s_(sizes),
        k_("lu_rest", Team::many(sizes.lanes())),
        lane_(k_.lane()),
        tiles_({plan.type, plan.complex}, lane_, sizes.lanes()) {
    from_ = k_.buffer("from", plan.type, Access::read);
    work_ = k_.buffer("work", plan.type, Access::read_write);
    factors_ = k_.buffer("factors", plan.type, Access::write);
    order_ = k_.buffer("permutation", Type::i32, Access::read);
    list_ = k_.buffer("list", Type::u32, Access::read);
    start_ = k_.scalar("start", Type::u32);
    wide_end_ = k_.scalar("wide_end", Type::u32);
    rows_.n = n_ = k_.scalar("n", Type::u32);
    const uint32_t words = complex_ ? 2 : 1, columns = s_.columns;
    square_ = {k_.shared(plan.type, columns * columns * words), columns, columns, false};
    left_ = {k_.shared(plan.type, columns * s_.tile * words), columns, s_.tile, false};
    right_ = {k_.shared(plan.type, columns * s_.tile * words), columns, s_.tile, true};
  }

  Program build() {
    const uint32_t across = s_.tile / each;
    const Value end = start_ + s_.columns, team = k_.team();
    const Value wide = (wide_end_ - end + (s_.tile - 1)) / s_.tile;
    const Value high = (n_ - end + (s_.tile - 1)) / s_.tile;
    const Value spot = end + team / wide % high * s_.tile, column = end + team % wide * s_.tile;
    const Value which = RowAccess::wide(team / wide / high), n = RowAccess::wide(n_);
    rows_.first = which * (n * n);
    first_row_ = which * n;
    const Value own_spot = spot + lane_ / across * each, own_column = column + lane_ % across * each;
    std::vector<Value> rows;
    std::vector<NumberSum> sums;
    for (uint32_t i = 0; i < each; ++i) {
      rows.push_back(row_at(own_spot + i));
      for (uint32_t j = 0; j < each; ++j)
        sums.emplace_back(k_, get(from_, rows[i], own_column + j), complex_);
    }
    const auto square =
        tiles_.load(square_, [&](Value p, Value i) { return get(work_, pivot(i), start_ + p); });
    const auto left =
        tiles_.load(left_, [&](Value p, Value r) { return get(work_, row_at(spot + r), start_ + p); });
    tiles_.keep(square_, square);
    tiles_.keep(left_, left);
    k_.barrier();
    k_.if_(lane_ < s_.tile, [&] { solve(spot == end, column); });
    k_.barrier();
    tiles_.subtract_products(k_, sums, left_, own_spot - spot, right_, own_column - column);
    for (uint32_t i = 0; i < each; ++i)
      k_.if_(own_spot + i < n_, [&] {
        for (uint32_t j = 0; j < each; ++j)
          k_.if_(own_column + j < wide_end_, [&] {
            store_number(work_, rows_.at(rows[i], own_column + j), sums[i * each + j].get(), complex_);
          });
      });
    return k_.finish();
  }

 private:
  static constexpr uint32_t each = SharedTiles::each;
  Value at_row(Value row) { return first_row_ + RowAccess::wide(row); }
  Value row_at(Value place) { return list_[at_row(min(place, n_ - 1))].get(); }
  Value pivot(Value i) { return convert(order_[at_row(start_ + i)].get(), Type::u32); }
  Number get(const Array& from, Value row, Value column) {
    return load_number(from, rows_.at(row, min(column, n_ - 1)), complex_);
  }

  void solve(Value is_first, Value column) {
    std::vector<Number> numbers;
    for (uint32_t i = 0; i < s_.columns; ++i)
      numbers.push_back(get(from_, pivot(lane_.like(i)), column + lane_));
    tiles_.substitute(square_, numbers, true, complex_);
    for (uint32_t i = 0; i < s_.columns; ++i)
      store_number(right_.memory, lane_ + i * s_.tile, numbers[i], complex_);
    k_.if_(is_first && column + lane_ < wide_end_, [&] {
      for (uint32_t i = 0; i < s_.columns; ++i)
        store_number(factors_, rows_.at(start_ + i, column + lane_), numbers[i], complex_);
    });
  }

  bool complex_;
  RestSizes s_;
  Builder k_;
  Value lane_;
  SharedTiles tiles_;
  RowAccess rows_;
  Array from_, work_, factors_, order_, list_;
  SharedTile square_, left_, right_;
  Value start_, wide_end_, n_, first_row_;
};

}  // namespace

Program rest_program(const FactorPlan& plan, const RestSizes& sizes) { return Rest(plan, sizes).build(); }

uint64_t rest_teams(const RestSizes& sizes, uint32_t n, uint32_t end, uint32_t wide_end) {
  const uint64_t high = (n - end + sizes.tile - 1) / sizes.tile;
  return high * ((wide_end - end + sizes.tile - 1) / sizes.tile);
}

uint64_t rest_shared_bytes(const FactorPlan& plan, const RestSizes& sizes) {
  const uint64_t number = size_of(plan.type) * (plan.complex ? 2 : 1);
  return sizes.columns * number * (sizes.columns + 2 * sizes.tile);
}

}  // namespace adit::ops::lu_rows
