// The largest number of a row and the sum of powers below it, in one pass.
#include <limits>

#include <adit/kernel/math.hpp>

#include "compile/row_writer.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Op;
using kernel::Reduction;
using kernel::Type;

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

// Of infinite ones no distance is taken.
Value distance_from(Value top) { return select(abs(top) == top.like(infinite), top.like(0), top); }

// A sum of powers below `from` as one below `to`; there may be none yet.
Value moved(Value sum, Value from, Value to) { return select(sum == 0, sum, sum * kernel::exp(from - to)); }

}  // namespace

std::optional<RowWriter::Powers> RowWriter::powers() const {
  const Limits& limits = shop_.target.limits;
  const bool may = may_hold_ && by_team_ && shop_.target.gpu && limits.lanes_by_hand &&
                   limits.subgroup_arithmetic && !there_is_ && held_.empty();
  if (!may || plan_.levels.size() < 2 || plan_.levels[0].size() != 1 || plan_.levels[1].size() != 1)
    return std::nullopt;
  const Node &largest = *plan_.levels[0][0], &total = *plan_.levels[1][0];
  if (largest.op != Op::reduce_max || total.op != Op::sum || largest.type != DType::f32) return std::nullopt;
  const Node& power = graph::node_of(total.operands[0]);
  if (power.op != Op::exp) return std::nullopt;
  const Node& below = graph::node_of(power.operands[0]);
  if (below.op != Op::subtract) return std::nullopt;
  const Node &x = graph::node_of(below.operands[0]), &shift = graph::node_of(below.operands[1]);
  if (&x != &graph::node_of(largest.operands[0]) || !is_row_broadcast(shift, group_.full, group_.axes))
    return std::nullopt;
  return Powers{&x, &largest, &graph::node_of(shift.operands[0])};
}

void RowWriter::reduce_powers(const Powers& powers) {
  prepare(plan_.levels[0]);
  const std::vector<Reduction> reductions = reductions_of(*powers.largest);
  const std::vector<Type> types = accumulator_types(*powers.largest);
  std::vector<kernel::Variable> tops;
  for (size_t i = 0; i < types.size(); ++i)
    tops.push_back(k_.variable(k_.constant_bits(types[i], kernel::identity_of(reductions[i], types[i]))));
  const kernel::Variable sum = k_.variable(Type::f32, 0.0f);
  const auto step = [&](Value first, int64_t accesses) {
    const Writer::Scope scope(writer_);
    const Value before = distance_from(tops[0].get());
    std::vector<Value> x;
    for (int64_t i = 0; i < accesses; ++i) {
      for (const Index& at : places(first + writer_.number(i * team_lanes())))
        x.push_back(writer_.read(*powers.x, at).re);
      writer_.clear_vector();
    }
    for (const Value each : x) {
      const std::vector<Value> parts = contributions(*powers.largest, {each, {}, false});
      for (size_t i = 0; i < tops.size(); ++i) tops[i] = combine(reductions[i], tops[i].get(), parts[i]);
    }
    const Value now = distance_from(tops[0].get());
    Value next = moved(sum.get(), before, now);
    for (const Value each : x) next = next + kernel::exp(each - now);
    sum = next;
  };
  // Several accesses at once, and then those that are left.
  const int64_t at_once = 8 / width(), lanes = team_lanes(), steps = plan_.length / width();
  const int64_t most = steps / (at_once * lanes) * at_once * lanes;
  const Value lane = convert(k_.lane(), index_type());
  k_.for_(lane, writer_.number(most), writer_.number(at_once * lanes),
          [&](Value first) { step(first, at_once); });
  k_.for_(lane + writer_.number(most), writer_.number(steps), writer_.number(lanes),
          [&](Value first) { step(first, 1); });
  std::vector<Value> totals;
  for (size_t i = 0; i < tops.size(); ++i) totals.push_back(over_lanes(reductions[i], tops[i].get()));
  fix_totals(writer_, plan_.levels[0], totals);
  prepare(plan_.levels[1]);
  const Value shift = writer_.read(*powers.shift, row_.reshaped(powers.shift->shape)).re;
  const Value own = moved(sum.get(), distance_from(tops[0].get()), shift);
  fix_totals(writer_, plan_.levels[1], {over_lanes(Reduction::add, own)});
}

}  // namespace adit::compile
