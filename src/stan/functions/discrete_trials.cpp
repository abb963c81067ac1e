// Distributions of successes among trials, and of a range of whole numbers.
#include <array>

#include "stan/functions/formulas.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

Tensor log_bernoulli_logit(const Tensor& x, const Tensor& logit) {
  return log_sigmoid((real(2) * x - real(1)) * logit) + support_term(stats::is_whole_below(x, real(2)));
}

// With log sigmoid(l) = min(l, 0) - s and log sigmoid(-l) = -max(l, 0) - s, s = log(1 + exp(-|l|)).
Tensor log_binomial_logit(const Tensor& x, const Tensor& count, const Tensor& logit) {
  const Tensor inside = stats::is_whole_below(x, count + real(1)), k = guarded(inside, x, 0);
  const Tensor low = minimum(logit, real(0)), high = maximum(logit, real(0));
  return k * low - (count - k) * high - count * softplus(low - high) + log_choose(count, k) +
         support_term(inside) + domain_term(count >= real(0));
}

namespace {

Tensor is_share(const Tensor& p) { return both(p >= real(0), p <= real(1)); }

// --- bernoulli
// -------------------------------------------------------------------------------------------------
Tensor bernoulli_log_density(const Tensor& x, const Tensor* p) {
  return select(x == real(1), stats::log_from_zero(p[0]), stats::log1m_to_one(p[0])) +
         domain_term(is_share(p[0])) + support_term(stats::is_whole_below(x, real(2)));
}
Tensor bernoulli_log_cdf(const Tensor& x, const Tensor* p) {
  const Tensor upper = select(x >= real(1), real(0), stats::log1m_to_one(p[0]));
  return select(x < real(0), minus_infinity(), upper) + domain_term(is_share(p[0]));
}
Tensor bernoulli_log_ccdf(const Tensor& x, const Tensor* p) {
  const Tensor upper = select(x >= real(1), minus_infinity(), stats::log_from_zero(p[0]));
  return select(x < real(0), real(0), upper) + domain_term(is_share(p[0]));
}
Tensor bernoulli_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  return as_type(random::bernoulli(key, p[0], shape), DType::f64);
}
Tensor bernoulli_logit_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  return as_type(random::bernoulli(key, sigmoid(p[0]), shape), DType::f64);
}

// --- binomial(n, p)
// ----------------------------------------------------------------------------------------------
Tensor binomial_domain(const Tensor* p) { return domain_term(both(is_share(p[1]), p[0] >= real(0))); }
Tensor binomial_log_density(const Tensor& x, const Tensor* p) {
  const Tensor inside = stats::is_whole_below(x, p[0] + real(1)), k = guarded(inside, x, 0);
  return stats::times_log(k, stats::log_from_zero(p[1])) +
         stats::times_log(p[0] - k, stats::log1m_to_one(p[1])) + log_choose(p[0], k) + binomial_domain(p) +
         support_term(inside);
}
// P(X <= k) = I_{1 - p}(n - k, k + 1) for 0 <= k < n.
Tensor binomial_log_side(const Tensor& x, const Tensor* p, bool lower) {
  const Tensor k = floor(x), inside = both(k >= real(0), k < p[0]);
  const Tensor failures = guarded(inside, p[0] - k, 1), successes = guarded(inside, k, 0) + real(1);
  const Tensor rest = real(1) - p[1];
  const Tensor value = lower ? log_incomplete_beta(failures, successes, rest, p[1])
                             : log_incomplete_beta(successes, failures, p[1], rest);
  const Tensor never = lower ? minus_infinity() : real(0), ever = lower ? real(0) : minus_infinity();
  return select(inside, value, select(k < real(0), never, ever)) + binomial_domain(p);
}
Tensor binomial_log_cdf(const Tensor& x, const Tensor* p) { return binomial_log_side(x, p, true); }
Tensor binomial_log_ccdf(const Tensor& x, const Tensor* p) { return binomial_log_side(x, p, false); }
Tensor binomial_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  return stats::draw_binomial(key, p[0], p[1], shape);
}
Tensor binomial_logit_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  return stats::draw_binomial(key, p[0], sigmoid(p[1]), shape);
}

// --- beta_binomial(n, a, b)
// ----------------------------------------------------------------------------------------
Tensor beta_binomial_log_density(const Tensor& x, const Tensor* p) {
  const Tensor inside = stats::is_whole_below(x, p[0] + real(1)), k = guarded(inside, x, 0);
  const Tensor domain = both(both(is_positive(p[1]), is_positive(p[2])), p[0] >= real(0));
  const Tensor a = guarded(domain, p[1], 1), b = guarded(domain, p[2], 1);
  const Tensor n = maximum(p[0], real(0));
  return log_choose(n, k) + log_rising(a, k) + log_rising(b, n - k) - log_rising(a + b, n) +
         domain_term(domain) + support_term(inside);
}
// P(X <= k) of (n, a, b), and P(X > k) as P(X <= n - k - 1) of (n, b, a).
Tensor beta_binomial_log_lower(const Tensor& x, const Tensor& n, const Tensor& first, const Tensor& second) {
  const Tensor domain = both(both(is_positive(first), is_positive(second)), n >= real(0));
  const Tensor k = floor(x), inside = both(domain, both(k >= real(0), k < n));
  const Tensor all = guarded(inside, n, 1), last = guarded(inside, k, 0);
  const Tensor a = guarded(inside, first, 1), b = guarded(inside, second, 1);
  const Tensor counted[] = {all, a, b};
  const Tensor sum = log_sum_of_masses(beta_binomial_log_density(last, counted), last, [&](const Tensor& j) {
    const Tensor left = maximum(all - j, real(1));
    return log(left / (j + real(1))) + log((a + j) / (b + left - real(1)));
  });
  return select(inside, minimum(sum, real(0)), select(k < real(0), minus_infinity(), real(0))) +
         domain_term(domain);
}
Tensor beta_binomial_log_cdf(const Tensor& x, const Tensor* p) {
  return beta_binomial_log_lower(x, p[0], p[1], p[2]);
}
Tensor beta_binomial_log_ccdf(const Tensor& x, const Tensor* p) {
  return beta_binomial_log_lower(p[0] - floor(x) - real(1), p[0], p[2], p[1]);
}
Tensor beta_binomial_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  const Tensor keys = random::split(key, 3);
  const Tensor share = sigmoid(stats::draw_log_gamma(random::row(keys, 0), p[1], shape) -
                               stats::draw_log_gamma(random::row(keys, 1), p[2], shape));
  return stats::draw_binomial(random::row(keys, 2), p[0], share, shape);
}

// --- hypergeometric(draws, a, b): how many of the a come up
// ----------------------------------------------------------
Tensor hypergeometric_log_density(const Tensor& x, const Tensor* p) {
  const Tensor rest = p[0] - x;
  const Tensor within = both(both(x <= p[1], rest <= p[2]), rest >= real(0));
  const Tensor inside = both(stats::is_whole(x), within), k = guarded(inside, x, 0);
  const Tensor domain =
      both(both(p[0] >= real(0), p[0] <= p[1] + p[2]), both(p[1] >= real(0), p[2] >= real(0)));
  const Tensor others = select(inside, p[0] - k, real(0));
  return log_choose(p[1], k) + log_choose(p[2], others) - log_choose(p[1] + p[2], p[0]) +
         support_term(inside) + domain_term(domain);
}
Tensor hypergeometric_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  const Tensor mode = floor((p[0] + real(1)) * (p[1] + real(1)) / (p[1] + p[2] + real(2)));
  return stats::draw_log_concave(
      key, mode, [&](const Tensor& x) { return hypergeometric_log_density(x, p); }, shape);
}

// --- discrete_range(low, high)
// -----------------------------------------------------------------------------------------
Tensor range_count(const Tensor* p) { return p[1] - p[0] + real(1); }
Tensor range_domain(const Tensor* p) { return domain_term(p[0] <= p[1]); }
Tensor range_log_density(const Tensor& x, const Tensor* p) {
  const Tensor inside = both(both(x >= p[0], x <= p[1]), floor(x) == x);
  return support_term(inside) - log(range_count(p)) + range_domain(p);
}
Tensor range_log_cdf(const Tensor& x, const Tensor* p) {
  const Tensor seen = clip(floor(x) - p[0] + real(1), real(0), range_count(p));
  return stats::log_from_zero(seen / range_count(p)) + range_domain(p);
}
Tensor range_log_ccdf(const Tensor& x, const Tensor* p) {
  const Tensor left = clip(p[1] - floor(x), real(0), range_count(p));
  return stats::log_from_zero(left / range_count(p)) + range_domain(p);
}
Tensor range_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  return minimum(p[1], p[0] + floor(range_count(p) * stats::draw_uniform(key, shape)));
}

constexpr std::array trial_table{
    UnivariateDensity{"bernoulli", true, 1, bernoulli_log_density, bernoulli_log_cdf, bernoulli_log_ccdf,
                      bernoulli_draw},
    UnivariateDensity{"bernoulli_logit", true, 1,
                      [](const Tensor& x, const Tensor* p) { return log_bernoulli_logit(x, p[0]); }, nullptr,
                      nullptr, bernoulli_logit_draw},
    UnivariateDensity{"binomial", true, 2, binomial_log_density, binomial_log_cdf, binomial_log_ccdf,
                      binomial_draw},
    UnivariateDensity{"binomial_logit", true, 2,
                      [](const Tensor& x, const Tensor* p) { return log_binomial_logit(x, p[0], p[1]); },
                      nullptr, nullptr, binomial_logit_draw},
    UnivariateDensity{"beta_binomial", true, 3, beta_binomial_log_density, beta_binomial_log_cdf,
                      beta_binomial_log_ccdf, beta_binomial_draw},
    UnivariateDensity{"hypergeometric", true, 3, hypergeometric_log_density, nullptr, nullptr,
                      hypergeometric_draw},
    UnivariateDensity{"discrete_range", true, 2, range_log_density, range_log_cdf, range_log_ccdf,
                      range_draw},
};

}  // namespace

std::span<const UnivariateDensity> trial_densities() { return trial_table; }

}  // namespace adit::stan
