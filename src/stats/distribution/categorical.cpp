// One of K classes with probabilities p, which sum to 1; x = 0 .. K - 1:
//
//   log p(x) = log p_x
//
// One p for many x: the K logarithms are taken once. A p for each x: only that of the chosen one.
// Mean sum k p_k, variance sum (k - mean)^2 p_k.
#include "stats/whole_number.hpp"

namespace adit {

using namespace stats;

Distribution categorical(const Tensor& p) {
  const NamedParameter q = probability("categorical", "p", of_classes("categorical", "p", p));
  const int64_t classes = q.value.dim(-1);
  const Tensor number = iota({classes}, DType::f64);
  const auto mean = [=](bool keep_axis) { return sum(q * number, {-1}, keep_axis); };
  return make_distribution(
      "categorical", leading(q, 1), {}, {q}, constraint::integer(0, classes - 1),
      {.log_density =
           [=](const Tensor& x) {
             const Tensor is_inside = is_whole_below(x, real(static_cast<double>(classes)));
             const Tensor k = guarded(is_inside, x, 0);
             const Tensor chosen = q.value.rank() == 1 ? at_class(log_from_zero(q), k) : log(at_class(q, k));
             return chosen + support_term(is_inside);
           },
       .draw = [=](const Tensor& key, const Shape& shape) { return draw_class(key, log(q), shape); },
       .mean = [=] { return mean(false); },
       .variance = [=] { return sum(q * square(number - mean(true)), {-1}); }});
}

}  // namespace adit
