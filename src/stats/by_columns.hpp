// Matrices whose unconstrained numbers stand column by column, as Stan counts them.
#pragma once

#include <adit/constraint.hpp>

namespace adit::stats {

// The same values from u with its last two axes in each other's place: [..., N, M] where it was [..., M, N].
Constraint by_columns(const Constraint& rows);
bool is_by_columns(const Constraint& constraint);

}  // namespace adit::stats
