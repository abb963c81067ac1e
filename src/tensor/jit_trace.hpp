// What a compiled function keeps of one trace.
#pragma once

#include <adit/transform.hpp>

#include "compile/executable.hpp"
#include "graph/attributes.hpp"

namespace adit::compile {
struct Notes;
}

namespace adit {

// What it returns, and what it needs besides its arguments.
struct JitTrace {
  std::shared_ptr<const compile::Executable> executable;
  std::vector<int> sources;      // of the executable's inputs: an argument's number, or -1
  std::vector<Buffer> captured;  // where the source is -1, in order
  std::vector<Tensor> held;      // keeps captured memory alive
  std::vector<graph::Literal> numbers;
  std::vector<DType> types;
  std::vector<Shape> shapes;
};

// Of results over placeholders. With `notes` it is compiled anew, and they tell how.
std::shared_ptr<const JitTrace> jit_trace(const Tensors& parameters, const Tensors& results,
                                          const std::shared_ptr<Device>& device,
                                          compile::Notes* notes = nullptr);
// What the executable reads: the arguments' memory, and what the function captured.
std::vector<Buffer> inputs_of(const JitTrace& trace, const Tensors& arguments);
Tensors run(const JitTrace& trace, const Tensors& arguments, const std::shared_ptr<Device>& device);

}  // namespace adit
