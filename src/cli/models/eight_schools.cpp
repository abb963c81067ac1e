// Eight schools (Rubin 1981): effects of coaching in eight schools, each measured with its own error.
//
//   mu ~ normal(0, 5), tau ~ half_cauchy(5), theta_j ~ normal(mu, tau), y_j ~ normal(theta_j, sigma_j)
//
// Centred, it is the classic of divergences: a run must report them. Non-centred, theta = mu + tau z.
#include "cli/models/models.hpp"

namespace adit::examples {

namespace {

Tensor effects() { return tensor({28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0}); }
Tensor errors() { return tensor({15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0}); }
Plate schools(Model& model) { return model.plate("school", 8, {"A", "B", "C", "D", "E", "F", "G", "H"}); }

}  // namespace

Model eight_schools_centered() {
  Model model("eight_schools_centered");
  const Plate school = schools(model);
  const Tensor mu = model.sample("mu", normal(0, 5));
  const Tensor tau = model.sample("tau", half_cauchy(5));
  const Tensor theta = model.sample("theta", normal(mu, tau), {school});
  model.observe("y", normal(theta, model.data("sigma", errors())), effects());
  return model;
}

Model eight_schools_noncentered() {
  Model model("eight_schools_noncentered");
  const Plate school = schools(model);
  const Tensor mu = model.sample("mu", normal(0, 5));
  const Tensor tau = model.sample("tau", half_cauchy(5));
  const Tensor z = model.sample("z", normal(0, 1), {school});
  const Tensor theta = model.deterministic("theta", mu + tau * z, {school});
  model.observe("y", normal(theta, model.data("sigma", errors())), effects());
  return model;
}

}  // namespace adit::examples
