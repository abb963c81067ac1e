// Some rows of a tensor that was computed row by row.
#pragma once

#include <vector>

#include <adit/tensor.hpp>

namespace adit::stan {

// Rows by their numbers, each at most once (a list that an `if` on data made, observed and missing ones): the
// rows of the data are chosen beforehand and the arithmetic is done with those alone, instead of all rows
// first and a choice of them in every gradient. None where a row is asked for twice, or where more than one
// tensor of parameters would have to be chosen from.
Tensor chosen_rows(const Tensor& table, const std::vector<double>& rows);

}  // namespace adit::stan
