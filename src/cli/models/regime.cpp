// Returns from one of three regimes: volatile, trending, mean reverting. 8 unknowns, 200 observations.
//
//   y_i ~ w_vol N(0, sigma_vol) + w_trend N(mu_trend, sigma_trend) + w_mr N(0, sigma_mr)
//   (w_vol, w_trend, w_mr) = softmax(0, min(logit_w1, 10), min(logit_w2, 10)), scales of at least 1e-8
//
// Priors: mu_trend ~ normal(0, 1), mu_mr ~ normal(0, 0.5), logit_w1, logit_w2 ~ normal(0, 1);
// sigma_trend, theta_mr, sigma_mr ~ half_cauchy(1), sigma_vol ~ half_cauchy(2). mu_mr and theta_mr do not
// enter the likelihood: their posterior is their prior. The volatile and the mean reverting regime may change
// places, so that there is more than one mode. The data are made up: weights 0.3, 0.3, 0.4; mu_trend = 1,
// sigma_trend = 0.5, sigma_mr = 0.3, sigma_vol = 2.
#include "cli/models/models.hpp"
#include "cli/models/source.hpp"

namespace adit::examples {

namespace {

std::vector<double> made_up() {
  Source source(8200);
  std::vector<double> y;
  for (int i = 0; i < 200; ++i) {
    const double which = source.uniform(), z = source.normal();
    y.push_back(rounded(which < 0.3 ? 2 * z : which < 0.6 ? 1 + 0.5 * z : 0.3 * z));
  }
  return y;
}

}  // namespace

Model regime() {
  Model model("regime");
  const auto floored = [](const Tensor& sigma) { return maximum(sigma, 1e-8); };
  const Tensor mu_trend = model.sample("mu_trend", normal(0, 1));
  const Tensor sigma_trend = model.sample("sigma_trend", half_cauchy(1));
  model.sample("mu_mr", normal(0, 0.5));
  model.sample("theta_mr", half_cauchy(1));
  const Tensor sigma_mr = model.sample("sigma_mr", half_cauchy(1));
  const Tensor sigma_vol = model.sample("sigma_vol", half_cauchy(2));
  const Tensor first = minimum(model.sample("logit_w1", normal(0, 1)), 10.0);
  const Tensor second = minimum(model.sample("logit_w2", normal(0, 1)), 10.0);
  const Tensor weights = softmax(stack({tensor(0.0), first, second}));
  model.observe("y",
                mixture(weights, {normal(0, floored(sigma_vol)), normal(mu_trend, floored(sigma_trend)),
                                  normal(0, floored(sigma_mr))}),
                tensor(made_up()));
  return model;
}

}  // namespace adit::examples
