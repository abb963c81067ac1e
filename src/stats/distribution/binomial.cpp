// Successes among n trials, x = 0 .. n:
//
//   log p(x) = log C(n, x) + x log p + (n - x) log(1 - p),   0 log 0 = 0
//
// Mean n p, variance n p (1 - p).
#include "stats/whole_number.hpp"

namespace adit {

using namespace stats;

Distribution binomial(Parameter trials, Parameter p) {
  const NamedParameter n = count("binomial", "count", trials), q = probability("binomial", "p", p);
  return make_distribution(
      "binomial", {n, q}, constraint::integer(0, n.value),
      {.log_density =
           [=](const Tensor& x) {
             const Tensor is_inside = is_whole_below(x, n + real(1)), k = guarded(is_inside, x, 0);
             const Tensor is_share = logical_and(q >= real(0), q <= real(1));
             const Tensor powers = times_log(k, log_from_zero(q)) + times_log(n - k, log1m_to_one(q));
             return only_where(q, is_share, powers) + log_choose(n, k) + support_term(is_inside);
           },
       .draw = [=](const Tensor& key, const Shape& shape) { return draw_binomial(key, n, q, shape); },
       .mean = [=] { return n * q; },
       .variance = [=] { return n * q * (real(1) - q); }});
}

}  // namespace adit
