// half_normal(sigma), the absolute value of a normal: for x >= 0, with z = x / sigma,
//   log p(x) = -z^2 / 2 - log sigma + log sqrt(2 / pi),   P(X <= x) = erf(z / sqrt 2).
#include <numbers>

#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

Distribution half_normal(Parameter sigma) {
  const NamedParameter scale = positive("half_normal", "sigma", sigma);
  const auto standardised = [=](const Tensor& x) { return x * reciprocal(scale); };
  // P(X > x) = 2 P(Z > z).
  const auto log_survival = [=](const Tensor& x) {
    const Tensor inside = x > real(0);
    return select(inside, real(std::numbers::ln2) + log_normal_cdf(-standardised(guarded(inside, x, 0))),
                  real(0));
  };
  const auto log_cdf = [=](const Tensor& x) {
    const Tensor inside = x > real(0), z = standardised(guarded(inside, x, 1));
    const Tensor is_small = z < real(1), root_half = real(1 / std::numbers::sqrt2);
    const Tensor by_erf = log(erf(guarded(is_small, z, 1) * root_half));
    const Tensor by_erfc = log1p(-erfc(select(is_small, real(1), z) * root_half));
    return select(inside, select(is_small, by_erf, by_erfc), minus_infinity());
  };
  return make_distribution(
      "half_normal", {scale}, constraint::positive(),
      {.log_density =
           [=](const Tensor& x) {
             return log_normal_density(standardised(x)) + real(std::numbers::ln2) - log(scale) +
                    support_term(x >= real(0));
           },
       .draw = [=](const Tensor& key, const Shape& shape) { return scale * abs(draw_normal(key, shape)); },
       .mean = [=] { return scale * real(std::numbers::inv_sqrtpi * std::numbers::sqrt2); },
       .variance = [=] { return square(scale) * real(1 - 2 * std::numbers::inv_pi); },
       .log_cdf = log_cdf,
       .log_survival = log_survival});
}

}  // namespace adit
