// lognormal(mu, sigma): log X is normal. For x > 0, with z = (log x - mu) / sigma,
//   log p(x) = -z^2 / 2 - log sigma - log sqrt(2 pi) - log x.
#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

Distribution lognormal(Parameter mu, Parameter sigma) {
  const NamedParameter location = finite("lognormal", "mu", mu),
                       scale = positive("lognormal", "sigma", sigma);
  const auto standardised = [=](const Tensor& log_x) { return (log_x - location) * reciprocal(scale); };
  const auto log_inside = [](const Tensor& x) { return log(guarded(x > real(0), x, 1)); };
  return make_distribution(
      "lognormal", {location, scale}, constraint::positive(),
      {.log_density =
           [=](const Tensor& x) {
             const Tensor log_x = log_inside(x);
             return log_normal_density(standardised(log_x)) - log(scale) - log_x + support_term(x > real(0));
           },
       .draw = [=](const Tensor& key,
                   const Shape& shape) { return exp(location + scale * draw_normal(key, shape)); },
       .mean = [=] { return exp(location + real(0.5) * square(scale)); },
       .variance = [=] { return expm1(square(scale)) * exp(real(2) * location + square(scale)); },
       .log_cdf =
           [=](const Tensor& x) {
             return select(x > real(0), log_normal_cdf(standardised(log_inside(x))), minus_infinity());
           },
       .log_survival =
           [=](const Tensor& x) {
             return select(x > real(0), log_normal_cdf(-standardised(log_inside(x))), real(0));
           }});
}

}  // namespace adit
