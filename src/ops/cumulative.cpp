#include "ops/cumulative.hpp"

#include <algorithm>
#include <string>

#include "ops/halves.hpp"
#include "ops/number.hpp"

namespace adit::ops {

using namespace kernel;

namespace {

bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }

// One level: [outer, length, inner], whose blocks of `block` elements an invocation each goes through.
struct Level {
  uint64_t length = 0, block = 0;
  uint64_t blocks() const { return (length + block - 1) / block; }
};

class Writer {
 public:
  Writer(const CumulativePlan& plan, Level level, bool has_totals)
      : plan_(plan), level_(level), has_totals_(has_totals) {}

  // Totals of blocks; `from_x`: of the elements themselves, else of totals.
  CumulativePass totals(bool from_x) {
    Builder k(name("totals"), Team::one());
    const Array from = memory(k, "from", from_x, Access::read);
    const Array to = memory(k, "totals", false, Access::write);
    const Place place = place_of(k);
    const NumberCell total(k, load(from, place.first, from_x), plan_.complex);
    k.for_(place.from + 1, place.end, place.from.like(1),
           [&](Value i) { total.set(combined(total.get(), load(from, element(place, i), from_x))); });
    store_number(to, place.own, total.get(), plan_.complex);
    return {k.finish(), invocations(), {}};
  }

  // Running results of each block, from where the blocks before it ended.
  CumulativePass running(bool from_x) {
    Builder k(name("running"), Team::one());
    Array from, to, totals;
    if (from_x) {
      from = memory(k, "x", true, Access::read);
      to = memory(k, "result", true, Access::write);
    } else {
      from = to = memory(k, "numbers", false, Access::read_write);
    }
    if (has_totals_) totals = memory(k, "totals", false, Access::read);
    const Place place = place_of(k);
    const Value first = plan_.reverse ? element(place, place.end - 1) : place.first;
    const NumberCell now(k, load(from, first, from_x), plan_.complex);
    if (has_totals_)
      k.if_(!is_outermost(place), [&] { now.set(combined(before(totals, place), now.get())); });
    store(to, first, now.get(), from_x);
    k.for_(place.from + 1, place.end, place.from.like(1), [&](Value i) {
      const Value at = element(place, plan_.reverse ? place.end - 1 - (i - place.from) : i);
      now.set(combined(now.get(), load(from, at, from_x)));
      store(to, at, now.get(), from_x);
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

  uint64_t invocations() const { return plan_.outer * level_.blocks() * plan_.inner; }
  Type index_type() const {
    const uint64_t numbers = plan_.outer * level_.length * plan_.inner * (plan_.complex ? 2 : 1);
    return numbers < uint64_t{1} << 31 ? Type::u32 : Type::u64;
  }
  std::string name(const char* what) const {
    constexpr const char* kinds[] = {"sum", "product", "min", "max"};
    return std::string("cumulative_") + kinds[static_cast<size_t>(plan_.kind)] + "_" + what;
  }
  Type total_type() const { return is_half(plan_.type) ? Type::f32 : plan_.type; }
  Array memory(Builder& k, const char* name, bool elements, Access access) const {
    // An f16 is taken apart by hand: not every driver has them.
    const Type type = !elements ? total_type() : plan_.type == Type::f16 ? Type::u16 : plan_.type;
    return k.buffer(name, type, access);
  }

  Place place_of(Builder& k) const {
    const Value number = k.team(index_type());
    const auto blocks = static_cast<int64_t>(level_.blocks()), inner = static_cast<int64_t>(plan_.inner);
    Place place;
    place.column = number % inner;
    place.block = number / inner % blocks;
    place.outer = number / (inner * blocks);
    place.from = place.block * static_cast<int64_t>(level_.block);
    place.end = min(place.from + static_cast<int64_t>(level_.block), static_cast<int64_t>(level_.length));
    place.first = element(place, place.from);
    place.own = number;
    return place;
  }
  Value element(const Place& place, Value along) const {
    return (place.outer * static_cast<int64_t>(level_.length) + along) * static_cast<int64_t>(plan_.inner) +
           place.column;
  }
  Value is_outermost(const Place& place) const {
    return place.block == place.block.like(plan_.reverse ? static_cast<int64_t>(level_.blocks()) - 1 : 0);
  }
  Number before(const Array& totals, const Place& place) const {
    const auto inner = static_cast<int64_t>(plan_.inner);
    return load_number(totals, plan_.reverse ? place.own + inner : place.own - inner, plan_.complex);
  }

  Number load(const Array& from, Value at, bool elements) const {
    const Number number = load_number(from, at, plan_.complex);
    if (!elements || !is_half(plan_.type)) return number;
    const Value wide = plan_.type == Type::f16 ? half_to_float(number.re) : convert(number.re, Type::f32);
    return {wide, wide};
  }
  void store(const Array& to, Value at, Number number, bool elements) const {
    if (elements && plan_.type == Type::f16)
      number.re = float_to_half(number.re);
    else if (elements && plan_.type == Type::bf16)
      number.re = convert(number.re, Type::bf16);
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
  const uint64_t columns = std::max<uint64_t>(1, plan.outer * plan.inner);
  const uint64_t wanted = std::max<uint64_t>(1, plan.invocations / columns);
  const uint64_t block = std::max(plan.shortest, (length + wanted - 1) / wanted);
  return std::max<uint64_t>(1, std::min({block, length, plan.longest}));
}

}  // namespace

Cumulative cumulative(const CumulativePlan& plan) {
  Cumulative made;
  made.total_type = is_half(plan.type) ? Type::f32 : plan.type;
  if (plan.outer * plan.length * plan.inner == 0) return made;
  std::vector<Level> levels;
  for (uint64_t length = plan.length;; length = levels.back().blocks()) {
    levels.push_back({length, block_length(plan, length)});
    if (levels.back().blocks() == 1) break;
    made.totals.push_back(plan.outer * levels.back().blocks() * plan.inner * (plan.complex ? 2 : 1));
  }
  const size_t top = levels.size() - 1;
  const auto totals_of = [](size_t level) { return static_cast<uint8_t>(2 + level); };
  for (size_t level = 0; level < top; ++level) {
    made.passes.push_back(Writer(plan, levels[level], true).totals(level == 0));
    made.passes.back().arguments = {level == 0 ? uint8_t{0} : totals_of(level - 1), totals_of(level)};
  }
  for (size_t level = top + 1; level-- > 0;) {
    made.passes.push_back(Writer(plan, levels[level], level < top).running(level == 0));
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
