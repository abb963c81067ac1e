// Compiled functions: traced once for each set of types and shapes.
#include <fmt/format.h>
#include <map>
#include <mutex>

#include <adit/transform.hpp>

#include "compile/compile.hpp"
#include "graph/row.hpp"
#include "graph/trace.hpp"
#include "support/code_memory.hpp"
#include "support/recent.hpp"
#include "tensor/evaluate.hpp"
#include "tensor/explain.hpp"
#include "tensor/jit_trace.hpp"

namespace adit {

using TraceKey = std::vector<uint64_t>;  // types and shapes
using Trace = std::shared_ptr<const JitTrace>;

struct Jit::State {
  // A trace that some thread makes; others that want it wait for its lock, and for nothing else.
  struct Making {
    std::mutex mutex;
    Trace trace;
  };
  Function f;
  std::mutex calling;  // one thread at a time calls the function
  std::mutex mutex;    // everything below
  std::map<TraceKey, std::shared_ptr<Making>> making;
  Recent<TraceKey, Trace> traces{code_memory()};

  Trace find(const TraceKey& key, std::shared_ptr<Making>& place);
  Trace made(const TraceKey& key, Making& place, const Tensors& x, const std::shared_ptr<Device>& device);
  void keep(const TraceKey& key, const Trace& trace);
};

// The trace, or where it is made.
Trace Jit::State::find(const TraceKey& key, std::shared_ptr<Making>& place) {
  const std::lock_guard lock(mutex);
  if (const Trace* known = traces.find(key)) return *known;
  std::shared_ptr<Making>& slot = making[key];
  if (!slot) slot = std::make_shared<Making>();
  place = slot;
  return nullptr;
}

void Jit::State::keep(const TraceKey& key, const Trace& trace) {
  const uint64_t bytes = sizeof(JitTrace) + trace->executable->bytes();
  std::vector<Trace> gone;  // ends without the lock
  const std::lock_guard lock(mutex);
  traces.insert(key, trace, bytes, gone);
}

Jit::Jit(Function f) : state_(std::make_shared<State>()) {
  detail::expect_function("jit", static_cast<bool>(f));
  state_->f = std::move(f);
}

namespace {

TraceKey signature(const Tensors& x, const Device& device) {
  TraceKey words{device_word(device)};
  for (const Tensor& t : x) {
    words.push_back(static_cast<uint64_t>(t.dtype()) << 8 | static_cast<uint64_t>(t.rank()));
    for (const int64_t extent : t.shape()) words.push_back(static_cast<uint64_t>(extent));
  }
  return words;
}

Trace trace_of(const Function& f, std::mutex& calling, const Tensors& x,
               const std::shared_ptr<Device>& device, compile::Notes* notes = nullptr) {
  Tensors parameters, results;
  for (const Tensor& t : x) {
    parameters.push_back(graph::placeholder(t.dtype(), t.shape()));
    graph::node_of(parameters.back()).device = device;
  }
  {
    const std::lock_guard lock(calling);
    results = graph::call("jit", "f", f, parameters);
  }
  return jit_trace(parameters, results, device, notes);
}

}  // namespace

// Made by this thread, or by one that was here before. Where the function throws the next one tries.
Trace Jit::State::made(const TraceKey& key, Making& place, const Tensors& x,
                       const std::shared_ptr<Device>& device) {
  const std::lock_guard lock(place.mutex);
  if (place.trace) return place.trace;
  struct Done {
    State& state;
    const TraceKey& key;
    ~Done() {
      const std::lock_guard all(state.mutex);
      const auto slot = state.making.find(key);
      if (slot == state.making.end()) return;
      const bool is_last = slot->second.use_count() <= 2;  // the map's and this thread's
      if (slot->second->trace || is_last) state.making.erase(slot);
    }
  } const done{*this, key};
  place.trace = trace_of(f, calling, x, device);
  keep(key, place.trace);
  return place.trace;
}

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
  const TraceKey key = signature(x, *device);
  std::shared_ptr<State::Making> place;
  Trace trace = state.find(key, place);
  if (!trace) trace = state.made(key, *place, x, device);
  return run(*trace, x, device);
}

std::string Jit::explain(const Tensors& x, const ExplainOptions& options) const {
  State& state = expected(x);
  eval(x);
  const std::shared_ptr<Device> device = device_of(x);
  Compiled compiled;
  const Trace trace = trace_of(state.f, state.calling, x, device, &compiled.notes);
  compiled.executable = trace->executable;
  return explain_compiled(device, compiled, inputs_of(*trace, x), trace->numbers, options);
}

}  // namespace adit
