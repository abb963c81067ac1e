// Skew densities of all numbers, and von Mises' of angles.
#include <array>
#include <cmath>
#include <numbers>

#include <adit/control.hpp>

#include "stan/functions/formulas.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

// --- skew_normal(xi, omega, alpha): 2 phi(z) Phi(alpha z) / omega
// -----------------------------------------------
Tensor skew_normal_log_density(const Tensor& x, const Tensor* p) {
  const Tensor z = (x - p[0]) * reciprocal(p[1]);
  return stats::log_normal_density(z) + stats::log_normal_cdf(p[2] * z) - log(p[1]) + real(std::numbers::ln2);
}
// P(X <= x) = Phi(z) - 2 T(z, alpha).
Tensor skew_normal_log_cdf(const Tensor& x, const Tensor* p) {
  const Tensor z = (x - p[0]) * reciprocal(p[1]);
  const Tensor lower = real(0.5) * erfc(-z * real(1 / std::numbers::sqrt2)) - real(2) * owens_t(z, p[2]);
  return log(maximum(lower, real(0))) + domain_term(is_positive(p[1]));
}
Tensor skew_normal_log_ccdf(const Tensor& x, const Tensor* p) {
  const Tensor z = (x - p[0]) * reciprocal(p[1]);
  const Tensor upper = real(0.5) * erfc(z * real(1 / std::numbers::sqrt2)) + real(2) * owens_t(z, p[2]);
  return log(maximum(upper, real(0))) + domain_term(is_positive(p[1]));
}
Tensor skew_normal_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  const Tensor keys = random::split(key), length = hypot(p[2], real(1));
  const Tensor side = abs(stats::draw_normal(random::row(keys, 0), shape));
  const Tensor rest = stats::draw_normal(random::row(keys, 1), shape);
  return p[0] + p[1] * (side * p[2] + rest) / length;
}

// --- exp_mod_normal(mu, sigma, lambda): a normal plus an exponential
// ------------------------------------------- With z = (x - mu) / sigma and s = lambda sigma, log of exp(-s z
// + s^2 / 2) Phi(z - s).
struct ModifiedNormal {
  Tensor z, log_part, domain;
};
ModifiedNormal modified_normal(const Tensor& x, const Tensor* p) {
  const Tensor z = (x - p[0]) * reciprocal(p[1]), s = p[2] * p[1];
  return {z, s * (real(0.5) * s - z) + stats::log_normal_cdf(z - s),
          domain_term(both(is_positive(p[1]), is_positive(p[2])))};
}
Tensor exp_mod_normal_log_density(const Tensor& x, const Tensor* p) {
  const ModifiedNormal m = modified_normal(x, p);
  return log(p[2]) + m.log_part + m.domain;
}
Tensor exp_mod_normal_log_cdf(const Tensor& x, const Tensor* p) {
  const ModifiedNormal m = modified_normal(x, p);
  return log_diff_exp(stats::log_normal_cdf(m.z), m.log_part) + m.domain;
}
Tensor exp_mod_normal_log_ccdf(const Tensor& x, const Tensor* p) {
  const ModifiedNormal m = modified_normal(x, p);
  return log_sum_exp_of_two(stats::log_normal_cdf(-m.z), m.log_part) + m.domain;
}
Tensor exp_mod_normal_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  const Tensor keys = random::split(key);
  return p[0] + p[1] * stats::draw_normal(random::row(keys, 0), shape) +
         stats::draw_exponential(random::row(keys, 1), shape) / p[2];
}

// --- skew_double_exponential(mu, sigma, tau)
// ------------------------------------------------------------------- P(X <= mu) = tau; rates 2 (1 - tau) /
// sigma below and 2 tau / sigma above.
struct SkewLaplace {
  Tensor above, fall, log_tau, log_rest, domain;  // fall: how far the exponential has fallen
};
SkewLaplace skew_laplace(const Tensor& x, const Tensor* p) {
  const Tensor d = x - p[0], above = d >= real(0);
  const Tensor rate = select(above, p[2], real(1) - p[2]);
  const Tensor inside = both(both(is_positive(p[2]), p[2] < real(1)), is_positive(p[1]));
  return {above, real(2) * rate * select(above, d, -d) / p[1], log(p[2]), log1p(-p[2]), domain_term(inside)};
}
Tensor skew_laplace_log_density(const Tensor& x, const Tensor* p) {
  const SkewLaplace s = skew_laplace(x, p);
  return s.log_tau + s.log_rest - log(p[1]) + real(std::numbers::ln2) - s.fall + s.domain;
}
Tensor skew_laplace_log_cdf(const Tensor& x, const Tensor* p) {
  const SkewLaplace s = skew_laplace(x, p);
  const Tensor upper = log1p(-exp(s.log_rest - select(s.above, s.fall, real(0))));
  return select(s.above, upper, s.log_tau - s.fall) + s.domain;
}
Tensor skew_laplace_log_ccdf(const Tensor& x, const Tensor* p) {
  const SkewLaplace s = skew_laplace(x, p);
  const Tensor lower = log1p(-exp(s.log_tau - select(s.above, real(0), s.fall)));
  return select(s.above, s.log_rest - s.fall, lower) + s.domain;
}
Tensor skew_laplace_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  const Tensor keys = random::split(key);
  const Tensor above = stats::draw_uniform(random::row(keys, 0), shape) >= p[2];
  const Tensor fall = real(0.5) * p[1] * stats::draw_exponential(random::row(keys, 1), shape);
  return p[0] + select(above, fall / p[2], -fall / (real(1) - p[2]));
}

// --- von_mises(mu, kappa)
// -------------------------------------------------------------------------------------- kappa (cos d - 1) as
// -2 kappa sin(d / 2)^2.
Tensor von_mises_log_density(const Tensor& x, const Tensor* p) {
  const Tensor inside = both(p[1] >= real(0), p[1] < infinity()), kappa = guarded(inside, p[1], 1);
  return real(-2) * kappa * square(sin(real(0.5) * (x - p[0]))) - log_bessel_i0_scaled(kappa) -
         real(std::log(2 * std::numbers::pi)) + domain_term(inside);
}
// The share below an angle d in [-pi, 0] from the middle: equal to that above -d. The integrand
// exp(-2 k sin(t / 2)^2) has fallen to e^-60 of its start within pi sqrt(30 / k).
Tensor share_of_tail(const Tensor& d, const Tensor& kappa) {
  constexpr int64_t nodes = 121;
  constexpr double most = 3.4, step = 2 * most / (nodes - 1);
  const Tensor t = iota({nodes}, DType::f64) * real(step) - real(most), s = real(std::numbers::pi) * sinh(t);
  const Tensor u = sigmoid(s), weight = real(std::numbers::pi * step) * cosh(t) * u * sigmoid(-s);
  const Tensor reach = stop_gradient(real(std::numbers::pi) * sqrt(real(30) / maximum(kappa, real(1e-3))));
  const Tensor extent = minimum(d + real(std::numbers::pi), reach);
  const Tensor at = expand_dims(d, -1) - expand_dims(extent, -1) * u;
  const Tensor fall = real(-2) * expand_dims(kappa, -1) * square(sin(real(0.5) * at));
  return extent * sum(exp(fall - expand_dims(log_bessel_i0_scaled(kappa), -1)) * weight, {-1}) *
         real(0.5 * std::numbers::inv_pi);
}
// The share below an angle from the middle, in turns: whole ones count.
Tensor share_below(const Tensor& angle, const Tensor& kappa) {
  const Tensor turn = real(2 * std::numbers::pi), whole = stop_gradient(round(angle / turn));
  const Tensor d = angle - whole * turn, is_lower = d < real(0);
  const Tensor tail = share_of_tail(select(is_lower, d, -d), kappa);
  return whole + select(is_lower, tail, real(1) - tail);
}
// From -pi on, as Stan has it.
Tensor von_mises_share(const Tensor& x, const Tensor* p, bool is_below) {
  const Tensor inside = both(p[1] >= real(0), p[1] < infinity()), kappa = guarded(inside, p[1], 1);
  const Tensor turn = real(2 * std::numbers::pi), half = real(std::numbers::pi);
  const Tensor mu = p[0] - turn * stop_gradient(round(p[0] / turn));
  const Tensor is_between = both(x > -half, x < half), at = select(is_between, x, real(0));
  const Tensor here = share_below(at - mu, kappa);
  const Tensor share =
      is_below ? here - share_below(-half - mu, kappa) : share_below(half - mu, kappa) - here;
  const Tensor is_some = is_positive(share);
  const Tensor value = select(is_some, log(select(is_some, share, real(1))), minus_infinity());
  const Tensor at_end = select(x <= -half, is_below ? minus_infinity() : real(0),
                               select(x >= half, is_below ? real(0) : minus_infinity(), not_a_number()));
  return select(is_between, value, at_end) + domain_term(inside);
}
Tensor von_mises_log_cdf(const Tensor& x, const Tensor* p) { return von_mises_share(x, p, true); }
Tensor von_mises_log_ccdf(const Tensor& x, const Tensor* p) { return von_mises_share(x, p, false); }

// Best and Fisher's rejection from a wrapped Cauchy; two in three proposals are taken.
Tensor von_mises_draw(const Tensor& key, const Tensor* p, const Shape& shape) {
  const Tensor kappa = broadcast_to(maximum(p[1], real(1e-6)), shape);  // below it is uniform
  const Tensor tau = real(1) + sqrt(real(1) + real(4) * square(kappa));
  const Tensor rho = (tau - sqrt(real(2) * tau)) / (real(2) * kappa);
  const Tensor r = (real(1) + square(rho)) / (real(2) * rho);
  const auto proposed = [&](const Tensors& state) -> Tensors {
    const Tensor keys = random::split(state[0], 4);
    const auto uniform = [&](int64_t number) {
      return stats::draw_open_uniform(random::row(keys, number), shape);
    };
    const Tensor z = cos(real(std::numbers::pi) * uniform(1)), f = (real(1) + r * z) / (r + z);
    const Tensor c = kappa * (r - f);
    const Tensor is_refused = log(uniform(2)) > log(c) + real(1) - c;
    const Tensor angle = acos(clip(f, real(-1), real(1)));
    const Tensor x = select(uniform(3) > real(0.5), angle, -angle);
    return {random::row(keys, 0), select(state[2], state[1], x),
            logical_or(state[2], logical_not(is_refused))};
  };
  const auto is_open = [](const Tensors& state) { return any(logical_not(state[2])); };
  const Tensor angle =
      while_loop(is_open, proposed, {key, zeros(shape, DType::f64), zeros(shape, DType::u8)})[1];
  const Tensor turned = p[0] + angle + real(std::numbers::pi), turn = real(2 * std::numbers::pi);
  return turned - turn * floor(turned / turn) - real(std::numbers::pi);
}

constexpr std::array skew_table{
    UnivariateDensity{"skew_normal", false, 3, skew_normal_log_density, skew_normal_log_cdf,
                      skew_normal_log_ccdf, skew_normal_draw},
    UnivariateDensity{"exp_mod_normal", false, 3, exp_mod_normal_log_density, exp_mod_normal_log_cdf,
                      exp_mod_normal_log_ccdf, exp_mod_normal_draw},
    UnivariateDensity{"skew_double_exponential", false, 3, skew_laplace_log_density, skew_laplace_log_cdf,
                      skew_laplace_log_ccdf, skew_laplace_draw},
    UnivariateDensity{"von_mises", false, 2, von_mises_log_density, von_mises_log_cdf, von_mises_log_ccdf,
                      von_mises_draw},
};

}  // namespace

std::span<const UnivariateDensity> skew_densities() { return skew_table; }

}  // namespace adit::stan
