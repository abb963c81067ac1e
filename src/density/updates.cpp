// Updates at places: the gradient of reading at places, and elements that replace others.
#include "density/writer.hpp"
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
      coordinate = graph::clamped(read(graph::node_of(indices), update.at(indices.shape(), where)).re,
                                  node.shape[axis] - 1, Type::u32);
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

// One after the other, by one lane: of several at a place the last one counts.
void DensityWriter::write_places(const Node& node) {
  const Vector to = scratch_.from(stored_.at(&node));
  each(element_count(node.shape), [&](Value i) {
    to.set(i, memory_number(read(graph::node_of(node.operands[0]), place(node.shape, i)).re));
  });
  const Tensor& source = node.operands[2];
  chain_.once([&] {
    builder().for_(chain_.index(source.size()), [&](Value i) {
      const Scope scope(*this);
      const Index update = place(source.shape(), i);
      const Value value = memory_number(read(graph::node_of(source), update).re);
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
  run.begin = entry(Segment::Kind::starts, targets + 1, target);
  run.end = entry(Segment::Kind::starts, targets + 1, target + 1);
  if (const auto sorted = sorted_.find(&node); sorted != sorted_.end()) {
    run.update = [=, this, place_in_memory = sorted->second](Value e) {
      return scratch_.from(place_in_memory).get(e * width + inside);
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
  Value total = sum.get();
  if (!lower::starts_from_zero(node)) total = total + read(graph::node_of(node.operands[0]), at).re;
  return {total, {}, false};
}

// The same for all elements, the lanes sharing out the updates of each.
void DensityWriter::write_segments(const Node& node) {
  Builder& k = builder();
  const Vector to = scratch_.from(stored_.at(&node));
  k.for_(chain_.index(element_count(node.shape)), [&](Value i) {
    const Scope scope(*this);
    const Index at = place(node.shape, i);
    const Run run = run_of(node, at);
    Value total = k.reduce(run.end - run.begin, Reduction::add, [&](Value e) {
      const Scope inner(*this);
      return run.update(run.begin + e);
    });
    if (!lower::starts_from_zero(node)) total = total + read(graph::node_of(node.operands[0]), at).re;
    k.once([&] { to.set(i, total); });
  });
}

}  // namespace adit::sampling
