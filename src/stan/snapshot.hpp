// All that a loop changes, to begin again in another way.
#pragma once

#include "stan/evaluator.hpp"

namespace adit::stan {

struct Evaluator::Snapshot {
  Frame frame;
  size_t terms;
  uint64_t draws;
  std::vector<Mask> masks;
  Rest rests;
  Levels levels;
  std::vector<Together> loops;
  size_t loop_notes;
  std::vector<Around> around;
  std::vector<Witness>* witnesses;
  size_t caught;
};

}  // namespace adit::stan
