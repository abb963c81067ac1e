// What explain and Jit::explain share.
#pragma once

#include <adit/explain.hpp>

#include "compile/structure.hpp"
#include "explain/explain.hpp"

namespace adit {

struct Compiled {
  std::shared_ptr<const compile::Executable> executable;
  compile::Notes notes;
};
// Under the graph lock. Always compiles anew: executables that were found do not remember how they were made.
Compiled compile_with_notes(const std::shared_ptr<Device>& device, std::span<const Tensor> roots,
                            const compile::Structure& structure);
std::string explain_compiled(const std::shared_ptr<Device>& device, const Compiled& compiled,
                             std::span<const Buffer> inputs, std::span<const graph::Literal> numbers,
                             const ExplainOptions& options);

}  // namespace adit
