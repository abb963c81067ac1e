// A log density as a sum of scalar terms, so that what no variable enters is computed once and left out.
#pragma once

#include <unordered_set>
#include <vector>

#include "graph/node.hpp"

namespace adit::sampling {

struct Terms {
  std::vector<Tensor> varying;   // scalars that depend on a variable
  std::vector<Tensor> constant;  // scalars that do not
};

// The scalar that a tensor repeats for all its elements; empty where it is not one, or is a scalar itself.
Tensor repeated_scalar(const Tensor& x);
// All nodes from which one of `inputs` can be reached.
std::unordered_set<const graph::Node*> dependents_of(std::span<const Tensor> roots,
                                                     std::span<const Tensor> inputs);
// The terms whose sum is `total`, a scalar: sums of sums are taken apart, factors that are the same for all
// elements are taken out.
Terms split_terms(const Tensor& total, std::span<const Tensor> inputs);

}  // namespace adit::sampling
