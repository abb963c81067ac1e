// truncated_normal(mu, sigma, low, high): for low <= x <= high, with z = (x - mu) / sigma,
//   log p(x) = -z^2 / 2 - log sigma - log sqrt(2 pi) - log P(a <= Z <= b)
// for the standardised bounds a and b. Bounds may be infinite.
#include <limits>

#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// An interval of the standard normal, mirrored to the left tail where it lies in the right one: there
// logarithms of the cdf tell its ends apart, however far out.
struct Interval {
  Tensor is_mirrored;
  Tensor log_low, log_high;  // log P(Z <= end) of the ends
  Tensor log_above;          // log P(Z >= the upper end)
  Tensor log_mass;
};

// What a bound is where it is finite, and whether it is.
struct Bound {
  Tensor z, is_finite;
};
Bound standardised(const Tensor& bound, const Tensor& mu, const Tensor& sigma) {
  const Tensor is_finite = logical_not(is_infinity(bound));
  return {(guarded(is_finite, bound, 0) - mu) * reciprocal(sigma), is_finite};
}

Interval interval_of(const Bound& low, const Bound& high) {
  const Tensor is_right = logical_or(low.z > real(0), logical_not(high.is_finite));
  const Tensor is_mirrored = logical_and(low.is_finite, is_right);
  const Tensor from = select(is_mirrored, -high.z, low.z), to = select(is_mirrored, -low.z, high.z);
  const Tensor has_from = select(is_mirrored, high.is_finite, low.is_finite);
  const Tensor has_to = select(is_mirrored, low.is_finite, high.is_finite);
  Interval made;
  made.is_mirrored = is_mirrored;
  made.log_low = select(has_from, log_normal_cdf(from), minus_infinity());
  made.log_high = select(has_to, log_normal_cdf(to), real(0));
  made.log_above = select(has_to, log_normal_cdf(-to), minus_infinity());
  made.log_mass = log_difference_exp(made.log_high, made.log_low);
  return made;
}

// log P(low <= X <= high), in the short form where a caller wrote an infinite bound.
Tensor log_mass_between(const Tensor& mu, const Tensor& sigma, const Tensor& low, const Tensor& high) {
  const bool no_low = is_literal(low, -infinite), no_high = is_literal(high, infinite);
  if (no_low && no_high) return real(0);
  if (no_low) return log_normal_cdf((high - mu) * reciprocal(sigma));
  if (no_high) return log_normal_cdf((mu - low) * reciprocal(sigma));
  const Bound from = standardised(low, mu, sigma), to = standardised(high, mu, sigma);
  return select(logical_or(from.is_finite, to.is_finite),
                log_normal_between({from.z, to.z, from.is_finite, to.is_finite}), real(0));
}

Constraint support_of(const Tensor& low, const Tensor& high) {
  const bool no_low = is_literal(low, -infinite), no_high = is_literal(high, infinite);
  if (no_low && no_high) return constraint::real();
  if (no_low) return constraint::upper(high);
  return no_high ? constraint::lower(low) : constraint::interval(low, high);
}

// The quantile of a uniform u: with p = P(low) + u mass on the mirrored side, by log p or log(1 - p),
// whichever is less.
Tensor draw_standard(const Tensor& key, const Shape& shape, const Bound& low, const Bound& high) {
  const Interval in = interval_of(low, high);
  const Tensor u = draw_open_uniform(key, shape);
  const Tensor log_p = log_sum_exp(in.log_low, log(u) + in.log_mass);
  const Tensor log_q = log_sum_exp(in.log_above, log1p(-u) + in.log_mass);
  const Tensor is_left = log_p < log_q;
  const Tensor z = normal_quantile_of_log(select(is_left, log_p, log_q));
  return select(logical_xor(is_left, in.is_mirrored), z, -z);
}

// density(bound) / mass, 0 for an infinite bound.
Tensor density_at(const Bound& bound, const Tensor& log_mass) {
  return select(bound.is_finite, exp(log_normal_density(bound.z) - log_mass), real(0));
}

}  // namespace

Distribution truncated_normal(Parameter mu, Parameter sigma, Parameter low, Parameter high) {
  constexpr auto name = "truncated_normal";
  const NamedParameter location = finite(name, "mu", mu), scale = positive(name, "sigma", sigma);
  const NamedParameter from = not_nan(name, "low", low), to = not_nan(name, "high", high);
  const NamedParameter between = width(name, from, to);
  const auto bounds = [=] {
    return std::pair(standardised(from, location, scale), standardised(to, location, scale));
  };

  const auto log_density = [=](const Tensor& x) {
    const Tensor z = (x - location) * reciprocal(scale);
    return log_normal_density(z) - log(scale) - log_mass_between(location, scale, from, to) +
           support_term(logical_and(x >= from, x <= to));
  };
  const auto draw = [=](const Tensor& key, const Shape& shape) {
    const auto [a, b] = bounds();
    return minimum(maximum(location + scale * draw_standard(key, shape, a, b), from), to);
  };
  // With h(z) = density(z) / mass: E Z = h(a) - h(b), E Z^2 = 1 + a h(a) - b h(b).
  const auto mean = [=] {
    const auto [a, b] = bounds();
    const Tensor log_mass = interval_of(a, b).log_mass;
    return location + scale * (density_at(a, log_mass) - density_at(b, log_mass));
  };
  const auto variance = [=] {
    const auto [a, b] = bounds();
    const Tensor log_mass = interval_of(a, b).log_mass;
    const Tensor at_a = density_at(a, log_mass), at_b = density_at(b, log_mass);
    return square(scale) * (real(1) + a.z * at_a - b.z * at_b - square(at_a - at_b));
  };
  return make_distribution(name, {location, scale, from, to, between}, support_of(from, to),
                           {.log_density = log_density, .draw = draw, .mean = mean, .variance = variance});
}

}  // namespace adit
