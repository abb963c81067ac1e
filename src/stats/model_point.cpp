// A model's graphs at a point: placeholders get values.
#include <fmt/format.h>

#include "graph/bounded_loops.hpp"
#include "graph/derive.hpp"
#include "graph/retype.hpp"
#include "graph/row.hpp"
#include "stats/model_state.hpp"

namespace adit::stats {

namespace {

Tensor on(const Tensor& x, const std::shared_ptr<Device>& device) {
  return device && x.device() && x.device() != device ? to_device(x, device) : x;
}

// A tensor in memory of another device is copied: a graph runs on one.
Tensors on_one_device(const Tensors& roots, const std::shared_ptr<Device>& device) {
  if (!device) return roots;
  Tensors from, to;
  for (const Tensor& x : graph::reachable(roots, false)) {
    if (!x.is_evaluated() || x.device() == device) continue;
    from.push_back(x);
    to.push_back(to_device(x, device));
  }
  return from.empty() ? roots : graph::substitute(roots, from, to);
}

// Placeholders and what they stand for; the variables' lead with the batch, where there is one.
struct Bindings {
  Tensors from;
  graph::Lanes to;
  void add(const graph::Retyped& graph, const Tensor& placeholder, const graph::Lane& lane) {
    const auto at = graph.placeholders.find(&graph::node_of(placeholder));
    if (at == graph.placeholders.end()) return;  // not needed
    from.push_back(at->second);
    to.push_back({as_type(lane.value, at->second.dtype()), lane.batched});
  }
};

// Numbers [offset, offset + size) of the last axis of u, in a variable's shape.
Tensor part_of(const Tensor& u, const ModelVariable& variable) {
  Dims starts = Dims::filled(u.rank(), 0), lengths = u.shape();
  starts[u.rank() - 1] = variable.offset;
  lengths[u.rank() - 1] = variable.size;
  Shape shape = variable.unconstrained.shape();
  if (u.rank() == 2) shape.insert(0, u.dim(0));
  return reshape(slice(u, starts, lengths), shape);
}

Bindings bindings(const ModelState& state, const graph::Retyped& graph, const Tensor& u,
                  const std::shared_ptr<Device>& device) {
  Bindings found;
  for (const ModelData& data : state.data)
    found.add(graph, data.placeholder, {on(data.value, device), false});
  for (const ModelVariable& variable : state.variables) {
    if (u)
      found.add(graph, variable.unconstrained, {part_of(u, variable), u.rank() == 2});
    else if (graph.placeholders.contains(&graph::node_of(variable.unconstrained)))
      graph::fail("at_point", "u", "expected a point, since the graph needs " + variable.name + ", got none");
  }
  return found;
}

void expect_point(const ModelState& state, const Tensor& u, int rank) {
  if (u && u.rank() == rank && u.dim(-1) == state.size &&
      (u.dtype() == DType::f32 || u.dtype() == DType::f64))
    return;
  if (!u && rank == 1) return;
  const std::string shape = fmt::format("[{}{}]", rank == 1 ? "" : "n, ", state.size);
  graph::fail(state.name, "u",
              fmt::format("expected f32 or f64 {}, got {}", shape,
                          u ? graph::describe(graph::slot_of(u)) : std::string("none")));
}

std::shared_ptr<Device> device_of(const Tensor& u) { return u ? u.device() : nullptr; }

graph::Retyped prepared(const Tensors& results, const Tensor& u, const std::shared_ptr<Device>& device) {
  return graph::retype(on_one_device(results, device), u ? u.dtype() : DType::f64);
}

}  // namespace

Tensors at_point(const ModelState& state, const Tensors& results, const Tensor& u) {
  expect_point(state, u, 1);
  const graph::Retyped graph = prepared(results, u, device_of(u));
  const Bindings bound = bindings(state, graph, u, device_of(u));
  Tensors to;
  for (const graph::Lane& lane : bound.to) to.push_back(lane.value);
  return graph::substitute(graph.roots, bound.from, to);
}

Tensors density_at_point(const ModelState& state, const Tensors& results, const Tensor& u) {
  return at_point(state, graph::bounded_loops(results).roots, u);
}

Tensors at_points(const ModelState& state, const Tensors& results, const Tensor& u) {
  expect_point(state, u, 2);
  return at_points(state, results, u, {}, u.dim(0));
}

Tensors at_points(const ModelState& state, const Tensors& results, const Tensor& u,
                  const std::vector<PointInput>& inputs, int64_t points) {
  if (u) expect_point(state, u, 2);
  auto device = device_of(u);
  for (const PointInput& input : inputs)
    if (!device) device = input.value.device();
  const graph::Retyped graph = prepared(results, u, device);
  Bindings bound = bindings(state, graph, u, device);
  for (const PointInput& input : inputs) bound.add(graph, input.placeholder, {input.value, input.is_batched});
  Tensors found;
  for (const graph::Lane& lane : graph::batch_graph(graph.roots, bound.from, bound.to, points))
    found.push_back(graph::with_batch(lane, points));
  return found;
}

}  // namespace adit::stats
