#include "ops/cumulative_tiles.hpp"

#include <algorithm>
#include <string>

#include <adit/kernel/builder.hpp>

#include "ops/cumulative_numbers.hpp"

namespace adit::ops {

using namespace kernel;

namespace {

// A tile is read in steps, some neighbours a lane; a lane has all that it needs under way before it adds.
constexpr uint64_t tile_lanes = 256, neighbours = 4, tile_step = tile_lanes * neighbours, most_steps = 4;
constexpr uint32_t most_subgroups = 64;  // of four lanes at least

Reduction reduction_of(CumulativeKind kind) {
  switch (kind) {
    case CumulativeKind::sum: return Reduction::add;
    case CumulativeKind::product: return Reduction::mul;
    case CumulativeKind::min: return Reduction::min;
    default: return Reduction::max;
  }
}

// Extremes are those of keys (cumulative_numbers.hpp), which totals hold too.
class TileWriter {
 public:
  TileWriter(const CumulativePlan& plan, const TileLevel& level, const char* what)
      : plan_(plan),
        level_(level),
        k_(kernel_name(plan.kind, what), Team::many(tile_lanes)),
        compares_(plan.kind == CumulativeKind::min || plan.kind == CumulativeKind::max),
        op_(reduction_of(plan.kind)) {}

  CumulativePass totals() {
    const Array from = memory("from", level_.elements, Access::read),
                to = memory("totals", false, Access::write);
    find_tile();
    const Value total = k_.reduce(k_.constant(Type::u32, level_.tile()), op_,
                                  [&](Value i) { return load(from, first_ + convert(i, first_.type())); });
    k_.once([&] { to[team_] = total; });
    return finished();
  }

  CumulativePass running() {
    const Array from = memory("from", level_.elements, level_.elements ? Access::read : Access::read_write);
    const Array to = level_.elements ? memory("to", true, Access::write) : from;
    Array totals;
    if (level_.has_totals) totals = memory("totals", false, Access::read);
    find_tile();
    const Value lane = k_.subgroup_number() * k_.subgroup_size() + k_.subgroup_lane();
    const uint64_t steps = level_.tile() / tile_step;
    std::vector<std::vector<Value>> places(steps), numbers(steps);
    for (uint64_t s = 0; s < steps; ++s)
      for (uint64_t j = 0; j < neighbours; ++j) {
        places[s].push_back(first_ + convert(lane * static_cast<int64_t>(neighbours) +
                                                 static_cast<int64_t>(s * tile_step + j),
                                             first_.type()));
        numbers[s].push_back(load(from, places[s].back()));
      }
    Value before = identity();
    if (level_.has_totals) {
      const Value is_first = tile_ == tile_.like(0);
      before = select(is_first, before, totals[select(is_first, team_, team_ - 1)].get());
    }
    for (uint64_t s = 0; s < steps; ++s) before = run_step(to, places[s], numbers[s], before);
    return finished();
  }

 private:
  Type number_type() const { return total_type_of(plan_); }
  Array memory(const char* name, bool elements, Access access) {
    return k_.buffer(name, elements ? stored_as(plan_.type) : number_type(), access);
  }
  void find_tile() {
    const bool is_wide = plan_.outer * level_.length >= uint64_t{1} << 31;
    team_ = k_.team(is_wide ? Type::u64 : Type::u32);
    const auto tiles = static_cast<int64_t>(level_.tiles());
    tile_ = team_ % tiles;
    row_ = team_ / tiles * static_cast<int64_t>(level_.length);
    first_ = tile_ * static_cast<int64_t>(level_.tile());
  }
  Value identity() {
    if (op_ == Reduction::min) return ~k_.constant(number_type(), 0);
    return k_.constant(number_type(), op_ == Reduction::mul ? 1 : 0);
  }
  Value combined(Value a, Value b) const {
    switch (op_) {
      case Reduction::add: return a + b;
      case Reduction::mul: return a * b;
      case Reduction::min: return min(a, b);
      default: return max(a, b);
    }
  }
  Value opened(Value stored) const {
    const Value number = widened(stored, plan_.type);
    return compares_ ? key_of(number, op_ == Reduction::max) : number;
  }
  Value closed(Value number) const {
    return narrowed(compares_ ? number_of_key(number, added_up_as(plan_.type)) : number, plan_.type);
  }
  Value last() const { return first_.like(static_cast<int64_t>(level_.length) - 1); }
  // Places along a row count from its end where that is where results begin; totals are in that order
  // already.
  Value address(Value place) const {
    return row_ + (plan_.reverse && level_.elements ? last() - place : place);
  }
  Value load(const Array& from, Value place) {
    const Value stored = from[address(min(place, last()))];
    return select(place <= last(), level_.elements ? opened(stored) : stored, identity());
  }

  // Of one step's elements; yields what has run up by its end.
  Value run_step(const Array& to, const std::vector<Value>& places, std::vector<Value> numbers,
                 Value before) {
    for (size_t j = 1; j < numbers.size(); ++j) numbers[j] = combined(numbers[j - 1], numbers[j]);
    const Array totals = k_.shared(number_type(), most_subgroups);
    const Value ahead = k_.subgroup_exclusive(op_, numbers.back());
    k_.if_(k_.subgroup_lane() == k_.subgroup_size() - 1,
           [&] { totals[k_.subgroup_number()] = combined(ahead, numbers.back()); });
    k_.barrier();
    const Variable own = k_.variable(before), all = k_.variable(before);
    k_.for_(k_.constant(Type::u32, tile_lanes) / k_.subgroup_size(), [&](Value i) {
      k_.if_(i == k_.subgroup_number(), [&] { own = all.get(); });
      all = combined(all.get(), totals[i].get());
    });
    const Value start = combined(own.get(), ahead);
    for (size_t j = 0; j < numbers.size(); ++j) {
      const Value result = combined(start, numbers[j]);
      k_.if_(places[j] <= last(),
             [&] { to[address(places[j])] = level_.elements ? closed(result) : result; });
    }
    return all.get();
  }

  CumulativePass finished() { return {k_.finish(), plan_.outer * level_.tiles(), {}}; }

  const CumulativePlan& plan_;
  const TileLevel& level_;
  Builder k_;
  bool compares_;
  Reduction op_;
  Value team_, tile_, row_, first_;  // the team, its tile of the row, where the row and the tile begin
};

}  // namespace

uint64_t TileLevel::tile() const {
  return tile_step * std::clamp<uint64_t>((length + tile_step - 1) / tile_step, 1, most_steps);
}

kernel::Type total_type_of(const CumulativePlan& plan) {
  const bool compares = plan.kind == CumulativeKind::min || plan.kind == CumulativeKind::max;
  return compares ? key_type(plan.type) : added_up_as(plan.type);
}

CumulativePass tile_totals(const CumulativePlan& plan, const TileLevel& level) {
  return TileWriter(plan, level, "tile_totals").totals();
}
CumulativePass tile_running(const CumulativePlan& plan, const TileLevel& level) {
  return TileWriter(plan, level, "tiles").running();
}

}  // namespace adit::ops
