// Distributions of counts 0, 1, 2, ...
#include <array>

#include "stan/functions/formulas.hpp"
#include "stan/functions/rows.hpp"
#include "stats/known.hpp"

namespace adit::stan {

namespace {

// A gamma mixture of Poissons with shape phi and mean m, by d = log(m / phi):
//   log p(x) = log gamma(x + phi) - log gamma(phi) - log x! + x log sigmoid(d) - phi log(1 + e^d)
Tensor log_gamma_poisson(const Tensor& x, const Tensor& d, const Tensor& phi) {
  const Tensor inside = stats::is_whole(x), k = guarded(inside, x, 0);
  const Tensor domain = is_positive(phi), shape = guarded(domain, phi, 1);
  return log_rising(shape, k) + stats::times_log(k, log_sigmoid(d)) - shape * softplus(d) -
         lgamma(k + real(1)) + domain_term(domain) + support_term(inside);
}
// P(X <= k) = I_{1 / (1 + e^d)}(phi, k + 1).
Tensor gamma_poisson_log_side(const Tensor& x, const Tensor& d, const Tensor& phi, bool lower) {
  const Tensor k = floor(x), inside = k >= real(0), more = guarded(inside, k, 0) + real(1);
  const Tensor value = lower ? log_incomplete_beta(phi, more, sigmoid(-d), sigmoid(d))
                             : log_incomplete_beta(more, phi, sigmoid(d), sigmoid(-d));
  return select(inside, value, lower ? minus_infinity() : real(0)) + domain_term(is_positive(phi));
}
Tensor gamma_poisson_draw(const Tensor& key, const Tensor& mean, const Tensor& phi, const Shape& shape) {
  const Tensor keys = random::split(key);
  const Tensor rate = stats::draw_gamma(random::row(keys, 0), phi, shape) * (mean / phi);
  return stats::draw_poisson(random::row(keys, 1), rate, shape);
}
Tensor log_share(const Tensor* p) { return log(p[0]) - log(p[1]); }  // of neg_binomial_2

}  // namespace

Tensor log_poisson_log(const Tensor& x, const Tensor& log_rate) {
  const Tensor inside = stats::is_whole(x), k = guarded(inside, x, 0);
  return k * log_rate - exp(log_rate) - lgamma(k + real(1)) + support_term(inside);
}
Tensor log_neg_binomial_2_log(const Tensor& x, const Tensor& log_mean, const Tensor& phi) {
  return log_gamma_poisson(x, log_mean - log(phi), phi);
}

namespace {

// --- poisson
// -----------------------------------------------------------------------------------------------------
Tensor poisson_log_density(const Tensor& x, const Tensor* p) {
  const Tensor inside = stats::is_whole(x), k = guarded(inside, x, 0);
  return stats::times_log(k, stats::log_from_zero(p[0])) - p[0] - lgamma(k + real(1)) +
         domain_term(p[0] >= real(0)) + support_term(inside);
}
// P(X <= k) = Q(k + 1, rate).
Tensor poisson_log_cdf(const Tensor& x, const Tensor* p) {
  const Tensor k = floor(x), inside = k >= real(0);
  return select(inside, log_gamma_q(guarded(inside, k, 0) + real(1), p[0]), minus_infinity()) +
         domain_term(p[0] >= real(0));
}
Tensor poisson_log_ccdf(const Tensor& x, const Tensor* p) {
  const Tensor k = floor(x), inside = k >= real(0);
  return select(inside, log_gamma_p(guarded(inside, k, 0) + real(1), p[0]), real(0)) +
         domain_term(p[0] >= real(0));
}

// --- beta_neg_binomial(r, a, b): neg_binomial with a share that is beta distributed
// -------------------------------------
Tensor beta_neg_binomial_log_density(const Tensor& x, const Tensor* p) {
  const Tensor inside = stats::is_whole(x), k = guarded(inside, x, 0);
  const Tensor domain = both(is_positive(p[0]), both(is_positive(p[1]), is_positive(p[2])));
  const Tensor r = guarded(domain, p[0], 1), a = guarded(domain, p[1], 1), b = guarded(domain, p[2], 1);
  return log_rising(r, k) + log_rising(b, k) + log_rising(a, b) - log_rising(r + a, k + b) -
         lgamma(k + real(1)) + domain_term(domain) + support_term(inside);
}
Tensor beta_neg_binomial_log_cdf(const Tensor& x, const Tensor* p) {
  const Tensor domain = both(is_positive(p[0]), both(is_positive(p[1]), is_positive(p[2])));
  const Tensor k = floor(x), inside = both(domain, k >= real(0)), last = guarded(inside, k, 0);
  const Tensor r = guarded(domain, p[0], 1), a = guarded(domain, p[1], 1), b = guarded(domain, p[2], 1);
  const Tensor counted[] = {r, a, b};
  const Tensor sum = log_sum_of_masses(
      beta_neg_binomial_log_density(last, counted), last,
      [&](const Tensor& j) { return log((r + j) / (j + real(1))) + log((b + j) / (r + a + b + j)); });
  return select(inside, minimum(sum, real(0)), minus_infinity()) + domain_term(domain);
}
Tensor beta_neg_binomial_log_ccdf(const Tensor& x, const Tensor* p) {
  const Tensor lower = beta_neg_binomial_log_cdf(x, p);
  return select(lower == minus_infinity(), real(0),
                stats::log1m_exp(select(lower == minus_infinity(), real(-1), lower)));
}
Tensor beta_neg_binomial_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  const Tensor keys = random::split(key, 3);
  const Tensor odds = exp(stats::draw_log_gamma(random::row(keys, 0), p[2], shape) -
                          stats::draw_log_gamma(random::row(keys, 1), p[1], shape));
  return gamma_poisson_draw(random::row(keys, 2), p[0] * odds, broadcast_to(p[0], shape), shape);
}

// --- yule_simon(a), x = 1, 2, ...: a B(x, a + 1), P(X > x) = x B(x, a + 1)
// ------------------------------------------
Tensor yule_simon_log_density(const Tensor& x, const Tensor* p) {
  const Tensor inside = both(stats::is_whole(x), x >= real(1)), domain = is_positive(p[0]);
  const Tensor a = guarded(domain, p[0], 1);
  return log(a) + log_beta(guarded(inside, x, 1), a + real(1)) + domain_term(domain) + support_term(inside);
}
Tensor yule_simon_log_ccdf(const Tensor& x, const Tensor* p) {
  const Tensor k = floor(x), inside = k >= real(1), safe = guarded(inside, k, 1);
  const Tensor domain = is_positive(p[0]), a = guarded(domain, p[0], 1);
  return select(inside, log(safe) + log_beta(safe, a + real(1)), real(0)) + domain_term(domain);
}
Tensor yule_simon_log_cdf(const Tensor& x, const Tensor* p) {
  const Tensor inside = floor(x) >= real(1);
  const Tensor above = select(inside, yule_simon_log_ccdf(x, p), real(-1));
  return select(inside, stats::log1m_exp(above), minus_infinity()) + domain_term(is_positive(p[0]));
}
// A geometric number whose chance e^-w has an exponential w of rate a.
Tensor yule_simon_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  const Tensor keys = random::split(key);
  const Tensor w = stats::draw_exponential(random::row(keys, 0), shape) / p[0];
  const Tensor trials = log(stats::draw_open_uniform(random::row(keys, 1), shape)) / stats::log1m_exp(-w);
  return maximum(ceil(trials), real(1));
}

constexpr std::array count_table{
    UnivariateDensity{"poisson", true, 1, poisson_log_density, poisson_log_cdf, poisson_log_ccdf,
                      [](const Tensor& key, const Tensor* p, const Shape& shape) {
                        return stats::draw_poisson(key, p[0], shape);
                      }},
    UnivariateDensity{"poisson_log", true, 1,
                      [](const Tensor& x, const Tensor* p) { return log_poisson_log(x, p[0]); }, nullptr,
                      nullptr,
                      [](const Tensor& key, const Tensor* p, const Shape& shape) {
                        return stats::draw_poisson(key, exp(p[0]), shape);
                      }},
    UnivariateDensity{
        "neg_binomial", true, 2,
        [](const Tensor& x, const Tensor* p) { return log_gamma_poisson(x, -log(p[1]), p[0]); },
        [](const Tensor& x, const Tensor* p) { return gamma_poisson_log_side(x, -log(p[1]), p[0], true); },
        [](const Tensor& x, const Tensor* p) { return gamma_poisson_log_side(x, -log(p[1]), p[0], false); },
        [](const Tensor& key, const Tensor* p, const Shape& shape) {
          return gamma_poisson_draw(key, p[0] / p[1], p[0], shape);
        }},
    UnivariateDensity{
        "neg_binomial_2", true, 2,
        [](const Tensor& x, const Tensor* p) { return log_gamma_poisson(x, log_share(p), p[1]); },
        [](const Tensor& x, const Tensor* p) { return gamma_poisson_log_side(x, log_share(p), p[1], true); },
        [](const Tensor& x, const Tensor* p) { return gamma_poisson_log_side(x, log_share(p), p[1], false); },
        [](const Tensor& key, const Tensor* p, const Shape& shape) {
          return gamma_poisson_draw(key, p[0], p[1], shape);
        }},
    UnivariateDensity{"neg_binomial_2_log", true, 2,
                      [](const Tensor& x, const Tensor* p) { return log_neg_binomial_2_log(x, p[0], p[1]); },
                      nullptr, nullptr,
                      [](const Tensor& key, const Tensor* p, const Shape& shape) {
                        return gamma_poisson_draw(key, exp(p[0]), p[1], shape);
                      }},
    UnivariateDensity{"beta_neg_binomial", true, 3, beta_neg_binomial_log_density, beta_neg_binomial_log_cdf,
                      beta_neg_binomial_log_ccdf, beta_neg_binomial_draw},
    UnivariateDensity{"yule_simon", true, 1, yule_simon_log_density, yule_simon_log_cdf, yule_simon_log_ccdf,
                      yule_simon_draw},
};

}  // namespace

std::span<const UnivariateDensity> count_densities() { return count_table; }

}  // namespace adit::stan
