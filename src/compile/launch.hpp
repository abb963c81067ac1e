// Kernels made from groups.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <adit/kernel/program.hpp>

#include "compile/partition.hpp"
#include "compile/writer.hpp"

namespace adit::compile {

// One kernel and what its arguments stand for.
struct Launch {
  kernel::Program program;
  uint64_t teams = 0;
  std::vector<Binding> bindings;
};

// What the makers of kernels share.
struct Workshop {
  const Partition& partition;
  const Target& target;
  const std::vector<const Node*>& nodes;  // of the whole graph
  // Tensors that only kernels of this executable know: partial sums, flags. They live as long as it is made.
  std::vector<Tensor> scratch;

  // A tensor for partial results; it is in memory like any other.
  const Node& make_scratch(DType type, const Shape& shape);
};

std::vector<Launch> loop_launches(const Group& group, Workshop& shop);
// None where the group does more than gather single elements, or too few of them.
std::optional<Launch> phased_loop(const Group& group, Workshop& shop);
std::vector<Launch> rows_launches(const Group& group, Workshop& shop);
// Stores every root's element at `at`.
void store_roots(Writer& writer, const Group& group, const Index& at);

// Of all elements, in additions.
double work_of_group(const Group& group, const Partition& partition);
// Work so small that a team does it in the time of a launch.
bool is_small(const Group& group, const Workshop& shop);
// Several small groups, one after the other, by one team.
Launch one_team_launch(std::span<const Group* const> groups, Workshop& shop);

// A name that tells what a kernel does: "multiply_add_tanh".
std::string kernel_name(const Group& group, const Partition& partition, const char* form);
kernel::Type index_type_for(const Group& group, const Partition& partition);
// A writer with every argument declared: arguments belong to the outermost block of a kernel.
void declare_arguments(Writer& writer, const Group& group, const Partition& partition);

}  // namespace adit::compile
