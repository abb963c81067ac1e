// What a statement `y ~ distribution(...)` of data says beside its term: each element has a density, and
// could be drawn anew.
#pragma once

#include <functional>
#include <string>

#include <adit/tensor.hpp>

namespace adit::stan {

struct Observed {
  std::string name, distribution;
  Tensor value;                                                       // of the data
  std::function<Tensor(const Tensor& key, const Shape& shape)> draw;  // may be none
  bool is_only = true;  // another statement may say more of the same data: then neither is its likelihood
};

}  // namespace adit::stan
