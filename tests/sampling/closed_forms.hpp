// Models beside their log densities and gradients in closed form, normalised, on the unconstrained scale.
// Every variable has a scale of its own, so that a permutation shows.
#pragma once

#include <numbers>

#include <adit/model.hpp>

#include "reference_nuts.hpp"

namespace adit::test {

template <size_t D>
struct ClosedForm {
  std::string name;
  Model model;
  DensityAt<D> density;
};

inline const double half_log_two_pi = std::log(2 * std::numbers::pi) / 2;

// The log density of a normal; its derivative is added to `slope`.
inline double normal_term(double x, double mu, double sigma, double& slope) {
  const double z = (x - mu) / sigma;
  slope -= z / sigma;
  return -z * z / 2 - std::log(sigma) - half_log_two_pi;
}

inline ClosedForm<3> normals() {
  Model model("normals");
  const Place<3> mu{1, -2, 30}, sigma{0.01, 1, 25};
  model.sample("a", normal(mu[0], sigma[0]));
  model.sample("b", normal(tensor({mu[1], mu[2]}), tensor({sigma[1], sigma[2]})), {2});
  return {"normals", model, [=](const Place<3>& q, Place<3>& g) {
            double lp = 0;
            g = {};
            for (size_t i = 0; i < 3; ++i) lp += normal_term(q[i], mu[i], sigma[i], g[i]);
            return lp;
          }};
}

// Five numbers with covariance L L^T.
inline ClosedForm<5> correlated() {
  constexpr size_t n = 5;
  const Place<n> mu{0.5, -1, 2, 0, 3};
  const std::array<double, n * n> factor{0.5, 0, 0,   0,   0,    0.9, 0.4, 0, 0, 0,   -1,   2, 0.7,
                                         0,   0, 0.2, 0.1, -0.3, 1.5, 0,   4, 1, 0.5, -0.5, 2};
  Model model("correlated");
  model.sample("x", multi_normal_cholesky(tensor(std::vector(mu.begin(), mu.end())),
                                          tensor(std::vector(factor.begin(), factor.end()), {5, 5})));
  return {"correlated", model, [=](const Place<n>& q, Place<n>& g) {
            Place<n> z{};
            double lp = -half_log_two_pi * n;
            for (size_t i = 0; i < n; ++i) {
              z[i] = q[i] - mu[i];
              for (size_t j = 0; j < i; ++j) z[i] -= factor[i * n + j] * z[j];
              z[i] /= factor[i * n + i];
              lp -= z[i] * z[i] / 2 + std::log(factor[i * n + i]);
            }
            for (size_t i = n; i-- > 0;) {
              g[i] = -z[i];
              for (size_t j = i + 1; j < n; ++j) g[i] -= factor[j * n + i] * g[j];
              g[i] /= factor[i * n + i];
            }
            return lp;
          }};
}

// mu, log tau and the z of the non-centred form, as the built-in example has them.
inline double eight_schools_lp(const Place<10>& q, Place<10>& g) {
  constexpr std::array<double, 8> y{28, 8, -3, 7, -1, 1, 18, 12}, sigma{15, 10, 16, 11, 9, 11, 10, 18};
  g = {};
  const double mu = q[0], tau = std::exp(q[1]);
  double lp =
      normal_term(mu, 0, 5, g[0]) + std::log(2 / (std::numbers::pi * 5)) - std::log1p(tau * tau / 25) + q[1];
  g[1] = 1 - 2 * tau * tau / (25 + tau * tau);
  for (size_t j = 0; j < 8; ++j) {
    const double z = q[2 + j];
    double pull = 0;  // on y, and so on theta the other way
    lp += normal_term(z, 0, 1, g[2 + j]) + normal_term(y[j], mu + tau * z, sigma[j], pull);
    g[0] -= pull;
    g[1] -= pull * tau * z;
    g[2 + j] -= pull * tau;
  }
  return lp;
}

// Neal's funnel, centred, of five variables: chains diverge in its neck.
inline ClosedForm<5> funnel() {
  Model model("funnel");
  const Tensor y = model.sample("y", normal(0, 3));
  model.sample("x", normal(0, exp(y / 2)), {4});
  return {"funnel", model, [](const Place<5>& q, Place<5>& g) {
            g = {};
            double lp = normal_term(q[0], 0, 3, g[0]);
            for (size_t i = 1; i < 5; ++i) {
              const double square = q[i] * q[i] * std::exp(-q[0]);
              lp -= square / 2 + q[0] / 2 + half_log_two_pi;
              g[0] += square / 2 - 0.5;
              g[i] = -q[i] * std::exp(-q[0]);
            }
            return lp;
          }};
}

// Student's t with 2 degrees of freedom: no variance, long trajectories.
inline ClosedForm<4> heavy_tails() {
  const Place<4> mu{0, 1, -5, 20}, sigma{0.7, 1, 3, 5};
  const double nu = 2;
  Model model("heavy_tails");
  model.sample("x", student_t(nu, tensor(std::vector(mu.begin(), mu.end())),
                              tensor(std::vector(sigma.begin(), sigma.end()))));
  return {"heavy_tails", model, [=](const Place<4>& q, Place<4>& g) {
            double lp =
                4 * (std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2) - std::log(nu * std::numbers::pi) / 2);
            for (size_t i = 0; i < 4; ++i) {
              const double z = (q[i] - mu[i]) / sigma[i];
              lp -= std::log(sigma[i]) + (nu + 1) / 2 * std::log1p(z * z / nu);
              g[i] = -(nu + 1) * z / (nu + z * z) / sigma[i];
            }
            return lp;
          }};
}

}  // namespace adit::test
