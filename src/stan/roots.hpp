// Systems of equations inside of a graph.
#pragma once

#include <functional>

#include <adit/ops.hpp>

namespace adit::stan {

struct RootOptions {
  double tolerance = 1e-6;  // of the root of the sum of squares of f
  double most_steps = 200;
};

// y with f(y) = 0 by the method of Levenberg and Marquardt from a guess [n], or [lanes, n], and a step of
// Newton's, whose derivatives are those of the implicit function: none of the guess. What is not found is no
// number.
Tensor root_of(const std::function<Tensor(const Tensor& y)>& f, const Tensor& guess,
               const RootOptions& options);

}  // namespace adit::stan
