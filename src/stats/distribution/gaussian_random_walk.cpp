// A walk of T steps from 0, x_1 ~ N(0, sigma), x_t ~ N(x_{t-1}, sigma):
//
//   log p(x) = -1/2 sum_t z_t^2 - T (log sigma + log(2 pi) / 2),   z_t = (x_t - x_{t-1}) / sigma, x_0 = 0
//
// Mean 0, variance t sigma^2. Draws are sigma times running sums of normal numbers. In standard form sigma
// is 1.
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "graph/row.hpp"
#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

namespace {

// x moved `by` places along the last axis; zeros come in.
Tensor delayed(const Tensor& x, int64_t by) {
  std::vector<Padding> padding(static_cast<size_t>(x.rank()));
  padding.back() = {by, -by, 0};
  return pad(x, real(0), padding);
}

// Sums of the numbers up to each place: of the last two, four, eight, ... of them by turns.
Tensor running_sum(Tensor x) {
  for (int64_t span = 1; span < x.dim(-1); span *= 2) x = x + delayed(x, span);
  return x;
}

}  // namespace

Distribution gaussian_random_walk(Parameter sigma, int64_t steps) {
  if (steps < 1)
    graph::fail("gaussian_random_walk", "steps",
                fmt::format("expected a number of at least 1, got {}", steps));
  const NamedParameter s = positive("gaussian_random_walk", "sigma", sigma);
  const Tensor scale = expand_dims(s, -1);
  const auto count = static_cast<double>(steps);
  const double half_log_2_pi = 0.5 * std::log(2 * std::numbers::pi);
  Distribution made = make_distribution(
      "gaussian_random_walk", s.value.shape(), {steps}, {s}, constraint::real(),
      {.log_density =
           [=](const Tensor& x) {
             const Tensor z = (x - delayed(x, 1)) * reciprocal(scale);
             return real(-0.5) * sum(z * z, {-1}) - real(count) * log(s) - real(count * half_log_2_pi);
           },
       .draw = [=](const Tensor& key,
                   const Shape& shape) { return scale * running_sum(draw_normal(key, shape)); },
       .mean = [=] { return real(0); },
       .variance = [=] { return square(scale) * (iota({steps}, DType::f64) + real(1)); }});
  made.location = real(0);
  made.scale = scale;
  made.standard = [steps] { return gaussian_random_walk(1, steps); };
  return made;
}

}  // namespace adit
