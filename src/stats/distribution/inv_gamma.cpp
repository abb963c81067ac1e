// inv_gamma(shape a, scale b), the reciprocal of a gamma(a, b): for x > 0,
//   log p(x) = a log b - log gamma(a) - (a + 1) log x - b / x.
#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

Distribution inv_gamma(Parameter shape, Parameter scale) {
  const NamedParameter a = positive("inv_gamma", "shape", shape), b = positive("inv_gamma", "scale", scale);
  const auto log_density = [=](const Tensor& x) {
    const Tensor inside = x > real(0), safe = guarded(inside, x, 1);
    return only_where(a, a > real(0), a * log(b) - lgamma(a)) - (a + real(1)) * log(safe) -
           b * reciprocal(safe) + support_term(inside);
  };
  const auto mean = [=] {
    const Tensor exists = a > real(1);
    return select(exists, b / guarded(exists, a - real(1), 1), infinity());
  };
  return make_distribution(
      "inv_gamma", {a, b}, constraint::positive(),
      {.log_density = log_density,
       .draw = [=](const Tensor& key, const Shape& of) { return b / draw_gamma(key, a, of); },
       .mean = mean,
       .variance =
           [=] {
             const Tensor exists = a > real(2);
             return select(exists, square(mean()) / guarded(exists, a - real(2), 1), infinity());
           }});
}

}  // namespace adit
