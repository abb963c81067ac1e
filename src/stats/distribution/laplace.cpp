// laplace(mu, scale): with z = (x - mu) / scale,
//   log p(x) = -|z| - log scale - log 2,   the smaller tail is exp(-|z|) / 2.
#include <numbers>

#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

Distribution laplace(Parameter mu, Parameter scale) {
  const NamedParameter location = finite("laplace", "mu", mu), width = positive("laplace", "scale", scale);
  const auto standardised = [=](const Tensor& x) { return (x - location) * reciprocal(width); };
  // Below the middle the logarithm of the tail itself, which never underflows.
  const auto log_cdf = [](const Tensor& z) {
    const Tensor log_tail = -distance(z) - real(std::numbers::ln2);
    return select(z > real(0), log1p(-exp(log_tail)), log_tail);
  };
  Distribution made = make_distribution(
      "laplace", {location, width}, constraint::real(),
      {.log_density =
           [=](const Tensor& x) { return -abs(standardised(x)) - log(width) - real(std::numbers::ln2); },
       .draw =
           [=](const Tensor& key, const Shape& shape) {
             const Tensor side = real(2) * draw_open_uniform(key, shape) - real(1);
             return location - width * sign(side) * log1p(-abs(side));
           },
       .mean = [=] { return location; },
       .variance = [=] { return real(2) * square(width); },
       .log_cdf = [=](const Tensor& x) { return log_cdf(standardised(x)); },
       .log_survival = [=](const Tensor& x) { return log_cdf(-standardised(x)); }});
  made.location = location;
  made.scale = width;
  made.standard = [] { return laplace(0, 1); };
  return made;
}

}  // namespace adit
