// Sums of squares of what is linear in parameters, with data as coefficients: the fit of a normal regression.
// With the data's columns and the offset side by side, A = Q R, the sum of (A v)^2 over thousands of rows is
// that of (R v)^2 over as many rows as there are columns. R is made once, when data are bound.
#pragma once

#include <span>
#include <vector>

#include "graph/node.hpp"

namespace adit::sampling {

// Data of a column, or of several: [n], [n, k], or a number for all rows; no tensor at all is a column of
// ones.
struct DataPart {
  Tensor value;  // a graph of the model's data
  double sign = 1;
};

// The columns that one parameter, or one list of them, is multiplied by.
struct ColumnGroup {
  Tensor
      factor;  // what stands in the graph: a placeholder of these columns of R, [all columns] or [.., width]
  int64_t width = 1;
  std::vector<DataPart> parts;  // are added up
};

struct SquareSum {
  int64_t rows = 0, columns = 0;
  std::vector<ColumnGroup> groups;  // from the first column on
};

// The terms, scalars that vary with `inputs`, with such sums among them in few rows; those are told in
// `found`.
std::vector<Tensor> with_short_square_sums(std::vector<Tensor> terms, std::span<const Tensor> inputs,
                                           std::vector<SquareSum>& found);

// What the groups' placeholders stand for, where the groups' parts have these values, one after the other.
std::vector<Tensor> factors_of(const SquareSum& sum, std::span<const Tensor> values);

}  // namespace adit::sampling
