// student_t(nu, mu, sigma): with z = (x - mu) / sigma,
//   log p(x) = -(nu + 1) / 2 log(1 + z^2 / nu) - log sigma
//              + log gamma((nu + 1) / 2) - log gamma(nu / 2) - log(nu pi) / 2.
// For large nu the last line is near -log sqrt(2 pi), but its terms are large: a series gives their sum.
#include <cmath>
#include <numbers>

#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

namespace {

// log gamma(h + 1/2) - log gamma(h) - log(h) / 2. From h = 16 on -1 / 8h + 1 / 192h^3 - 1 / 640h^5
// + 17 / 14336h^7, whose next term is below 3e-14.
Tensor log_gamma_ratio(const Tensor& h) {
  const Tensor is_large = h > real(16), small = select(is_large, real(16), h);
  const Tensor r = reciprocal(select(is_large, h, real(16))), s = square(r);
  const Tensor series =
      r * (real(-1.0 / 8) + s * (real(1.0 / 192) + s * (real(-1.0 / 640) + s * real(17.0 / 14336))));
  return select(is_large, series, lgamma(small + real(0.5)) - lgamma(small) - real(0.5) * log(small));
}

}  // namespace

Distribution student_t(Parameter nu, Parameter mu, Parameter sigma) {
  const NamedParameter freedom = positive("student_t", "nu", nu), location = finite("student_t", "mu", mu),
                       scale = positive("student_t", "sigma", sigma);
  const auto log_density = [=](const Tensor& x) {
    const Tensor half = real(0.5) * freedom, z = (x - location) * reciprocal(scale);
    const Tensor kernel = -(half + real(0.5)) * log1p(square(z) * reciprocal(freedom));
    const Tensor norm = log_gamma_ratio(half) - real(std::log(2 * std::numbers::pi) / 2);
    return kernel - log(scale) + norm;
  };
  // A normal over the root of a mean of nu squares of normals.
  const auto draw = [=](const Tensor& key, const Shape& shape) {
    const Tensor keys = random::split(key), half = real(0.5) * freedom;
    const Tensor mean_square = draw_gamma(random::row(keys, 1), half, shape) * reciprocal(half);
    return location + scale * draw_normal(random::row(keys, 0), shape) * rsqrt(mean_square);
  };
  Distribution made = make_distribution(
      "student_t", {freedom, location, scale}, constraint::real(),
      {.log_density = log_density,
       .draw = draw,
       .mean = [=] { return select(freedom > real(1), location, not_a_number()); },
       .variance =
           [=] {
             const Tensor exists = freedom > real(2), left = guarded(exists, freedom - real(2), 1);
             return select(exists, square(scale) * freedom / left,
                           select(freedom > real(1), infinity(), not_a_number()));
           }});
  made.location = location;
  made.scale = scale;
  made.standard = [freedom] { return student_t(freedom.value, 0, 1); };
  return made;
}

}  // namespace adit
