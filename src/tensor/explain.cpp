#include "tensor/explain.hpp"

#include <mutex>

#include <adit/explain.hpp>

#include "compile/compile.hpp"
#include "graph/row.hpp"
#include "support/process_end.hpp"
#include "tensor/evaluate.hpp"

namespace adit {

std::string explain_compiled(const std::shared_ptr<Device>& device, const Compiled& compiled,
                             std::span<const Buffer> inputs, std::span<const graph::Literal> numbers,
                             const ExplainOptions& options) {
  compile::Told told{*compiled.executable, compiled.notes, device->info(), nullptr, nullptr, options.graph};
  if (!options.times) return compile::to_text(told);
  const compile::Peaks& peaks = compile::peaks_of(*device);
  const compile::Times times = compile::measure(*device, *compiled.executable, inputs, numbers);
  told.times = &times;
  told.peaks = &peaks;
  return compile::to_text(told);
}

Compiled compile_with_notes(const std::shared_ptr<Device>& device, std::span<const Tensor> roots,
                            const compile::Structure& structure) {
  Compiled compiled;
  compiled.executable =
      compile::compile(*device, roots, structure.inputs, structure.numbers,
                       [&](const compile::Made& made) { compiled.notes = compile::take_notes(made); });
  return compiled;
}

std::string explain(std::span<const Tensor> tensors, const ExplainOptions& options) {
  for (const Tensor& x : tensors)
    if (!x) graph::fail("explain", "tensor", "expected a tensor, got none");
  std::shared_ptr<Device> device;
  std::vector<Buffer> inputs;
  std::vector<graph::Literal> numbers;
  Compiled compiled;
  {
    const process_end::Visit visit;
    visit.expect();
    const std::lock_guard lock(graph::graph_lock());
    device = device_of(tensors);
    const compile::Structure structure = compile::describe(tensors, device_word(*device));
    for (const Tensor& x : structure.inputs) {
      if (!graph::node_of(x).computed)
        graph::fail("explain", "tensor",
                    "expected a value, got a placeholder of a function that is being traced");
      inputs.push_back(graph::node_of(x).storage->buffer);
    }
    numbers = number_values(structure.numbers);
    compiled = compile_with_notes(device, tensors, structure);
  }
  return explain_compiled(device, compiled, inputs, numbers, options);
}

}  // namespace adit
