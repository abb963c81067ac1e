// Generalised linear models: one product x beta for all observations and lanes, then the density. A row
// vector x is one observation for all.
#include <array>

#include "stan/functions/classes.hpp"
#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

Part matrix_of(const Part& x) { return x.axes() == 1 ? as_row(x) : x; }
// x beta + alpha along the observations.
Part predictor(const Arguments& a, size_t x, size_t alpha, size_t beta) {
  const Part product = times_vector(matrix_of(part(a, x)), part(a, beta));
  return elementwise(product, part(a, alpha), [](const Tensor& p, const Tensor& q) { return p + q; });
}

Tensor normal_id_glm_lpdf(const Arguments& a) {  // y | x, alpha, beta, sigma
  return total(a, elementwise(part(a, 0), predictor(a, 1, 2, 3), part(a, 4), log_normal));
}
Tensor bernoulli_logit_glm_lpmf(const Arguments& a) {
  return total(a, elementwise(part(a, 0), predictor(a, 1, 2, 3), log_bernoulli_logit));
}
Tensor poisson_log_glm_lpmf(const Arguments& a) {
  return total(a, elementwise(part(a, 0), predictor(a, 1, 2, 3), log_poisson_log));
}
Tensor neg_binomial_2_log_glm_lpmf(const Arguments& a) {  // y | x, alpha, beta, phi
  return total(a, elementwise(part(a, 0), predictor(a, 1, 2, 3), part(a, 4), log_neg_binomial_2_log));
}
Tensor binomial_logit_glm_lpmf(const Arguments& a) {  // y | N, x, alpha, beta
  return total(a, elementwise(part(a, 0), part(a, 1), predictor(a, 2, 3, 4), log_binomial_logit));
}
// y | x, alpha [K], beta [D, K]
Tensor categorical_logit_glm_lpmf(const Arguments& a) {
  const Part y = part(a, 0), alpha = as_row(part(a, 2));
  const Part logits = elementwise(times(matrix_of(part(a, 1)), part(a, 3)), alpha,
                                  [](const Tensor& p, const Tensor& q) { return p + q; });
  return total(a, {log_class_by_logits(widened(y, 1).x, logits.x), y.in_lanes || logits.in_lanes});
}
// y | x, beta, cut points
Tensor ordered_logistic_glm_lpmf(const Arguments& a) {
  const Part y = widened(part(a, 0), 1), eta = times_vector(matrix_of(part(a, 1)), part(a, 2));
  const Part cuts = as_row(part(a, 3));
  return total(a, {log_ordered_logistic(y.x, eta.x, cuts.x), y.in_lanes || eta.in_lanes || cuts.in_lanes});
}

// x, alpha, beta: one draw an observation
Tensor bernoulli_logit_glm_rng(const Arguments& a) {
  const Tensor eta = finished(a, predictor(a, 0, 1, 2));
  return as_type(random::bernoulli(a.key, sigmoid(eta), eta.shape()), DType::i64);
}

constexpr std::array glm_table{
    GeneralFunction{"bernoulli_logit_glm_lpmf", bernoulli_logit_glm_lpmf},
    GeneralFunction{"bernoulli_logit_glm_rng", bernoulli_logit_glm_rng},
    GeneralFunction{"binomial_logit_glm_lpmf", binomial_logit_glm_lpmf},
    GeneralFunction{"categorical_logit_glm_lpmf", categorical_logit_glm_lpmf},
    GeneralFunction{"neg_binomial_2_log_glm_lpmf", neg_binomial_2_log_glm_lpmf},
    GeneralFunction{"normal_id_glm_lpdf", normal_id_glm_lpdf},
    GeneralFunction{"ordered_logistic_glm_lpmf", ordered_logistic_glm_lpmf},
    GeneralFunction{"poisson_log_glm_lpmf", poisson_log_glm_lpmf},
};

}  // namespace

std::span<const GeneralFunction> glm_functions() { return glm_table; }

}  // namespace adit::stan
