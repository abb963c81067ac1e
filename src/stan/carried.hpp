// What a recurrence hands from step to step.
#pragma once

#include "stan/evaluator.hpp"

namespace adit::stan {

// A variable that goes from step to step: as a whole, or as rows, of which a step writes one.
struct Evaluator::Carried {
  int slot = -1;
  bool by_rows = false;
  int lags = 0;            // rows that are looked back to
  int prefix = 1;          // indices that name a row
  bool is_turned = false;  // the last index alone names it: columns of a matrix
  double stride = 1;
  std::vector<double> written{};  // the row of each lane of the recurrence's level
  std::vector<bool> writes{};     // whether it does write it
  std::vector<Touch> reads{};
  // All rows that are touched go along (history.cpp).
  bool has_history = false;
  std::vector<double> first{};
  int64_t extent = 0;
  double apart = 1;
  size_t tensors() const { return by_rows && !has_history ? static_cast<size_t>(lags) : 1; }
  int64_t row_count(const Value& value) const {
    if (is_turned) return value.shape[value.shape.size() - 1];
    int64_t rows = 1;
    for (int axis = 0; axis < prefix; ++axis) rows *= value.shape[axis];
    return rows;
  }
  int64_t row_size(const Value& value) const {
    const int64_t rows = row_count(value);
    return rows == 0 ? 0 : value.size() / rows;
  }
};

}  // namespace adit::stan
