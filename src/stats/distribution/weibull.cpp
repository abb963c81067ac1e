// weibull(shape k, scale s): for x > 0, with w = log x - log s,
//   log p(x) = log k - log s + (k - 1) w - exp(k w),   P(X > x) = exp(-exp(k w)).
// At 0 itself the density counts as 0 unless the shape is the number 1 (an exponential).
#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

Distribution weibull(Parameter shape, Parameter scale) {
  const NamedParameter k = positive("weibull", "shape", shape), s = positive("weibull", "scale", scale);
  const auto log_density = [=](const Tensor& x) {
    const bool is_exponential = is_literal(k, 1);
    const Tensor above = is_exponential ? x >= real(0) : x > real(0);
    const Tensor inside = logical_and(above, x < infinity()), safe = guarded(inside, x, 1);
    if (is_exponential) return -safe * reciprocal(s) - log(s) + support_term(inside);
    const Tensor w = log(safe) - log(s);
    return log(k) - log(s) + (k - real(1)) * w - exp(k * w) + support_term(inside);
  };
  // The logarithm of -log P(X > x).
  const auto log_hazard = [=](const Tensor& x) { return k * (log(guarded(x > real(0), x, 1)) - log(s)); };
  const auto log_cdf = [=](const Tensor& x) {
    const Tensor h = log_hazard(x), is_tiny = h < real(-40);  // there 1 - exp(-e^h) is e^h
    const Tensor inside = select(is_tiny, h, log1m_exp(-exp(guarded(logical_not(is_tiny), h, 0))));
    return select(x > real(0), inside, minus_infinity());
  };
  const auto moment = [=](double power) { return lgamma(real(1) + real(power) * reciprocal(k)); };
  return make_distribution(
      "weibull", {k, s}, constraint::positive(),
      {.log_density = log_density,
       .draw =
           [=](const Tensor& key, const Shape& of) {
             return s * exp(log(-log(draw_open_uniform(key, of))) * reciprocal(k));
           },
       .mean = [=] { return s * exp(moment(1)); },
       // E X^2 - (E X)^2 as (E X)^2 (exp(log E X^2 - 2 log E X) - 1)
       .variance =
           [=] {
             const Tensor twice = real(2) * moment(1);
             return square(s) * exp(twice) * expm1(moment(2) - twice);
           },
       .log_cdf = log_cdf,
       .log_survival = [=](const Tensor& x) { return select(x > real(0), -exp(log_hazard(x)), real(0)); }});
}

}  // namespace adit
