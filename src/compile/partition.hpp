// Which tensors are put into memory, and which kernels compute them.
//
// Everything that is not in memory is computed where it is read. A group is one piece of work over one space
// of indices: a loop over elements, rows with reductions, or an operation with a kernel of its own.
#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <adit/device.hpp>

#include "graph/row.hpp"
#include "lower/code_length.hpp"
#include "lower/reduction.hpp"

namespace adit::compile {

using namespace lower;  // what it shares with the densities of the sampler

using graph::Node;

// How a group reads a node: seen from where it is itself in its space.
enum class Reading : uint8_t {
  whole,     // at the element of the loop, or of the row
  row,       // at the row: the same for all its elements
  elsewhere  // anywhere
};

struct Group {
  enum class Form : uint8_t { loop, rows, kernel };
  Form form = Form::loop;
  std::vector<const Node*> roots;  // what it puts into memory, in topological order
  Shape full;                      // rows: the space that is reduced
  Axes axes;                       // rows: the axes that are reduced
  bool contains(const Node& node) const {
    return std::find(roots.begin(), roots.end(), &node) != roots.end();
  }
  int64_t row_count() const;   // rows
  int64_t row_length() const;  // rows
};

struct Partition {
  std::vector<Group> groups;  // in an order that can run
  std::unordered_set<const Node*> in_memory;
  std::unordered_set<const Node*> stored;     // roots that another group or the caller reads
  std::unordered_set<const Node*> arguments;  // numbers that are given at each run; others are literals
  bool rounds_exactly = false;                // the device's division and roots do
};

struct Target {
  bool gpu = false;
  Limits limits;
  bool in_round = false;  // of a loop that is a kernel, whose team shares products among its lanes
  bool multiplies(DType type) const;  // has a kernel, or a library, for large products
};

// `nodes`: all of the graph, topological. `inputs` are in memory already; `outputs` must be when it has run.
// `arguments`: numbers that are given at each run.
Partition partition(const std::vector<const Node*>& nodes, const std::unordered_set<const Node*>& inputs,
                    const std::unordered_set<const Node*>& outputs,
                    const std::unordered_set<const Node*>& arguments, const Target& target);

// Calls `visit` for every node that the group reads from memory or gets as a number, and how.
void for_each_read(const Group& group, const Partition& partition,
                   const std::function<void(const Node&, Reading)>& visit);
// Every node that is computed inside the group, roots too, with the place at which it is.
void for_each_inside(const Group& group, const Partition& partition,
                     const std::function<void(const Node&, Reading)>& visit);

// True where `node` repeats one value for all elements of a row of the space.
bool is_row_broadcast(const Node& node, const Shape& full, const Axes& axes);
// What one kernel holds at most. Compilers take longer than in proportion beyond, and a long chain that
// repeats itself gives kernels that are equal: one of them is compiled. bench/RESULTS.md has the times.
inline constexpr double most_code = 1000;

// A dot that is written as a loop where it is read, rather than as a kernel.
bool is_inline_dot(const Node& node, const Target& target);
// True where the operation has a kernel of its own.
bool has_own_kernel(const Node& node, const Target& target);
// A reduction of few elements that is written where it is read: not of many rows of a GPU whose elements lie
// beside each other, since what goes through such rows several times should be one kernel.
bool is_inline_reduction(const Node& node, const Target& target);
// A concatenation whose parts are written to their places one by one, rather than chosen among for each
// element: of many parts, and on a CPU of long ones.
bool joins_by_parts(const Node& node, const Target& target);
// Reshapes share the memory of what they reshape.
const Node& memory_of(const Node& node);

}  // namespace adit::compile
