// Triangular and positive definite matrices, by the Cholesky factor. Where there is none everything is NaN.
#include <array>

#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

Part factor_of(const Part& p) { return {cholesky(p.x), p.in_lanes}; }

// f of b as columns: a vector is one.
template <class F>
Tensor of_columns(const Arguments& a, const Part& b, F f) {
  if (b.axes() == 2) return finished(a, f(b));
  return finished(a, without_axis(f(as_column(b)), -1));
}
// b a^-1 is (a'^-1 b')': f gets the columns of b'.
template <class F>
Tensor of_rows(const Arguments& a, const Part& b, F f) {
  if (b.axes() == 2) return finished(a, transposed(f(transposed(b))));
  return finished(a, without_axis(f(as_column(b)), -1));
}
Part positive_solve(const Part& factor, const Part& b) {
  return lower_solve(factor, lower_solve(factor, b), true);
}
Part identity_like(const Part& p) { return {eye(p.x.dim(-1), p.x.dim(-1), DType::f64), false}; }
Part inverse_by_factor(const Part& factor) { return positive_solve(factor, identity_like(factor)); }

Tensor factor_cholesky(const Arguments& a) { return finished(a, factor_of(part(a, 0))); }
Tensor factor_left_lower(const Arguments& a) {
  const Part matrix = part(a, 0);
  return of_columns(a, part(a, 1), [&](const Part& b) { return lower_solve(matrix, b); });
}
Tensor factor_right_lower(const Arguments& a) {
  const Part matrix = part(a, 1);
  return of_rows(a, part(a, 0), [&](const Part& b) { return lower_solve(matrix, b, true); });
}
Tensor factor_left_positive(const Arguments& a) {
  const Part factor = factor_of(part(a, 0));
  return of_columns(a, part(a, 1), [&](const Part& b) { return positive_solve(factor, b); });
}
Tensor factor_right_positive(const Arguments& a) {
  const Part factor = factor_of(part(a, 1));
  return of_rows(a, part(a, 0), [&](const Part& b) { return positive_solve(factor, b); });
}
Tensor factor_inverse_positive(const Arguments& a) {
  return finished(a, inverse_by_factor(factor_of(part(a, 0))));
}
Tensor factor_chol2inv(const Arguments& a) { return finished(a, inverse_by_factor(part(a, 0))); }
Tensor factor_log_determinant_positive(const Arguments& a) {
  const Part factor = factor_of(part(a, 0));
  return finished(a, {real(2) * sum(log(diagonal_of(factor.x)), {-1}), factor.in_lanes});
}

constexpr std::array factor_table{
    GeneralFunction{"chol2inv", factor_chol2inv},
    GeneralFunction{"cholesky_decompose", factor_cholesky},
    GeneralFunction{"inverse_spd", factor_inverse_positive},
    GeneralFunction{"log_determinant_spd", factor_log_determinant_positive},
    GeneralFunction{"mdivide_left_spd", factor_left_positive},
    GeneralFunction{"mdivide_left_tri_low", factor_left_lower},
    GeneralFunction{"mdivide_right_spd", factor_right_positive},
    GeneralFunction{"mdivide_right_tri_low", factor_right_lower},
};

}  // namespace

std::span<const GeneralFunction> factor_functions() { return factor_table; }

}  // namespace adit::stan
