// From a graph to an executable.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "compile/executable.hpp"
#include "graph/node.hpp"

namespace adit::compile {

struct Made;  // made.hpp
// Sees what a compilation made while all of it still lies on the table.
using Watcher = std::function<void(const Made&)>;

// Under the graph lock. `inputs` and `numbers` are given at each run in this order. `programs`: one a step,
// empty where it has no kernel.
std::shared_ptr<const Executable> compile(Device& device, std::span<const Tensor> roots,
                                          std::span<const Tensor> inputs, std::span<const Tensor> numbers,
                                          const Watcher& watcher = {},
                                          std::vector<kernel::Program>* programs = nullptr);

}  // namespace adit::compile
