// Densities by powers of x, with w = log x - log scale.
#include <array>
#include <numbers>

#include "stan/functions/formulas.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

Tensor tail_domain(const Tensor& a, const Tensor& b) {
  return domain_term(both(is_positive(a), is_positive(b)));
}
Tensor log_of_positive(const Tensor& x) { return log(guarded(is_positive(x), x, 1)); }
// `inside` where x lies above the end of the support, else the limit.
Tensor beyond(const Tensor& above, const Tensor& x, const Tensor& inside, const Tensor& limit) {
  return select(above, inside, select(is_nan(x), not_a_number(), limit));
}

// --- weibull(k, s)
// -------------------------------------------------------------------------------------------
Tensor weibull_log_density(const Tensor& x, const Tensor* p) {
  const Tensor above = both(is_positive(x), x < infinity());
  const Tensor is_edge = both(x == real(0), p[0] == real(1));
  const Tensor log_s = log(p[1]), w = log(guarded(above, x, 1)) - log_s;
  return log(p[0]) - log_s + (p[0] - real(1)) * w - select(is_edge, real(0), exp(p[0] * w)) +
         support_term(logical_or(above, is_edge));
}
Tensor weibull_log_hazard(const Tensor& x, const Tensor* p) {
  return p[0] * (log_of_positive(x) - log(p[1]));
}
Tensor weibull_log_cdf(const Tensor& x, const Tensor* p) {
  return beyond(is_positive(x), x, log1m_exp_minus_exp(weibull_log_hazard(x, p)), minus_infinity()) +
         tail_domain(p[0], p[1]);
}
Tensor weibull_log_ccdf(const Tensor& x, const Tensor* p) {
  return beyond(is_positive(x), x, -exp(weibull_log_hazard(x, p)), real(0)) + tail_domain(p[0], p[1]);
}
Tensor weibull_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  return p[1] * exp(log(stats::draw_exponential(key, shape)) / p[0]);
}

// --- frechet(a, s): the reciprocal of a Weibull number
// -----------------------------------------------------------
Tensor frechet_log_density(const Tensor& x, const Tensor* p) {
  const Tensor log_s = log(p[1]), w = log_of_positive(x) - log_s;
  return log(p[0]) - log_s - (p[0] + real(1)) * w - exp(-p[0] * w) + support_term(is_positive(x));
}
Tensor frechet_log_cdf(const Tensor& x, const Tensor* p) {
  return beyond(is_positive(x), x, -exp(-weibull_log_hazard(x, p)), minus_infinity()) +
         tail_domain(p[0], p[1]);
}
Tensor frechet_log_ccdf(const Tensor& x, const Tensor* p) {
  return beyond(is_positive(x), x, log1m_exp_minus_exp(-weibull_log_hazard(x, p)), real(0)) +
         tail_domain(p[0], p[1]);
}
Tensor frechet_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  return p[1] * exp(-log(stats::draw_exponential(key, shape)) / p[0]);
}

// --- rayleigh(s)
// -----------------------------------------------------------------------------------------------
Tensor rayleigh_log_density(const Tensor& x, const Tensor* p) {
  const Tensor inside = both(is_positive(x), x < infinity()), safe = guarded(inside, x, 1);
  return log(safe) - real(2) * log(p[0]) - real(0.5) * square(safe * reciprocal(p[0])) + support_term(inside);
}
Tensor rayleigh_log_hazard(const Tensor& x, const Tensor* p) {
  return real(2) * (log_of_positive(x) - log(p[0])) - real(std::numbers::ln2);
}
Tensor rayleigh_log_cdf(const Tensor& x, const Tensor* p) {
  return beyond(is_positive(x), x, log1m_exp_minus_exp(rayleigh_log_hazard(x, p)), minus_infinity()) +
         domain_term(is_positive(p[0]));
}
Tensor rayleigh_log_ccdf(const Tensor& x, const Tensor* p) {
  return beyond(is_positive(x), x, -exp(rayleigh_log_hazard(x, p)), real(0)) + domain_term(is_positive(p[0]));
}
Tensor rayleigh_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  return p[0] * sqrt(real(2) * stats::draw_exponential(key, shape));
}

// --- pareto(least, a)
// --------------------------------------------------------------------------------------------
Tensor pareto_log_fall(const Tensor& x, const Tensor* p) {
  return -p[1] * (log(select(x > p[0], x, p[0])) - log(p[0]));
}
Tensor pareto_log_density(const Tensor& x, const Tensor* p) {
  const Tensor inside = x >= p[0];
  return log(p[1]) + pareto_log_fall(x, p) - log(select(inside, x, real(1))) + support_term(inside);
}
Tensor pareto_log_cdf(const Tensor& x, const Tensor* p) {
  const Tensor above = x > p[0];
  return beyond(above, x, stats::log1m_exp(select(above, pareto_log_fall(x, p), real(-1))),
                minus_infinity()) +
         tail_domain(p[0], p[1]);
}
Tensor pareto_log_ccdf(const Tensor& x, const Tensor* p) {
  return beyond(x > p[0], x, pareto_log_fall(x, p), real(0)) + tail_domain(p[0], p[1]);
}
Tensor pareto_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  return p[0] * exp(stats::draw_exponential(key, shape) / p[1]);
}

// --- pareto_type_2(mu, lambda, a)
// --------------------------------------------------------------------------------
Tensor lomax_log(const Tensor& x, const Tensor* p) {
  return log1p(select(x > p[0], x - p[0], real(0)) / p[1]);
}
Tensor lomax_log_density(const Tensor& x, const Tensor* p) {
  return log(p[2]) - log(p[1]) - (p[2] + real(1)) * lomax_log(x, p) + support_term(x >= p[0]);
}
Tensor lomax_log_cdf(const Tensor& x, const Tensor* p) {
  const Tensor above = x > p[0];
  const Tensor inside = stats::log1m_exp(select(above, -p[2] * lomax_log(x, p), real(-1)));
  return beyond(above, x, inside, minus_infinity()) + tail_domain(p[1], p[2]);
}
Tensor lomax_log_ccdf(const Tensor& x, const Tensor* p) {
  return beyond(x > p[0], x, -p[2] * lomax_log(x, p), real(0)) + tail_domain(p[1], p[2]);
}
Tensor lomax_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  return p[0] + p[1] * expm1(stats::draw_exponential(key, shape) / p[2]);
}

// --- loglogistic(scale, shape)
// -----------------------------------------------------------------------------------
Tensor loglogistic_logit(const Tensor& x, const Tensor* p) { return p[1] * (log_of_positive(x) - log(p[0])); }
Tensor loglogistic_log_density(const Tensor& x, const Tensor* p) {
  const Tensor above = is_positive(x), is_edge = both(x == real(0), p[1] == real(1));
  const Tensor log_scale = log(p[0]), w = log_of_positive(x) - log_scale;
  const Tensor fall = select(is_edge, real(0), real(2) * softplus(p[1] * w));
  return log(p[1]) - log_scale + (p[1] - real(1)) * w - fall + support_term(logical_or(above, is_edge));
}
Tensor loglogistic_log_cdf(const Tensor& x, const Tensor* p) {
  return beyond(is_positive(x), x, log_sigmoid(loglogistic_logit(x, p)), minus_infinity()) +
         tail_domain(p[0], p[1]);
}
Tensor loglogistic_log_ccdf(const Tensor& x, const Tensor* p) {
  return beyond(is_positive(x), x, log_sigmoid(-loglogistic_logit(x, p)), real(0)) + tail_domain(p[0], p[1]);
}
Tensor loglogistic_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  const Tensor u = stats::draw_open_uniform(key, shape);
  return p[0] * exp((log(u) - log1p(-u)) / p[1]);
}

constexpr std::array tail_table{
    UnivariateDensity{"weibull", false, 2, weibull_log_density, weibull_log_cdf, weibull_log_ccdf,
                      weibull_draw},
    UnivariateDensity{"frechet", false, 2, frechet_log_density, frechet_log_cdf, frechet_log_ccdf,
                      frechet_draw},
    UnivariateDensity{"rayleigh", false, 1, rayleigh_log_density, rayleigh_log_cdf, rayleigh_log_ccdf,
                      rayleigh_draw},
    UnivariateDensity{"pareto", false, 2, pareto_log_density, pareto_log_cdf, pareto_log_ccdf, pareto_draw},
    UnivariateDensity{"pareto_type_2", false, 3, lomax_log_density, lomax_log_cdf, lomax_log_ccdf,
                      lomax_draw},
    UnivariateDensity{"loglogistic", false, 2, loglogistic_log_density, loglogistic_log_cdf,
                      loglogistic_log_ccdf, loglogistic_draw},
};

}  // namespace

std::span<const UnivariateDensity> tail_densities() { return tail_table; }

}  // namespace adit::stan
