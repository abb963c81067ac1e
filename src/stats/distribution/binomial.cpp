// Successes among n trials, x = 0 .. n:
//
//   log p(x) = log C(n, x) + x log p + (n - x) log(1 - p),   0 log 0 = 0
//
// Mean n p, variance n p (1 - p).
#include "stats/distribution/whole_number.hpp"

namespace adit {

using namespace stats;

Distribution binomial(Parameter trials, Parameter p) {
  const Tensor n = count("binomial", "count", trials), q = probability("binomial", "p", p);
  return make_distribution(
      "binomial", {{"count", n}, {"p", q}}, constraint::integer(0, n),
      {.log_density =
           [=](const Tensor& x) {
             const Tensor is_inside = is_whole_below(x, n + real(1)), k = guarded(is_inside, x, 0);
             return times_log(k, log_from_zero(q)) + times_log(n - k, log1m_to_one(q)) + log_choose(n, k) +
                    support_term(is_inside);
           },
       .draw = [=](const Tensor& key, const Shape& shape) { return draw_binomial(key, n, q, shape); },
       .mean = [=] { return n * q; },
       .variance = [=] { return n * q * (real(1) - q); }});
}

}  // namespace adit
