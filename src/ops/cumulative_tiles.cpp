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

// Extremes are those of keys (cumulative_numbers.hpp), which totals hold too.
//
// Tiles begin where memory has a multiple of `neighbours`, so that lanes read and write vectors: places along
// a row count from such a point, at or before the row's first element. Only tiles at the ends of rows look at
// elements one by one.
class TileWriter {
 public:
  TileWriter(const CumulativePlan& plan, const TileLevel& level, const char* what)
      : plan_(plan),
        level_(level),
        steps_(level.tile() / tile_step),
        k_(kernel_name(plan.kind, what), Team::many(tile_lanes)),
        compares_(plan.kind == CumulativeKind::min || plan.kind == CumulativeKind::max),
        op_(reduction_of(plan.kind)) {}

  CumulativePass totals() {
    const Array from = memory("from", level_.elements, Access::read),
                to = memory("totals", false, Access::write);
    find_tile(k_.team(index_type()));
    const auto joined = [&](Value lane) {
      load(from, lane);
      Value total = numbers_[0][0];
      for (uint64_t s = 0; s < steps_; ++s)
        for (uint64_t j = s == 0 ? 1 : 0; j < neighbours; ++j) total = combined(total, numbers_[s][j]);
      return total;
    };
    const Value total = k_.reduce(k_.constant(Type::u32, tile_lanes), op_, joined);
    k_.once([&] { to[team_] = total; });
    return finished();
  }

  CumulativePass running() {
    const Array from = memory("from", level_.elements, level_.elements ? Access::read : Access::read_write);
    const Array to = level_.elements ? memory("to", true, Access::write) : from;
    Array totals;
    if (level_.has_totals) totals = memory("totals", false, Access::read);
    // What the pass of totals read last is still near: the last tiles come first.
    const Value team = k_.team(index_type());
    find_tile(team.like(static_cast<int64_t>(plan_.outer * level_.tiles()) - 1) - team);
    const Value lane = k_.subgroup_number() * k_.subgroup_size() + k_.subgroup_lane();
    load(from, lane);
    run(totals);
    store(to, lane);
    return finished();
  }

 private:
  Type number_type() const { return total_type_of(plan_); }
  Type index_type() const { return plan_.outer * level_.length >= uint64_t{1} << 31 ? Type::u64 : Type::u32; }
  bool backward() const { return plan_.reverse && level_.elements; }  // totals are in that order already
  Array memory(const char* name, bool elements, Access access) {
    return k_.buffer(name, elements ? stored_as(plan_.type) : number_type(), access);
  }
  void find_tile(Value team) {
    team_ = team;
    const auto tiles = static_cast<int64_t>(level_.tiles()), length = static_cast<int64_t>(level_.length);
    tile_ = team_ % tiles;
    row_ = team_ / tiles * length;
    first_ = tile_ * static_cast<int64_t>(level_.tile());
    shift_ = team_.like(0);
    if (length % static_cast<int64_t>(neighbours) != 0)
      shift_ = (backward() ? team_.like(0) - (row_ + length) : row_) % static_cast<int64_t>(neighbours);
    const Value end = first_ + static_cast<int64_t>(level_.tile());
    is_whole_ = first_ >= shift_ && end <= shift_ + length;
  }
  Value identity() {
    if (op_ == Reduction::min) return ~k_.constant(number_type(), 0);
    return k_.constant(number_type(), op_ == Reduction::mul ? 1 : 0);
  }
  Value combined(Value a, Value b) const { return ops::combined(op_, a, b); }
  Value opened(Value stored) const {
    if (!level_.elements) return stored;
    const Value number = widened(stored, plan_.type);
    return compares_ ? key_of(number, op_ == Reduction::max) : number;
  }
  Value closed(Value number) const {
    if (!level_.elements) return number;
    return narrowed(compares_ ? number_of_key(number, added_up_as(plan_.type)) : number, plan_.type);
  }

  // Of a lane's vector of a step: places, where it lies in memory, and which of its elements is the j-th.
  Value place(Value lane, uint64_t step, uint64_t j = 0) const {
    const Value inside = lane * static_cast<int64_t>(neighbours) + static_cast<int64_t>(step * tile_step + j);
    return first_ + convert(inside, first_.type());
  }
  Value vector_at(Value lane, uint64_t step) const {
    constexpr auto width = static_cast<int64_t>(neighbours);
    const Value at = place(lane, step);
    if (!backward()) return (row_ - shift_ + at) / width;
    return (row_ + shift_ + (static_cast<int64_t>(level_.length) - width) - at) / width;
  }
  int element_of(uint64_t j) const { return static_cast<int>(backward() ? neighbours - 1 - j : j); }
  Value is_inside(Value at) const { return at - shift_ <= last(); }  // below the shift it wraps
  Value last() const { return first_.like(static_cast<int64_t>(level_.length) - 1); }
  Value address(Value at) const { return row_ + (backward() ? last() - (at - shift_) : at - shift_); }

  // All that a lane has of the tile; beyond the row what changes nothing.
  void load(const Array& from, Value lane) {
    std::vector<std::vector<Variable>> held(steps_);
    for (auto& step : held)
      for (uint64_t j = 0; j < neighbours; ++j) step.push_back(k_.variable(identity()));
    const auto vectors = [&] {
      std::vector<Value> loaded;
      for (uint64_t s = 0; s < steps_; ++s)
        loaded.push_back(from.load_vector(vector_at(lane, s), static_cast<int>(neighbours)));
      for (uint64_t s = 0; s < steps_; ++s)
        for (uint64_t j = 0; j < neighbours; ++j) held[s][j] = opened(loaded[s][element_of(j)]);
    };
    const auto one_by_one = [&] {
      for (uint64_t s = 0; s < steps_; ++s)
        for (uint64_t j = 0; j < neighbours; ++j) {
          const Value at = place(lane, s, j), inside = is_inside(at);
          const Value stored = from[select(inside, address(at), row_)];
          held[s][j] = select(inside, opened(stored), identity());
        }
    };
    k_.if_(is_whole_, vectors, one_by_one);
    numbers_.resize(steps_);
    for (uint64_t s = 0; s < steps_; ++s)
      for (uint64_t j = 0; j < neighbours; ++j) numbers_[s].push_back(held[s][j].get());
  }

  void store(const Array& to, Value lane) {
    const auto vectors = [&] {
      for (uint64_t s = 0; s < steps_; ++s) {
        const auto result = [&](uint64_t j) {
          return closed(numbers_[s][static_cast<size_t>(element_of(j))]);
        };
        to.store(vector_at(lane, s), k_.pack({result(0), result(1), result(2), result(3)}));
      }
    };
    const auto one_by_one = [&] {
      for (uint64_t s = 0; s < steps_; ++s)
        for (uint64_t j = 0; j < neighbours; ++j) {
          const Value at = place(lane, s, j);
          k_.if_(is_inside(at), [&] { to[address(at)] = closed(numbers_[s][j]); });
        }
    };
    k_.if_(is_whole_, vectors, one_by_one);
  }

  // Numbers become running ones: those of a lane, of a subgroup's step, and of all before that.
  void run(const Array& totals) {
    const Array parts = k_.shared(number_type(), most_subgroups * most_steps);
    const Value subgroups = k_.constant(Type::u32, tile_lanes) / k_.subgroup_size();
    const auto part = [&](uint64_t s) { return subgroups * static_cast<int64_t>(s) + k_.subgroup_number(); };
    std::vector<Value> ahead;
    for (uint64_t s = 0; s < steps_; ++s) {
      std::vector<Value>& own = numbers_[s];
      for (size_t j = 1; j < own.size(); ++j) own[j] = combined(own[j - 1], own[j]);
      ahead.push_back(k_.subgroup_exclusive(op_, own.back()));
      k_.if_(k_.subgroup_lane() == k_.subgroup_size() - 1,
             [&] { parts[part(s)] = combined(ahead[s], own.back()); });
    }
    k_.barrier();
    k_.if_(k_.subgroup_number() == 0, [&] { run_parts(parts, totals, subgroups); });
    k_.barrier();
    for (uint64_t s = 0; s < steps_; ++s) {
      const Value start = combined(parts[part(s)].get(), ahead[s]);
      for (Value& number : numbers_[s]) number = combined(start, number);
    }
  }

  // One subgroup: parts become what comes before them, in the row.
  void run_parts(const Array& parts, const Array& totals, Value subgroups) {
    Value before = identity();
    if (level_.has_totals) {
      const Value is_first = tile_ == tile_.like(0);
      before = select(is_first, before, totals[select(is_first, team_, team_ - 1)].get());
    }
    const Variable so_far = k_.variable(before);
    const Value count = subgroups * static_cast<int64_t>(steps_);
    k_.for_(count.like(0), count, k_.subgroup_size(), [&](Value first) {
      const Value at = first + k_.subgroup_lane(), is_there = at < count;
      const Value own = select(is_there, parts[select(is_there, at, at.like(0))].get(), identity());
      const Value start = combined(so_far.get(), k_.subgroup_exclusive(op_, own));
      k_.if_(is_there, [&] { parts[at] = start; });
      so_far = combined(so_far.get(), k_.subgroup_reduce(op_, own));
    });
  }

  CumulativePass finished() { return {k_.finish(), plan_.outer * level_.tiles(), {}}; }

  const CumulativePlan& plan_;
  const TileLevel& level_;
  uint64_t steps_;
  Builder k_;
  bool compares_;
  Reduction op_;
  Value team_, tile_, row_, first_;  // the team, its tile of the row, where the row and the tile begin
  Value shift_, is_whole_;  // places before the row's first element; whether the tile has none beyond the row
  std::vector<std::vector<Value>> numbers_;  // of a lane, by steps
};

}  // namespace

// Elements, and places before the first.
uint64_t TileLevel::extent() const { return length % neighbours == 0 ? length : length + neighbours - 1; }
uint64_t TileLevel::tile() const {
  return tile_step * std::clamp<uint64_t>((extent() + tile_step - 1) / tile_step, 1, most_steps);
}
uint64_t TileLevel::tiles() const { return (extent() + tile() - 1) / tile(); }

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
