// Multivariate normal and Student t densities of vectors, row vectors or arrays of them: x and mu broadcast
// along the array, and the result is the total.
#include <array>
#include <cmath>
#include <numbers>

#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

constexpr double log_two_pi = 1.83787706640934548356;

Part minus_part(const Part& a, const Part& b) {
  return elementwise(a, b, [](const Tensor& x, const Tensor& y) { return x - y; });
}
Part cholesky_part(const Part& p) { return {cholesky(p.x), p.in_lanes}; }
Part sum_of_log_diagonal(const Part& factor) {
  return {sum(log(diagonal_of(factor.x)), {-1}), factor.in_lanes};
}
// |L^-1 d|^2 or |L' d|^2 of each vector: own axes [N].
Part squared_lengths(const Part& factor, const Part& x, const Part& mu, bool is_precision) {
  const Part d = transposed(widened(minus_part(x, mu), 2));  // [K, N]
  const Part low{lower_triangle(factor.x), factor.in_lanes};
  const Part z = is_precision ? times(transposed(low), d) : lower_solve(factor, d);
  return {sum(square(z.x), {-2}), z.in_lanes};
}

// --- normal
// ----------------------------------------------------------------------------------------------------
Tensor vector_normal(const Arguments& a, const Part& factor, bool is_precision) {
  const Part squares = squared_lengths(factor, part(a, 0), part(a, 1), is_precision);
  const double size = static_cast<double>(factor.x.dim(-1));
  const Part scale = sum_of_log_diagonal(factor);
  return total(a, elementwise(squares, scale, [&](const Tensor& q, const Tensor& s) {
                 return real(-0.5) * q + (is_precision ? s : -s) - real(0.5 * size * log_two_pi);
               }));
}
Tensor multi_normal_lpdf(const Arguments& a) { return vector_normal(a, cholesky_part(part(a, 2)), false); }
Tensor multi_normal_cholesky_lpdf(const Arguments& a) { return vector_normal(a, part(a, 2), false); }
Tensor multi_normal_prec_lpdf(const Arguments& a) {
  return vector_normal(a, cholesky_part(part(a, 2)), true);
}

// --- student_t: x | nu, mu, sigma
// ----------------------------------------------------------------------------------
Tensor vector_student(const Arguments& a, const Part& factor) {
  const Part squares = squared_lengths(factor, part(a, 0), part(a, 2), false), nu = part(a, 1);
  const double size = static_cast<double>(factor.x.dim(-1));
  return total(a, elementwise(squares, nu, sum_of_log_diagonal(factor),
                              [&](const Tensor& q, const Tensor& n, const Tensor& s) {
                                const Tensor half = real(0.5) * n, end = half + real(0.5 * size);
                                const Tensor norm = lgamma(end) - lgamma(half) -
                                                    real(0.5 * size) * log(n * real(std::numbers::pi));
                                return norm - s - end * log1p(q / n) + domain_term(is_positive(n));
                              }));
}
Tensor multi_student_t_lpdf(const Arguments& a) { return vector_student(a, cholesky_part(part(a, 3))); }
Tensor multi_student_t_cholesky_lpdf(const Arguments& a) { return vector_student(a, part(a, 3)); }

// --- Gaussian processes: rows of y are normal with covariance S / w_i
// ------------------------------------------------
Tensor process_density(const Arguments& a, const Part& factor) {
  const Part y = part(a, 0), w = part(a, 2);  // [D, N], [D]
  const Part z = lower_solve(factor, transposed(y));
  const Part squares{sum(square(z.x), {-2}), z.in_lanes};
  const double size = static_cast<double>(factor.x.dim(-1));
  return total(a, elementwise(squares, w, sum_of_log_diagonal(factor),
                              [&](const Tensor& q, const Tensor& weight, const Tensor& s) {
                                return real(-0.5) * weight * q + real(0.5 * size) * log(weight) - s -
                                       real(0.5 * size * log_two_pi);
                              }));
}
Tensor multi_gp_lpdf(const Arguments& a) { return process_density(a, cholesky_part(part(a, 1))); }
Tensor multi_gp_cholesky_lpdf(const Arguments& a) { return process_density(a, part(a, 1)); }

// --- Draws
// -------------------------------------------------------------------------------------------------------------
// L z, of mu's shape.
Tensor vector_draw(const Part& mu, const Part& factor, const Tensor& key) {
  const Part z{stats::draw_normal(key, mu.x.shape()), mu.in_lanes};
  const Part low{lower_triangle(factor.x), factor.in_lanes};
  return reshape(times(widened(z, 2), transposed(low)).x, mu.x.shape());
}
Tensor normal_draw_by_factor(const Arguments& a, const Part& factor) {
  const Part mu = drawing_part(a, 0);
  return mu.x + vector_draw(mu, factor, a.key);
}
Tensor multi_normal_rng(const Arguments& a) { return normal_draw_by_factor(a, cholesky_part(part(a, 1))); }
Tensor multi_normal_cholesky_rng(const Arguments& a) { return normal_draw_by_factor(a, part(a, 1)); }
// L'^-1 is a factor too, though an upper one: draws solve with it.
Tensor multi_normal_prec_rng(const Arguments& a) {
  const Part mu = drawing_part(a, 0), factor = cholesky_part(part(a, 1));
  const Part z = widened({stats::draw_normal(a.key, mu.x.shape()), mu.in_lanes}, 2);
  const Part x = transposed(lower_solve(factor, transposed(z), true));
  return mu.x + reshape(x.x, mu.x.shape());
}
Tensor student_draw_by_factor(const Arguments& a, const Part& factor) {
  const Tensor keys = random::split(a.key);
  const Part mu = drawing_part(a, 1);
  Shape shape = mu.x.shape();
  shape[shape.size() - 1] = 1;  // one for all numbers of a vector
  const Tensor half = real(0.5) * widened(part(a, 0), mu.axes()).x;
  const Tensor mean_square = stats::draw_gamma(random::row(keys, 1), half, shape) / half;
  return mu.x + vector_draw(mu, factor, random::row(keys, 0)) * rsqrt(mean_square);
}
Tensor multi_student_t_rng(const Arguments& a) {
  return student_draw_by_factor(a, cholesky_part(part(a, 2)));
}
Tensor multi_student_t_cholesky_rng(const Arguments& a) { return student_draw_by_factor(a, part(a, 2)); }

constexpr std::array normal_vector_table{
    GeneralFunction{"multi_gp_cholesky_lpdf", multi_gp_cholesky_lpdf},
    GeneralFunction{"multi_gp_lpdf", multi_gp_lpdf},
    GeneralFunction{"multi_normal_cholesky_lpdf", multi_normal_cholesky_lpdf},
    GeneralFunction{"multi_normal_cholesky_rng", multi_normal_cholesky_rng},
    GeneralFunction{"multi_normal_lpdf", multi_normal_lpdf},
    GeneralFunction{"multi_normal_prec_lpdf", multi_normal_prec_lpdf},
    GeneralFunction{"multi_normal_prec_rng", multi_normal_prec_rng},
    GeneralFunction{"multi_normal_rng", multi_normal_rng},
    GeneralFunction{"multi_student_t_cholesky_lpdf", multi_student_t_cholesky_lpdf},
    GeneralFunction{"multi_student_t_cholesky_rng", multi_student_t_cholesky_rng},
    GeneralFunction{"multi_student_t_lpdf", multi_student_t_lpdf},
    GeneralFunction{"multi_student_t_rng", multi_student_t_rng},
};

}  // namespace

std::span<const GeneralFunction> normal_vector_functions() { return normal_vector_table; }

}  // namespace adit::stan
