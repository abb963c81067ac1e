#include "stats/by_columns.hpp"

#include "stats/constraint/parts.hpp"

namespace adit::stats {

namespace {

// A type of its own, by which such a constraint is known again.
struct UnconstrainedColumns {
  Constraint rows;
  Tensor operator()(const Tensor& x) const { return turned(rows.unconstrain(x)); }
};

}  // namespace

Constraint by_columns(const Constraint& rows) {
  Constraint c = rows;
  c.is_identity = false;
  c.unconstrained_shape = [rows](const Shape& x) { return turned(rows.name, rows.unconstrained_shape(x)); };
  c.constrain = [rows](const Tensor& u, const Shape& x) { return rows.constrain(turned(u), x); };
  c.unconstrain = UnconstrainedColumns{rows};
  return c;
}

bool is_by_columns(const Constraint& constraint) {
  return constraint.unconstrain.target<UnconstrainedColumns>() != nullptr;
}

}  // namespace adit::stats
