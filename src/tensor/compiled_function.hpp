// A function that is a graph already, compiled once for each device it is called on.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "tensor/jit_trace.hpp"

namespace adit {

class CompiledFunction {
 public:
  CompiledFunction(Tensors parameters, Tensors results);
  // Arguments must look like the parameters; throws naming the one that does not.
  Tensors operator()(const Tensors& arguments) const;
  // The same where its last run took no longer, and no other thread is in its way; otherwise nothing happens.
  std::optional<Tensors> quickly(const Tensors& arguments, double most_seconds) const;

 private:
  struct State;
  void check(const Tensors& arguments) const;
  std::shared_ptr<State> state_;
};

}  // namespace adit
