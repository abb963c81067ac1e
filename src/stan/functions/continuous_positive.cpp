// Densities of positive numbers: the gamma family, exponential and lognormal. At 0 itself the density counts
// as 0 unless the power of x there is 0.
#include <array>
#include <numbers>

#include "stan/functions/formulas.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

Tensor are_positive(const Tensor& a, const Tensor& b) { return both(is_positive(a), is_positive(b)); }
// A log cdf or ccdf from 0 on: `inside` above 0, else the limit.
Tensor from_zero(const Tensor& x, const Tensor& inside, const Tensor& limit, const Tensor& domain) {
  return select(is_positive(x), inside, select(is_nan(x), not_a_number(), limit)) + domain_term(domain);
}

// --- gamma(a, b), the rate b
// ---------------------------------------------------------------------------------
Tensor gamma_log(const Tensor& x, const Tensor& a, const Tensor& b) {
  const Tensor is_edge = both(x == real(0), a == real(1));
  const Tensor inside = logical_or(both(is_positive(x), x < infinity()), is_edge);
  const Tensor safe = select(is_positive(x), guarded(inside, x, 1), real(1));
  return a * log(b) - lgamma(a) + domain_term(is_positive(a)) + (a - real(1)) * log(safe) -
         b * select(is_edge, real(0), safe) + support_term(inside);
}
Tensor gamma_log_lower(const Tensor& x, const Tensor& a, const Tensor& b) {
  return from_zero(x, log_gamma_p(a, b * guarded(is_positive(x), x, 1)), minus_infinity(),
                   are_positive(a, b));
}
Tensor gamma_log_upper(const Tensor& x, const Tensor& a, const Tensor& b) {
  return from_zero(x, log_gamma_q(a, b * guarded(is_positive(x), x, 1)), real(0), are_positive(a, b));
}

// --- inv_gamma(a, b), the scale b
// ----------------------------------------------------------------------------
Tensor inv_gamma_log(const Tensor& x, const Tensor& a, const Tensor& b) {
  const Tensor inside = is_positive(x), safe = guarded(inside, x, 1);
  return a * log(b) - lgamma(a) + domain_term(is_positive(a)) - (a + real(1)) * log(safe) -
         b * reciprocal(safe) + support_term(inside);
}
Tensor inv_gamma_log_lower(const Tensor& x, const Tensor& a, const Tensor& b) {
  return from_zero(x, log_gamma_q(a, b / guarded(is_positive(x), x, 1)), minus_infinity(),
                   are_positive(a, b));
}
Tensor inv_gamma_log_upper(const Tensor& x, const Tensor& a, const Tensor& b) {
  return from_zero(x, log_gamma_p(a, b / guarded(is_positive(x), x, 1)), real(0), are_positive(a, b));
}

// The chi-squared family as gammas: a = nu / 2, b = 1 / 2 or nu s^2 / 2.
Tensor half_of(const Tensor& x) { return real(0.5) * x; }
Tensor scaled_of(const Tensor* p) { return half_of(p[0]) * square(p[1]); }
Tensor scaled_domain(const Tensor* p) { return domain_term(is_positive(p[1])); }

// --- exponential(b)
// ------------------------------------------------------------------------------------------
Tensor exponential_log_density(const Tensor& x, const Tensor* p) {
  const Tensor inside = x >= real(0);
  return log(p[0]) - p[0] * guarded(inside, x, 0) + support_term(inside);
}
Tensor exponential_log_cdf(const Tensor& x, const Tensor* p) {
  return from_zero(x, stats::log1m_exp(-p[0] * guarded(is_positive(x), x, 1)), minus_infinity(),
                   is_positive(p[0]));
}
Tensor exponential_log_ccdf(const Tensor& x, const Tensor* p) {
  return from_zero(x, -p[0] * guarded(is_positive(x), x, 1), real(0), is_positive(p[0]));
}

// --- lognormal(mu, sigma)
// ------------------------------------------------------------------------------------
Tensor lognormal_z(const Tensor& x, const Tensor* p) {
  return (log(guarded(is_positive(x), x, 1)) - p[0]) * reciprocal(p[1]);
}
Tensor lognormal_log_density(const Tensor& x, const Tensor* p) {
  const Tensor inside = is_positive(x);
  return stats::log_normal_density(lognormal_z(x, p)) - log(p[1]) - log(guarded(inside, x, 1)) +
         support_term(inside);
}
Tensor lognormal_log_cdf(const Tensor& x, const Tensor* p) {
  return from_zero(x, stats::log_normal_cdf(lognormal_z(x, p)), minus_infinity(), is_positive(p[1]));
}
Tensor lognormal_log_ccdf(const Tensor& x, const Tensor* p) {
  return from_zero(x, stats::log_normal_cdf(-lognormal_z(x, p)), real(0), is_positive(p[1]));
}

Tensor gamma_draw(const Tensor& key, const Tensor& a, const Tensor& b, const Shape& shape) {
  return stats::draw_gamma(key, a, shape) / b;
}

constexpr std::array positive_table{
    UnivariateDensity{"gamma", false, 2,
                      [](const Tensor& x, const Tensor* p) { return gamma_log(x, p[0], p[1]); },
                      [](const Tensor& x, const Tensor* p) { return gamma_log_lower(x, p[0], p[1]); },
                      [](const Tensor& x, const Tensor* p) { return gamma_log_upper(x, p[0], p[1]); },
                      [](const Tensor& key, const Tensor* p, const Shape& shape) {
                        return gamma_draw(key, p[0], p[1], shape);
                      }},
    UnivariateDensity{"inv_gamma", false, 2,
                      [](const Tensor& x, const Tensor* p) { return inv_gamma_log(x, p[0], p[1]); },
                      [](const Tensor& x, const Tensor* p) { return inv_gamma_log_lower(x, p[0], p[1]); },
                      [](const Tensor& x, const Tensor* p) { return inv_gamma_log_upper(x, p[0], p[1]); },
                      [](const Tensor& key, const Tensor* p, const Shape& shape) {
                        return reciprocal(gamma_draw(key, p[0], p[1], shape));
                      }},
    UnivariateDensity{
        "chi_square", false, 1,
        [](const Tensor& x, const Tensor* p) { return gamma_log(x, half_of(p[0]), real(0.5)); },
        [](const Tensor& x, const Tensor* p) { return gamma_log_lower(x, half_of(p[0]), real(0.5)); },
        [](const Tensor& x, const Tensor* p) { return gamma_log_upper(x, half_of(p[0]), real(0.5)); },
        [](const Tensor& key, const Tensor* p, const Shape& shape) {
          return gamma_draw(key, half_of(p[0]), real(0.5), shape);
        }},
    UnivariateDensity{
        "inv_chi_square", false, 1,
        [](const Tensor& x, const Tensor* p) { return inv_gamma_log(x, half_of(p[0]), real(0.5)); },
        [](const Tensor& x, const Tensor* p) { return inv_gamma_log_lower(x, half_of(p[0]), real(0.5)); },
        [](const Tensor& x, const Tensor* p) { return inv_gamma_log_upper(x, half_of(p[0]), real(0.5)); },
        [](const Tensor& key, const Tensor* p, const Shape& shape) {
          return reciprocal(gamma_draw(key, half_of(p[0]), real(0.5), shape));
        }},
    UnivariateDensity{"scaled_inv_chi_square", false, 2,
                      [](const Tensor& x, const Tensor* p) {
                        return inv_gamma_log(x, half_of(p[0]), scaled_of(p)) + scaled_domain(p);
                      },
                      [](const Tensor& x, const Tensor* p) {
                        return inv_gamma_log_lower(x, half_of(p[0]), scaled_of(p)) + scaled_domain(p);
                      },
                      [](const Tensor& x, const Tensor* p) {
                        return inv_gamma_log_upper(x, half_of(p[0]), scaled_of(p)) + scaled_domain(p);
                      },
                      [](const Tensor& key, const Tensor* p, const Shape& shape) {
                        return reciprocal(gamma_draw(key, half_of(p[0]), scaled_of(p), shape));
                      }},
    UnivariateDensity{"exponential", false, 1, exponential_log_density, exponential_log_cdf,
                      exponential_log_ccdf,
                      [](const Tensor& key, const Tensor* p, const Shape& shape) {
                        return stats::draw_exponential(key, shape) / p[0];
                      }},
    UnivariateDensity{"lognormal", false, 2, lognormal_log_density, lognormal_log_cdf, lognormal_log_ccdf,
                      [](const Tensor& key, const Tensor* p, const Shape& shape) {
                        return exp(p[0] + p[1] * stats::draw_normal(key, shape));
                      }},
};

}  // namespace

std::span<const UnivariateDensity> positive_densities() { return positive_table; }

}  // namespace adit::stan
