// The widened mixture: n observations, each from one of d normals around 0 whose scales are to be found.
//
//   sum_i logsumexp_k(log(1/d) + log normal(y_i | 0, max(sigma_k, 1e-8)))
//     + sum_k(log half_cauchy(sigma_k | 0.02) + q_k),   sigma = exp(q)
#pragma once

#include <cmath>
#include <numbers>

#include <adit/adit.hpp>

namespace adit::bench {

// As `rows` the terms are [n, d] and reduced along the last axis, else [d, n] along the first: the same
// number.
inline Tensor widened_log_density(const Tensor& q, const Tensor& y, bool rows) {
  constexpr double prior_scale = 0.02;
  const int64_t d = q.size(), n = y.size();
  const Tensor sigma = maximum(exp(q), 1e-8);
  const double constant = -std::log(static_cast<double>(d)) - 0.5 * std::log(2 * std::numbers::pi);
  const Shape across = rows ? Shape{1, d} : Shape{d, 1}, along = rows ? Shape{n, 1} : Shape{1, n};
  const Tensor z = reshape(y, along) * reshape(reciprocal(sigma), across);
  const Tensor terms = -0.5 * z * z + reshape(constant - log(sigma), across);
  const Tensor prior = std::log(2 / (std::numbers::pi * prior_scale)) - log1p(square(sigma / prior_scale));
  return sum(logsumexp(terms, {rows ? 1 : 0})) + sum(prior + q);
}

}  // namespace adit::bench
