// Modified Bessel functions and Lambert's W, of which no operation of the engine knows.
#include <cmath>
#include <numbers>

#include "stan/functions/formulas.hpp"

namespace adit::stan {

namespace {

constexpr int64_t bessel_terms = 176, bessel_nodes = 160;

Tensor bessel_column(const Tensor& x) { return expand_dims(x, -1); }

// log I_v(z) = log of the sum of (z / 2)^(2k + v) / (k! gamma(k + v + 1)) over k, z > 0, v >= 0. Terms rise
// to the one near `middle` and fall on both sides as a bell does. Where it is narrow, all that count are
// added; where it is wide, places further apart give the same sum.
Tensor log_series_of_i(const Tensor& v, const Tensor& z) {
  constexpr double wide = 10;
  const Tensor middle = real(0.5) * square(z) / (v + sqrt(square(v) + square(z)));
  const Tensor below = middle + real(1), above = middle + v + real(1);
  const Tensor width = sqrt(below * above / (below + above)), is_wide = width > real(wide);
  const Tensor step = select(is_wide, width * real(1 / wide), real(1));
  const Tensor first =
      select(is_wide, middle - step * real(bessel_terms / 2), maximum(floor(middle) - real(80), real(0)));
  const Tensor count = iota({bessel_terms}, DType::f64);
  const Tensor k = stop_gradient(bessel_column(first) + bessel_column(step) * count);
  const Tensor terms = (real(2) * k + bessel_column(v)) * bessel_column(log(real(0.5) * z)) -
                       lgamma(k + real(1)) - lgamma(k + bessel_column(v) + real(1));
  const Tensor most = stop_gradient(reduce_max(terms, {-1}));
  return most + log(sum(exp(terms - bessel_column(most)), {-1})) + log(stop_gradient(step));
}

// 1 for even n, -1 for odd ones.
Tensor sign_of_power(const Tensor& n) { return real(1) - real(2) * remainder(abs(n), real(2)); }

}  // namespace

Tensor log_bessel_i(const Tensor& v, const Tensor& z) {
  const Tensor is_inside = both(both(v >= real(0), is_positive(z)), both(is_finite(v), is_finite(z)));
  const Tensor value = log_series_of_i(guarded(is_inside, v, 1), guarded(is_inside, z, 1));
  const Tensor at_zero = select(v == real(0), real(0), minus_infinity());
  const Tensor is_zero = both(z == real(0), v >= real(0)), is_end = both(z == infinity(), v >= real(0));
  return select(is_inside, value, select(is_zero, at_zero, select(is_end, infinity(), not_a_number())));
}

// Of whole n: I_-n is I_n, and I_n(-z) is I_n(z) but for the sign.
Tensor bessel_i(const Tensor& n, const Tensor& z) {
  const Tensor value = exp(log_bessel_i(abs(n), abs(z)));
  return select(z < real(0), sign_of_power(n) * value, value);
}

// K_n(z) is the integral of exp(-z cosh t) cosh(n t) over t > 0: equal steps as far as it counts.
Tensor bessel_k(const Tensor& n, const Tensor& z) {
  const Tensor is_inside = both(both(is_positive(z), is_finite(z)), is_finite(n));
  const Tensor at = guarded(is_inside, z, 1), order = guarded(is_inside, abs(n), 1);
  Tensor end = acosh(real(1) + real(45) / at);
  for (int i = 0; i < 4; ++i) end = acosh(real(1) + (real(45) + order * end) / at);
  const Tensor step = stop_gradient(end) * real(1.0 / bessel_nodes);
  const Tensor t = bessel_column(step) * iota({bessel_nodes + 1}, DType::f64);
  // z (cosh t - 1) as 2 z sinh(t / 2)^2
  const Tensor fall = real(2) * bessel_column(at) * square(sinh(real(0.5) * t));
  const Tensor both_ways = bessel_column(order) * t;
  const Tensor rise = both_ways + log1p(exp(real(-2) * both_ways)) - real(std::numbers::ln2);
  const Tensor is_first = t == real(0);
  const Tensor parts = exp(rise - fall) * select(is_first, real(0.5), real(1));
  const Tensor value = exp(-at) * sum(parts, {-1}) * step;
  const Tensor at_limit = select(z == real(0), infinity(), select(z == infinity(), real(0), not_a_number()));
  return select(is_inside, value, at_limit);
}

namespace {

// w with w e^w = x from a guess, by Halley's method, and its slope 1 / (e^w (1 + w)).
Tensor lambert_from(Tensor w, const Tensor& x, const Tensor& is_inside, const Tensor& otherwise) {
  for (int i = 0; i < 5; ++i) {
    const Tensor e = exp(w), gap = w * e - x, next = w + real(1);
    const Tensor is_apart = abs(next) > real(1e-9);
    const Tensor safe = guarded(is_apart, next, 1);
    const Tensor move = gap / (e * safe - real(0.5) * (safe + real(1)) * gap / safe);
    w = select(is_apart, w - move, w);
  }
  const Tensor value = with_slope(w, x, reciprocal(exp(w) * (real(1) + w)));
  return select(is_inside, value, otherwise);
}

constexpr double lambert_branch = -1 / std::numbers::e;

// Around the branch point: -1 + p - p^2 / 3 + 11 p^3 / 72 with p = +-sqrt(2 (e x + 1)).
Tensor lambert_near(const Tensor& x, double sign) {
  const Tensor p = real(sign) * sqrt(maximum(real(2) * (real(std::numbers::e) * x + real(1)), real(0)));
  return real(-1) + p * (real(1) - p * (real(1.0 / 3) - p * real(11.0 / 72)));
}

}  // namespace

Tensor lambert_w0(const Tensor& x) {
  const Tensor is_inside = both(x >= real(lambert_branch), x < infinity()), at = guarded(is_inside, x, 1);
  const Tensor known = stop_gradient(at), above = log1p(maximum(known, real(0)));
  const Tensor far = above * (real(1) - log1p(above) / (real(2) + above));
  const Tensor guess = select(known < real(0), lambert_near(known, 1), far);
  return lambert_from(guess, at, is_inside, select(x == infinity(), infinity(), not_a_number()));
}

Tensor lambert_wm1(const Tensor& x) {
  const Tensor is_inside = both(x >= real(lambert_branch), x < real(0)), at = guarded(is_inside, x, -0.2);
  const Tensor known = stop_gradient(at), is_near = known < real(-0.25);
  const Tensor down = log(-select(is_near, real(-0.1), known));
  const Tensor guess = select(is_near, lambert_near(known, -1), down - log(-down));
  return lambert_from(guess, at, is_inside, select(x == real(0), minus_infinity(), not_a_number()));
}

}  // namespace adit::stan
