// Distributions: log density, support, random draws, mean and variance, as graphs of tensors.
//
//   normal(0, 5).log_density(x);              // of x's shape, broadcast with the parameters
//   poisson(rate).draw(key, {1000, 8});
//
// Parameters are numbers or tensors and broadcast together; everything is computed in f64 here, and a sampler
// narrows a model's graph to its precision. Densities are normalised. Bad parameters whose values are known
// throw `[normal] sigma: expected ..., got ...`; so do shapes that would make an array which none of them is,
// as [5] beside [5, 1] would make [5, 5].
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <adit/constraint.hpp>

#pragma GCC visibility push(default)
namespace adit {

// What a parameter may be, in words and as a test.
struct Domain {
  const char* expected;  // "a positive number"
  bool (*holds)(double);
};
// A parameter with its name and its domain.
struct NamedParameter {
  std::string name;
  Tensor value;
  const Domain* domain = nullptr;
  operator const Tensor&() const { return value; }
};

struct Distribution {
  std::string name;
  Shape batch;  // of the parameters, broadcast together
  Shape event;  // of one draw: {} for numbers, {K} for a simplex or a vector, {K, K} for a matrix
  Constraint support;
  // One number an event; x has the batch's shape (or broadcasts with it, so that one of the two has the
  // result's) followed by the event's.
  std::function<Tensor(const Tensor& x)> log_density;
  // Draws of shape `shape` (which ends with batch and event), f64; integers as f64 too.
  std::function<Tensor(const Tensor& key, const Shape& shape)> draw;
  std::function<Tensor()> mean, variance;  // of shape batch + event; NaN or infinity where there is none
  // The logarithm of P(X <= x) and P(X > x); empty where there is no closed form. Censoring and truncation
  // use them.
  std::function<Tensor(const Tensor&x)> log_cdf, log_survival;
  // Location and scale, where x = location + scale z with a standard z of the same family: what a non-centred
  // form needs. Empty where there is none.
  Tensor location, scale;
  std::function<Distribution()> standard;
  // What a model checks of the parameters: those that follow from data when data are set, those that follow
  // from variables where a run fails.
  std::vector<NamedParameter> parameters{};
};

// Continuous
Distribution normal(Parameter mu, Parameter sigma);
Distribution half_normal(Parameter sigma);
Distribution lognormal(Parameter mu, Parameter sigma);
Distribution student_t(Parameter nu, Parameter mu, Parameter sigma);
Distribution cauchy(Parameter location, Parameter scale);
Distribution half_cauchy(Parameter scale);
Distribution exponential(Parameter rate);
Distribution gamma(Parameter shape, Parameter rate);
Distribution inv_gamma(Parameter shape, Parameter scale);
Distribution beta(Parameter a, Parameter b);
Distribution uniform(Parameter low, Parameter high);
Distribution laplace(Parameter mu, Parameter scale);
Distribution logistic(Parameter mu, Parameter scale);
Distribution weibull(Parameter shape, Parameter scale);
Distribution truncated_normal(Parameter mu, Parameter sigma, Parameter low,
                              Parameter high);  // infinite bounds allowed
// Discrete
Distribution bernoulli(Parameter p);
Distribution bernoulli_logit(Parameter logit);
Distribution binomial(Parameter count, Parameter p);
Distribution binomial_logit(Parameter count, Parameter logit);
Distribution poisson(Parameter rate);
Distribution poisson_log(Parameter log_rate);
Distribution neg_binomial_2(Parameter mean, Parameter dispersion);  // variance mean + mean^2 / dispersion
Distribution categorical(const Tensor& p);  // the last axis holds the classes, 0 .. K - 1
Distribution categorical_logit(const Tensor& logits);
// Vectors and matrices
Distribution dirichlet(const Tensor& concentration);
Distribution multi_normal(const Tensor& mean, const Tensor& covariance);
Distribution multi_normal_cholesky(const Tensor& mean, const Tensor& factor);
Distribution lkj_corr_cholesky(int64_t size, Parameter shape);
Distribution gaussian_random_walk(Parameter sigma,
                                  int64_t steps);  // x1 ~ N(0, sigma), x_t ~ N(x_{t-1}, sigma)
// Made of others
// Weights broadcast to the components' batch on all but the last axis, which counts the components.
Distribution mixture(const Tensor& weights, std::vector<Distribution> components);
// Values at or beyond a bound were seen only as the bound; an infinite bound censors nothing.
Distribution censored(const Distribution& inner, Parameter low, Parameter high);
// Any traced log density of x, one number an event.
Distribution custom(std::string name, std::function<Tensor(const Tensor&)> log_density,
                    Constraint support = constraint::real(), Shape event = {},
                    std::function<Tensor(const Tensor& key, const Shape& shape)> draw = {});

}  // namespace adit
#pragma GCC visibility pop
