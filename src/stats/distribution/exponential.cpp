// exponential(rate): for x >= 0,
//   log p(x) = log rate - rate x,   P(X > x) = exp(-rate x).
#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

Distribution exponential(Parameter rate) {
  const NamedParameter r = positive("exponential", "rate", rate);
  // Outside nothing is left out: -rate x would be infinite at -infinity.
  const auto log_survival = [=](const Tensor& x) { return -r * guarded(x > real(0), x, 0); };
  return make_distribution(
      "exponential", {r}, constraint::positive(),
      {.log_density =
           [=](const Tensor& x) {
             const Tensor inside = x >= real(0);
             return log(r) - r * guarded(inside, x, 0) + support_term(inside);
           },
       .draw = [=](const Tensor& key,
                   const Shape& shape) { return draw_exponential(key, shape) * reciprocal(r); },
       .mean = [=] { return reciprocal(r); },
       .variance = [=] { return square(reciprocal(r)); },
       .log_cdf =
           [=](const Tensor& x) {
             const Tensor inside = x > real(0);
             return select(inside, log1m_exp(-r * guarded(inside, x, 1)), minus_infinity());
           },
       .log_survival = log_survival});
}

}  // namespace adit
