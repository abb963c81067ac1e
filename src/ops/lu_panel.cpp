// A panel of LU's columns. A team a matrix factors them, its rows in registers, with one barrier a column:
// every subgroup puts its best row forward, and all see who wins. Where rows are many, several teams do, and
// tell each other the best row of each (lu_told.hpp).
#include <algorithm>
#include <optional>

#include "ops/factor_writer.hpp"
#include "ops/lu_kernels.hpp"
#include "ops/lu_told.hpp"

namespace adit::ops::lu_rows {

using namespace kernel;

namespace {

class Panel {
 public:
  Panel(const FactorPlan& plan, const PanelSizes& sizes)
      : complex_(plan.complex),
        type_(plan.type),
        s_(sizes),
        vectors_(plan.type, plan.complex),
        count_(vectors_.count()),
        by_vectors_(plan.n % count_ == 0),
        loop_columns_(sizes.alone ? std::min(sizes.columns, plan.n) : sizes.columns),
        k_("lu_panel", Team::many(sizes.lanes)) {
    from_ = k_.buffer("from", type_, Access::read);
    to_ = k_.buffer("to", type_, Access::write);
    order_ = k_.buffer("permutation", Type::i32, Access::write);
    sign_ = k_.buffer("sign", Type::i32, Access::read_write);
    list_ = k_.buffer("list", Type::u32, Access::read);
    next_list_ = k_.buffer("next_list", Type::u32, Access::write);
    Array words;
    if (s_.most_teams > 1) words = k_.buffer("words", Type::u64, Access::read_write);
    start_ = k_.scalar("start", Type::u32);
    rows_.n = n_ = k_.scalar("n", Type::u32);
    keys_ = RowKeys(k_, type_, 2 * s_.subgroups());
    spots_ = k_.shared(Type::u32, 2 * s_.subgroups());
    who_ = k_.shared(Type::u32, 2 * s_.subgroups());
    best_rows_ = k_.shared(type_, 2 * s_.subgroups() * s_.columns * parts());
    const Value n = convert(n_, Type::u64);
    inside_ = k_.subgroup_lane();
    number_ = k_.subgroup_number();
    lane_ = number_ * s_.subgroup + inside_;
    if (s_.most_teams > 1) told_.emplace(k_, plan, sizes, words, lane_);
    matrix_ = told_ ? told_->matrix() : k_.team(Type::u64);
    rows_.first = matrix_ * (n * n);
    first_row_ = matrix_ * n;
  }

  Program build() {
    for (uint32_t e = 0; e < s_.each; ++e) load(e);
    const Variable parity = k_.variable(Type::i32, 1);
    for (uint32_t c = 0; c < loop_columns_; ++c) column(c, parity);
    for (uint32_t e = 0; e < s_.each; ++e) {
      k_.if_(position_[e].get() < n_, [&] { store(e); });
      if (in_pairs()) store_pair(e);
    }
    k_.if_(speaks(), [&] {
      const Value before = select(start_ == 0, parity.get().like(1), sign_[matrix_].get());
      sign_[matrix_] = before * parity.get();
    });
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value at_row(Value row) { return first_row_ + convert(row, Type::u64); }
  // One lane of a matrix.
  Value speaks() { return told_ ? lane_ == 0 && told_->team() == 0 : lane_ == 0; }
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

  // Numbers of a row from column `first` on, in vectors where these begin at a multiple.
  std::vector<Number> load_some(const Array& from, Value row, Value first) {
    if (by_vectors_) {
      const Value at = rows_.at(row, min(first, n_ - count_));
      return vectors_.load(from, count_ == 1 ? at : at / count_);
    }
    std::vector<Number> some;
    for (uint32_t i = 0; i < count_; ++i)
      some.push_back(load_number(from, rows_.at(row, min(first + i, n_ - 1)), complex_));
    return some;
  }

  // The lane's row number e of those left: where it is in memory, and the place that exchanges gave it.
  void load(uint32_t e) {
    const Value first = told_ ? start_ + told_->team() * (s_.each * s_.lanes) : start_;
    const Value spot = first + lane_ + e * s_.lanes, safe = min(spot, n_ - 1);
    const Value row = s_.alone ? safe : select(start_ == 0, safe, list_[at_row(safe)].get());
    row_.push_back(row);
    position_.push_back(k_.variable(select(spot < n_, spot, word(BestRow::nowhere))));
    std::vector<Number> all;
    if (in_pairs()) {
      all = load_pair(row);
    } else {
      for (uint32_t c = 0; c < s_.columns; c += count_)
        for (const Number& x : load_some(from_, row, start_ + c)) all.push_back(x);
    }
    for (const Number& x : all) {
      numbers_.push_back(k_.variable(x.re));
      if (complex_) numbers_.push_back(k_.variable(x.im));
    }
  }

  // Rows of two vectors: two lanes take a vector each of one's row and then of the other's, so that an access
  // meets half as many rows. Loads and stores are a third of a tall panel's time.
  bool in_pairs() const { return by_vectors_ && !s_.alone && !complex_ && s_.columns == 2 * count_; }
  Value is_odd() { return (inside_ & 1) == 1; }
  Value of_other(Value x) { return k_.subgroup_shuffle_xor(x, word(1)); }
  std::vector<Number> load_pair(Value row) {
    const Value other = of_other(row), own_half = start_ + (inside_ & 1) * count_;
    const std::vector<Number> of_even = load_some(from_, select(is_odd(), other, row), own_half),
                              of_odd = load_some(from_, select(is_odd(), row, other), own_half);
    std::vector<Number> left, right;
    for (uint32_t i = 0; i < count_; ++i) {
      const Value got = of_other(select(is_odd(), of_even[i].re, of_odd[i].re));
      left.push_back(same(select(is_odd(), got, of_even[i].re)));
      right.push_back(same(select(is_odd(), of_odd[i].re, got)));
    }
    left.insert(left.end(), right.begin(), right.end());
    return left;
  }
  void store_pair(uint32_t e) {
    const Value place = position_[e].get(), other_place = of_other(place);
    const Value row = row_[e], other = of_other(row), own_half = start_ + (inside_ & 1) * count_;
    std::vector<Number> of_even, of_odd;
    for (uint32_t i = 0; i < count_; ++i) {
      const Value left = number(e, i).re, right = number(e, count_ + i).re;
      const Value got = of_other(select(is_odd(), left, right));
      of_even.push_back(same(select(is_odd(), got, left)));
      of_odd.push_back(same(select(is_odd(), right, got)));
    }
    const auto put = [&](Value at_place, Value at, const std::vector<Number>& numbers) {
      k_.if_(at_place < n_ && own_half < n_,
             [&] { vectors_.store(to_, rows_.at(at, own_half) / count_, numbers); });
    };
    put(select(is_odd(), other_place, place), select(is_odd(), other, row), of_even);
    put(select(is_odd(), place, other_place), select(is_odd(), row, other), of_odd);
  }
  static Number same(Value x) { return {x, x}; }

  void store(uint32_t e) {
    if (!s_.alone) next_list_[at_row(position_[e].get())] = row_[e];
    if (in_pairs()) return;
    const Value row = s_.alone ? position_[e].get() : row_[e];
    for (uint32_t c = 0; c < s_.columns; c += count_) {
      std::vector<Number> some;
      for (uint32_t i = 0; i < count_; ++i) some.push_back(number(e, c + i));
      if (by_vectors_) {
        const Value at = rows_.at(row, start_ + c);
        k_.if_(start_ + c < n_, [&] { vectors_.store(to_, count_ == 1 ? at : at / count_, some); });
        continue;
      }
      for (uint32_t i = 0; i < count_; ++i)
        k_.if_(start_ + (c + i) < n_,
               [&] { store_number(to_, rows_.at(row, start_ + (c + i)), some[i], complex_); });
    }
  }

  // What the largest number has most of; NaN less than any number, and a row that is done less than NaN.
  RowKey key_of(uint32_t e, uint32_t c, Value diagonal) {
    const Number x = number(e, c);
    const Value size = complex_ ? abs(x.re) + abs(x.im) : abs(x.re), position = position_[e];
    return RowKey::of(size, position >= diagonal && position < n_);
  }

  void column(uint32_t c, const Variable& parity) {
    const Value diagonal = start_ + c;
    BestRow mine{key_of(0, c, diagonal), position_[0].get()};
    for (uint32_t e = 1; e < s_.each; ++e)
      mine = mine.or_better({key_of(e, c, diagonal), position_[e].get()});
    put_forward(c, mine.of_subgroup(k_));
    k_.barrier();  // the next column writes elsewhere, so one is enough
    const uint32_t first = c % 2 * s_.subgroups();
    BestRow best{keys_.get(word(first)), spots_[word(first)]};
    Value winner = word(first);
    if (s_.subgroups() > 1) {
      const Value other = first + min(inside_, s_.subgroups() - 1);
      best = BestRow{keys_.get(other), spots_[other].get() * 256 + other}.of_subgroup(k_);
      winner = best.position % 256;
      best.position = best.position / 256;
    }
    Value who = who_[winner];
    if (told_) {
      told_->tell(c, best, who, best_rows_, winner);
      told_->hear(c);
      k_.barrier();
      winner = told_->winner(inside_, best);
      who = told_->who(winner);
    }
    // Columns beyond the last have no row left; barriers stand outside of conditions.
    k_.if_(diagonal < n_, [&] {
      k_.if_(speaks(), [&] { order_[at_row(diagonal)] = convert(who, Type::i32); });
      parity = select(best.position == diagonal, parity.get(), -parity.get());
      eliminate(c, diagonal, winner, best.position);
    });
  }

  void put_forward(uint32_t c, const BestRow& best) {
    const Value slot = number_ + c % 2 * s_.subgroups();
    k_.if_(inside_ == 0, [&] {
      keys_.set(slot, best.key);
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
      for (const Number& x :
           vectors_.load(told_ ? told_->rows() : best_rows_, winner * (s_.columns / count_) + v))
        pivot_row.push_back(x);
    const Number pivot = pivot_row[c];
    // A column of zeros stays one: the matrix is singular, and u tells.
    const Value nothing = complex_ ? pivot.re == 0 && pivot.im == 0 : pivot.re == 0;
    const auto subtract = [&](const std::function<Number(Number)>& share_of) {
      for (uint32_t e = 0; e < s_.each; ++e)
        k_.if_(position_[e].get() > diagonal, [&] {
          const Number mine = number(e, c), share = share_of(mine);
          const Number l{select(nothing, mine.re, share.re), select(nothing, mine.im, share.im)};
          set(e, c, l);
          for (uint32_t j = c + 1; j < s_.columns; ++j) {
            const NumberSum sum(k_, number(e, j), complex_);
            sum.subtract(l, pivot_row[j]);
            set(e, j, sum.get());
          }
        });
    };
    for (uint32_t e = 0; e < s_.each; ++e) {
      const Value before = position_[e];
      position_[e] = select(before == position, diagonal, select(before == diagonal, position, before));
    }
    const auto quotient = [&](Number x) { return quotient_of(x, pivot, complex_); };
    const auto unless_far = [&](Value size, Value far, const std::function<Number(Number)>& share_of) {
      k_.if_(
          size > 1 / far && size < far, [&] { subtract(share_of); }, [&] { subtract(quotient); });
    };
    // A quotient of c128 takes four divisions, which an H200 makes slowly: 413 rows 1,120 us so, 930 by one.
    if (complex_ && type_ == Type::f64) {
      const Value share = 1 / fma(pivot.re, pivot.re, pivot.im * pivot.im);
      const Number inverse{pivot.re * share, -(pivot.im * share)};
      const Value size = max(abs(pivot.re), abs(pivot.im));
      return unless_far(size, size.like(0x1p500), [&](Number x) { return product_of(x, inverse, true); });
    }
    if (complex_ || s_.each <= 2) return subtract(quotient);
    // Rows are many: times the inverse, as LAPACK, unless that overflows. For few, the longer program costs
    // more.
    const Value size = abs(pivot.re), far = size.like(type_ == Type::f32 ? 0x1p120 : 0x1p1000);
    const Value inverse = 1 / pivot.re;
    unless_far(size, far, [&](Number x) { return times_real(x, inverse, false); });
  }

  bool complex_;
  Type type_;
  PanelSizes s_;
  NumberVectors vectors_;
  uint32_t count_;
  bool by_vectors_;
  uint32_t loop_columns_;
  Builder k_;
  RowAccess rows_;
  Array from_, to_, order_, sign_, list_, next_list_, spots_, who_, best_rows_;
  RowKeys keys_;
  std::optional<ToldRows> told_;
  Value start_, n_, inside_, number_, lane_, matrix_, first_row_;
  std::vector<Value> row_;
  std::vector<Variable> position_, numbers_;
};

}  // namespace

Program panel_program(const FactorPlan& plan, const PanelSizes& sizes) { return Panel(plan, sizes).build(); }

uint64_t panel_shared_bytes(const FactorPlan& plan, const PanelSizes& sizes) {
  const uint64_t number = size_of(plan.type) * (plan.complex ? 2 : 1);
  const uint64_t told = sizes.most_teams > 1 ? sizes.most_teams : 0;
  return (2 * sizes.subgroups() + told) * (sizes.columns * number + 16) + 4;
}

}  // namespace adit::ops::lu_rows
