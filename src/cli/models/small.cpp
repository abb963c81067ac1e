// Small models of normals, after the race of eXMC and PyMC; all data are made up with the stated truths.
#include "cli/models/models.hpp"
#include "cli/models/source.hpp"

namespace adit::examples {

// mu ~ normal(0, 10), sigma ~ exponential(1); 50 numbers with mu = 3, sigma = 1.5.
Model simple() {
  Source source(2);
  Model model("simple");
  const Tensor mu = model.sample("mu", normal(0, 10));
  const Tensor sigma = model.sample("sigma", exponential(1));
  model.observe("y", normal(mu, sigma), tensor(normals(source, 50, 3, 1.5)));
  return model;
}

// Two groups of 30 under one population; alpha = 4, beta = 7, sigma_obs = 0.8.
Model medium() {
  Source source(5);
  Model model("medium");
  const Tensor mu = model.sample("mu_global", normal(0, 10));
  const Tensor sigma = model.sample("sigma_global", exponential(1));
  const Tensor alpha = model.sample("alpha", normal(mu, sigma));
  const Tensor beta = model.sample("beta", normal(mu, sigma));
  const Tensor noise = model.sample("sigma_obs", exponential(2));
  model.observe("y_alpha", normal(alpha, noise), tensor(normals(source, 30, 4, 0.8)));
  model.observe("y_beta", normal(beta, noise), tensor(normals(source, 30, 7, 0.8)));
  return model;
}

// Three groups of 40, each with its own noise; groups at 0.5, 3 and 5.5, noise 1.
Model stress() {
  Source source(8);
  Model model("stress");
  const Plate cohort = model.plate("cohort", 3);
  const Tensor mu = model.sample("mu_pop", normal(0, 10));
  const Tensor sigma = model.sample("sigma_pop", exponential(0.5));
  const Tensor group = model.sample("group", normal(mu, sigma), {cohort});
  const Tensor noise = model.sample("noise", exponential(1), {cohort});
  std::vector<double> y;
  for (int i = 0; i < 40; ++i)
    for (const double centre : {0.5, 3.0, 5.5}) y.push_back(rounded(centre + source.normal()));
  model.observe("y", normal(group, noise), tensor(y, {40, 3}));
  return model;
}

// Neal's funnel (2003): y ~ normal(0, 3), x_i ~ normal(0, exp(y / 2)), i = 1 .. 9. The variance of y is 9, of
// x exp(9 / 2), which is 90.
Model funnel() {
  Model model("funnel");
  const Tensor y = model.sample("y", normal(0, 3));
  model.sample("x", normal(0, exp(y / 2)), {9});
  return model;
}

}  // namespace adit::examples
