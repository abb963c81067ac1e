// The best row of a column of LU: among lanes, subgroups, and teams that share a panel. Once a column each
// such team tells its best row, and hears those of all others. What is told has a word of its own, so no
// order between words is asked for (waiting.hpp).
#pragma once

#include "ops/lu_kernels.hpp"
#include "ops/waiting.hpp"

namespace adit::ops::lu_rows {

// What the largest number has most of, in words of 32 bits, whose largest a subgroup soon knows: the number's
// bits and 2. A number that is none has 1, a row that is done has 0.
struct RowKey {
  kernel::Value high, low;  // of f32 there is no low one

  bool is_long() const { return low.id() != kernel::no_id; }
  static RowKey of(kernel::Value size, kernel::Value is_left) {
    using namespace kernel;
    const bool is_long = size.type() == Type::f64;
    const Value bits = bitcast(size, is_long ? Type::u64 : Type::u32) + 2, is_number = size >= 0;
    return of_bits(select(is_left, select(is_number, bits, bits.like(1)), bits.like(0)), is_long);
  }
  static RowKey of_bits(kernel::Value bits, bool is_long) {
    using namespace kernel;
    if (!is_long) return {convert(bits, Type::u32), Value()};
    return {convert(bits >> 32, Type::u32), convert(bits & 0xffffffffU, Type::u32)};
  }
  kernel::Value bits() const {
    using namespace kernel;
    const Value top = convert(high, Type::u64);
    return is_long() ? top << 32 | convert(low, Type::u64) : top;
  }
};

// Keys in shared memory.
class RowKeys {
 public:
  RowKeys() = default;
  RowKeys(kernel::Builder& k, kernel::Type type, uint32_t count)
      : is_long_(type == kernel::Type::f64), high_(k.shared(kernel::Type::u32, count)) {
    if (is_long_) low_ = k.shared(kernel::Type::u32, count);
  }
  RowKey get(kernel::Value at) const {
    return {high_[at].get(), is_long_ ? low_[at].get() : kernel::Value()};
  }
  void set(kernel::Value at, const RowKey& key) const {
    high_[at] = key.high;
    if (is_long_) low_[at] = key.low;
  }

 private:
  bool is_long_ = false;
  kernel::Array high_, low_;
};

// The row with the largest key, the first of equal ones.
struct BestRow {
  // More than any position, even than one and a number in its last byte.
  static constexpr uint32_t nowhere = (1U << 24) - 1;
  RowKey key;
  kernel::Value position;

  BestRow or_better(const BestRow& other) const {
    using namespace kernel;
    Value is_more = key.high < other.key.high, is_same = other.key.high == key.high;
    if (key.is_long()) {
      is_more = is_more || (is_same && key.low < other.key.low);
      is_same = is_same && other.key.low == key.low;
    }
    const Value is_better = is_more || (is_same && other.position < position);
    const auto better = [&](Value theirs, Value mine) { return select(is_better, theirs, mine); };
    return {{better(other.key.high, key.high), key.is_long() ? better(other.key.low, key.low) : Value()},
            better(other.position, position)};
  }
  BestRow of_subgroup(kernel::Builder& k) const {
    using namespace kernel;
    const Value high = k.subgroup_reduce(Reduction::max, key.high);
    Value is_best = key.high == high, low;
    if (key.is_long()) {
      low = k.subgroup_reduce(Reduction::max, select(is_best, key.low, key.low.like(0)));
      is_best = is_best && key.low == low;
    }
    const Value where = select(is_best, position, position.like(~0U));
    return {{high, low}, k.subgroup_reduce(Reduction::min, where)};
  }
};

// `words` are all ones to begin with. Numbers after those of the panel: the first of its words, a ticket; how
// many teams share a matrix.
class ToldRows {
 public:
  ToldRows(kernel::Builder& k, const FactorPlan& plan, const PanelSizes& sizes, const kernel::Array& words,
           kernel::Value lane)
      : k_(k),
        type_(plan.type),
        s_(sizes),
        scalars_(sizes.columns * (plan.complex ? 2 : 1)),
        lane_(lane),
        words_(words) {
    using namespace kernel;
    first_ = convert(k.scalar("first_word", Type::u32), Type::u64);
    teams_ = k.scalar("teams", Type::u32);
    keys_ = RowKeys(k, type_, s_.most_teams);
    spots_ = k.shared(Type::u32, s_.most_teams);
    who_ = k.shared(Type::u32, s_.most_teams);
    rows_ = k.shared(type_, s_.most_teams * scalars_);
    const Array ticket = k.shared(Type::u32, 1);
    const Value mine = take_told_ticket(k, words_, first_, ticket, lane_);
    matrix_ = convert(mine / teams_, Type::u64);
    team_ = mine % teams_;
  }
  // Words of a panel of a matrix that so many teams share.
  static uint64_t words(const FactorPlan& plan, const PanelSizes& sizes) {
    return uint64_t{sizes.columns} * sizes.teams *
           (sizes.columns * (plan.complex ? 2 : 1) / per_word(plan.type) + others);
  }
  kernel::Value matrix() const { return matrix_; }
  kernel::Value team() const { return team_; }
  const kernel::Array& rows() const { return rows_; }  // those heard of, a team's after the other
  kernel::Value who(kernel::Value team) const { return who_[team]; }

  // This team's best row, which is number `slot` of `from`.
  void tell(uint32_t c, const BestRow& best, kernel::Value who, const kernel::Array& from,
            kernel::Value slot) {
    using namespace kernel;
    const Value to = at(c, team_, lane_), of_row = lane_.like(row_words());
    k_.if_(lane_ >= done(c) && lane_ < of_row, [&] {
      const Value at = slot * scalars_ + lane_ * per_word(type_);
      Value bits = bits_to_tell(from[at].get());
      if (per_word(type_) == 2) bits = bits | bits_to_tell(from[at + 1].get()) << 32;
      words_.atomic_exchange(to, bits);
    });
    k_.if_(lane_ == of_row, [&] { words_.atomic_exchange(to, best.key.bits()); });
    k_.if_(lane_ == of_row + 1, [&] {
      words_.atomic_exchange(to, convert(who, Type::u64) << 32 | convert(best.position, Type::u64));
    });
  }

  // All teams' best rows to shared memory; a barrier must follow.
  void hear(uint32_t c) {
    using namespace kernel;
    const uint32_t wanted = row_words() + others - done(c);
    std::vector<Value> places, index;
    for (uint32_t e = 0; e < (s_.most_teams * wanted + s_.lanes - 1) / s_.lanes; ++e) {
      const Value i = lane_ + e * s_.lanes, safe = min(i, teams_ * wanted - 1);
      index.push_back(safe);
      places.push_back(at(c, safe / wanted, safe % wanted + done(c)));
    }
    const std::vector<Value> seen = wait_for_told(k_, words_, places);
    for (size_t e = 0; e < seen.size(); ++e) keep(index[e] / wanted, index[e] % wanted + done(c), seen[e]);
  }

  // The team whose row is the best of all, and that row.
  kernel::Value winner(kernel::Value inside, BestRow& best) const {
    using namespace kernel;
    const Value other = min(inside, teams_ - 1);
    best = BestRow{keys_.get(other), spots_[other].get() * 256 + other}.of_subgroup(k_);
    const Value team = best.position % 256;
    best.position = best.position / 256;
    return team;
  }

 private:
  static constexpr uint32_t others = 2;  // words of a team beside its row: the key, which row it is
  static uint32_t per_word(kernel::Type type) { return type == kernel::Type::f32 ? 2 : 1; }
  uint32_t row_words() const { return scalars_ / per_word(type_); }
  // Words of a row that nobody needs in column c, whole numbers and words.
  uint32_t done(uint32_t c) const { return c * (scalars_ / s_.columns) / per_word(type_); }
  kernel::Value at(uint32_t c, kernel::Value team, kernel::Value word) const {
    using namespace kernel;
    const Value row = (matrix_ * s_.columns + c) * convert(teams_, Type::u64) + convert(team, Type::u64);
    return first_ + 1 + row * (row_words() + others) + convert(word, Type::u64);
  }

  void keep(kernel::Value team, kernel::Value which, kernel::Value word) {
    using namespace kernel;
    k_.if_(
        which < row_words(),
        [&] {
          const Value to = team * scalars_ + which * per_word(type_);
          if (per_word(type_) == 1) {
            rows_[to] = bitcast(word, type_);
          } else {
            rows_[to] = bitcast(convert(word & 0xffffffffU, Type::u32), type_);
            rows_[to + 1] = bitcast(convert(word >> 32, Type::u32), type_);
          }
        },
        [&] {
          k_.if_(
              which == row_words(), [&] { keys_.set(team, RowKey::of_bits(word, type_ == Type::f64)); },
              [&] {
                spots_[team] = convert(word & 0xffffffffU, Type::u32);
                who_[team] = convert(word >> 32, Type::u32);
              });
        });
  }

  kernel::Builder& k_;
  kernel::Type type_;
  PanelSizes s_;
  uint32_t scalars_;  // of a row
  kernel::Value lane_, first_, teams_, matrix_, team_;
  kernel::Array words_, spots_, who_, rows_;
  RowKeys keys_;
};

}  // namespace adit::ops::lu_rows
