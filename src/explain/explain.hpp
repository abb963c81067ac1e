// What became of a graph, in words: the nodes, the kernels, the memory, and how long each kernel takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/made.hpp"
#include "explain/cost.hpp"

namespace adit::compile {

// What the compiler knew and the executable no longer does.
struct Notes {
  struct OfStep {
    std::vector<std::string> reads, writes;  // labels of tensors
    Cost cost;
    bool by_matrices = false;  // a product on units of their own
  };
  struct OfArena {
    std::string label;
    uint64_t offset = 0, bytes = 0;
    size_t first = 0, last = 0;  // steps
  };
  std::vector<std::string> graph;  // one line a node
  size_t inputs = 0;
  std::vector<OfStep> steps;
  std::vector<OfArena> arena;  // by first step
};

Notes take_notes(const Made& made);

struct Peaks {
  double bytes = 0;                                     // a second, to and from memory
  double f32 = 0, f64 = 0, matrices = 0;                // operations a second; 0: the device has none
  double of(const Cost& cost, bool by_matrices) const;  // operations
};
// What the device can do at best: measured at the first call, in a few tenths of a second.
const Peaks& peaks_of(Device& device);

struct Times {
  std::vector<double> steps;  // seconds, each step by itself
  double whole = 0;           // all of them in order
};
// Runs the executable on memory of its own.
Times measure(Device& device, const Executable& executable, std::span<const Buffer> inputs,
              std::span<const graph::Literal> numbers);

struct Told {
  const Executable& executable;
  const Notes& notes;
  const DeviceInfo& device;
  const Times* times = nullptr;  // and then the peaks
  const Peaks* peaks = nullptr;
  bool graph = true;
};
std::string to_text(const Told& told);

}  // namespace adit::compile
