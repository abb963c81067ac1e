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

// Rows of which some are asked for again: made of data, and of what is taken at places of the data, so that
// there is nothing left to choose. None where there is, or where rows that nobody reads would cost much.
Tensor repeated_rows(const Tensor& table, const std::vector<int64_t>& rows);

}  // namespace adit::stan
