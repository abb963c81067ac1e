// cauchy(location, scale): with z = (x - location) / scale,
//   log p(x) = -log(1 + z^2) - log scale - log pi,   P(X <= x) = atan2(1, -z) / pi.
#include <cmath>
#include <numbers>

#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

Distribution cauchy(Parameter location, Parameter scale) {
  const NamedParameter middle = finite("cauchy", "location", location),
                       width = positive("cauchy", "scale", scale);
  const auto standardised = [=](const Tensor& x) { return (x - middle) * reciprocal(width); };
  const auto log_cdf = [](const Tensor& z) {
    const Tensor tail = atan2(real(1), distance(z)) * real(std::numbers::inv_pi);
    return log_of_side(tail, z > real(0));
  };
  Distribution made = make_distribution(
      "cauchy", {middle, width}, constraint::real(),
      {.log_density =
           [=](const Tensor& x) {
             return -log1p(square(standardised(x))) - log(width) - real(std::log(std::numbers::pi));
           },
       .draw =
           [=](const Tensor& key, const Shape& shape) {
             const Tensor u = draw_open_uniform(key, shape);
             return middle + width * tan(real(std::numbers::pi) * (u - real(0.5)));
           },
       .mean = [] { return not_a_number(); },
       .variance = [] { return not_a_number(); },
       .log_cdf = [=](const Tensor& x) { return log_cdf(standardised(x)); },
       .log_survival = [=](const Tensor& x) { return log_cdf(-standardised(x)); }});
  made.location = middle;
  made.scale = width;
  made.standard = [] { return cauchy(0, 1); };
  return made;
}

}  // namespace adit
