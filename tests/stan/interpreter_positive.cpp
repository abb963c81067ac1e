// Densities of positive numbers: x[0] is the variable, its parameters follow.
#include "interpreter_builtin.hpp"

namespace adit::stan::reference {

namespace {

using P = const Number*;

Number gamma_log_density(const Number& x, const Number& shape, const Number& rate) {
  if (x.value < 0) return -infinity;
  return x_log_y(shape, rate) - lgamma(shape) + (shape - 1) * log(x) - rate * x;
}
Number inverse_gamma_log_density(const Number& x, const Number& shape, const Number& scale) {
  if (x.value <= 0) return -infinity;
  return x_log_y(shape, scale) - lgamma(shape) - (shape + 1) * log(x) - scale / x;
}

Number at_least(double bound, const Number& x, const Number& inside) {
  return x.value < bound ? Number(-infinity) : inside;
}
Number weibull_power(P x) { return pow(x[0] / x[2], x[1]); }
Number log_normal_z(P x) { return (log(x[0]) - x[1]) / x[2]; }

}  // namespace

void add_more_continuous(std::unordered_map<std::string, Univariate>& table) {
  table["gamma"] = {2, false, [](P x) { return gamma_log_density(x[0], x[1], x[2]); },
                    [](P x) { return log_gamma_p(x[1], x[2] * x[0]); },
                    [](P x) { return log_gamma_q(x[1], x[2] * x[0]); }};
  table["chi_square"] = {1, false, [](P x) { return gamma_log_density(x[0], 0.5 * x[1], 0.5); },
                         [](P x) { return log_gamma_p(0.5 * x[1], 0.5 * x[0]); },
                         [](P x) { return log_gamma_q(0.5 * x[1], 0.5 * x[0]); }};
  table["inv_gamma"] = {2, false, [](P x) { return inverse_gamma_log_density(x[0], x[1], x[2]); },
                        [](P x) { return log_gamma_q(x[1], x[2] / x[0]); },
                        [](P x) { return log_gamma_p(x[1], x[2] / x[0]); }};
  table["inv_chi_square"] = {1, false, [](P x) { return inverse_gamma_log_density(x[0], 0.5 * x[1], 0.5); },
                             [](P x) { return log_gamma_q(0.5 * x[1], 0.5 / x[0]); },
                             [](P x) { return log_gamma_p(0.5 * x[1], 0.5 / x[0]); }};
  table["scaled_inv_chi_square"] = {
      2, false, [](P x) { return inverse_gamma_log_density(x[0], 0.5 * x[1], 0.5 * x[1] * square(x[2])); },
      [](P x) { return log_gamma_q(0.5 * x[1], 0.5 * x[1] * square(x[2]) / x[0]); },
      [](P x) { return log_gamma_p(0.5 * x[1], 0.5 * x[1] * square(x[2]) / x[0]); }};
  table["exponential"] = {1, false, [](P x) { return at_least(0, x[0], log(x[1]) - x[1] * x[0]); },
                          [](P x) { return x[0].value <= 0 ? Number(-infinity) : log1m_exp(-x[1] * x[0]); },
                          [](P x) { return x[0].value <= 0 ? Number(0) : -x[1] * x[0]; }};
  table["lognormal"] = {2, false,
                        [](P x) {
                          if (x[0].value < 0) return Number(-infinity);
                          return -0.5 * square(log_normal_z(x)) - half_log_two_pi - log(x[2]) - log(x[0]);
                        },
                        [](P x) { return x[0].value <= 0 ? Number(-infinity) : log_phi(log_normal_z(x)); },
                        [](P x) { return x[0].value <= 0 ? Number(0) : log_phi(-log_normal_z(x)); }};
  table["weibull"] = {2, false,
                      [](P x) {
                        if (x[0].value < 0) return Number(-infinity);
                        return log(x[1]) - log(x[2]) + x_log_y(x[1] - 1, x[0] / x[2]) - weibull_power(x);
                      },
                      [](P x) { return x[0].value <= 0 ? Number(-infinity) : log1m_exp(-weibull_power(x)); },
                      [](P x) { return x[0].value <= 0 ? Number(0) : -weibull_power(x); }};
  table["frechet"] = {
      2, false,
      [](P x) {
        if (x[0].value <= 0) return Number(-infinity);
        return log(x[1]) - log(x[2]) - (x[1] + 1) * log(x[0] / x[2]) - pow(x[0] / x[2], -x[1]);
      },
      [](P x) { return -pow(x[0] / x[2], -x[1]); }, [](P x) { return log1m_exp(-pow(x[0] / x[2], -x[1])); }};
  table["rayleigh"] = {
      1, false, [](P x) { return at_least(0, x[0], log(x[0]) - 2 * log(x[1]) - 0.5 * square(x[0] / x[1])); },
      [](P x) { return log1m_exp(-0.5 * square(x[0] / x[1])); },
      [](P x) { return -0.5 * square(x[0] / x[1]); }};
  table["loglogistic"] = {2, false,
                          [](P x) {
                            if (x[0].value < 0) return Number(-infinity);
                            const Number z = x[2] * log(x[0] / x[1]);
                            return log(x[2]) - log(x[0]) + log_inv_logit(z) + log1m_inv_logit(z);
                          },
                          [](P x) { return log_inv_logit(x[2] * log(x[0] / x[1])); },
                          [](P x) { return log1m_inv_logit(x[2] * log(x[0] / x[1])); }};
  table["pareto"] = {2, false,
                     [](P x) {
                       if (x[0] < x[1]) return Number(-infinity);
                       return log(x[2]) + x[2] * log(x[1]) - (x[2] + 1) * log(x[0]);
                     },
                     [](P x) { return x[0] < x[1] ? Number(-infinity) : log1m_exp(x[2] * log(x[1] / x[0])); },
                     [](P x) { return x[0] < x[1] ? Number(0) : x[2] * log(x[1] / x[0]); }};
  table["pareto_type_2"] = {3, false,
                            [](P x) {
                              if (x[0] < x[1]) return Number(-infinity);
                              return log(x[3]) - log(x[2]) - (x[3] + 1) * log1p((x[0] - x[1]) / x[2]);
                            },
                            [](P x) { return log1m_exp(-x[3] * log1p((x[0] - x[1]) / x[2])); },
                            [](P x) { return -x[3] * log1p((x[0] - x[1]) / x[2]); }};
}

}  // namespace adit::stan::reference
