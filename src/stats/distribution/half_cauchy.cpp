// half_cauchy(scale), the absolute value of a Cauchy: for x >= 0, with z = x / scale,
//   log p(x) = log(2 / pi) - log scale - log(1 + z^2),   P(X > x) = 2 atan2(1, z) / pi.
#include <cmath>
#include <numbers>

#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

Distribution half_cauchy(Parameter scale) {
  const NamedParameter width = positive("half_cauchy", "scale", scale);
  const auto standardised = [=](const Tensor& x) { return x * reciprocal(width); };
  const Tensor two_over_pi = real(2 * std::numbers::inv_pi);
  const auto log_survival = [=](const Tensor& x) {
    const Tensor inside = x > real(0), z = standardised(guarded(inside, x, 0));
    return select(inside, log(two_over_pi * atan2(real(1), z)), real(0));
  };
  const auto log_cdf = [=](const Tensor& x) {
    const Tensor inside = x > real(0), z = standardised(guarded(inside, x, 1));
    const Tensor is_small = z < real(1);
    const Tensor below = log(two_over_pi * atan(guarded(is_small, z, 1)));
    const Tensor above = log1p(-two_over_pi * atan2(real(1), select(is_small, real(1), z)));
    return select(inside, select(is_small, below, above), minus_infinity());
  };
  return make_distribution(
      "half_cauchy", {width}, constraint::positive(),
      {.log_density =
           [=](const Tensor& x) {
             return -log1p(square(standardised(x))) - log(width) + real(std::log(2 * std::numbers::inv_pi)) +
                    support_term(x >= real(0));
           },
       .draw =
           [=](const Tensor& key, const Shape& shape) {
             return width * tan(real(std::numbers::pi / 2) * draw_open_uniform(key, shape));
           },
       .mean = [] { return infinity(); },
       .variance = [] { return infinity(); },
       .log_cdf = log_cdf,
       .log_survival = log_survival});
}

}  // namespace adit
