#include "tensor/compiled_function.hpp"

#include <fmt/format.h>

#include "graph/row.hpp"
#include "graph/trace.hpp"
#include "tensor/evaluate.hpp"

namespace adit {

struct CompiledFunction::State {
  Tensors parameters, results;
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<const JitTrace>> traces;  // by opening of a device
};

CompiledFunction::CompiledFunction(Tensors parameters, Tensors results) : state_(std::make_shared<State>()) {
  state_->parameters = std::move(parameters);
  state_->results = std::move(results);
}

void CompiledFunction::check(const Tensors& arguments) const {
  const Tensors& wants = state_->parameters;
  if (arguments.size() != wants.size())
    graph::fail("jit", "arguments", fmt::format("expected {}, got {}", wants.size(), arguments.size()));
  for (size_t i = 0; i < wants.size(); ++i)
    if (arguments[i].dtype() != wants[i].dtype() || !(arguments[i].shape() == wants[i].shape()))
      graph::fail("jit", fmt::format("argument {}", i),
                  fmt::format("expected {}, got {}", graph::describe(graph::slot_of(wants[i])),
                              graph::describe(graph::slot_of(arguments[i]))));
}

Tensors CompiledFunction::operator()(const Tensors& arguments) const {
  check(arguments);
  eval(arguments);
  Tensors known = arguments;  // captured tensors decide the device where there are no arguments
  if (known.empty()) known = state_->results;
  const std::shared_ptr<Device> device = device_of(known);
  std::shared_ptr<const JitTrace> trace;
  {
    const std::lock_guard lock(state_->mutex);  // one thread compiles it, the others wait for that
    auto& place = state_->traces[device_word(*device)];
    if (!place) {
      Tensors parameters;
      for (const Tensor& x : state_->parameters) {
        parameters.push_back(graph::placeholder(x.dtype(), x.shape()));
        graph::node_of(parameters.back()).device = device;
      }
      const Tensors results = graph::substitute(state_->results, state_->parameters, parameters);
      place = jit_trace(parameters, results, device);
    }
    trace = place;
  }
  return run(*trace, arguments, device);
}

std::optional<Tensors> CompiledFunction::quickly(const Tensors& arguments, double most_seconds) const {
  check(arguments);
  for (const Tensor& x : arguments)
    if (!x.is_evaluated()) return std::nullopt;
  if (arguments.empty()) return std::nullopt;
  const std::shared_ptr<Device> device = device_of(arguments);
  std::shared_ptr<const JitTrace> trace;
  {
    const std::unique_lock lock(state_->mutex, std::try_to_lock);
    if (!lock.owns_lock()) return std::nullopt;
    const auto known = state_->traces.find(device_word(*device));
    if (known == state_->traces.end() || !known->second ||
        known->second->executable->expected_seconds() > most_seconds)
      return std::nullopt;
    trace = known->second;
  }
  return run(*trace, arguments, device);
}

}  // namespace adit
