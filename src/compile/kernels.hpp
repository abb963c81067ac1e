// Pieces of work on the way to an executable: a compiled kernel, or something the host conducts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compile/executable.hpp"
#include "compile/launch.hpp"

namespace adit::compile {

using LocationOf = std::function<Location(const Node&)>;

struct Work {
  std::string name;
  std::shared_ptr<const Kernel> kernel;
  uint64_t teams = 0;
  std::vector<Binding> bindings;
  std::vector<const Node*> touches;  // tensors in memory that it reads or writes
  double operations = 0;
  // Instead of a kernel: makes the host's part once the places are known.
  std::function<std::function<void(Run&)>(const LocationOf&)> conduct;
};

Work work_of(Launch launch, Device& device);
// The work of an operation with a kernel of its own.
std::vector<Work> kernel_work(const Node& node, Workshop& shop, Device& device);
std::vector<Work> dot_work(const Node& node, Workshop& shop, Device& device);
std::vector<Work> scatter_work(const Node& node, Workshop& shop, Device& device);
std::vector<Work> cholesky_work(const Node& node, Workshop& shop, Device& device);
std::vector<Work> triangular_work(const Node& node, Workshop& shop, Device& device);
std::vector<Work> control_work(const Node& node, Workshop& shop, Device& device);

// A program whose parameters are these tensors, in order.
Work kernel_on(const kernel::Program& program, uint64_t teams, std::initializer_list<const Node*> tensors,
               Device& device);
Work copy_work(const Node& from, const Node& to);
Work zero_work(const Node& node);

}  // namespace adit::compile
