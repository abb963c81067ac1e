// What tests and benchmarks decide instead of the sampler.
#pragma once

#include <cstdint>
#include <optional>

#include "nuts/kernel.hpp"

namespace adit::sampling {

struct Forced {
  uint32_t budget = 0, beat = 0;  // rounds of each dispatch, and of the beat, where they are not 0
  uint64_t parts = 0;             // that a dispatch goes by, where they are not 0
  uint32_t lanes = 0;
  int64_t rows_teams = 0;  // that rows of chains outside of kernels are spread over, where it is not 0
  int64_t at_once = 0;     // chains whose density the engine of tensors computes together, where it is not 0
  std::optional<Home> home{};
  std::optional<int64_t> slots{};
  int64_t together = 0;           // chains of a CPU's team, where it is not 0
  int64_t ring = 0;               // rows, where it is not 0
  bool summarises = false;        // where chains are, also of few, in a few numbers
  int64_t loop_numbers = 0;       // that a loop of a chain may keep, where it is not 0
  double checkpoint_seconds = 1;  // how often a checkpoint is written at first
};

}  // namespace adit::sampling
