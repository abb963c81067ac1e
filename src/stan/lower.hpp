// A program with its data, as a model.
#pragma once

#include <adit/model.hpp>

#include "stan/data.hpp"
#include "stan/syntax.hpp"

namespace adit::stan {

struct Lowered {
  Model model;
  std::vector<std::string> prints;  // what print() said of data
  std::vector<std::string> notes;   // loops that were written out, and why
  // What became of data and loops, a line each: "line 12: 800 rounds together".
  std::vector<std::string> lowering;
};

// Of a checked program. Throws Error(bad_argument) with the place in the program for what data and statements
// do not allow: a missing variable, a bound that does not hold, an index outside, reject() on data.
Lowered lower(const Program& program, const DataValues& data, uint64_t seed = 1);

}  // namespace adit::stan
