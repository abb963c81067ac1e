// Densities of all numbers by location and scale, z = (x - location) / scale. A scale that is not positive
// makes log(scale) or the domain's term NaN.
#include <array>
#include <cmath>
#include <numbers>

#include "stan/functions/formulas.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

Tensor log_normal(const Tensor& x, const Tensor& mu, const Tensor& sigma) {
  return stats::log_normal_density((x - mu) * reciprocal(sigma)) - log(sigma);
}

namespace {

Tensor standardised(const Tensor& x, const Tensor& location, const Tensor& scale) {
  return (x - location) * reciprocal(scale);
}
Tensor scale_term(const Tensor& scale) { return domain_term(is_positive(scale)); }

// --- normal ------------------------------------------------------------------------------------------------
Tensor normal_log_cdf(const Tensor& x, const Tensor* p) {
  return stats::log_normal_cdf(standardised(x, p[0], p[1])) + scale_term(p[1]);
}
Tensor normal_log_ccdf(const Tensor& x, const Tensor* p) {
  return stats::log_normal_cdf(-standardised(x, p[0], p[1])) + scale_term(p[1]);
}
Tensor normal_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  return p[0] + p[1] * stats::draw_normal(key, shape);
}

// --- cauchy ------------------------------------------------------------------------------------------------
Tensor cauchy_log_density(const Tensor& x, const Tensor* p) {
  return -log1p(square(standardised(x, p[0], p[1]))) - log(p[1]) - real(std::log(std::numbers::pi));
}
Tensor cauchy_log_lower(const Tensor& z) {
  const Tensor tail = atan2(real(1), distance(z)) * real(std::numbers::inv_pi);
  return stats::log_of_side(tail, is_positive(z));
}
Tensor cauchy_log_cdf(const Tensor& x, const Tensor* p) {
  return cauchy_log_lower(standardised(x, p[0], p[1])) + scale_term(p[1]);
}
Tensor cauchy_log_ccdf(const Tensor& x, const Tensor* p) {
  return cauchy_log_lower(-standardised(x, p[0], p[1])) + scale_term(p[1]);
}
Tensor cauchy_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  const Tensor u = stats::draw_open_uniform(key, shape);
  return p[0] + p[1] * tan(real(std::numbers::pi) * (u - real(0.5)));
}

// --- student_t ---------------------------------------------------------------------------------------------
// log gamma(h + 1/2) - log gamma(h) - log(h) / 2 for h > 0; a series beyond 16, where its terms are large.
Tensor student_log_ratio(const Tensor& h) {
  const Tensor is_large = h > real(16), small = select(is_large, real(16), h);
  const Tensor r = reciprocal(select(is_large, h, real(16))), s = square(r);
  const Tensor series =
      r * (real(-1.0 / 8) + s * (real(1.0 / 192) + s * (real(-1.0 / 640) + s * real(17.0 / 14336))));
  return select(is_large, series, lgamma(small + real(0.5)) - lgamma(small) - real(0.5) * log(small));
}
Tensor student_log_density(const Tensor& x, const Tensor* p) {
  const Tensor half = real(0.5) * p[0], z = standardised(x, p[1], p[2]);
  const Tensor norm = student_log_ratio(half) - real(0.5 * std::log(2 * std::numbers::pi));
  return -(half + real(0.5)) * log1p(square(z) * reciprocal(p[0])) - log(p[2]) + norm;
}
// The tail beyond |z| is I_s(nu / 2, 1 / 2) / 2, s = nu / (nu + z^2).
Tensor student_log_lower(const Tensor& z, const Tensor& nu) {
  const Tensor w = square(z), sum = nu + w;
  const Tensor log_tail =
      log_incomplete_beta(real(0.5) * nu, real(0.5), nu / sum, w / sum) - real(std::numbers::ln2);
  const Tensor above = is_positive(z);
  const Tensor other = select(above, minimum(log_tail, real(-std::numbers::ln2)), real(-1));
  return select(above, stats::log1m_exp(other), log_tail);
}
Tensor student_log_cdf(const Tensor& x, const Tensor* p) {
  return student_log_lower(standardised(x, p[1], p[2]), p[0]) + scale_term(p[2]);
}
Tensor student_log_ccdf(const Tensor& x, const Tensor* p) {
  return student_log_lower(-standardised(x, p[1], p[2]), p[0]) + scale_term(p[2]);
}
Tensor student_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  const Tensor keys = random::split(key), half = real(0.5) * p[0];
  const Tensor mean_square = stats::draw_gamma(random::row(keys, 1), half, shape) * reciprocal(half);
  return p[1] + p[2] * stats::draw_normal(random::row(keys, 0), shape) * rsqrt(mean_square);
}

// --- double_exponential ------------------------------------------------------------------------------------
Tensor laplace_log_density(const Tensor& x, const Tensor* p) {
  return -abs(x - p[0]) * reciprocal(p[1]) - log(p[1]) - real(std::numbers::ln2);
}
Tensor laplace_log_lower(const Tensor& z) {
  const Tensor above = is_positive(z);
  const Tensor upper = log1p(real(-0.5) * exp(select(above, -z, real(0))));
  return select(above, upper, z - real(std::numbers::ln2));
}
Tensor laplace_log_cdf(const Tensor& x, const Tensor* p) {
  return laplace_log_lower(standardised(x, p[0], p[1])) + scale_term(p[1]);
}
Tensor laplace_log_ccdf(const Tensor& x, const Tensor* p) {
  return laplace_log_lower(-standardised(x, p[0], p[1])) + scale_term(p[1]);
}
Tensor laplace_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  const Tensor u = real(2) * stats::draw_open_uniform(key, shape) - real(1);
  return p[0] - p[1] * sign(u) * log1p(-abs(u));
}

// --- logistic ----------------------------------------------------------------------------------------------
Tensor logistic_log_density(const Tensor& x, const Tensor* p) {
  const Tensor away = abs(standardised(x, p[0], p[1]));
  return -away - real(2) * softplus(-away) - log(p[1]);
}
Tensor logistic_log_cdf(const Tensor& x, const Tensor* p) {
  return log_sigmoid(standardised(x, p[0], p[1])) + scale_term(p[1]);
}
Tensor logistic_log_ccdf(const Tensor& x, const Tensor* p) {
  return log_sigmoid(-standardised(x, p[0], p[1])) + scale_term(p[1]);
}
Tensor logistic_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  const Tensor u = stats::draw_open_uniform(key, shape);
  return p[0] + p[1] * (log(u) - log1p(-u));
}

// --- gumbel ------------------------------------------------------------------------------------------------
Tensor gumbel_log_density(const Tensor& x, const Tensor* p) {
  const Tensor z = standardised(x, p[0], p[1]);
  return -z - exp(-z) - log(p[1]);
}
Tensor gumbel_log_cdf(const Tensor& x, const Tensor* p) {
  return -exp(-standardised(x, p[0], p[1])) + scale_term(p[1]);
}
Tensor gumbel_log_ccdf(const Tensor& x, const Tensor* p) {
  return log1m_exp_minus_exp(-standardised(x, p[0], p[1])) + scale_term(p[1]);
}
Tensor gumbel_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  return p[0] - p[1] * log(-log(stats::draw_open_uniform(key, shape)));
}

constexpr std::array real_table{
    UnivariateDensity{"normal", false, 2,
                      [](const Tensor& x, const Tensor* p) { return log_normal(x, p[0], p[1]); },
                      normal_log_cdf, normal_log_ccdf, normal_draw},
    UnivariateDensity{
        "std_normal", false, 0, [](const Tensor& x, const Tensor*) { return stats::log_normal_density(x); },
        [](const Tensor& x, const Tensor*) { return stats::log_normal_cdf(x); },
        [](const Tensor& x, const Tensor*) { return stats::log_normal_cdf(-x); },
        [](const Tensor& key, const Tensor*, const Shape& shape) { return stats::draw_normal(key, shape); }},
    UnivariateDensity{"cauchy", false, 2, cauchy_log_density, cauchy_log_cdf, cauchy_log_ccdf, cauchy_draw},
    UnivariateDensity{"student_t", false, 3, student_log_density, student_log_cdf, student_log_ccdf,
                      student_draw},
    UnivariateDensity{"double_exponential", false, 2, laplace_log_density, laplace_log_cdf, laplace_log_ccdf,
                      laplace_draw},
    UnivariateDensity{"logistic", false, 2, logistic_log_density, logistic_log_cdf, logistic_log_ccdf,
                      logistic_draw},
    UnivariateDensity{"gumbel", false, 2, gumbel_log_density, gumbel_log_cdf, gumbel_log_ccdf, gumbel_draw},
};

}  // namespace

std::span<const UnivariateDensity> real_densities() { return real_table; }

}  // namespace adit::stan
