// Control flow inside graphs. The functions are called once, with placeholders; tensors they capture become
// operands.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <adit/tensor.hpp>

#pragma GCC visibility push(default)
namespace adit {

using Tensors = std::vector<Tensor>;

// One of two functions, by a scalar predicate. Both must return the same types and shapes.
Tensors cond(const Tensor& predicate, const std::function<Tensors(const Tensors&)>& on_true,
             const std::function<Tensors(const Tensors&)>& on_false, const Tensors& operands);
// body is applied while condition (a scalar) is not zero; types and shapes of the state stay.
Tensors while_loop(const std::function<Tensor(const Tensors&)>& condition,
                   const std::function<Tensors(const Tensors&)>& body, const Tensors& initial);
// step(carry, slice) -> (carry, output) for each slice of xs along axis 0; outputs are stacked.
struct Step {
  Tensors carry, outputs;
};
Step scan(const std::function<Step(const Tensors& carry, const Tensors& slices)>& step,
          const Tensors& initial, const Tensors& xs, int64_t length = -1, bool reverse = false);
// f of each slice along axis 0, stacked.
Tensor map(const std::function<Tensor(const Tensor&)>& f, const Tensor& xs);

}  // namespace adit
#pragma GCC visibility pop
