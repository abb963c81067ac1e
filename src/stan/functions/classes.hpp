// log masses of classes 1 .. K, which the generalised linear models share. rows [..., K] and y [...]
// broadcast.
#pragma once

#include "stan/functions/formulas.hpp"

namespace adit::stan {

Tensor log_class_by_logits(const Tensor& y, const Tensor& logits);
// By cut points [..., K - 1] and a linear predictor of y's shape.
Tensor log_ordered_logistic(const Tensor& y, const Tensor& eta, const Tensor& cuts);

}  // namespace adit::stan
