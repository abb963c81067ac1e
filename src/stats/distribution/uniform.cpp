// uniform(low, high): for low <= x <= high,
//   log p(x) = -log(high - low).
#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

Distribution uniform(Parameter low, Parameter high) {
  const NamedParameter from = finite("uniform", "low", low), to = finite("uniform", "high", high);
  const NamedParameter width = stats::width("uniform", from, to);
  // log of a part of the width: -infinity where it is none, 0 where it is all.
  const auto log_part = [=](const Tensor& part) {
    const Tensor some = part > real(0), inside = logical_and(some, part < width);
    const Tensor share = log(select(inside, part, real(1))) - log(width);
    return select(inside, share, select(some, real(0), minus_infinity()));
  };
  return make_distribution(
      "uniform", {from, to, width}, constraint::interval(low, high),
      {.log_density =
           [=](const Tensor& x) { return support_term(logical_and(x >= from, x <= to)) - log(width); },
       .draw = [=](const Tensor& key, const Shape& shape) { return from + width * draw_uniform(key, shape); },
       .mean = [=] { return real(0.5) * (from + to); },
       .variance = [=] { return square(width) * real(1.0 / 12); },
       .log_cdf = [=](const Tensor& x) { return log_part(x - from); },
       .log_survival = [=](const Tensor& x) { return log_part(to - x); }});
}

}  // namespace adit
