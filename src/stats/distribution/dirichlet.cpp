// Dirichlet over the simplex of K numbers, by concentrations a:
//
//   log p(x) = sum (a_k - 1) log x_k + log G(sum a) - sum log G(a_k),   0 log 0 = 0
//
// with respect to x_1 .. x_{K-1}. With s = sum a: mean a_k / s, variance a_k (s - a_k) / (s^2 (s + 1)).
// Draws are gammas over their sum. A gamma of a small shape a underflows; its logarithm, that of a gamma of
// shape a + 1 plus log(u) / a, does not.
#include "stats/whole_number.hpp"

namespace adit {

using namespace stats;

Distribution dirichlet(const Tensor& concentration) {
  const NamedParameter a =
      positive("dirichlet", "concentration", of_classes("dirichlet", "concentration", concentration));
  const auto total = [=](bool keep_axis) { return sum(a, {-1}, keep_axis); };
  return make_distribution("dirichlet", leading(a, 1), {a.value.dim(-1)}, {a}, constraint::simplex(),
                           {.log_density =
                                [=](const Tensor& x) {
                                  // A flat one on the edge: 0 log 0.
                                  const Tensor is_flat_edge = logical_and(a == real(1), x == real(0));
                                  const Tensor powers = (a - real(1)) * log(select(is_flat_edge, real(1), x));
                                  const Tensor norm = only_where(a, a > real(0), -lgamma(a));
                                  return sum(powers, {-1}) + (lgamma(total(false)) + sum(norm, {-1}));
                                },
                            .draw =
                                [=](const Tensor& key, const Shape& shape) {
                                  const Tensor keys = random::split(key);
                                  const Tensor larger = draw_gamma(random::row(keys, 0), a + real(1), shape);
                                  const Tensor u = draw_open_uniform(random::row(keys, 1), shape);
                                  return softmax(log(larger) + log(u) / a);
                                },
                            .mean = [=] { return a / total(true); },
                            .variance =
                                [=] {
                                  const Tensor s = total(true), mean = a / s;
                                  return mean * (real(1) - mean) / (s + real(1));
                                }});
}

}  // namespace adit
