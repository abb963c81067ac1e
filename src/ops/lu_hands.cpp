// The panel of lu.cpp on a GPU: rows in registers, a lane some rows, so that a column costs three barriers
// and no trip to memory.
#include <algorithm>

#include "ops/factor_writer.hpp"
#include "ops/hands.hpp"
#include "ops/lu_panels.hpp"

namespace adit::ops {

using namespace kernel;

namespace lu_by_hand {
namespace {

class Panel {
 public:
  Panel(const FactorPlan& plan, const LuPanels& panels)
      : n_(plan.n),
        columns_(panels.columns),
        each_((plan.n + panels.lanes - 1) / panels.lanes),
        lanes_(panels.lanes),
        type_(plan.type),
        k_("lu_panel_rows", Team::many(panels.lanes)) {
    memory_ = k_.buffer("a", plan.type, Access::read_write);
    ids_ = k_.buffer("came_from", Type::i32, Access::write);
    pivots_ = k_.buffer("pivots", Type::i32, Access::write);
    sign_ = k_.buffer("sign", Type::i32, Access::read_write);
    start_ = k_.scalar("start", Type::u32);
    team_ = k_.team(Type::u64);
    a_ = {memory_, team_ * (uint64_t{n_} * n_), n_, false};
    first_ = team_ * uint64_t{n_};
    subgroup_ = panels.subgroup;
  }

  Program build() {
    Hands hands(k_, type_, lanes_, subgroup_, 1);
    candidates_ = k_.shared(Type::u32, lanes_ / subgroup_);
    pivot_row_ = k_.shared(type_, columns_);
    top_row_ = k_.shared(type_, columns_);
    exchanged_ = k_.shared(Type::u32, 2);
    load(hands);
    const Variable parity = k_.variable(Type::i32, 1);
    // Columns beyond the last find no row below, and change nothing: barriers stand outside of conditions.
    for (uint32_t c = 0; c < columns_; ++c) column(hands, c, parity);
    store();
    k_.if_(hands.lane() == 0, [&] {
      const Value before = select(start_ == 0, parity.get().like(1), sign_[team_].get());
      sign_[team_] = before * parity.get();
    });
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value at(Value row) { return first_ + convert(row, Type::u64); }

  void load(const Hands& hands) {
    for (uint32_t e = 0; e < each_; ++e) {
      rows_.push_back(start_ + hands.lane() + e * lanes_);
      inside_.push_back(rows_[e] < n_);
      from_.push_back(k_.variable(rows_[e]));
      const Value safe = min(rows_[e], word(n_ - 1));
      for (uint32_t c = 0; c < columns_; ++c) {
        const Value column = min(start_ + c, word(n_ - 1));
        numbers_.push_back(k_.variable(a_.get(safe, column).re));
      }
    }
  }
  const Variable& number(uint32_t e, uint32_t c) const { return numbers_[e * columns_ + c]; }

  void column(Hands& hands, uint32_t c, const Variable& parity) {
    const Value diagonal = start_ + c;
    // NaN are never the largest; where all are, the first row stays.
    Value mine = k_.constant(type_, -1);
    for (uint32_t e = 0; e < each_; ++e) {
      const Value size = abs(number(e, c).get());
      mine = select(inside_[e] && rows_[e] >= diagonal && size > mine, size, mine);
    }
    const Value most = hands.largest(mine);
    // The first row that has it.
    Value row = word(~uint32_t{0});
    for (uint32_t e = each_; e-- > 0;)
      row = select(inside_[e] && rows_[e] >= diagonal && abs(number(e, c).get()) == most, rows_[e], row);
    const Value here = k_.subgroup_reduce(Reduction::min, row);
    k_.if_(hands.inside() == 0, [&] { candidates_[hands.number()] = here; });
    k_.barrier();
    Value found = candidates_[word(0)];
    for (uint32_t s = 1; s < lanes_ / subgroup_; ++s) found = min(found, candidates_[word(s)].get());
    const Value pivot = select(found == ~uint32_t{0}, diagonal, found);
    for (uint32_t e = 0; e < each_; ++e) {
      k_.if_(rows_[e] == pivot, [&] {
        for (uint32_t j = 0; j < columns_; ++j) pivot_row_[word(j)] = number(e, j).get();
        exchanged_[word(0)] = from_[e].get();
      });
      k_.if_(rows_[e] == diagonal, [&] {
        for (uint32_t j = 0; j < columns_; ++j) top_row_[word(j)] = number(e, j).get();
        exchanged_[word(1)] = from_[e].get();
        k_.if_(inside_[e], [&] { pivots_[at(diagonal)] = convert(pivot, Type::i32); });
      });
    }
    parity = select(pivot == diagonal, parity.get(), -parity.get());
    k_.barrier();
    eliminate(c, diagonal, pivot);
  }

  void eliminate(uint32_t c, Value diagonal, Value pivot) {
    const Value divisor = pivot_row_[word(c)], nothing = divisor == 0;
    for (uint32_t e = 0; e < each_; ++e) {
      k_.if_(rows_[e] == pivot, [&] {
        for (uint32_t j = 0; j < columns_; ++j) number(e, j) = top_row_[word(j)].get();
        from_[e] = exchanged_[word(1)].get();
      });
      k_.if_(rows_[e] == diagonal, [&] {
        for (uint32_t j = 0; j < columns_; ++j) number(e, j) = pivot_row_[word(j)].get();
        from_[e] = exchanged_[word(0)].get();
      });
      k_.if_(rows_[e] > diagonal, [&] {
        const Value mine = number(e, c), l = select(nothing, mine, mine / divisor);
        number(e, c) = l;
        for (uint32_t j = c + 1; j < columns_; ++j)
          number(e, j) = fma(-l, pivot_row_[word(j)].get(), number(e, j).get());
      });
    }
  }

  void store() {
    for (uint32_t e = 0; e < each_; ++e)
      k_.if_(inside_[e], [&] {
        ids_[at(rows_[e])] = convert(from_[e].get(), Type::i32);
        for (uint32_t c = 0; c < columns_; ++c)
          k_.if_(start_ + c < n_, [&] {
            a_.put(rows_[e], start_ + c, {number(e, c).get(), number(e, c).get()});
          });
      });
  }

  uint32_t n_, columns_, each_, lanes_, subgroup_ = 32;
  Type type_;
  Builder k_;
  Array memory_, ids_, pivots_, sign_, candidates_, pivot_row_, top_row_, exchanged_;
  Value start_, team_, first_;
  MatrixView a_;
  std::vector<Value> rows_, inside_;
  std::vector<Variable> from_, numbers_;
};

}  // namespace
}  // namespace lu_by_hand

// Numbers that a lane's registers hold: rows times columns, in words of four bytes.
LuPanels lu_panels_by_hand(const FactorPlan& plan, const Limits& limits) {
  LuPanels panels;
  if (!plan.by_hand || plan.complex || !has_hands(limits)) return panels;
  const uint32_t word = static_cast<uint32_t>(size_of(plan.type)) / 4, subgroup = limits.subgroup_size;
  const uint32_t most = std::min(1024U, limits.max_lanes) / subgroup * subgroup;
  const uint32_t lanes = std::min(most, (plan.n + subgroup - 1) / subgroup * subgroup);
  // A multiprocessor's registers are shared by its lanes: 1,024 of them have 64 each.
  const uint32_t room = lanes > 512 ? 32 : 64, each = (plan.n + lanes - 1) / lanes;
  for (const uint32_t columns : {32U, 16U, 8U}) {
    if (columns * each * word > room || (columns > 8 && columns / 2 >= plan.n)) continue;
    panels = {columns, lanes, subgroup};
    break;
  }
  return panels;
}

Program lu_panel_by_hand(const FactorPlan& plan, const LuPanels& panels) {
  return lu_by_hand::Panel(plan, panels).build();
}

}  // namespace adit::ops
