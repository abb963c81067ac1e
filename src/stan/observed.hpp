// What a statement `y ~ distribution(...)` of data says beside its term: each element has a density, and
// could be drawn anew.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <adit/tensor.hpp>

namespace adit::stan {

struct Observed {
  std::string name, distribution;
  Shape shape;                     // of the whole variable
  std::vector<int64_t> positions;  // of the elements that the statement is about, in the order of its term
  Tensor value;                    // of the data
  std::function<Tensor(const Tensor& key, const Shape& shape)> draw;  // may be none
  std::shared_ptr<std::vector<Tensor>> parameters;  // of the distribution: what `draw` reads
};

// What all statements about one variable of the data say of its elements.
struct Likelihood {
  std::string name, distribution;
  Tensor log_density, value;
  std::function<Tensor(const Tensor& key, const Shape& shape)> draw;  // may be none
  int64_t term = -1;  // the term that it is; -1: parts of several, or in another order
};

}  // namespace adit::stan
