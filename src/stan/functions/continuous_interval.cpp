// Densities of an interval.
#include <array>

#include "stan/functions/formulas.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

// --- beta(a, b)
// ---------------------------------------------------------------------------------------------- At an end
// the density counts as 0 unless the power there is 0.
Tensor beta_log(const Tensor& x, const Tensor& a, const Tensor& b) {
  const Tensor above = is_positive(x), below = x < real(1);
  const Tensor from = logical_or(above, both(x == real(0), a == real(1)));
  const Tensor inside = both(from, logical_or(below, both(x == real(1), b == real(1))));
  const Tensor is_between = both(above, below);
  return lgamma(a + b) - lgamma(a) - lgamma(b) + domain_term(both(is_positive(a), is_positive(b))) +
         (a - real(1)) * log(guarded(is_between, x, 1)) + (b - real(1)) * log1p(-guarded(is_between, x, 0)) +
         support_term(inside);
}
Tensor beta_log_lower(const Tensor& x, const Tensor& a, const Tensor& b) {
  const Tensor at = clip(x, real(0), real(1));
  return log_incomplete_beta(a, b, at, real(1) - at);
}
Tensor beta_log_upper(const Tensor& x, const Tensor& a, const Tensor& b) {
  const Tensor at = clip(x, real(0), real(1));
  return log_incomplete_beta(b, a, real(1) - at, at);
}
// From the logarithms of two gammas: for small shapes both would be 0.
Tensor beta_draw(const Tensor& key, const Tensor& a, const Tensor& b, const Shape& shape) {
  const Tensor keys = random::split(key);
  return sigmoid(stats::draw_log_gamma(random::row(keys, 0), a, shape) -
                 stats::draw_log_gamma(random::row(keys, 1), b, shape));
}
// beta_proportion(mu, kappa): the mean and the sum of the shapes.
Tensor share_of(const Tensor* p) { return p[0] * p[1]; }
Tensor rest_of(const Tensor* p) { return (real(1) - p[0]) * p[1]; }

// --- uniform(low, high)
// ----------------------------------------------------------------------------------------
Tensor uniform_width(const Tensor* p) { return p[1] - p[0]; }
Tensor uniform_domain(const Tensor* p) { return domain_term(p[0] < p[1]); }
Tensor uniform_log_density(const Tensor& x, const Tensor* p) {
  return support_term(both(x >= p[0], x <= p[1])) - log(uniform_width(p)) + uniform_domain(p);
}
Tensor uniform_log_cdf(const Tensor& x, const Tensor* p) {
  const Tensor inside = both(x > p[0], x < p[1]);
  const Tensor share = log(select(inside, x - p[0], real(1)) / uniform_width(p));
  return select(inside, share, select(x <= p[0], minus_infinity(), real(0))) + uniform_domain(p);
}
Tensor uniform_log_ccdf(const Tensor& x, const Tensor* p) {
  const Tensor inside = both(x > p[0], x < p[1]);
  const Tensor share = log(select(inside, p[1] - x, real(1)) / uniform_width(p));
  return select(inside, share, select(x <= p[0], real(0), minus_infinity())) + uniform_domain(p);
}
Tensor uniform_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  return p[0] + uniform_width(p) * stats::draw_open_uniform(key, shape);
}

constexpr std::array interval_table{
    UnivariateDensity{"beta", false, 2,
                      [](const Tensor& x, const Tensor* p) { return beta_log(x, p[0], p[1]); },
                      [](const Tensor& x, const Tensor* p) { return beta_log_lower(x, p[0], p[1]); },
                      [](const Tensor& x, const Tensor* p) { return beta_log_upper(x, p[0], p[1]); },
                      [](const Tensor& key, const Tensor* p, const Shape& shape) {
                        return beta_draw(key, p[0], p[1], shape);
                      }},
    UnivariateDensity{
        "beta_proportion", false, 2,
        [](const Tensor& x, const Tensor* p) { return beta_log(x, share_of(p), rest_of(p)); },
        [](const Tensor& x, const Tensor* p) { return beta_log_lower(x, share_of(p), rest_of(p)); },
        [](const Tensor& x, const Tensor* p) { return beta_log_upper(x, share_of(p), rest_of(p)); },
        [](const Tensor& key, const Tensor* p, const Shape& shape) {
          return beta_draw(key, share_of(p), rest_of(p), shape);
        }},
    UnivariateDensity{"uniform", false, 2, uniform_log_density, uniform_log_cdf, uniform_log_ccdf,
                      uniform_draw},
};

}  // namespace

std::span<const UnivariateDensity> interval_densities() { return interval_table; }

}  // namespace adit::stan
