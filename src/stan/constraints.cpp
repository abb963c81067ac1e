#include "stan/constraints.hpp"

#include "stats/by_columns.hpp"

namespace adit::stan {

namespace {

// Triangular and symmetric matrices, and those of which each column is a simplex, have orders of their own.
bool counts_columns(Transform::Kind kind) {
  using Kind = Transform::Kind;
  return kind <= Kind::offset_multiplier || kind == Kind::row_stochastic_matrix ||
         kind == Kind::sum_to_zero_matrix;
}

}  // namespace

Constraint constraint_of(Transform::Kind kind, const Tensor& first, const Tensor& second) {
  using Kind = Transform::Kind;
  switch (kind) {
    case Kind::none: return constraint::real();
    case Kind::lower: return constraint::lower(first);
    case Kind::upper: return constraint::upper(second);
    case Kind::lower_upper: return constraint::interval(first, second);
    case Kind::offset: return constraint::offset_multiplier(first, 1.0);
    case Kind::multiplier: return constraint::offset_multiplier(0.0, second);
    case Kind::offset_multiplier: return constraint::offset_multiplier(first, second);
    case Kind::ordered: return constraint::ordered();
    case Kind::positive_ordered: return constraint::positive_ordered();
    case Kind::simplex: return constraint::simplex();
    case Kind::unit_vector: return constraint::unit_vector();
    case Kind::sum_to_zero_vector: return constraint::sum_to_zero();
    case Kind::cholesky_factor_corr: return constraint::cholesky_factor_corr();
    case Kind::cholesky_factor_cov: return constraint::cholesky_factor_cov();
    case Kind::corr_matrix: return constraint::corr_matrix();
    case Kind::cov_matrix: return constraint::cov_matrix();
    case Kind::row_stochastic_matrix: return constraint::simplex();  // each row, the last axis, is one
    case Kind::column_stochastic_matrix: return constraint::column_stochastic();
    case Kind::sum_to_zero_matrix: return constraint::sum_to_zero_matrix();
  }
  return constraint::real();
}

Constraint constraint_of(const SizedType& type, const Tensor& first, const Tensor& second) {
  Constraint constraint = constraint_of(type.transform.kind, first, second);
  const bool is_matrix = type.base == Base::matrix;
  return is_matrix && counts_columns(type.transform.kind) ? stats::by_columns(constraint) : constraint;
}

}  // namespace adit::stan
