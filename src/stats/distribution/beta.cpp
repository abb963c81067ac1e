// beta(a, b): for 0 < x < 1,
//   log p(x) = (a - 1) log x + (b - 1) log(1 - x) + log gamma(a + b) - log gamma(a) - log gamma(b).
// At an end the density counts as 0 unless the exponent there is the number 1.
#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

Distribution beta(Parameter a, Parameter b) {
  const NamedParameter first = positive("beta", "a", a), second = positive("beta", "b", b);
  const auto log_density = [=](const Tensor& x) {
    const bool flat_below = is_literal(first, 1), flat_above = is_literal(second, 1);
    const Tensor above = flat_below ? x >= real(0) : x > real(0);
    const Tensor inside = logical_and(above, flat_above ? x <= real(1) : x < real(1));
    const Tensor safe = guarded(inside, x, 0.5);
    const Tensor norm = lgamma(first + second) - lgamma(first) - lgamma(second);
    Tensor sum =
        only_where(first, first > real(0), only_where(second, second > real(0), norm)) + support_term(inside);
    if (!flat_below) sum = sum + (first - real(1)) * log(safe);
    if (!flat_above) sum = sum + (second - real(1)) * log1p(-safe);
    return sum;
  };
  // g / (g + h) of two gammas, from their logarithms: for small shapes both would be 0.
  const auto draw = [=](const Tensor& key, const Shape& shape) {
    const Tensor keys = random::split(key);
    return sigmoid(draw_log_gamma(random::row(keys, 0), first, shape) -
                   draw_log_gamma(random::row(keys, 1), second, shape));
  };
  return make_distribution("beta", {first, second}, constraint::unit(),
                           {.log_density = log_density,
                            .draw = draw,
                            .mean = [=] { return first / (first + second); },
                            .variance =
                                [=] {
                                  const Tensor sum = first + second;
                                  return first / sum * (second / sum) * reciprocal(sum + real(1));
                                }});
}

}  // namespace adit
