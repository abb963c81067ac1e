// normal(mu, sigma): with z = (x - mu) / sigma,
//   log p(x) = -z^2 / 2 - log sigma - log sqrt(2 pi).
#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

Distribution normal(Parameter mu, Parameter sigma) {
  const NamedParameter location = finite("normal", "mu", mu), scale = positive("normal", "sigma", sigma);
  const auto standardised = [=](const Tensor& x) { return (x - location) * reciprocal(scale); };
  Distribution made = make_distribution(
      "normal", {location, scale}, constraint::real(),
      {.log_density = [=](const Tensor& x) { return log_normal_density(standardised(x)) - log(scale); },
       .draw = [=](const Tensor& key,
                   const Shape& shape) { return location + scale * draw_normal(key, shape); },
       .mean = [=] { return location; },
       .variance = [=] { return square(scale); },
       .log_cdf = [=](const Tensor& x) { return log_normal_cdf(standardised(x)); },
       .log_survival = [=](const Tensor& x) { return log_normal_cdf(-standardised(x)); }});
  made.location = location;
  made.scale = scale;
  made.standard = [] { return normal(0, 1); };
  return made;
}

}  // namespace adit
