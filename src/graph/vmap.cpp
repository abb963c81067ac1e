// Batching: a function is traced once for one example, and its graph rebuilt for all of them, the batch
// leading.
#include <fmt/format.h>
#include <unordered_map>

#include "graph/derive.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit {

namespace graph {

Tensor move_axis(const Tensor& x, int from, int to) {
  if (from == to) return x;
  Axes order = Dims::counted(x.rank());
  order.erase(from);
  order.insert(to, from);
  return transpose(x, order);
}

Tensor with_batch(const Lane& x, int64_t size) {
  if (x.batched) return x.value;
  Shape shape = x.value.shape();
  shape.insert(0, size);
  Axes axes = Dims::counted(x.value.rank());
  for (int64_t& axis : axes) ++axis;
  return broadcast_in(x.value, shape, axes);
}

namespace {

class Batcher {
 public:
  explicit Batcher(int64_t size) : size_(size) {}

  void set(const Tensor& x, const Lane& lane) { lanes_[&graph::node_of(x)] = lane; }
  Lane of(const Tensor& x) const {
    const auto at = lanes_.find(&graph::node_of(x));
    return at == lanes_.end() ? Lane{x, false} : at->second;
  }

  void visit(const Visit& step) {
    const Node& node = graph::node_of(step.node);
    if (node.op == Op::item) {
      const auto parts = parts_.find(&graph::node_of(step.operands[0]));
      if (parts != parts_.end())
        return set(step.node, parts->second[static_cast<size_t>(node.as<Which>().number)]);
      const Lane whole = of(step.operands[0]);
      if (whole.batched) return set(step.node, {item_of(whole.value, node.as<Which>().number), true});
    }
    Lanes operands;
    bool batched = false;
    for (const Tensor& operand : step.operands) {
      operands.push_back(of(operand));
      batched = batched || operands.back().batched;
    }
    if (!batched) return set(step.node, {same(step, operands), false});
    if (row_of(node.op).kind == Kind::control)
      parts_[&node] = control_batch(step.node, operands, size_);
    else
      set(step.node, {batch(node, operands), true});
  }

 private:
  static Tensor same(const Visit& step, const Lanes& lanes) {
    const Node& node = graph::node_of(step.node);
    Tensors operands;
    for (const Lane& lane : lanes) operands.push_back(lane.value);
    return make_node(node.op, node.type, node.shape, std::move(operands), node.attributes);
  }

  Tensor batch(const Node& node, const Lanes& lanes) const {
    const Row& row = row_of(node.op);
    if (node.op == Op::alias) return lanes[0].value;
    if (node.op == Op::dot) return batch_dot(node, lanes[0], lanes[1], size_);
    if (node.op == Op::conv) return batch_conv(node, lanes[0], lanes[1], size_);
    Tensors operands;
    for (const Lane& lane : lanes) operands.push_back(with_batch(lane, size_));
    Shape shape = node.shape;
    shape.insert(0, size_);
    if (row.kind == Kind::elementwise && !row.batch)
      return make_node(node.op, node.type, shape, std::move(operands), node.attributes);
    if (!row.batch) fail("vmap", row.name, "cannot be batched");
    const Tensor result = row.batch(node, operands, size_);
    if (result.dtype() != node.type || !(result.shape() == shape))
      throw Error(ErrorKind::internal,
                  fmt::format("[vmap] {}: expected {} from its batch rule, got {}", row.name,
                              describe({node.type, shape}), describe(slot_of(result))));
    return result;
  }

  int64_t size_;
  std::unordered_map<const Node*, Lane> lanes_;
  std::unordered_map<const Node*, Lanes> parts_;
};

}  // namespace

Lanes batch_graph(const Tensors& roots, const Tensors& from, const Lanes& to, int64_t size) {
  Batcher batcher(size);
  for (size_t i = 0; i < from.size(); ++i) batcher.set(from[i], to[i]);
  for (const Visit& step : dependents(roots, from).steps) batcher.visit(step);
  Lanes found;
  for (const Tensor& root : roots) found.push_back(batcher.of(root));
  return found;
}

}  // namespace graph

using namespace graph;

namespace {

// The extent of the mapped axes, which all must have.
int64_t mapped_size(const Tensors& x, const std::vector<int>& in_axes) {
  if (in_axes.size() != x.size())
    fail("vmap", "in_axes", fmt::format("expected {}, one an argument, got {}", x.size(), in_axes.size()));
  int64_t size = -1;
  for (size_t i = 0; i < x.size(); ++i) {
    const int axis = in_axes[i];
    if (axis == -1) continue;
    if (axis < 0 || axis >= x[i].rank())
      fail("vmap", fmt::format("in_axes[{}]", i),
           fmt::format("expected -1 to {} for shape {}, got {}", x[i].rank() - 1, to_string(x[i].shape()),
                       axis));
    const int64_t extent = x[i].shape()[axis];
    if (size != -1 && extent != size)
      fail("vmap", fmt::format("argument {}", i),
           fmt::format("expected extent {} along the mapped axis, as of those before, got {}", size, extent));
    size = extent;
  }
  if (size == -1) fail("vmap", "in_axes", "expected an axis for at least one argument, got none");
  return size;
}

}  // namespace

Tensors vmap_of(const Function& f, const Tensors& x, const std::vector<int>& in_axes) {
  expect_call("vmap", "f", f, x);
  const int64_t size = mapped_size(x, in_axes);
  Tensors called, from;
  Lanes to;
  for (size_t i = 0; i < x.size(); ++i) {
    called.push_back(x[i]);
    if (in_axes[i] == -1) continue;
    Shape shape = x[i].shape();
    shape.erase(in_axes[i]);
    from.push_back(called[i] = placeholder(x[i].dtype(), shape));
    to.push_back({move_axis(x[i], in_axes[i], 0), true});
  }
  const Tensors results = call("vmap", "f", f, called);
  Tensors stacked;
  for (const Lane& lane : batch_graph(results, from, to, size)) stacked.push_back(with_batch(lane, size));
  return stacked;
}

}  // namespace adit
