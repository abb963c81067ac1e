// logistic(mu, scale): with z = (x - mu) / scale,
//   log p(x) = -|z| - 2 log(1 + exp(-|z|)) - log scale,   P(X <= x) = sigmoid(z).
#include <numbers>

#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

Distribution logistic(Parameter mu, Parameter scale) {
  const NamedParameter location = finite("logistic", "mu", mu), width = positive("logistic", "scale", scale);
  const auto standardised = [=](const Tensor& x) { return (x - location) * reciprocal(width); };
  Distribution made = make_distribution(
      "logistic", {location, width}, constraint::real(),
      {.log_density =
           [=](const Tensor& x) {
             const Tensor away = abs(standardised(x));
             return -away - real(2) * softplus(-away) - log(width);
           },
       .draw =
           [=](const Tensor& key, const Shape& shape) {
             const Tensor u = draw_open_uniform(key, shape);
             return location + width * (log(u) - log1p(-u));
           },
       .mean = [=] { return location; },
       .variance = [=] { return square(width) * real(std::numbers::pi * std::numbers::pi / 3); },
       .log_cdf = [=](const Tensor& x) { return log_sigmoid(standardised(x)); },
       .log_survival = [=](const Tensor& x) { return log_sigmoid(-standardised(x)); }});
  made.location = location;
  made.scale = width;
  made.standard = [] { return logistic(0, 1); };
  return made;
}

}  // namespace adit
