// A graph made ready: kernels in order, and where each tensor lies while they run.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <adit/device.hpp>

#include "graph/attributes.hpp"

namespace adit::compile {

// Memory of one tensor during a run.
struct Location {
  enum class In : uint8_t { input, output, arena } in = In::arena;
  uint32_t index = 0;   // input, output
  uint64_t offset = 0;  // arena
  uint64_t bytes = 0;
};
struct NumberSource {
  uint32_t index = 0;  // among the numbers of the graph
  bool imaginary = false;
  kernel::Type type{};
};
using ArgumentSource = std::variant<Location, NumberSource>;

struct Step;
// What steps see while they run.
class Run {
 public:
  Run(Device& device, std::span<const Buffer> inputs, std::span<const graph::Literal> numbers,
      std::span<const Buffer> outputs, const Buffer& arena)
      : device_(device), inputs_(inputs), numbers_(numbers), outputs_(outputs), arena_(arena) {}
  Device& device() { return device_; }
  Buffer buffer(const Location& place) const;
  Argument argument(const ArgumentSource& source) const;

 private:
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
// Work that the host conducts: a loop whose length only the device knows, or a library's product on a CPU.
struct HostStep {
  std::function<void(Run&)> work;
};
struct Step {
  std::string name;
  std::variant<KernelStep, HostStep> work;
  uint64_t bytes = 0;       // read and written
  double operations = 0;    // of arithmetic
};

class Executable {
 public:
  struct Output {
    bool is_input = false;  // an input under another shape: nothing to compute
    Location place;            // its own memory, or that input
  };

  // Queues the work; returns the outputs' memory. Thread-safe.
  std::vector<Buffer> run(Device& device, std::span<const Buffer> inputs,
                          std::span<const graph::Literal> numbers) const;
  const std::vector<Step>& steps() const { return steps_; }
  uint64_t arena_bytes() const { return arena_bytes_; }
  // The kernels, a line each; with `inputs`, also times.
  std::string explain() const;

  std::vector<Step> steps_;
  std::vector<Output> outputs_;
  std::vector<uint64_t> output_bytes_;  // of those that are computed
  uint64_t arena_bytes_ = 0;
  std::string listing_;  // the graph as it was compiled
};

}  // namespace adit::compile
