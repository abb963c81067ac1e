#include "ops/cumulative.hpp"

#include <algorithm>
#include <string>

#include "ops/cumulative_numbers.hpp"
#include "ops/cumulative_short.hpp"
#include "ops/cumulative_tiles.hpp"
#include "ops/number.hpp"

namespace adit::ops {

using namespace kernel;

namespace {

constexpr uint64_t most_together = 16;

// One level: [outer, length, inner], whose blocks of `block` elements an invocation each goes through.
struct Level {
  uint64_t length = 0, block = 0;
  bool in_tiles = false;
  uint64_t blocks() const {
    return in_tiles ? TileLevel{.length = length}.tiles() : (length + block - 1) / block;
  }
};

class Writer {
 public:
  Writer(const CumulativePlan& plan, Level level, bool has_totals)
      : plan_(plan), level_(level), has_totals_(has_totals) {}

  // Totals of blocks; `from_x`: of the elements themselves, else of totals.
  CumulativePass totals(bool from_x) {
    Builder k(name("totals"), team());
    const Array from = memory(k, "from", from_x, Access::read);
    const Array to = memory(k, "totals", false, Access::write);
    const Place place = place_of(k);
    if (sums_in_lanes()) {
      const Reduction op = plan_.kind == CumulativeKind::sum ? Reduction::add : Reduction::mul;
      const Value count = convert(place.end - place.from, Type::u32);
      const Value total = k.reduce(count, op, [&](Value i) {
        return load(from, place.first + convert(i, place.first.type()), from_x).re;
      });
      k.once([&] { to[place.own] = total; });
      return {k.finish(), invocations(), {}};
    }
    by_one(k, [&] {
      const Cells totals = cells(k, from, place.first, from_x);
      k.for_(place.from + 1, place.end, place.from.like(1), [&](Value i) {
        const Value at = element(place, i);
        for (uint64_t c = 0; c < together(); ++c)
          totals[c].set(combined(totals[c].get(), load(from, beside(at, c), from_x)));
      });
      for (uint64_t c = 0; c < together(); ++c) store(to, beside(place.own, c), totals[c].get(), false);
    });
    return {k.finish(), invocations(), {}};
  }

  // Rows of neighbouring columns, one after the other: each goes on from the row before it, which is still
  // near.
  CumulativePass rows() {
    Builder k(name("rows"), Team::many(1));
    const Array x = memory(k, "x", true, Access::read), to = memory(k, "result", true, Access::read_write);
    const uint64_t teams_a_row =
        std::max<uint64_t>(1, plan_.invocations / std::max<uint64_t>(1, plan_.outer));
    const uint64_t width = std::clamp<uint64_t>((plan_.inner + teams_a_row - 1) / teams_a_row, 64, 2048);
    const uint64_t parts = (plan_.inner + width - 1) / width;
    const Value number = k.team(index_type());
    const auto inner = static_cast<int64_t>(plan_.inner), length = static_cast<int64_t>(level_.length);
    const Value column = number % static_cast<int64_t>(parts) * static_cast<int64_t>(width);
    const Value first = number / static_cast<int64_t>(parts) * (inner * length) + column;
    const Value count = convert(min(column + static_cast<int64_t>(width), inner) - column, Type::u32);
    const auto row = [&](Value i) { return first + (plan_.reverse ? (length - 1) - i : i) * inner; };
    const auto each = [&](Value start, const std::function<void(Value)>& body) {
      k.each(count, [&](Value j) { body(start + convert(j, start.type())); });
    };
    each(row(number.like(0)), [&](Value at) { store(to, at, load(x, at, true), true); });
    k.for_(number.like(1), number.like(length), number.like(1), [&](Value i) {
      const Value before = row(i - 1) - row(i);
      each(row(i),
           [&](Value at) { store(to, at, combined(load(to, at + before, true), load(x, at, true)), true); });
    });
    return {k.finish(), plan_.outer * parts, {0, 1}};
  }

  // Running results of each block, from where the blocks before it ended.
  CumulativePass running(bool from_x) {
    Builder k(name("running"), team());
    Array from, to, totals;
    if (from_x) {
      from = memory(k, "x", true, Access::read);
      to = memory(k, "result", true, Access::write);
    } else {
      from = to = memory(k, "numbers", false, Access::read_write);
    }
    if (has_totals_) totals = memory(k, "totals", false, Access::read);
    const Place place = place_of(k);
    by_one(k, [&] {
      const Value first = plan_.reverse ? element(place, place.end - 1) : place.first;
      const Cells now = cells(k, from, first, from_x);
      if (has_totals_)
        k.if_(!is_outermost(place), [&] {
          for (uint64_t c = 0; c < together(); ++c)
            now[c].set(combined(before(totals, place, c), now[c].get()));
        });
      for (uint64_t c = 0; c < together(); ++c) store(to, beside(first, c), now[c].get(), from_x);
      k.for_(place.from + 1, place.end, place.from.like(1), [&](Value i) {
        const Value at = element(place, plan_.reverse ? place.end - 1 - (i - place.from) : i);
        for (uint64_t c = 0; c < together(); ++c) {
          now[c].set(combined(now[c].get(), load(from, beside(at, c), from_x)));
          store(to, beside(at, c), now[c].get(), from_x);
        }
      });
    });
    return {k.finish(), invocations(), {}};
  }

 private:
  struct Place {
    Value outer, block, column;  // of this invocation
    Value from, end;             // along the axis
    Value first, own;            // of its first element, and of its block among the totals
  };
  // A number that changes.
  class NumberCell {
   public:
    NumberCell(Builder& k, Number start, bool complex)
        : re_(k.variable(start.re)), im_(complex ? k.variable(start.im) : re_), complex_(complex) {}
    Number get() const { return {re_.get(), im_.get()}; }
    void set(Number value) const {
      re_ = value.re;
      if (complex_) im_ = value.im;
    }

   private:
    Variable re_, im_;
    bool complex_;
  };

  // A thread's block as one row of numbers, whose order does not matter.
  bool sums_in_lanes() const {
    const bool adds = plan_.kind == CumulativeKind::sum || plan_.kind == CumulativeKind::product;
    return plan_.alone && plan_.inner == 1 && !plan_.complex && adds && level_.block < uint64_t{1} << 31;
  }
  Team team() const { return plan_.alone ? Team::many(1) : Team::one(); }
  void by_one(Builder& k, const std::function<void()>& body) const { plan_.alone ? k.once(body) : body(); }
  // Columns that a thread takes side by side: each number waits for the one before it, and they do not for
  // one another.
  uint64_t together() const { return plan_.alone && plan_.inner <= most_together ? plan_.inner : 1; }
  Value beside(Value at, uint64_t column) const {
    return column == 0 ? at : at + static_cast<int64_t>(column);
  }
  using Cells = std::vector<NumberCell>;
  Cells cells(Builder& k, const Array& from, Value first, bool from_x) const {
    Cells list;
    for (uint64_t c = 0; c < together(); ++c)
      list.emplace_back(k, load(from, beside(first, c), from_x), plan_.complex);
    return list;
  }
  uint64_t invocations() const { return plan_.outer * level_.blocks() * plan_.inner / together(); }
  Type index_type() const {
    const uint64_t numbers = plan_.outer * level_.length * plan_.inner * (plan_.complex ? 2 : 1);
    return numbers < uint64_t{1} << 31 ? Type::u32 : Type::u64;
  }
  std::string name(const char* what) const { return kernel_name(plan_.kind, what); }
  Array memory(Builder& k, const char* name, bool elements, Access access) const {
    return k.buffer(name, elements ? stored_as(plan_.type) : added_up_as(plan_.type), access);
  }

  Place place_of(Builder& k) const {
    const Value number = k.team(index_type());
    const auto blocks = static_cast<int64_t>(level_.blocks()), columns = static_cast<int64_t>(together()),
               groups = static_cast<int64_t>(plan_.inner) / columns;
    Place place;
    place.column = number % groups * columns;
    place.block = number / groups % blocks;
    place.outer = number / (groups * blocks);
    place.from = place.block * static_cast<int64_t>(level_.block);
    place.end = min(place.from + static_cast<int64_t>(level_.block), static_cast<int64_t>(level_.length));
    place.first = element(place, place.from);
    place.own = number * columns;
    return place;
  }
  Value element(const Place& place, Value along) const {
    return (place.outer * static_cast<int64_t>(level_.length) + along) * static_cast<int64_t>(plan_.inner) +
           place.column;
  }
  Value is_outermost(const Place& place) const {
    return place.block == place.block.like(plan_.reverse ? static_cast<int64_t>(level_.blocks()) - 1 : 0);
  }
  Number before(const Array& totals, const Place& place, uint64_t column) const {
    const auto inner = static_cast<int64_t>(plan_.inner);
    return load(totals, beside(plan_.reverse ? place.own + inner : place.own - inner, column), false);
  }

  // A thread compares keys, a number after the other: that takes two cycles, and what NaN needs goes beside.
  bool by_keys() const {
    const bool compares = plan_.kind == CumulativeKind::min || plan_.kind == CumulativeKind::max;
    return plan_.alone && !plan_.in_rows && compares && is_float(plan_.type);
  }

  Number load(const Array& from, Value at, bool elements) const {
    Number number = load_number(from, at, plan_.complex);
    if (elements && is_half(plan_.type)) number.re = number.im = widened(number.re, plan_.type);
    if (by_keys()) number.re = key_of(number.re, plan_.kind == CumulativeKind::max);
    return number;
  }
  void store(const Array& to, Value at, Number number, bool elements) const {
    if (by_keys()) number.re = number_of_key(number.re, added_up_as(plan_.type));
    if (elements) number.re = narrowed(number.re, plan_.type);
    store_number(to, at, number, plan_.complex);
  }

  // b comes later. NaN stays.
  Number combined(Number a, Number b) const {
    const auto chosen = [&](Value better) {
      if (!is_float(a.re.type())) return better;
      return select(is_nan(a.re), a.re, select(is_nan(b.re), b.re, better));
    };
    switch (plan_.kind) {
      case CumulativeKind::sum: return {a.re + b.re, plan_.complex ? a.im + b.im : a.im};
      case CumulativeKind::product: break;
      case CumulativeKind::min: return {chosen(min(a.re, b.re)), a.im};
      case CumulativeKind::max: return {chosen(max(a.re, b.re)), a.im};
    }
    if (!plan_.complex) return {a.re * b.re, a.im};
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }

  const CumulativePlan& plan_;
  Level level_;
  bool has_totals_;
};

// As many blocks as fill the device, none shorter than is worth it, none longer than a loop may be.
uint64_t block_length(const CumulativePlan& plan, uint64_t length) {
  if (plan.in_tiles) return TileLevel{.length = length}.tile();
  const uint64_t columns = std::max<uint64_t>(1, plan.outer * plan.inner);
  const uint64_t wanted = std::max<uint64_t>(1, plan.invocations / columns);
  const uint64_t block = std::max(plan.shortest, (length + wanted - 1) / wanted);
  return std::max<uint64_t>(1, std::min({block, length, plan.longest}));
}

CumulativePass totals_pass(const CumulativePlan& plan, Level level, bool from_x) {
  if (plan.in_tiles) return tile_totals(plan, {level.length, from_x, true});
  return Writer(plan, level, true).totals(from_x);
}

CumulativePass running_pass(const CumulativePlan& plan, Level level, bool from_x, bool has_totals) {
  if (plan.in_tiles) return tile_running(plan, {level.length, from_x, has_totals});
  return Writer(plan, level, has_totals).running(from_x);
}

}  // namespace

std::string kernel_name(CumulativeKind kind, const char* what) {
  constexpr const char* names[] = {"sum", "product", "min", "max"};
  return std::string("cumulative_") + names[static_cast<size_t>(kind)] + "_" + what;
}

Cumulative cumulative(const CumulativePlan& plan) {
  Cumulative made;
  made.total_type = plan.in_tiles ? total_type_of(plan) : added_up_as(plan.type);
  if (plan.outer * plan.length * plan.inner == 0) return made;
  if (plan.subgroup > 0) {
    made.passes.push_back(short_rows(plan));
    return made;
  }
  if (plan.in_rows) {
    made.passes.push_back(Writer(plan, {plan.length, plan.length}, false).rows());
    return made;
  }
  std::vector<Level> levels;
  for (uint64_t length = plan.length;; length = levels.back().blocks()) {
    levels.push_back({length, block_length(plan, length), plan.in_tiles});
    if (levels.back().blocks() == 1) break;
    made.totals.push_back(plan.outer * levels.back().blocks() * plan.inner * (plan.complex ? 2 : 1));
  }
  const size_t top = levels.size() - 1;
  const auto totals_of = [](size_t level) { return static_cast<uint8_t>(2 + level); };
  for (size_t level = 0; level < top; ++level) {
    made.passes.push_back(totals_pass(plan, levels[level], level == 0));
    made.passes.back().arguments = {level == 0 ? uint8_t{0} : totals_of(level - 1), totals_of(level)};
  }
  for (size_t level = top + 1; level-- > 0;) {
    made.passes.push_back(running_pass(plan, levels[level], level == 0, level < top));
    auto& arguments = made.passes.back().arguments;
    if (level == 0)
      arguments = {0, 1};
    else
      arguments = {totals_of(level - 1)};
    if (level < top) arguments.push_back(totals_of(level));
  }
  return made;
}

}  // namespace adit::ops
