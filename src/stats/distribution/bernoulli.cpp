// Bernoulli, x = 0 or 1:
//
//   log p(x) = x log p + (1 - x) log(1 - p)
//
// The logarithms are taken of p as it is given, so that one p of many observations costs two of them, and
// p = 0 and p = 1 leave no NaN. Mean p, variance p (1 - p).
#include "stats/whole_number.hpp"

namespace adit {

using namespace stats;

Distribution bernoulli(Parameter p) {
  const NamedParameter q = probability("bernoulli", "p", p);
  return make_distribution(
      "bernoulli", {q}, constraint::integer(0, 1),
      {.log_density =
           [=](const Tensor& x) {
             const Tensor is_share = logical_and(q >= real(0), q <= real(1));
             return only_where(q, is_share, select(x == real(1), log_from_zero(q), log1m_to_one(q))) +
                    support_term(is_whole_below(x, real(2)));
           },
       .draw = [=](const Tensor& key,
                   const Shape& shape) { return as_type(random::bernoulli(key, q, shape), DType::f64); },
       .mean = [=] { return q; },
       .variance = [=] { return q * (real(1) - q); }});
}

}  // namespace adit
