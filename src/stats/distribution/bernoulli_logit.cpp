// Bernoulli with the logit l = log(p / (1 - p)), x = 0 or 1:
//
//   log p(x) = log sigmoid(l) where x = 1, log sigmoid(-l) where x = 0
//            = log sigmoid((2 x - 1) l)
//
// which loses nothing however far out l is; its derivative is x - sigmoid(l). Mean p, variance p (1 - p).
#include "stats/whole_number.hpp"

namespace adit {

using namespace stats;

Distribution bernoulli_logit(Parameter logit) {
  const NamedParameter l = not_nan("bernoulli_logit", "logit", logit);
  return make_distribution("bernoulli_logit", {l}, constraint::integer(0, 1),
                           {.log_density =
                                [=](const Tensor& x) {
                                  const Tensor sign = real(2) * x - real(1);
                                  return log_sigmoid(sign * l) + support_term(is_whole_below(x, real(2)));
                                },
                            .draw =
                                [=](const Tensor& key, const Shape& shape) {
                                  return as_type(random::bernoulli(key, sigmoid(l), shape), DType::f64);
                                },
                            .mean = [=] { return sigmoid(l); },
                            .variance = [=] { return sigmoid(l) * sigmoid(-l); }});
}

}  // namespace adit
