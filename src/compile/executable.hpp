// A graph made ready: kernels in order, and where each tensor lies while they run.
#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <adit/device.hpp>

#include "graph/attributes.hpp"
#include "lower/product_form.hpp"

namespace adit::compile {

using lower::ProductForm;

// Memory of one tensor during a run.
struct Location {
  enum class In : uint8_t { input, output, arena } in = In::arena;
  uint32_t index = 0;   // input, output
  uint64_t offset = 0;  // arena; output: of a part
  uint64_t bytes = 0;
};
struct NumberSource {
  uint32_t index = 0;  // among the numbers of the graph
  bool imaginary = false;
  kernel::Type type{};
};
struct ConstantSource {  // a whole number
  uint64_t value = 0;
  kernel::Type type{};
};
using ArgumentSource = std::variant<Location, NumberSource, ConstantSource>;

struct Step;
// What steps see while they run; one at a time uses it.
class Run {
 public:
  Run(Device& device, std::span<const Buffer> inputs, std::span<const graph::Literal> numbers,
      std::span<const Buffer> outputs, const Buffer& arena)
      : device_(device), inputs_(inputs), numbers_(numbers), outputs_(outputs), arena_(arena) {}
  Device& device() { return device_; }
  Buffer buffer(const Location& place) const;
  Argument argument(const ArgumentSource& source) const;
  void perform(const Step& step);

 private:
  std::vector<Argument> arguments_;  // of the step at hand
  Device& device_;
  std::span<const Buffer> inputs_;
  std::span<const graph::Literal> numbers_;
  std::span<const Buffer> outputs_;
  const Buffer& arena_;
};

struct KernelStep {
  std::shared_ptr<const Kernel> kernel;
  uint64_t teams = 0;
  std::vector<ArgumentSource> arguments;
};
struct CopyStep {
  Location from, to;
  uint64_t bytes = 0;
};
struct FillStep {  // with zeros
  Location place;
};
// A library's product, on a CPU.
struct ProductStep {
  DType type{};
  ProductForm form;
  Location a, b, to;
};
// Work that the host conducts: a loop whose length only the device knows.
struct HostStep {
  std::function<void(Run&)> work;
};
using StepWork = std::variant<KernelStep, CopyStep, FillStep, ProductStep, HostStep>;
struct Step {
  std::string name;
  StepWork work;
};

class Executable {
 public:
  struct Output {
    bool is_input = false;  // an input under another shape: nothing to compute
    Location place;         // its own memory, or that input
  };

  // Queues the work; returns the outputs' memory. Thread-safe.
  std::vector<Buffer> run(Device& device, std::span<const Buffer> inputs,
                          std::span<const graph::Literal> numbers) const;
  const std::vector<Step>& steps() const { return steps_; }
  uint64_t arena_bytes() const { return arena_bytes_; }
  // The memory of one run: each output's own, then the arena.
  std::vector<Buffer> allocate_outputs(Device& device) const;
  Buffer allocate_arena(Device& device) const;

  // How long a run takes to queue (on a CPU: to compute) by what the last one took; infinite before the
  // first, and where the host conducts it: loops end when data say so, and factorisations want more stack
  // than some threads have.
  double expected_seconds() const;
  // What it takes of memory with its kernels, about; not of a run.
  uint64_t bytes() const;

  std::vector<Step> steps_;
  std::vector<Output> outputs_;
  std::vector<uint64_t> output_bytes_;  // of those that are computed
  uint64_t arena_bytes_ = 0;
  uint64_t code_bytes_ = 0;  // of its kernels, those of functions inside too
  mutable std::atomic<double> last_seconds_{std::numeric_limits<double>::infinity()};
};

}  // namespace adit::compile
