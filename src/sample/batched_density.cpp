#include "sample/batched_density.hpp"

#include <adit/ops.hpp>

#include "graph/op.hpp"

namespace adit::sampling {

namespace {

// Constants that were values themselves once, and lie on the device of those, as new ones.
Tensors on_no_device(const Tensors& roots) {
  Tensors from, to;
  for (const Tensor& x : graph::reachable(roots, true)) {
    const graph::Node& node = graph::node_of(x);
    if (node.op != graph::Op::constant || !node.computed) continue;
    from.push_back(x);
    to.push_back(graph::make_node(node.op, node.type, node.shape, {}, node.attributes));
  }
  return graph::substitute(roots, from, to);
}

// The value and the gradient at one point, from the point and the leaves.
Function function_of(const Density& density) {
  Tensors nodes, roots{density.value};
  for (const auto& variable : density.variables) {
    nodes.push_back(variable.node);
    roots.push_back(variable.gradient);
  }
  roots = on_no_device(roots);
  for (const auto& leaf : density.leaves) nodes.push_back(leaf.node);
  std::vector<std::pair<int64_t, int64_t>> parts;
  for (const auto& variable : density.variables) parts.emplace_back(variable.offset, variable.size);
  return [=](const Tensors& x) -> Tensors {
    Tensors values;
    for (size_t i = 0; i < parts.size(); ++i)
      values.push_back(reshape(slice(x[0], {parts[i].first}, {parts[i].second}), nodes[i].shape()));
    values.insert(values.end(), x.begin() + 1, x.end());
    const Tensors results = graph::substitute(roots, nodes, values);
    Tensors gradients;
    for (size_t i = 0; i < parts.size(); ++i) gradients.push_back(reshape(results[i + 1], {parts[i].second}));
    return {results[0], concatenate(gradients, 0)};
  };
}

std::vector<int> axes_of(size_t leaves, int axis) {
  std::vector<int> axes{0};
  axes.insert(axes.end(), leaves, axis);
  return axes;
}

}  // namespace

BatchedDensity::BatchedDensity(const stats::ModelState& model, const Density& density,
                               const std::vector<DataSet>& sets, int64_t chains_a_set,
                               std::shared_ptr<Device> device)
    : device_(std::move(device)),
      type_(density.type),
      shape_({chains_a_set * static_cast<int64_t>(sets.size()), density.size}) {
  const auto many = static_cast<int64_t>(sets.size());
  std::vector<Tensors> of_sets;
  for (const DataSet& set : sets) {
    Tensors values = leaf_values(model, density, set);
    if (of_sets.empty()) constant_ = values[0].item<double>();
    Tensors leaves;
    for (size_t i = 0; i < density.leaves.size(); ++i)
      leaves.push_back(to_device(as_type(values[i + 1], density.leaves[i].node.dtype()), device_));
    of_sets.push_back(std::move(leaves));
  }
  Tensors leaves = of_sets[0];
  for (size_t i = 0; many > 1 && i < leaves.size(); ++i) {
    Tensors all;
    for (const Tensors& set : of_sets) all.push_back(set[i]);
    leaves[i] = stack(all, 0);
  }
  eval(leaves);
  leaves_ = leaves;

  const Function one = function_of(density);
  const Function of_set = [one](const Tensors& x) { return vmap_of(one, x, axes_of(x.size() - 1, -1)); };
  const Shape shape = shape_;
  function_ = std::make_unique<Jit>([=](const Tensors& x) -> Tensors {
    Tensors arguments{x[0]};
    arguments.insert(arguments.end(), leaves.begin(), leaves.end());
    if (many == 1) return of_set(arguments);
    arguments[0] = reshape(x[0], {many, chains_a_set, shape[1]});
    const Tensors results = vmap_of(of_set, arguments, axes_of(leaves.size(), 0));
    return {reshape(results[0], {shape[0]}), reshape(results[1], shape)};
  });
  // Read before a kernel wrote: points that are numbers.
  const std::vector<std::byte> zero(static_cast<size_t>(element_count(shape_)) * size_of(type_));
  points_ = device_->allocate(std::max<size_t>(16, zero.size()));
  device_->write(points_, zero.data(), zero.size());
  evaluate();
}

void BatchedDensity::evaluate() { results_ = (*function_)({from_buffer(type_, shape_, points_, device_)}); }

std::vector<Buffer> BatchedDensity::leaves() const {
  std::vector<Buffer> buffers;
  for (const Tensor& leaf : leaves_) buffers.push_back(graph::node_of(leaf).storage->buffer);
  return buffers;
}

Buffer BatchedDensity::values() const { return graph::node_of(results_[0]).storage->buffer; }
Buffer BatchedDensity::gradients() const { return graph::node_of(results_[1]).storage->buffer; }

}  // namespace adit::sampling
