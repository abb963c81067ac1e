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
#include "tensor/jit_trace.hpp"

namespace adit {

struct Jit::State {
  Function f;
  std::mutex mutex;
  Recent<std::vector<uint64_t>, std::shared_ptr<const JitTrace>> traces{1024};  // by types and shapes
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

std::shared_ptr<const JitTrace> trace_of(const Function& f, const Tensors& x,
                                         const std::shared_ptr<Device>& device,
                                         compile::Notes* notes = nullptr) {
  Tensors parameters;
  for (const Tensor& t : x) {
    parameters.push_back(graph::placeholder(t.dtype(), t.shape()));
    graph::node_of(parameters.back()).device = device;
  }
  return jit_trace(parameters, graph::call("jit", "f", f, parameters), device, notes);
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
  std::shared_ptr<const JitTrace> trace;
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
  return run(*trace, x, device);
}

std::string Jit::explain(const Tensors& x, const ExplainOptions& options) const {
  State& state = expected(x);
  eval(x);
  const std::shared_ptr<Device> device = device_of(x);
  Compiled compiled;
  std::shared_ptr<const JitTrace> trace;
  {
    const std::lock_guard lock(state.mutex);  // one thread at a time calls the function
    trace = trace_of(state.f, x, device, &compiled.notes);
  }
  compiled.executable = trace->executable;
  return explain_compiled(device, compiled, inputs_of(*trace, x), trace->numbers, options);
}

}  // namespace adit
