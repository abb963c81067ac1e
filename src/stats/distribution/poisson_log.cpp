// Poisson with the logarithm of its rate, x = 0, 1, 2, ...:
//
//   log p(x) = x log_rate - exp(log_rate) - log x!
//
// Mean and variance are exp(log_rate).
#include "stats/whole_number.hpp"

namespace adit {

using namespace stats;

Distribution poisson_log(Parameter log_rate) {
  const NamedParameter l = finite("poisson_log", "log_rate", log_rate);
  return make_distribution(
      "poisson_log", {l}, constraint::integer(0),
      {.log_density =
           [=](const Tensor& x) {
             const Tensor is_inside = is_whole(x), k = guarded(is_inside, x, 0);
             return k * l - exp(l) - lgamma(k + real(1)) + support_term(is_inside);
           },
       .draw = [=](const Tensor& key, const Shape& shape) { return draw_poisson(key, exp(l), shape); },
       .mean = [=] { return exp(l); },
       .variance = [=] { return exp(l); }});
}

}  // namespace adit
