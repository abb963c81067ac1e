// One of K classes with probabilities softmax(l), x = 0 .. K - 1:
//
//   log p(x) = l_x - log sum_k exp(l_k)
//
// Mean sum k p_k, variance sum (k - mean)^2 p_k.
#include "stats/whole_number.hpp"

namespace adit {

using namespace stats;

Distribution categorical_logit(const Tensor& logits) {
  const NamedParameter l =
      not_nan("categorical_logit", "logits", of_classes("categorical_logit", "logits", logits));
  const int64_t classes = l.value.dim(-1);
  const Tensor number = iota({classes}, DType::f64);
  const auto mean = [=](bool keep_axis) { return sum(softmax(l) * number, {-1}, keep_axis); };
  return make_distribution(
      "categorical_logit", leading(l, 1), {}, {l}, constraint::integer(0, classes - 1),
      {.log_density =
           [=](const Tensor& x) {
             const Tensor is_inside = is_whole_below(x, real(static_cast<double>(classes)));
             return at_class(l, guarded(is_inside, x, 0)) - logsumexp(l, {-1}) + support_term(is_inside);
           },
       .draw = [=](const Tensor& key, const Shape& shape) { return draw_class(key, l, shape); },
       .mean = [=] { return mean(false); },
       .variance = [=] { return sum(softmax(l) * square(number - mean(true)), {-1}); }});
}

}  // namespace adit
