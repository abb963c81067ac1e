// From a graph to an executable.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compile/executable.hpp"
#include "graph/node.hpp"

namespace adit::compile {

struct Notes;  // explain.hpp

// Under the graph lock. `inputs` and `numbers` are given at each run in this order. `notes`: what was done
// and why. `programs`: one a step, empty where it has no kernel.
std::shared_ptr<const Executable> compile(Device& device, std::span<const Tensor> roots,
                                          std::span<const Tensor> inputs, std::span<const Tensor> numbers,
                                          Notes* notes = nullptr,
                                          std::vector<kernel::Program>* programs = nullptr);

}  // namespace adit::compile
