// Rows of u right of a wide panel of LU: l u = x with the panel's unit triangle, whose rows lie where the
// pivots were found. A team takes some columns through all blocks of rows, and solves each by substitution, a
// lane a column in registers.
#include "ops/lu_kernels.hpp"
#include "ops/shared_tiles.hpp"

namespace adit::ops::lu_rows {

using namespace kernel;

namespace {

class Upper {
 public:
  Upper(const FactorPlan& plan, const UpperSizes& sizes)
      : complex_(plan.complex),
        s_(sizes),
        k_("lu_upper", Team::many(sizes.lanes())),
        lane_(k_.lane()),
        tiles_({plan.type, plan.complex}, lane_, sizes.lanes()) {
    from_ = k_.buffer("from", plan.type, Access::read);
    work_ = k_.buffer("work", plan.type, Access::read);
    factors_ = k_.buffer("factors", plan.type, Access::read_write);
    order_ = k_.buffer("permutation", Type::i32, Access::read);
    start_ = k_.scalar("start", Type::u32);
    end_ = k_.scalar("end", Type::u32);
    rows_.n = n_ = k_.scalar("n", Type::u32);
    const uint32_t words = complex_ ? 2 : 1;
    left_ = {k_.shared(plan.type, s_.rows * s_.rows * words), s_.rows, s_.rows, false};
    right_ = {k_.shared(plan.type, s_.rows * s_.columns * words), s_.rows, s_.columns, true};
  }

  Program build() {
    const Value team = k_.team(), across = (n_ - end_ + (s_.columns - 1)) / s_.columns;
    const Value matrix = RowAccess::wide(team / across), n = RowAccess::wide(n_);
    rows_.first = matrix * (n * n);
    first_row_ = matrix * n;
    column_ = end_ + team % across * s_.columns;
    k_.for_(start_, end_, start_.like(s_.rows), [&](Value first) { block(first); });
    return k_.finish();
  }

 private:
  static constexpr uint32_t each = SharedTiles::each;
  Value pivot(Value i) { return convert(order_[first_row_ + RowAccess::wide(i)].get(), Type::u32); }
  Number get(const Array& from, Value row, Value column) {
    return load_number(from, rows_.at(row, min(column, n_ - 1)), complex_);
  }

  void load_left(Value first, Value step) {
    tiles_.keep(left_,
                tiles_.load(left_, [&](Value p, Value i) { return get(work_, pivot(first + i), step + p); }));
  }

  void block(Value first) {
    const uint32_t across = s_.columns / each;
    const Value own_row = lane_ / across * each, own_column = lane_ % across * each;
    std::vector<NumberSum> sums;
    for (uint32_t i = 0; i < each; ++i)
      for (uint32_t j = 0; j < each; ++j)
        sums.emplace_back(k_, get(from_, pivot(first + own_row + i), column_ + own_column + j), complex_);
    k_.for_(start_, first, start_.like(s_.rows), [&](Value step) {
      k_.barrier();
      load_left(first, step);
      tiles_.keep(right_, tiles_.load(right_, [&](Value p, Value c) {
        return get(factors_, step + p, column_ + c);
      }));
      k_.barrier();
      tiles_.subtract_products(k_, sums, left_, own_row, right_, own_column);
    });
    k_.barrier();
    load_left(first, first);
    for (uint32_t i = 0; i < each; ++i)
      for (uint32_t j = 0; j < each; ++j)
        store_number(right_.memory, (own_row + i) * s_.columns + (own_column + j), sums[i * each + j].get(),
                     complex_);
    k_.barrier();
    k_.if_(lane_ < s_.columns, [&] { substitute(); });
    k_.barrier();
    for (uint32_t e = 0; e < s_.rows * s_.columns / s_.lanes(); ++e) {
      const Value v = lane_ + e * s_.lanes(), column = column_ + v % s_.columns;
      k_.if_(column < n_, [&] {
        store_number(factors_, rows_.at(first + v / s_.columns, column),
                     load_number(right_.memory, v, complex_), complex_);
      });
    }
  }

  void substitute() {
    std::vector<Number> numbers;
    for (uint32_t i = 0; i < s_.rows; ++i)
      numbers.push_back(load_number(right_.memory, lane_ + i * s_.columns, complex_));
    tiles_.substitute(left_, numbers, true, complex_);
    for (uint32_t i = 0; i < s_.rows; ++i)
      store_number(right_.memory, lane_ + i * s_.columns, numbers[i], complex_);
  }

  bool complex_;
  UpperSizes s_;
  Builder k_;
  Value lane_;
  SharedTiles tiles_;
  SharedTile left_, right_;
  RowAccess rows_;
  Array from_, work_, factors_, order_;
  Value start_, end_, n_, first_row_, column_;
};

}  // namespace

Program upper_program(const FactorPlan& plan, const UpperSizes& sizes) { return Upper(plan, sizes).build(); }

}  // namespace adit::ops::lu_rows
