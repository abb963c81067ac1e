// Constraints of declarations.
#pragma once

#include <adit/constraint.hpp>

#include "stan/syntax.hpp"

namespace adit::stan {

// `first` and `second`: lower or offset, upper or multiplier; none where the declaration has none.
Constraint constraint_of(Transform::Kind kind, const Tensor& first, const Tensor& second);
// Of a parameter: its unconstrained numbers stand in Stan's order, matrices column by column.
Constraint constraint_of(const SizedType& type, const Tensor& first, const Tensor& second);

}  // namespace adit::stan
