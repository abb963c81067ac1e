// Whether a value of a file is what a program declares.
#pragma once

#include <string>
#include <vector>

#include "stan/data.hpp"
#include "stan/syntax.hpp"

namespace adit::stan {

// A declaration whose sizes and bounds are known.
struct Wanted {
  Type type;
  Shape shape;  // of the whole: sizes of the array, then of the vector or matrix; of tuples the array's alone
  Transform::Kind transform = Transform::Kind::none;
  std::vector<double> lower, upper;  // one, or one an element; empty: none
  std::vector<Wanted> members;       // of a tuple, one a slot
  bool is_computed = false;          // no data of a file: rounding is in proportion to numbers
};

// Throws Error(bad_argument) with the variable and the place in it, counted from 1:
//   [data] y[3]: expected an integer, found 2.5
//   [data] x: expected array of shape (5, 3), found (3, 5)
// A value without numbers stands for every shape without elements: JSON cannot tell (0, 3) from (0). Where
// nothing is wanted to have elements a file may leave the variable out, as in CmdStan.
void check_data(const std::string& name, const DataValue& value, const Wanted& wanted);

}  // namespace adit::stan
