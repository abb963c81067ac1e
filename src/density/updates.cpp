// Updates at places: the gradient of reading at places, and elements that replace others.
#include "density/writer.hpp"
#include "graph/lone_update.hpp"
#include "graph/op.hpp"
#include "graph/places.hpp"
#include "lower/reduction.hpp"

namespace adit::sampling {

using graph::Op;
using kernel::Reduction;

// The row-major number, in the result, of where an update goes.
Value DensityWriter::target_of(const Node& node, const Index& update) {
  const Tensor& indices = node.operands[1];
  const Axes& axes = node.as<graph::AxisList>().axes;
  const int leading = indices.rank() - 1;
  std::vector<Value> where;
  for (int axis = 0; axis < leading; ++axis) where.push_back(update.coordinate(axis));
  where.push_back(chain_.index(0));
  const Dims strides = strides_of(node.shape);
  Value target = chain_.index(0);
  int rest = leading, column = 0;
  for (int axis = 0; axis < node.shape.size(); ++axis) {
    Value coordinate;
    if (axes.contains(axis)) {
      where.back() = chain_.index(column++);
      const Value given = read(graph::node_of(indices), update.at(indices.shape(), where)).re;
      coordinate = are_inside(node) ? convert(given, Type::u32)
                                    : graph::clamped(given, node.shape[axis] - 1, Type::u32);
    } else {
      coordinate = update.coordinate(rest++);
    }
    target = target + coordinate * strides[axis];
  }
  return target;
}

// An element of a short result, which looks at all of the few updates.
Scalar DensityWriter::few_updates(const Node& node, const Index& at) {
  const Tensor& source = node.operands[2];
  Value value = read(graph::node_of(node.operands[0]), at).re;
  const Value mine = element_count(node.shape) == 1 ? chain_.index(0) : at.linear();
  for (int64_t i = 0; i < source.size(); ++i) {
    const Index update = place(source.shape(), chain_.index(i));
    const Value given = read(graph::node_of(source), update).re;
    value =
        select(target_of(node, update) == mine, node.op == Op::indexed_add ? value + given : given, value);
  }
  return {value, {}, false};
}

// An element that one update at most may change.
Scalar DensityWriter::through_update(const Node& node, const Index& at) {
  const int counted = graph::lone_update(node).value().axis;
  const Tensor& source = node.operands[2];
  const Axes& axes = node.as<graph::AxisList>().axes;
  const Value which = counted >= 0 ? at.coordinate(counted) : chain_.index(0);
  std::vector<Value> where{min(which, chain_.last_of(source.shape()[0]))};
  for (int axis = 0; axis < node.shape.size(); ++axis)
    if (!axes.contains(axis)) where.push_back(at.coordinate(axis));
  const Index update = at.at(source.shape(), std::move(where));
  const Value before = read(graph::node_of(node.operands[0]), at).re;
  const Value given = read(graph::node_of(source), update).re;
  Value hits = target_of(node, update) == at.linear();
  if (counted >= 0) hits = hits && which < chain_.index(source.shape()[0]);
  return {select(hits, node.op == Op::indexed_add ? before + given : given, before), {}, false};
}

// One after the other, by one lane: of several at a place the last one counts.
void DensityWriter::write_places(const Node& node) {
  const Vector to = memory_of(node);
  each(element_count(node.shape), [&](Value i) {
    to.set(i, stored_number(node, read(graph::node_of(node.operands[0]), place(node.shape, i)).re));
  });
  const Tensor& source = node.operands[2];
  chain_.once([&] {
    builder().for_(chain_.index(source.size()), [&](Value i) {
      const Scope scope(*this);
      const Index update = place(source.shape(), i);
      const Value value = stored_number(node, read(graph::node_of(source), update).re);
      const Value target = target_of(node, update);
      to.set(target, node.op == Op::indexed_add ? to.get(target) + value : value);
    });
  });
}

// Where a sorted update lies: those of a target side by side.
Value DensityWriter::sorted_place(const Node& node, Value update) {
  const Tensor& indices = node.operands[1];
  const int64_t count = indices.size() / indices.shape()[indices.rank() - 1];
  const int64_t width = node.operands[2].size() / count;  // numbers of one update
  const Value which = width == 1 ? update : update / width;
  const Value rank =
      convert(segment(Segment::Kind::ranks, graph::node_of(indices), &node, count, which), Type::u32);
  return width == 1 ? rank : rank * width + update % width;
}

// The updates of one element of the result, which lists made beforehand tell.
DensityWriter::Run DensityWriter::run_of(const Node& node, const Index& at) {
  const Tensor &indices = node.operands[1], &source = node.operands[2];
  const Axes& axes = node.as<graph::AxisList>().axes;
  const int leading = indices.rank() - 1;
  int64_t targets = 1, width = 1;
  Value target = chain_.index(0), inside = chain_.index(0);  // inside: the place in an update
  std::vector<Value> rest;
  for (int axis = 0; axis < node.shape.size(); ++axis) {
    if (axes.contains(axis)) {
      target = target * node.shape[axis] + at.coordinate(axis);
      targets *= node.shape[axis];
    } else {
      rest.push_back(at.coordinate(axis));
      inside = inside * node.shape[axis] + rest.back();
      width *= node.shape[axis];
    }
  }
  const auto entry = [this, &node, &indices](Segment::Kind kind, int64_t count, Value i) {
    return convert(segment(kind, graph::node_of(indices), &node, count, i), Type::u32);
  };
  Run run;
  const auto kept = sorted_.find(&node);
  const bool are_own = kept != sorted_.end() && schedule_.own_sums.contains(&node);
  if (are_own) {  // a sum of each lane, the sums of a target side by side
    const int64_t lanes = schedule_.team.lanes;
    const Value begin = (element_count(node.shape) == 1 ? chain_.index(0) : at.linear()) * lanes;
    run.begin = begin;
    run.end = begin + lanes;
    run.update = [=, this, place_in_memory = kept->second](Value e) {
      return memory_at(place_in_memory).get(e);
    };
    return run;
  }
  run.begin = entry(Segment::Kind::starts, targets + 1, target);
  run.end = entry(Segment::Kind::starts, targets + 1, target + 1);
  if (kept != sorted_.end()) {
    run.update = [=, this, place_in_memory = kept->second](Value e) {
      return memory_at(place_in_memory).get(e * width + inside);
    };
    return run;
  }
  Shape lead;
  for (int axis = 0; axis < leading; ++axis) lead.push_back(indices.shape()[axis]);
  const int64_t count = indices.size() / indices.shape()[leading];
  run.update = [=, this, &source](Value e) {
    const Index which = place(lead, entry(Segment::Kind::order, count, e));
    std::vector<Value> coordinates;
    for (int axis = 0; axis < leading; ++axis) coordinates.push_back(which.coordinate(axis));
    coordinates.insert(coordinates.end(), rest.begin(), rest.end());
    return read(graph::node_of(source), which.at(source.shape(), coordinates)).re;
  };
  return run;
}

// One element of the result: the sum of its updates.
Scalar DensityWriter::updates(const Node& node, const Index& at) {
  Builder& k = builder();
  const Run run = run_of(node, at);
  const Variable sum = k.variable(chain_.number(0));
  k.for_(run.begin, run.end, chain_.index(1), [&](Value e) {
    const Scope scope(*this);
    sum = sum.get() + run.update(e);
  });
  return {total_of(node, at, sum.get()), {}, false};
}

Value DensityWriter::total_of(const Node& node, const Index& at, Value sum) {
  return lower::starts_from_zero(node) ? sum : sum + read(graph::node_of(node.operands[0]), at).re;
}

// The same for all elements. All lanes of a CPU's vectors share out the updates of each; of a GPU's some.
void DensityWriter::write_segments(const Node& node) {
  Builder& k = builder();
  const Vector to = memory_at(stored_.at(&node));
  const Value count = chain_.index(element_count(node.shape));
  if (const int64_t width = segment_lanes(node); width > 1) return write_segments_by_parts(node, width);
  if (!schedule_.on_cpu)
    return k.each(count, [&](Value i) {
      const Scope scope(*this);
      to.set(i, updates(node, place(node.shape, i)).re);
    });
  k.for_(count, [&](Value i) {
    const Scope scope(*this);
    const Index at = place(node.shape, i);
    const Run run = run_of(node, at);
    const Value sum = k.reduce(run.end - run.begin, Reduction::add, [&](Value e) {
      const Scope inner(*this);
      return run.update(run.begin + e);
    });
    const Value total = total_of(node, at, sum);
    k.once([&] { to.set(i, total); });
  });
}

// Lanes of a GPU that sum the updates of one target: about eight steps each, and no lane without a target.
int64_t DensityWriter::segment_lanes(const Node& node) const {
  if (schedule_.on_cpu || schedule_.team.lanes == 0) return 1;
  const int64_t targets = std::max<int64_t>(1, element_count(node.shape));
  const int64_t numbers =
      schedule_.own_sums.contains(&node) ? targets * schedule_.team.lanes : node.operands[2].size();
  const int64_t most = std::min(schedule_.team.subgroup, schedule_.team.lanes);
  constexpr int64_t steps = 8;
  int64_t width = 1;
  while (width < most &&
         (2 * steps * width * targets <= numbers || 2 * width * targets <= schedule_.team.lanes))
    width *= 2;
  return width;
}

// Lanes side by side in a subgroup share out the updates of a target, and then hand round what they have.
void DensityWriter::write_segments_by_parts(const Node& node, int64_t width) {
  Builder& k = builder();
  const Vector to = memory_at(stored_.at(&node));
  const int64_t targets = element_count(node.shape), together = schedule_.team.lanes / width;
  const Value lane = k.subgroup_number() * schedule_.team.subgroup + k.subgroup_lane();
  const Value part = lane % width, first = lane / width;
  k.barrier();  // memory that lanes read by hand just before may be written now
  k.for_(chain_.index((targets + together - 1) / together), [&](Value round) {
    const Scope scope(*this);
    const Value target = round * together + first, i = min(target, chain_.last_of(targets));
    const Index at = place(node.shape, i);
    const Run run = run_of(node, at);
    const Variable sum = k.variable(chain_.number(0));
    k.for_(run.begin + part, run.end, chain_.index(width), [&](Value e) {
      const Scope inner(*this);
      sum = sum.get() + run.update(e);
    });
    Value total = sum.get();
    for (int64_t mask = 1; mask < width; mask *= 2)
      total = total + k.subgroup_shuffle_xor(total, chain_.index(mask));
    total = total_of(node, at, total);
    k.if_(part == 0 && target < chain_.index(targets), [&] { to.set(i, total); });
  });
  k.barrier();
}

}  // namespace adit::sampling
