// Runs graphs: finds or makes the executable and hangs the results onto the nodes.
#pragma once

#include <memory>
#include <span>

#include "compile/executable.hpp"
#include "compile/structure.hpp"
#include "graph/node.hpp"

namespace adit {

// Executables by structure, shared by all threads.
std::shared_ptr<const compile::Executable> find_executable(const std::shared_ptr<Device>& device,
                                                           std::span<const Tensor> roots,
                                                           const compile::Structure& structure);
uint64_t device_word(const Device& device);
// The device of a graph: the one its leaves live on, or the default.
std::shared_ptr<Device> device_of(std::span<const Tensor> roots);
std::vector<graph::Literal> number_values(std::span<const Tensor> numbers);
// Gives a node its memory; outside of tracing it lets go of its operands.
void set_storage(const Tensor& x, const std::shared_ptr<Device>& device, const Buffer& buffer);

}  // namespace adit
