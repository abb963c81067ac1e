// Poisson, x = 0, 1, 2, ...:
//
//   log p(x) = x log rate - rate - log x!,   0 log 0 = 0
//
// Mean and variance are the rate.
#include "stats/whole_number.hpp"

namespace adit {

using namespace stats;

Distribution poisson(Parameter rate) {
  const NamedParameter r = not_negative("poisson", "rate", rate);
  return make_distribution(
      "poisson", {r}, constraint::integer(0),
      {.log_density =
           [=](const Tensor& x) {
             const Tensor is_inside = is_whole(x), k = guarded(is_inside, x, 0);
             return times_log(k, log_from_zero(r)) + only_where(r, r >= real(0), -r) - lgamma(k + real(1)) +
                    support_term(is_inside);
           },
       .draw = [=](const Tensor& key, const Shape& shape) { return draw_poisson(key, r, shape); },
       .mean = [=] { return r; },
       .variance = [=] { return r; }});
}

}  // namespace adit
