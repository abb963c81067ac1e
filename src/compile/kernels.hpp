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
  Device* device = nullptr;              // that compiles the program; null where there is none
  std::shared_ptr<const Kernel> kernel;  // null until it has been compiled
  kernel::Program program;
  uint64_t teams = 0;
  std::vector<Binding> bindings;
  std::vector<const Node*> touches;  // tensors in memory that it reads or writes
  double operations = 0;             // of arithmetic; 0 where the group's nodes tell
  uint64_t written = 0;              // bytes of the result, where it is one of several that write parts of it
  // Instead of a kernel: the step, once the places are known.
  std::function<StepWork(const LocationOf&)> conduct;
};

// The graph as it is cut into kernels for a target: equal nodes once, and what has no kernel there made of
// others.
std::vector<Tensor> simplified(std::span<const Tensor> roots, const Target& target);
// The items of a node with several results; null where nobody picked one.
std::vector<const Node*> picked_results(const Node& node, const Workshop& shop);
// Not compiled yet: all kernels of an executable are at the same time.
Work work_of(Launch launch, Device& device);
void compile_all(const std::vector<Work*>& list);
// Adds up the kernels that this thread has compiled meanwhile, those of functions inside of a graph too.
class CodeMeter {
 public:
  CodeMeter();
  uint64_t bytes() const;

 private:
  uint64_t before_;
};
Work compiled_work(Launch launch, Device& device);
// The work of an operation with a kernel of its own.
std::vector<Work> kernel_work(const Group& group, Workshop& shop, Device& device);
// A product, and what is done with its results before they are stored.
std::vector<Work> dot_work(const Group& group, Workshop& shop, Device& device);
// Many parts, each written to its place.
std::vector<Work> concatenate_work(const Group& group, Workshop& shop, Device& device);
std::vector<Work> scatter_work(const Node& node, Workshop& shop, Device& device);
std::vector<Work> cholesky_work(const Node& node, Workshop& shop, Device& device);
std::vector<Work> triangular_work(const Node& node, Workshop& shop, Device& device);
std::vector<Work> cumulative_work(const Node& node, Workshop& shop, Device& device);
std::vector<Work> linear_work(const Node& node, Workshop& shop, Device& device);
std::vector<Work> sort_work(const Node& node, Workshop& shop, Device& device);
std::vector<Work> fft_work(const Node& node, Workshop& shop, Device& device);
std::vector<Work> conv_work(const Node& node, Workshop& shop, Device& device);
// What a convolution becomes before it is cut into kernels; nothing where it stays what it is.
// The tensor that a convolution reads as its operand `which`: what a CPU's may read through axes that only
// change places.
const Node& conv_reads(const Node& conv, size_t which, const Target& target);
// Null: it has kernels of its own; else the same by others.
Tensor fft_on(const Node& node, const std::vector<Tensor>& operands, const Target& target);
Tensor conv_on(const Node& node, const std::vector<Tensor>& operands, const Target& target);
std::vector<Work> attention_work(const Node& node, Device& device);
// Whether the device has a kernel for this attention; else it is made of products.
bool has_attention_kernel(const Node& node, const Target& target);
std::vector<Work> control_work(const Node& node, Workshop& shop, Device& device);

// A program whose parameters are these tensors, in order.
Work kernel_on(const kernel::Program& program, uint64_t teams, std::initializer_list<const Node*> tensors,
               Device& device);
// Work of a library on a CPU, whose buffers are plain memory: f gets the addresses of the tensors, null where
// there is none.
using OnHost = std::function<void(const std::vector<std::byte*>&)>;
Work host_work(std::string name, const std::vector<const Node*>& tensors, OnHost f);
// The same for another device: the first `given` tensors travel to the host, the others back.
Work travelling_work(std::string name, const std::vector<const Node*>& tensors, size_t given, OnHost f);
// Kernels that are run again until the f32 in `flag` is small enough, as FactorRepeat has it; then those that
// follow, and `extra` where the u32 after that f32 is not 0. The host looks first after as many times as are
// likely.
struct Repeated {
  // What comes before. Of steps, whose ends are told, the host takes as many as the last run needed.
  struct Part {
    std::vector<Launch> launches;
    std::vector<uint32_t> ends;
  };
  std::vector<Part> before;
  std::vector<Launch> again, then, extra;
  const Node* flag = nullptr;
  uint32_t most = 0, likely = 1;
  float enough = 0;
};
Work repeated_work(std::string name, Repeated repeated, Device& device);
// A driver that ends loops early would give wrong numbers without a word: an error instead.
void expect_trips(std::string_view op, uint64_t trips, const Device& device);
Work copy_work(const Node& from, const Node& to);
Work zero_work(const Node& node);

}  // namespace adit::compile
