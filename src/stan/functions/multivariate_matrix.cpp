// Densities of correlation, covariance and precision matrices, and of their Cholesky factors.
#include <array>
#include <cmath>
#include <numbers>

#include <adit/distribution.hpp>

#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

constexpr double matrix_log_pi = 1.14472988584940017414;

Part log_diagonal(const Part& factor) { return {log(diagonal_of(factor.x)), factor.in_lanes}; }

// log of the multivariate gamma function: the sum over j = 1 .. K of log gamma(x + (1 - j) / 2), and a
// constant.
Tensor log_multigamma(int64_t size, const Tensor& x) {
  const Tensor shift = iota({size}, DType::f64) * real(0.5);
  const double k = static_cast<double>(size);
  return sum(lgamma(expand_dims(x, -1) - shift), {-1}) + real(0.25 * k * (k - 1) * matrix_log_pi);
}

// --- lkj
// -----------------------------------------------------------------------------------------------------------
// For rows k = 1 .. K of the Cholesky factor: a_k = eta + (K - k) / 2, b = eta + (K - 1) / 2; the density of
// the correlation matrix is det^(eta - 1) times the product of G(b) / G(a_k) pi^((1 - k) / 2) over k > 1.
Tensor lkj_constant(int64_t size, const Tensor& eta) {
  const double k = static_cast<double>(size);
  const Tensor number = iota({size}, DType::f64), column = expand_dims(eta, -1);
  const Tensor rows = column + (real(k - 1) - number) * real(0.5), b = column + real(0.5 * (k - 1));
  const Tensor each = select(number > real(0), lgamma(b) - lgamma(rows), real(0));
  return sum(each, {-1}) - real(0.25 * k * (k - 1) * matrix_log_pi) + domain_term(is_positive(eta));
}
// `powers` of the diagonal besides 2 (eta - 1): 0 for the matrix, K - k for the factor.
Tensor lkj_density(const Arguments& a, const Part& factor, const Part& eta, bool is_factor) {
  const int64_t size = factor.x.dim(-1);
  const Part logs = log_diagonal(factor);
  const Tensor left = real(static_cast<double>(size - 1)) - iota({size}, DType::f64);
  const Part powers = elementwise(logs, as_column(eta), [&](const Tensor& l, const Tensor& e) {
    const Tensor power = real(2) * (e - real(1));
    // The first one is 1, whose logarithm may be off by a rounding.
    return select(iota({size}, DType::i64) == full_integer({}, 0), real(0),
                  (is_factor ? power + left : power) * l);
  });
  const Part constant{lkj_constant(size, eta.x), eta.in_lanes};
  return finished(a, elementwise({sum(powers.x, {-1}), powers.in_lanes}, constant,
                                 [](const Tensor& p, const Tensor& c) { return p + c; }));
}
Tensor lkj_corr_lpdf(const Arguments& a) {
  const Part m = part(a, 0);
  return lkj_density(a, {cholesky(m.x), m.in_lanes}, part(a, 1), false);
}
// Log-normal standard deviations, and their correlations.
Tensor lkj_cov_lpdf(const Arguments& a) {
  const Part m = part(a, 0), mu = part(a, 1), sigma = part(a, 2);
  const Part log_scales{real(0.5) * log(diagonal_of(m.x)), m.in_lanes};
  const Part deviations =
      elementwise(log_scales, mu, sigma, [](const Tensor& x, const Tensor& p, const Tensor& s) {
        return -square((x - p) / s) * real(0.5) - log(s) - x - real(0.5 * std::log(2 * std::numbers::pi)) +
               domain_term(is_positive(s));
      });
  const Tensor scales = exp(log_scales.x);
  const Tensor correlations = m.x / (expand_dims(scales, -1) * expand_dims(scales, -2));
  return total(a, deviations) + lkj_density(a, {cholesky(correlations), m.in_lanes}, part(a, 3), false);
}
Tensor lkj_corr_cholesky_lpdf(const Arguments& a) { return lkj_density(a, part(a, 0), part(a, 1), true); }
// By the onion method: rows of normal numbers beside the root of a gamma, scaled to length 1.
Part lkj_factor_draw(const Arguments& a) {
  const int64_t size = size_argument(a, 0);
  const Part eta = drawing_part(a, 1);
  const double k = static_cast<double>(size);
  const Tensor shape_of_rows = expand_dims(eta.x, -1) + (real(k - 1) - iota({size}, DType::f64)) * real(0.5);
  Shape rows = shape_of_rows.shape(), all = rows;
  all.push_back(size);
  const Tensor keys = random::split(a.key);
  const Tensor z = select(row_numbers(size) > column_numbers(size),
                          stats::draw_normal(random::row(keys, 0), all), real(0));
  const Tensor g = real(2) * stats::draw_gamma(random::row(keys, 1), shape_of_rows, rows);
  const Tensor length = sqrt(sum(square(z), {-1}) + g);
  return {(z + diagonal_matrix(sqrt(g))) / expand_dims(length, -1), eta.in_lanes};
}
Tensor lkj_corr_cholesky_rng(const Arguments& a) { return finished(a, lkj_factor_draw(a)); }
Tensor lkj_corr_rng(const Arguments& a) {
  const Part factor = lkj_factor_draw(a);
  return finished(a, times(factor, transposed(factor)));
}

// --- wishart
// ---------------------------------------------------------------------------------------------------------
struct WishartParts {
  Part log_w, log_s, squares, nu;  // sums of log diagonals of the factors; the trace
  int64_t size;
};
WishartParts wishart_parts(const Arguments& a, const Part& w, const Part& s, bool is_inverse) {
  const Part z = is_inverse ? lower_solve(w, {lower_triangle(s.x), s.in_lanes})
                            : lower_solve(s, {lower_triangle(w.x), w.in_lanes});
  const auto sum_of = [](const Part& p) { return Part{sum(log_diagonal(p).x, {-1}), p.in_lanes}; };
  return {sum_of(w), sum_of(s), {sum(square(z.x), {-2, -1}), z.in_lanes}, part(a, 1), w.x.dim(-1)};
}
// log p(W) = -nu K / 2 log 2 - log G_K(nu / 2) - trace / 2 and powers of the determinants: of W
// (nu - K - 1) / 2 and of S -nu / 2; of the inverse -(nu + K + 1) / 2 and nu / 2.
Tensor wishart_density(const Arguments& a, const Part& w, const Part& s, bool is_inverse, bool is_factor) {
  const WishartParts p = wishart_parts(a, w, s, is_inverse);
  const double k = static_cast<double>(p.size);
  const Part powers =
      elementwise(p.log_w, p.log_s, p.nu, [&](const Tensor& lw, const Tensor& ls, const Tensor& nu) {
        const Tensor domain = nu > real(k - 1), n = guarded(domain, nu, k);
        const Tensor constant =
            -n * real(0.5 * k * std::numbers::ln2) - log_multigamma(p.size, real(0.5) * n);
        const Tensor sides = is_inverse ? n * ls - (n + real(k + 1)) * lw : (n - real(k + 1)) * lw - n * ls;
        return constant + sides + domain_term(domain);
      });
  Part density =
      elementwise(powers, p.squares, [](const Tensor& x, const Tensor& q) { return x - real(0.5) * q; });
  if (is_factor) {  // of W = L L': 2^K times the product of L_kk^(K - k + 1)
    const Part logs = log_diagonal(w);
    const Tensor power = real(k) - iota({p.size}, DType::f64);
    const Part jacobian{sum(power * logs.x, {-1}) + real(k * std::numbers::ln2), w.in_lanes};
    density = elementwise(density, jacobian, [](const Tensor& x, const Tensor& j) { return x + j; });
  }
  return finished(a, density);
}
Part matrix_factor(const Arguments& a, size_t i) {
  const Part m = part(a, i);
  return {cholesky(m.x), m.in_lanes};
}
Tensor wishart_lpdf(const Arguments& a) {
  return wishart_density(a, matrix_factor(a, 0), matrix_factor(a, 2), false, false);
}
Tensor inv_wishart_lpdf(const Arguments& a) {
  return wishart_density(a, matrix_factor(a, 0), matrix_factor(a, 2), true, false);
}
Tensor wishart_cholesky_lpdf(const Arguments& a) {
  return wishart_density(a, part(a, 0), part(a, 2), false, true);
}
Tensor inv_wishart_cholesky_lpdf(const Arguments& a) {
  return wishart_density(a, part(a, 0), part(a, 2), true, true);
}

// Bartlett's factor: roots of chi-squared numbers with nu, nu - 1, ... degrees, normal numbers below.
Part bartlett_draw(const Part& nu, int64_t size, const Tensor& key) {
  const Tensor half = (expand_dims(nu.x, -1) - iota({size}, DType::f64)) * real(0.5);
  Shape all = half.shape();
  all.push_back(size);
  const Tensor keys = random::split(key);
  const Tensor g = real(2) * stats::draw_gamma(random::row(keys, 0), half, half.shape());
  const Tensor z = stats::draw_normal(random::row(keys, 1), all);
  const Tensor below = select(row_numbers(size) > column_numbers(size), z, real(0));
  return {below + diagonal_matrix(sqrt(g)), nu.in_lanes};
}
// The Cholesky factor of a draw by that of the scale.
Part wishart_factor_draw(const Arguments& a, const Part& s) {
  const Part t = bartlett_draw(drawing_part(a, 0), s.x.dim(-1), a.key);
  return times({lower_triangle(s.x), s.in_lanes}, t);
}
// The inverse of a Wishart number with scale S^-1 is M M', where M' solves T M' = L'.
Part inv_wishart_draw(const Arguments& a, const Part& s) {
  const Part t = bartlett_draw(drawing_part(a, 0), s.x.dim(-1), a.key);
  const Part x = lower_solve(t, transposed({lower_triangle(s.x), s.in_lanes}));
  return times(transposed(x), x);
}
Tensor wishart_rng(const Arguments& a) {
  const Part factor = wishart_factor_draw(a, matrix_factor(a, 1));
  return times(factor, transposed(factor)).x;
}
Tensor wishart_cholesky_rng(const Arguments& a) { return wishart_factor_draw(a, part(a, 1)).x; }
Tensor inv_wishart_rng(const Arguments& a) { return inv_wishart_draw(a, matrix_factor(a, 1)).x; }
Tensor inv_wishart_cholesky_rng(const Arguments& a) { return cholesky(inv_wishart_draw(a, part(a, 1)).x); }

// lmgamma(n, x): the least numbers one by one, and those above them by the integral of log gamma from half a
// step below the first to half a step above the last, in steps of 1 / 2, with what Euler and Maclaurin add.
constexpr int64_t most_single_gammas = 64;

// The integral of Stirling's series, and log gamma's derivatives by it, at numbers above 32.
Tensor integral_of_log_gamma(const Tensor& z) {
  const Tensor l = log(z), r = reciprocal(z);
  return z * z * (real(0.5) * l - real(0.75)) - real(0.5) * z * (l - real(1)) +
         real(0.5 * std::log(2 * std::numbers::pi)) * z + l * real(1.0 / 12) + square(r) * real(1.0 / 720) -
         square(square(r)) * real(1.0 / 5040);
}
Tensor slope_of_log_gamma(const Tensor& z) {
  const Tensor r = reciprocal(z), q = square(r);
  return log(z) - real(0.5) * r - q * (real(1.0 / 12) - q * (real(1.0 / 120) - q * real(1.0 / 252)));
}
Tensor third_slope_of_log_gamma(const Tensor& z) {
  const Tensor r = reciprocal(z);
  return -square(r) * (real(1) + r + real(0.5) * square(r));
}
// The sum of log gamma(a), log gamma(a + 1/2), ..., log gamma(b).
Tensor sum_of_log_gammas(const Tensor& a, const Tensor& b) {
  const Tensor whole = real(2) * (integral_of_log_gamma(b) - integral_of_log_gamma(a));
  return whole + real(0.5) * (lgamma(a) + lgamma(b)) +
         real(1.0 / 24) * (slope_of_log_gamma(b) - slope_of_log_gamma(a)) -
         real(1.0 / 5760) * (third_slope_of_log_gamma(b) - third_slope_of_log_gamma(a));
}

Tensor general_log_multigamma(const Arguments& a) {
  const auto counts = as_type(a.at(0), DType::i64).to_vector<int64_t>();
  int64_t most = 0;
  for (const int64_t n : counts) most = std::max(most, n);
  return finished(a, elementwise(part(a, 0), part(a, 1), [&](const Tensor& n, const Tensor& x) {
                    Tensor value = n * (n - real(1)) * real(0.25 * matrix_log_pi);
                    const Tensor least = x - real(0.5) * (n - real(1));
                    for (int64_t j = 0; j < std::min(most, most_single_gammas); ++j) {
                      const Tensor counts_here = n > real(static_cast<double>(j));
                      const Tensor at =
                          select(counts_here, least + real(0.5 * static_cast<double>(j)), real(1));
                      value = value + select(counts_here, lgamma(at), real(0));
                    }
                    if (most <= most_single_gammas) return value;
                    const Tensor has_more = n > real(static_cast<double>(most_single_gammas));
                    const Tensor is_inside = both(has_more, is_positive(least));
                    const Tensor first = least + real(0.5 * static_cast<double>(most_single_gammas));
                    const Tensor from = guarded(is_inside, first, 40), to = guarded(is_inside, x, 41);
                    // Below that are poles and changes of sign.
                    const Tensor above = select(is_inside, sum_of_log_gammas(from, to), not_a_number());
                    return value + select(has_more, above, real(0));
                  }));
}

constexpr std::array matrix_density_table{
    GeneralFunction{"inv_wishart_cholesky_lpdf", inv_wishart_cholesky_lpdf},
    GeneralFunction{"inv_wishart_cholesky_rng", inv_wishart_cholesky_rng},
    GeneralFunction{"inv_wishart_lpdf", inv_wishart_lpdf},
    GeneralFunction{"inv_wishart_rng", inv_wishart_rng},
    GeneralFunction{"lkj_corr_cholesky_lpdf", lkj_corr_cholesky_lpdf},
    GeneralFunction{"lkj_corr_cholesky_rng", lkj_corr_cholesky_rng},
    GeneralFunction{"lkj_corr_lpdf", lkj_corr_lpdf},
    GeneralFunction{"lkj_corr_rng", lkj_corr_rng},
    GeneralFunction{"lkj_cov_lpdf", lkj_cov_lpdf},
    GeneralFunction{"lmgamma", general_log_multigamma},
    GeneralFunction{"wishart_cholesky_lpdf", wishart_cholesky_lpdf},
    GeneralFunction{"wishart_cholesky_rng", wishart_cholesky_rng},
    GeneralFunction{"wishart_lpdf", wishart_lpdf},
    GeneralFunction{"wishart_rng", wishart_rng},
};

}  // namespace

std::span<const GeneralFunction> matrix_density_functions() { return matrix_density_table; }

}  // namespace adit::stan
