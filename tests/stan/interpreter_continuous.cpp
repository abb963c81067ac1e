// Densities of all reals and of intervals: x[0] is the variable, its parameters follow.
#include "interpreter_builtin.hpp"

namespace adit::stan::reference {

namespace {

using P = const Number*;

Number standard(P x) { return (x[0] - x[1]) / x[2]; }

Number normal_log_density(const Number& z) { return -0.5 * square(z) - half_log_two_pi; }

Number student_log_density(P x) {
  const Number& degrees = x[1];
  const Number z = (x[0] - x[2]) / x[3];
  return lgamma(0.5 * (degrees + 1)) - lgamma(0.5 * degrees) - 0.5 * log(degrees * pi) - log(x[3]) -
         0.5 * (degrees + 1) * log1p(square(z) / degrees);
}
// Below the centre half of an incomplete beta function; above it what is left.
Number student_log_cdf_of(const Number& z, const Number& degrees) {
  if (z.value == -infinity) return -infinity;
  if (z.value == infinity) return 0;
  const Number half = std::log(0.5);
  if (z.value * z.value < degrees.value) {
    // Near the centre the other tail of the beta function keeps the digits.
    const Number centre = inc_beta(0.5, 0.5 * degrees, square(z) / (degrees + square(z)));
    return log(0.5 + (z.value < 0 ? -0.5 : 0.5) * centre);
  }
  const Number tail = half + log_inc_beta(0.5 * degrees, 0.5, degrees / (degrees + square(z)));
  return z.value < 0 ? tail : log1m_exp(tail);
}

Number laplace_log_cdf(const Number& z) { return z.value < 0 ? std::log(0.5) + z : log1m(0.5 * exp(-z)); }
Number cauchy_log_cdf(const Number& z) {
  // atan(1 / -z) / pi keeps the digits of the lower tail.
  if (z.value == -infinity) return -infinity;
  return z.value < -1 ? log(atan(-1 / z) / pi) : log(atan(z) / pi + 0.5);
}

Number uniform_log_cdf(P x) {
  if (x[0] <= x[1]) return -infinity;
  return x[0] >= x[2] ? Number(0) : log((x[0] - x[1]) / (x[2] - x[1]));
}
Number uniform_log_ccdf(P x) {
  if (x[0] >= x[2]) return -infinity;
  return x[0] <= x[1] ? Number(0) : log((x[2] - x[0]) / (x[2] - x[1]));
}

Number beta_log_density(const Number& x, const Number& a, const Number& b) {
  if (x.value < 0 || x.value > 1) return -infinity;
  return (a - 1) * log(x) + (b - 1) * log1m(x) - lbeta(a, b);
}

// log of a normal number plus an exponential one.
Number modified_log_density(P x) {
  const Number &y = x[0], &mean = x[1], &sigma = x[2], &rate = x[3];
  const Number z = (mean + rate * square(sigma) - y) / sigma;  // erfc(z / sqrt 2) / 2 = phi(-z)
  return log(rate) + 0.5 * rate * (2 * mean + rate * square(sigma) - 2 * y) + log_phi(-z);
}
Number modified_cdf(P x) {
  const Number u = x[3] * (x[0] - x[1]), v = x[3] * x[2];
  return phi((x[0] - x[1]) / x[2]) - exp(-u + 0.5 * square(v) + log_phi(u / v - v));
}

Number skew_laplace_log_cdf(P x) {
  const Number &mean = x[1], &sigma = x[2], &tau = x[3];
  if (x[0] < mean) return log(tau) - 2 / sigma * (1 - tau) * (mean - x[0]);
  return log1m((1 - tau) * exp(-2 / sigma * tau * (x[0] - mean)));
}
Number skew_laplace_log_ccdf(P x) {
  const Number &mean = x[1], &sigma = x[2], &tau = x[3];
  if (x[0] < mean) return log1m(tau * exp(-2 / sigma * (1 - tau) * (mean - x[0])));
  return log1m(tau) - 2 / sigma * tau * (x[0] - mean);
}

Number skew_normal_cdf(P x) {
  const Number z = (x[0] - x[1]) / x[2];
  return phi(z) - 2 * owens_t(z, x[3]);
}

// Simpson's rule over many parts.
Number von_mises_between(const Number& from, const Number& to, P x) {
  constexpr int parts = 4000;
  const Number step = (to - from) / parts, front = -std::log(2 * pi) - log_bessel_i(0, x[2]);
  Number sum = 0;
  for (int i = 0; i <= parts; ++i) {
    const double weight = i == 0 || i == parts ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * exp(x[2] * cos(from + step * i - x[1]) + front);
  }
  return sum * step / 3;
}

// The series of early times, or that of late ones, where terms of the first cancel.
Number wiener_log_density(P x) {
  const Number &alpha = x[1], &delta = x[4], w = 1 - x[3], t = x[0] - x[2], scaled_time = t / square(alpha);
  Number sum = 0;
  if (scaled_time > 0.5) {
    for (int k = 1; k <= 12; ++k) sum += k * exp(-0.5 * square(k * pi) * scaled_time) * sin(k * pi * w);
    return log(pi * sum) - 2 * log(alpha) + delta * alpha * w - 0.5 * square(delta) * t;
  }
  for (int k = -40; k <= 40; ++k) sum += (w + 2 * k) * exp(-square(w + 2 * k) / (2 * scaled_time));
  return log(sum) - 1.5 * log(scaled_time) - half_log_two_pi - 2 * log(alpha) + delta * alpha * w -
         0.5 * square(delta) * t;
}

}  // namespace

void add_continuous(std::unordered_map<std::string, Univariate>& table) {
  table["normal"] = {2, false, [](P x) { return normal_log_density(standard(x)) - log(x[2]); },
                     [](P x) { return log_phi(standard(x)); }, [](P x) { return log_phi(-standard(x)); }};
  table["std_normal"] = {0, false, [](P x) { return normal_log_density(x[0]); },
                         [](P x) { return log_phi(x[0]); }, [](P x) { return log_phi(-x[0]); }};
  table["student_t"] = {3, false, student_log_density,
                        [](P x) { return student_log_cdf_of((x[0] - x[2]) / x[3], x[1]); },
                        [](P x) { return student_log_cdf_of((x[2] - x[0]) / x[3], x[1]); }};
  table["cauchy"] = {2, false, [](P x) { return -log(x[2]) - std::log(pi) - log1p(square(standard(x))); },
                     [](P x) { return cauchy_log_cdf(standard(x)); },
                     [](P x) { return cauchy_log_cdf(-standard(x)); }};
  table["logistic"] = {2, false,
                       [](P x) {
                         const Number z = standard(x);
                         return -log(x[2]) + log_inv_logit(z) + log1m_inv_logit(z);
                       },
                       [](P x) { return log_inv_logit(standard(x)); },
                       [](P x) { return log1m_inv_logit(standard(x)); }};
  table["double_exponential"] = {2, false, [](P x) { return -std::log(2.0) - log(x[2]) - abs(standard(x)); },
                                 [](P x) { return laplace_log_cdf(standard(x)); },
                                 [](P x) { return laplace_log_cdf(-standard(x)); }};
  table["gumbel"] = {2, false,
                     [](P x) {
                       const Number z = standard(x);
                       return -log(x[2]) - z - exp(-z);
                     },
                     [](P x) { return -exp(-standard(x)); },
                     [](P x) { return log1m_exp(-exp(-standard(x))); }};
  table["uniform"] = {2, false,
                      [](P x) { return x[0] < x[1] || x[0] > x[2] ? Number(-infinity) : -log(x[2] - x[1]); },
                      uniform_log_cdf, uniform_log_ccdf};
  table["beta"] = {2, false, [](P x) { return beta_log_density(x[0], x[1], x[2]); },
                   [](P x) { return log_inc_beta(x[1], x[2], x[0]); },
                   [](P x) { return log_inc_beta(x[2], x[1], 1 - x[0]); }};
  table["beta_proportion"] = {2, false,
                              [](P x) { return beta_log_density(x[0], x[1] * x[2], (1 - x[1]) * x[2]); },
                              [](P x) { return log_inc_beta(x[1] * x[2], (1 - x[1]) * x[2], x[0]); },
                              [](P x) { return log_inc_beta((1 - x[1]) * x[2], x[1] * x[2], 1 - x[0]); }};
  table["exp_mod_normal"] = {3, false, modified_log_density, [](P x) { return log(modified_cdf(x)); },
                             [](P x) { return log1m(modified_cdf(x)); }};
  table["skew_normal"] = {3, false,
                          [](P x) {
                            const Number z = standard(x);
                            return std::log(2.0) - log(x[2]) + normal_log_density(z) + log_phi(x[3] * z);
                          },
                          [](P x) { return log(skew_normal_cdf(x)); },
                          [](P x) { return log1m(skew_normal_cdf(x)); }};
  table["skew_double_exponential"] = {
      3, false,
      [](P x) {
        const Number &mean = x[1], &sigma = x[2], &tau = x[3];
        const Number away = x[0] < mean ? (1 - tau) * (mean - x[0]) : tau * (x[0] - mean);
        return std::log(2.0) + log(tau) + log1m(tau) - log(sigma) - 2 / sigma * away;
      },
      skew_laplace_log_cdf, skew_laplace_log_ccdf};
  table["von_mises"] = {
      2, false, [](P x) { return x[2] * cos(x[0] - x[1]) - std::log(2 * pi) - log_bessel_i(0, x[2]); },
      [](P x) { return log(von_mises_between(-pi, x[0], x)); },
      [](P x) { return log(von_mises_between(x[0], pi, x)); }};
  table["wiener"] = {4, false, wiener_log_density, nullptr, nullptr};
}

}  // namespace adit::stan::reference
