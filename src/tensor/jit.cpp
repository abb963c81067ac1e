// Compiled functions: traced once for each set of types and shapes.
#include <fmt/format.h>
#include <mutex>
#include <unordered_map>

#include <adit/transform.hpp>

#include "compile/compile.hpp"
#include "graph/row.hpp"
#include "graph/trace.hpp"
#include "support/process_end.hpp"
#include "support/recent.hpp"
#include "tensor/evaluate.hpp"
#include "tensor/explain.hpp"

namespace adit {

namespace {

// One trace: what it returns, and what it needs besides its arguments.
struct Trace {
  std::shared_ptr<const compile::Executable> executable;
  std::vector<int> sources;      // of the executable's inputs: an argument's number, or -1
  std::vector<Buffer> captured;  // where the source is -1, in order
  std::vector<Tensor> held;      // keeps captured memory alive
  std::vector<graph::Literal> numbers;
  std::vector<DType> types;
  std::vector<Shape> shapes;
};

}  // namespace

struct Jit::State {
  Function f;
  std::mutex mutex;
  Recent<std::vector<uint64_t>, std::shared_ptr<const Trace>> traces{1024};  // by types and shapes
};

Jit::Jit(Function f) : state_(std::make_shared<State>()) {
  detail::expect_function("jit", static_cast<bool>(f));
  state_->f = std::move(f);
}

namespace {

std::vector<uint64_t> signature(const Tensors& x, const Device& device) {
  std::vector<uint64_t> words{device_word(device)};
  for (const Tensor& t : x) {
    words.push_back(static_cast<uint64_t>(t.dtype()) << 8 | static_cast<uint64_t>(t.rank()));
    for (const int64_t extent : t.shape()) words.push_back(static_cast<uint64_t>(extent));
  }
  return words;
}

std::shared_ptr<const Trace> trace_of(const Function& f, const Tensors& x,
                                      const std::shared_ptr<Device>& device,
                                      compile::Notes* notes = nullptr) {
  Tensors parameters;
  for (const Tensor& t : x) {
    parameters.push_back(graph::placeholder(t.dtype(), t.shape()));
    graph::node_of(parameters.back()).device = device;
  }
  const Tensors results = graph::call("jit", "f", f, parameters);
  const process_end::Visit visit;
  visit.expect();
  const std::lock_guard lock(graph::graph_lock());
  const compile::Structure structure = compile::describe(results, device_word(*device));
  auto trace = std::make_shared<Trace>();
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
    Compiled compiled = compile_with_notes(device, results, structure);
    *notes = std::move(compiled.notes);
    trace->executable = std::move(compiled.executable);
  } else {
    trace->executable = find_executable(device, results, structure);
  }
  for (const Tensor& result : results) {
    trace->types.push_back(result.dtype());
    trace->shapes.push_back(result.shape());
  }
  return trace;
}

// What the executable reads: the arguments' memory, and what the function captured.
std::vector<Buffer> inputs_of(const Trace& trace, const Tensors& x) {
  std::vector<Buffer> inputs;
  size_t next = 0;
  for (const int source : trace.sources)
    inputs.push_back(source < 0 ? trace.captured[next++] : x[static_cast<size_t>(source)].buffer());
  return inputs;
}

}  // namespace

Jit::State& Jit::expected(const Tensors& x) const {
  if (!state_) graph::fail("jit", "function", "expected a compiled function, got one that was moved away");
  graph::expect_call("jit", "f", state_->f, x);
  return *state_;
}

Tensors Jit::operator()(const Tensors& x) const {
  State& state = expected(x);
  // Inside another transformation the graph itself is wanted.
  if (graph::Tracing::active()) return graph::call("jit", "f", state.f, x);
  eval(x);
  const std::shared_ptr<Device> device = device_of(x);
  std::shared_ptr<const Trace> trace;
  {
    const std::lock_guard lock(state.mutex);
    const std::vector<uint64_t> key = signature(x, *device);
    if (const auto* known = state.traces.find(key)) {
      trace = *known;
    } else {
      trace = trace_of(state.f, x, device);
      state.traces.insert(key, trace);
    }
  }
  const std::vector<Buffer> buffers = trace->executable->run(*device, inputs_of(*trace, x), trace->numbers);
  Tensors results;
  for (size_t i = 0; i < buffers.size(); ++i)
    results.push_back(from_buffer(trace->types[i], trace->shapes[i], buffers[i], device));
  return results;
}

std::string Jit::explain(const Tensors& x, const ExplainOptions& options) const {
  State& state = expected(x);
  eval(x);
  const std::shared_ptr<Device> device = device_of(x);
  Compiled compiled;
  std::shared_ptr<const Trace> trace;
  {
    const std::lock_guard lock(state.mutex);  // one thread at a time calls the function
    trace = trace_of(state.f, x, device, &compiled.notes);
  }
  compiled.executable = trace->executable;
  return explain_compiled(device, compiled, inputs_of(*trace, x), trace->numbers, options);
}

}  // namespace adit
