// Successes among n trials with the logit l = log(p / (1 - p)), x = 0 .. n:
//
//   log p(x) = log C(n, x) + x log sigmoid(l) + (n - x) log sigmoid(-l)
//
// With log sigmoid(l) = min(l, 0) - s and log sigmoid(-l) = -max(l, 0) - s, s = log(1 + exp(-|l|)), it is
// log C(n, x) + x min(l, 0) - (n - x) max(l, 0) - n s: one transcendental, and no large numbers that cancel
// as in x l - n log(1 + e^l). Mean n p, variance n p (1 - p).
#include "stats/whole_number.hpp"

namespace adit {

using namespace stats;

Distribution binomial_logit(Parameter trials, Parameter logit) {
  const NamedParameter n = count("binomial_logit", "count", trials),
                       l = finite("binomial_logit", "logit", logit);
  return make_distribution(
      "binomial_logit", {n, l}, constraint::integer(0, n.value),
      {.log_density =
           [=](const Tensor& x) {
             const Tensor is_inside = is_whole_below(x, n + real(1)), k = guarded(is_inside, x, 0);
             const Tensor low = minimum(l, real(0)), high = maximum(l, real(0));
             return k * low - (n - k) * high - n * softplus(low - high) + log_choose(n, k) +
                    support_term(is_inside);
           },
       .draw = [=](const Tensor& key,
                   const Shape& shape) { return draw_binomial(key, n, sigmoid(l), shape); },
       .mean = [=] { return n * sigmoid(l); },
       .variance = [=] { return n * sigmoid(l) * sigmoid(-l); }});
}

}  // namespace adit
