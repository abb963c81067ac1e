// Negative binomial by mean m and dispersion phi, x = 0, 1, 2, ...: Poisson with a rate that is gamma
// distributed with mean m and shape phi.
//
//   log p(x) = log G(x + phi) - log G(phi) - log x! + x log(m / (m + phi)) + phi log(phi / (m + phi))
//
// Mean m, variance m + m^2 / phi. For a large phi (nearly Poisson) the first two terms are huge and nearly
// equal. Instead, with z = phi + 8, S the series of Stirling's formula and
// R = (phi / (phi + x)) ((phi + 1) / (phi + 1 + x)) ... ((phi + 7) / (phi + 7 + x)),
//
//   log G(x + phi) - log G(phi) = (z + x - 1/2) log(1 + x / z) + x log z - x + S(z + x) - S(z) + log R
//
// where x log z is taken together with x log(m / (m + phi)): every term stays of the size of x and m. What
// is made of x and phi alone stands by itself: where phi is one number, equal x share it
// (density/counted_rows.hpp).
#include <array>

#include "stats/whole_number.hpp"

namespace adit {

using namespace stats;

namespace {

// S(z) = 1 / (12 z) - 1 / (360 z^3) + ...: six terms have an error below 2e-14 for z >= 8.
Tensor stirling(const Tensor& z) {
  constexpr std::array<double, 6> coefficients{1.0 / 12,    -1.0 / 360, 1.0 / 1260,
                                               -1.0 / 1680, 1.0 / 1188, -691.0 / 360360};
  const Tensor r = reciprocal(z), r2 = r * r;
  Tensor series = real(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) series = series * r2 + real(coefficients[i]);
  return series * r;
}

// log R, in products of two or three factors so that none leaves the range of f32. A factor is 1 / (1 + x /
// (phi + i)), and phi mostly one number for many x: then a loop over x divides by the first one's alone,
// whose inverse may be infinite.
Tensor log_shift(const Tensor& phi, const Tensor& x) {
  const auto inverse_factor = [&](int i) { return x * reciprocal(phi + real(i)) + real(1); };
  Tensor total = log(phi / ((phi + x) * inverse_factor(1)));
  for (int i = 2; i < 8; i += 3)
    total = total - log(inverse_factor(i) * inverse_factor(i + 1) * inverse_factor(i + 2));
  return total;
}

Tensor log_mass(const Tensor& x, const Tensor& m, const NamedParameter& phi) {
  const Tensor z = phi + real(8), both = m + phi;
  // One number is repeated for every x: its derivative is then one sum over them, not one for each use.
  const Tensor each = phi.value.rank() == 0 ? broadcast_to(phi, x.shape()) : Tensor(phi);
  const Tensor above = each + real(8);
  const Tensor rising = (above - real(0.5) + x) * log1p(x / above) - x + stirling(above + x) +
                        only_where(phi, phi > real(0), -stirling(z)) + log_shift(each, x);
  return rising + x * log(m / both * z) - phi * log1p(m / phi) - lgamma(x + real(1));
}

}  // namespace

Distribution neg_binomial_2(Parameter mean, Parameter dispersion) {
  const NamedParameter m = positive("neg_binomial_2", "mean", mean);
  const NamedParameter phi = positive("neg_binomial_2", "dispersion", dispersion);
  return make_distribution("neg_binomial_2", {m, phi}, constraint::integer(0),
                           {.log_density =
                                [=](const Tensor& x) {
                                  const Tensor is_inside = is_whole(x);
                                  return log_mass(guarded(is_inside, x, 0), m, phi) + support_term(is_inside);
                                },
                            .draw =
                                [=](const Tensor& key, const Shape& shape) {
                                  const Tensor keys = random::split(key);
                                  const Tensor rate =
                                      draw_gamma(random::row(keys, 0), phi, shape) * (m / phi);
                                  return draw_poisson(random::row(keys, 1), rate, shape);
                                },
                            .mean = [=] { return m; },
                            .variance = [=] { return m + m * (m / phi); }});
}

}  // namespace adit
