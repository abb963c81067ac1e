// gamma(shape a, rate b): for x > 0,
//   log p(x) = a log b - log gamma(a) + (a - 1) log x - b x.
// At 0 itself the density counts as 0 unless the shape is the number 1 (an exponential).
#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

Distribution gamma(Parameter shape, Parameter rate) {
  const NamedParameter a = positive("gamma", "shape", shape), b = positive("gamma", "rate", rate);
  const auto log_density = [=](const Tensor& x) {
    const bool is_exponential = is_literal(a, 1);
    const Tensor above = is_exponential ? x >= real(0) : x > real(0);
    const Tensor inside = logical_and(above, x < infinity()), safe = guarded(inside, x, 1);
    const Tensor linear = -b * safe + support_term(inside);
    if (is_exponential) return log(b) + linear;
    return only_where(a, a > real(0), a * log(b) - lgamma(a)) + (a - real(1)) * log(safe) + linear;
  };
  return make_distribution(
      "gamma", {a, b}, constraint::positive(),
      {.log_density = log_density,
       .draw = [=](const Tensor& key, const Shape& of) { return draw_gamma(key, a, of) * reciprocal(b); },
       .mean = [=] { return a * reciprocal(b); },
       .variance = [=] { return a * square(reciprocal(b)); }});
}

}  // namespace adit
