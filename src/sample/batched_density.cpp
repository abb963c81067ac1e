#include "sample/batched_density.hpp"

#include <algorithm>

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

// How many chains' largest tensors fit into a buffer, and into a sixteenth of the memory: there are several.
int64_t chains_that_fit(const Density& density, const Device& device) {
  Tensors roots{density.value};
  for (const auto& variable : density.variables) roots.push_back(variable.gradient);
  int64_t largest = 1;
  for (const Tensor& x : graph::reachable(roots, true)) largest = std::max(largest, x.size());
  uint64_t bytes = device.limits().max_buffer_bytes;
  if (const uint64_t all = device.info().memory_bytes) bytes = std::min(bytes, all / 16);
  return std::max<int64_t>(1, static_cast<int64_t>(bytes / size_of(density.type)) / largest);
}

std::vector<int> axes_of(size_t leaves, int axis) {
  std::vector<int> axes{0};
  axes.insert(axes.end(), leaves, axis);
  return axes;
}

}  // namespace

BatchedDensity::BatchedDensity(const stats::ModelState& model, const Density& density,
                               const std::vector<DataSet>& sets, int64_t chains_a_set,
                               std::shared_ptr<Device> device, int64_t at_once)
    : device_(std::move(device)),
      type_(density.type),
      value_type_(density.value.dtype()),
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
  if (at_once == 0) at_once = chains_that_fit(density, *device_);
  at_once_ = many > 1 ? shape_[0] : std::min(shape_[0], at_once);
  // Read before a kernel wrote: points that are numbers.
  const std::vector<std::byte> zero(static_cast<size_t>(element_count(shape_)) * size_of(type_));
  points_ = device_->allocate(std::max<size_t>(16, zero.size()));
  device_->write(points_, zero.data(), zero.size());
  if (at_once_ < shape_[0]) {
    values_ = device_->allocate(static_cast<uint64_t>(shape_[0]) * size_of(value_type_));
    gradients_ = device_->allocate(points_.bytes());
  }
  evaluate();
}

Tensors BatchedDensity::evaluate_part(int64_t first, int64_t count) {
  const uint64_t row = static_cast<uint64_t>(shape_[1]) * size_of(type_);
  const Buffer part = points_.slice(static_cast<uint64_t>(first) * row, static_cast<uint64_t>(count) * row);
  return (*function_)({from_buffer(type_, {count, shape_[1]}, part, device_)});
}

void BatchedDensity::evaluate() {
  const auto buffer_of = [](const Tensor& x) { return graph::node_of(x).storage->buffer; };
  if (at_once_ == shape_[0]) {
    const Tensors results = evaluate_part(0, shape_[0]);
    values_ = buffer_of(results[0]);
    gradients_ = buffer_of(results[1]);
    return;
  }
  const uint64_t element = size_of(value_type_), row = static_cast<uint64_t>(shape_[1]) * size_of(type_);
  for (int64_t first = 0; first < shape_[0]; first += at_once_) {
    const int64_t count = std::min(at_once_, shape_[0] - first);
    const Tensors results = evaluate_part(first, count);
    const auto from = static_cast<uint64_t>(first), many = static_cast<uint64_t>(count);
    device_->copy(buffer_of(results[0]), values_.slice(from * element, many * element), many * element);
    device_->copy(buffer_of(results[1]), gradients_.slice(from * row, many * row), many * row);
  }
}

std::vector<Buffer> BatchedDensity::leaves() const {
  std::vector<Buffer> buffers;
  for (const Tensor& leaf : leaves_)  // without what fills up its memory
    buffers.push_back(graph::node_of(leaf).storage->buffer.slice(0, leaf.bytes()));
  return buffers;
}

}  // namespace adit::sampling
