#include "tensor/jit_trace.hpp"

#include <unordered_map>

#include "graph/row.hpp"
#include "support/process_end.hpp"
#include "tensor/evaluate.hpp"
#include "tensor/explain.hpp"

namespace adit {

std::shared_ptr<const JitTrace> jit_trace(const Tensors& parameters, const Tensors& results,
                                          const std::shared_ptr<Device>& device, compile::Notes* notes) {
  const process_end::Visit visit;
  visit.expect();
  const compile::Structure structure = compile::describe(results, device_word(*device));
  auto trace = std::make_shared<JitTrace>();
  std::unordered_map<const graph::Node*, int> places;
  for (size_t i = 0; i < parameters.size(); ++i) places[&graph::node_of(parameters[i])] = static_cast<int>(i);
  for (const Tensor& input : structure.inputs) {
    const auto known = places.find(&graph::node_of(input));
    const int source = known == places.end() ? -1 : known->second;
    if (source < 0) {
      if (!graph::node_of(input).computed)
        graph::fail("jit", "function", "expected its own arguments, got those of another function");
      trace->captured.push_back(graph::node_of(input).storage->buffer);
      trace->held.push_back(input);
    }
    trace->sources.push_back(source);
  }
  trace->numbers = number_values(structure.numbers);
  if (notes) {
    const std::lock_guard lock(graph::graph_lock());
    Compiled compiled = compile_with_notes(device, results, structure);
    *notes = std::move(compiled.notes);
    trace->executable = std::move(compiled.executable);
  } else {
    trace->executable = known_executable(structure.key);
    if (!trace->executable) trace->executable = Recipe(device, results, structure).make();
  }
  for (const Tensor& result : results) {
    trace->types.push_back(result.dtype());
    trace->shapes.push_back(result.shape());
  }
  return trace;
}

std::vector<Buffer> inputs_of(const JitTrace& trace, const Tensors& x) {
  std::vector<Buffer> inputs;
  size_t next = 0;
  for (const int source : trace.sources)
    inputs.push_back(source < 0 ? trace.captured[next++] : x[static_cast<size_t>(source)].buffer());
  return inputs;
}

Tensors run(const JitTrace& trace, const Tensors& arguments, const std::shared_ptr<Device>& device) {
  const std::vector<Buffer> buffers =
      trace.executable->run(*device, inputs_of(trace, arguments), trace.numbers);
  Tensors results;
  results.reserve(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i)
    results.push_back(from_buffer(trace.types[i], trace.shapes[i], buffers[i], device));
  return results;
}

}  // namespace adit
