#include "ops/cumulative_short.hpp"

#include <algorithm>
#include <bit>

#include <adit/kernel/builder.hpp>

#include "ops/cumulative_numbers.hpp"
#include "ops/cumulative_tiles.hpp"

namespace adit::ops {

using namespace kernel;

namespace short_rows_of {
namespace {

constexpr uint32_t team_lanes = 256;
constexpr uint64_t most_steps = 32;  // elements of a lane, which it holds
constexpr uint64_t under_way = 8;    // loads of a lane that hide the way to memory

// Rows lie one after another, so that lanes side by side read neighbours: `width` lanes have a row, each
// every width-th element, and some rows at once where those are few.
class ShortRows {
 public:
  explicit ShortRows(const CumulativePlan& plan)
      : plan_(plan),
        width_(static_cast<uint32_t>(std::min<uint64_t>(plan.subgroup, std::bit_ceil(plan.length)))),
        steps_((plan.length + width_ - 1) / width_),
        rows_(std::max<uint64_t>(1, under_way / steps_)),
        k_(kernel_name(plan.kind, "short_rows"), Team::many(team_lanes)),
        op_(reduction_of(plan.kind)) {}

  CumulativePass build() {
    from_ = k_.buffer("x", stored_as(plan_.type), Access::read);
    to_ = k_.buffer("result", stored_as(plan_.type), Access::write);
    const uint64_t together = team_lanes / width_, rows_of_team = together * rows_;
    const Value lane = k_.subgroup_number() * plan_.subgroup + k_.subgroup_lane();
    inside_ = convert(lane % width_, index_type());
    const Value first = k_.team(index_type()) * rows_of_team + convert(lane / width_, index_type());
    std::vector<std::vector<Value>> numbers;
    for (uint64_t r = 0; r < rows_; ++r) numbers.push_back(load(first + r * together));
    for (auto& row : numbers) run(row);
    for (uint64_t r = 0; r < rows_; ++r) store(first + r * together, numbers[r]);
    return {k_.finish(), (plan_.outer + rows_of_team - 1) / rows_of_team, {0, 1}};
  }

 private:
  Type number_type() const { return total_type_of(plan_); }
  // With room for what the last team has beyond the last row.
  Type index_type() const { return plan_.outer * plan_.length >= uint64_t{1} << 30 ? Type::u64 : Type::u32; }
  bool compares() const { return op_ == Reduction::min || op_ == Reduction::max; }
  bool is_ragged(uint64_t step) const { return (step + 1) * width_ > plan_.length; }
  Value is_there(uint64_t step) const { return inside_ + step * width_ < plan_.length; }
  Value address(Value row, uint64_t step) const {
    Value along = inside_ + step * width_;
    if (is_ragged(step)) along = min(along, plan_.length - 1);
    return row * plan_.length + (plan_.reverse ? along.like(plan_.length - 1) - along : along);
  }
  Value identity() {
    if (op_ == Reduction::min) return ~k_.constant(number_type(), 0);
    return k_.constant(number_type(), op_ == Reduction::mul ? 1 : 0);
  }

  std::vector<Value> load(Value row) {
    std::vector<Value> numbers;
    const Value safe = min(row, plan_.outer - 1);
    for (uint64_t s = 0; s < steps_; ++s) {
      const Value number = widened(from_[address(safe, s)], plan_.type);
      const Value opened = compares() ? key_of(number, op_ == Reduction::max) : number;
      numbers.push_back(is_ragged(s) ? select(is_there(s), opened, identity()) : opened);
    }
    return numbers;
  }
  // Over the lanes of a row.
  Value inclusive(Value number) {
    if (width_ == plan_.subgroup) return k_.subgroup_inclusive(op_, number);
    const Value lane = k_.subgroup_lane(), inside = lane % width_;
    for (uint32_t apart = 1; apart < width_; apart *= 2) {
      const Value is_far = inside >= apart;
      const Value before = k_.subgroup_shuffle(number, select(is_far, lane - apart, lane));
      number = select(is_far, combined(op_, before, number), number);
    }
    return number;
  }
  void run(std::vector<Value>& numbers) {
    for (Value& number : numbers) number = inclusive(number);
    const Value last = k_.subgroup_lane() | (width_ - 1);
    Value before;
    for (uint64_t s = 0; s < steps_; ++s) {
      const Value total = s + 1 < steps_ ? k_.subgroup_shuffle(numbers[s], last) : numbers[s];
      if (s > 0) numbers[s] = combined(op_, before, numbers[s]);
      before = s > 0 ? combined(op_, before, total) : total;
    }
  }
  void store(Value row, const std::vector<Value>& numbers) {
    k_.if_(row < plan_.outer, [&] {
      for (uint64_t s = 0; s < steps_; ++s) {
        const auto put = [&] {
          const Value number = compares() ? number_of_key(numbers[s], added_up_as(plan_.type)) : numbers[s];
          to_[address(row, s)] = narrowed(number, plan_.type);
        };
        is_ragged(s) ? k_.if_(is_there(s), put) : put();
      }
    });
  }

  const CumulativePlan& plan_;
  uint32_t width_;
  uint64_t steps_, rows_;
  Builder k_;
  Reduction op_;
  Array from_, to_;
  Value inside_;
};

}  // namespace
}  // namespace short_rows_of

bool is_short_row(uint64_t length, uint32_t subgroup) {
  return length <= short_rows_of::most_steps * subgroup;
}

CumulativePass short_rows(const CumulativePlan& plan) { return short_rows_of::ShortRows(plan).build(); }

}  // namespace adit::ops
