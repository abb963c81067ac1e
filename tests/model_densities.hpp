// Densities once more, in plain C++, for tests of models.
#pragma once

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include <adit/model.hpp>

namespace adit::test {

using Numbers = std::vector<double>;

inline double normal_lp(double x, double mu, double sigma) {
  const double z = (x - mu) / sigma;
  return -z * z / 2 - std::log(sigma) - std::log(2 * std::numbers::pi) / 2;
}
inline double half_cauchy_lp(double x, double scale) {
  return std::log(2 / std::numbers::pi) - std::log(scale) - std::log1p(x / scale * (x / scale));
}
inline double exponential_lp(double x, double rate) { return std::log(rate) - rate * x; }
inline double student_t_lp(double x, double nu, double sigma) {
  const double z = x / sigma;
  return std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2) - std::log(nu * std::numbers::pi) / 2 -
         std::log(sigma) - (nu + 1) / 2 * std::log1p(z * z / nu);
}
inline double bernoulli_lp(double y, double logit) {
  const double signed_logit = y == 1 ? logit : -logit;
  return signed_logit > 0 ? -std::log1p(std::exp(-signed_logit))
                          : signed_logit - std::log1p(std::exp(signed_logit));
}

inline Numbers random_point(int64_t size, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  Numbers u(static_cast<size_t>(size));
  for (double& v : u) v = number(generator);
  return u;
}

inline double density_at(const Model& model, const Numbers& u) {
  return model.log_density(tensor(u)).item<double>();
}

}  // namespace adit::test
