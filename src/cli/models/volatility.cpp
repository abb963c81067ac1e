// Stochastic volatility over 100 days, 102 unknowns:
//
//   sigma ~ exponential(50), nu ~ exponential(0.1), s_1 ~ normal(0, sigma), s_t ~ normal(s_{t-1}, sigma)
//   r_t ~ student_t(nu, 0, exp(s_t))
//
// The returns are made up with sigma = 0.15 and nu = 10.
#include "cli/models/models.hpp"
#include "cli/models/source.hpp"

namespace adit::examples {

Model stochastic_volatility() {
  constexpr int64_t days = 100;
  Source source(102);
  std::vector<double> returns;
  double level = 0;
  for (int64_t t = 0; t < days; ++t) {
    level += 0.15 * source.normal();
    returns.push_back(rounded(std::exp(level) * source.student_t(10)));
  }
  Model model("sv");
  model.plate("day", days);
  const Tensor sigma = model.sample("sigma", exponential(50));
  const Tensor nu = model.sample("nu", exponential(0.1));
  const Tensor s = model.sample("s", gaussian_random_walk(sigma, days));
  model.observe("r", student_t(nu, 0, exp(s)), tensor(returns));
  return model;
}

}  // namespace adit::examples
