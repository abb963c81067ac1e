// Functions to differentiate, at least one for each row that has a derivative.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <adit/control.hpp>
#include <adit/ops.hpp>

namespace adit::test {

struct DerivativeCase {
  std::string row;  // the row it is for
  std::string name;
  std::vector<Shape> shapes;  // of the arguments, all real floats
  std::function<Tensor(const Tensors&)> function;
  double low = 0.2, high = 0.9;  // where arguments lie
  bool twice = true;             // the gradient has a gradient
};

// Of elementwise rows made from the table, of all others written down.
std::vector<DerivativeCase> derivative_cases();

// Of these, what stands in einsum.hpp and network.hpp.
void add_composites(std::vector<DerivativeCase>& cases);

// Any tensor as one of real numbers, so that complex results have a real sum.
Tensor as_real(const Tensor& x);

}  // namespace adit::test
