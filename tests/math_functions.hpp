// Every function of adit/kernel/math.hpp: how to build it, what it should yield, and the bound that is
// promised. The tests hold these bounds; docs/numerics.md prints them.
#pragma once

#include <string>
#include <vector>

#include <adit/kernel/math.hpp>

#include "math_reference.hpp"

namespace adit::test {

// What y is drawn from, for functions of two numbers.
enum class Second { none, any, power, integer };

struct MathFunction {
  std::string name;
  std::string family;
  Second second;
  kernel::Value (*build)(kernel::Value x, kernel::Value y);
  Exact exact;
  double bound_f32, bound_f64;  // ULP
  double low, high;             // the interval where most of its life is
  std::vector<double> points;   // zeros, joints of the implementation, hard cases
  // Where a function has many zeros its error counts against this term too, if it is the larger one.
  double (*term)(double x) = nullptr;
  bool is_loose = false;  // written under a Loose: what is below 2^-1021 in f64 may count as 0

  double bound(kernel::Type type) const { return type == kernel::Type::f32 ? bound_f32 : bound_f64; }
};

const std::vector<MathFunction>& math_functions();

}  // namespace adit::test
