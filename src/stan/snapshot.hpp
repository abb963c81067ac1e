// All that a loop changes, to begin again in another way.
#pragma once

#include "stan/evaluator.hpp"

namespace adit::stan {

struct Evaluator::Snapshot {
  Frame frame;
  size_t terms;
  uint64_t draws;
  std::vector<Value> masks;
  int loop_level;
  bool in_rounds;
  Rest rests;
  Levels levels;
  std::vector<Together> loops;
};

}  // namespace adit::stan
