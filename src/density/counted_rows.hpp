// Rows of the data that repeat each other. A sum over rows whose terms are made of data and of single numbers
// of the parameters, as the gamma functions of a negative binomial's counts are, has one term for each row
// that differs, times how often it stands there. Which do differ is found when data are bound: kernels read
// their number, and end the loop there. Who knows nothing of that number goes on over rows of weight 0.
#pragma once

#include <span>
#include <vector>

#include "graph/node.hpp"
#include "stats/model_state.hpp"

namespace adit::sampling {

struct CountedRows {
  int64_t rows = 0;    // of the data
  int64_t extent = 0;  // of what stands for them in the graph: no other tensor there has so many elements
  Tensors columns;     // data, of `rows` elements each
  Tensors distinct;    // placeholders: the same of rows that differ
  Tensor weights;      // a placeholder: how often each of them is there
  Tensor count;        // a placeholder: how many differ
};

// The terms, scalars that vary with `inputs`, with such sums among them over rows that differ, where those of
// the model's data are few; what was counted is told in `found`.
Tensors with_counted_rows(Tensors terms, std::span<const Tensor> inputs, const stats::ModelState& model,
                          std::vector<CountedRows>& found);

// Whether all that has `extent` elements in a graph is made of counted rows, so that a loop over them may end
// early.
bool is_counted_alone(std::span<const Tensor> roots, const CountedRows& counted);

// What the placeholders stand for, in their order above, where the columns have these values.
Tensors values_of(const CountedRows& counted, std::span<const Tensor> columns);

}  // namespace adit::sampling
