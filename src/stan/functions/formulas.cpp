#include "stan/functions/formulas.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include <adit/control.hpp>

namespace adit::stan {

namespace {

constexpr double sharp_from = 8;  // Stirling's series, with the terms below

// log gamma(z) - (z - 1/2) log z + z - log sqrt(2 pi): six terms are within 2e-14 for z >= 8.
Tensor formulas_stirling(const Tensor& z) {
  constexpr std::array<double, 6> coefficients{1.0 / 12,    -1.0 / 360, 1.0 / 1260,
                                               -1.0 / 1680, 1.0 / 1188, -691.0 / 360360};
  const Tensor r = reciprocal(z), r2 = square(r);
  Tensor series = real(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) series = series * r2 + real(coefficients[i]);
  return series * r;
}

// log of (a / (a + x)) ((a + 1) / (a + 1 + x)) ... of eight factors. Quotients of products of four: divisions
// are most of what it takes, and of its derivative.
Tensor formulas_log_shift(const Tensor& a, const Tensor& x) {
  const auto four = [](const Tensor& first) {
    return (first * (first + real(1))) * ((first + real(2)) * (first + real(3)));
  };
  const auto quotient = [&](double i) { return four(a + real(i)) / four(a + x + real(i)); };
  return log(quotient(0)) + log(quotient(4));
}

template <size_t n>
Tensor formulas_polynomial(const Tensor& x, const std::array<double, n>& coefficients) {
  Tensor sum = real(coefficients[n - 1]);
  for (size_t i = n - 1; i-- > 0;) sum = sum * x + real(coefficients[i]);
  return sum;
}

}  // namespace

Tensor log_of_powers(const Tensor& sum) { return log(select(sum == real(0), real(0), sum)); }

Tensor log_sum_exp_of_two(const Tensor& a, const Tensor& b) {
  const Tensor larger = select(a > b, a, b), smaller = select(a > b, b, a);
  // Of infinities the larger one is the result already; a NaN goes through.
  const Tensor gap = select(is_infinity(larger), real(0), smaller - larger);
  return larger + log1p(exp(gap));
}

Tensor log_diff_exp(const Tensor& a, const Tensor& b) {
  const Tensor is_nothing = both(a == minus_infinity(), b == minus_infinity());
  const Tensor gap = select(is_nothing, real(-1), b - a);
  return a + stats::log1m_exp(gap);
}

Tensor log1m_exp_minus_exp(const Tensor& h) {
  const Tensor is_tiny = h < real(-40);  // there 1 - exp(-e^h) is e^h
  // Beyond 10 the result is 0 and stays so; e^h would overflow.
  const Tensor near = minimum(guarded(logical_not(is_tiny), h, 0), real(10));
  return select(is_tiny, h, stats::log1m_exp(-exp(near)));
}

Tensor log_sum_of_masses(const Tensor& log_last, const Tensor& last,
                         const std::function<Tensor(const Tensor& j)>& log_ratio) {
  const Shape shape = (log_last + last).shape();
  const Tensor start = broadcast_to(log_last, shape), most = reduce_max(stop_gradient(last));
  const auto is_open = [&](const Tensors& state) { return state[0] < most; };
  const auto added = [&](const Tensors& state) -> Tensors {
    const Tensor is_left = broadcast_to(state[0] < last, shape);
    const Tensor j = maximum(last - state[0] - real(1), real(0));
    const Tensor mass = state[1] - select(is_left, log_ratio(j), real(0));
    return {state[0] + real(1), mass, select(is_left, log_sum_exp_of_two(state[2], mass), state[2])};
  };
  return while_loop(is_open, added, {zeros({}, DType::f64), start, start})[2];
}

namespace {

// By Newton's steps and one more; the derivative is that of the quantile, where they arrived.
Tensor quantile_after(int steps, const Tensor& log_p) {
  const Tensor is_low = log_p < real(-std::numbers::ln2);
  const Tensor is_inside = both(log_p<real(0), log_p> minus_infinity());
  const Tensor inside = guarded(is_inside, log_p, -1);
  const Tensor upper = stats::log1m_exp(guarded(logical_not(is_low), inside, -0.5));
  const Tensor smaller = select(is_low, inside, upper);
  const Tensor known = stop_gradient(smaller), z = stats::normal_quantile_of_log(known, steps);
  const Tensor reached = stats::log_normal_cdf(z);
  const Tensor last = z - (reached - known) * exp(reached - stats::log_normal_density(z));
  const Tensor slope = exp(known - stats::log_normal_density(last));
  const Tensor polished = stop_gradient(last) + (smaller - known) * stop_gradient(slope);
  const Tensor at_end = select(log_p == real(0), infinity(),
                               select(log_p == minus_infinity(), minus_infinity(), not_a_number()));
  return select(is_inside, select(is_low, polished, -polished), at_end);
}

}  // namespace

Tensor quantile_of_normal_by_log(const Tensor& log_p) { return quantile_after(2, log_p); }

Tensor quantile_of_normal(const Tensor& p) {
  const Tensor is_central = both(p > real(0.1), p < real(0.9));
  const Tensor middle = guarded(is_central, p, 0.5);
  const Tensor central = erf_inv(real(2) * middle - real(1)) * real(std::numbers::sqrt2);
  const Tensor is_upper = p > real(0.5);
  const Tensor side = select(is_upper, real(1) - p, p);
  const Tensor is_tail = both(side > real(0), logical_not(is_central));
  // Out there Newton's steps are twice as good as in the middle.
  const Tensor tail = quantile_after(1, log(guarded(is_tail, side, 0.05)));
  const Tensor at_end = select(side == real(0), minus_infinity(), not_a_number());
  const Tensor outer = select(is_tail, tail, at_end);
  return select(is_central, central, select(is_upper, -outer, outer));
}

// With z = a + 8 and the product R of eight factors,
//   log gamma(a + x) - log gamma(a) = (z - 1/2) log(1 + x / z) + x log(z + x) - x + S(z + x) - S(z) + log R.
// From far out nothing is shifted, z is a and R is 1: the products of factors would overflow.
Tensor log_rising(const Tensor& a, const Tensor& x) {
  constexpr double far = 1e6;
  const Tensor is_near = a < real(far), z = a + select(is_near, real(sharp_from), real(0));
  return (z - real(0.5)) * log1p(x / z) + x * (log(z + x) - real(1)) +
         (formulas_stirling(z + x) - formulas_stirling(z)) +
         select(is_near, formulas_log_shift(guarded(is_near, a, 1), guarded(is_near, x, 1)), real(0));
}

Tensor log_beta(const Tensor& a, const Tensor& b) {
  const Tensor is_inside = both(is_positive(a), is_positive(b));
  const Tensor first = guarded(is_inside, a, 1), second = guarded(is_inside, b, 1);
  const Tensor smaller = select(first < second, first, second);
  const Tensor larger = select(first < second, second, first);
  return lgamma(smaller) - log_rising(larger, smaller) + domain_term(is_inside);
}

Tensor log_choose(const Tensor& n, const Tensor& k) {
  const Tensor is_inside = both(k > real(-1), k < n + real(1));
  const Tensor is_known = logical_not(logical_or(is_nan(n), is_nan(k)));
  const Tensor all = guarded(is_inside, n, 1), some = guarded(is_inside, k, 1);
  const Tensor value = -log_beta(some + real(1), all - some + real(1)) - log1p(all);
  return select(is_known, select(is_inside, value, minus_infinity()), not_a_number());
}

Tensor sign_of_gamma(const Tensor& x) {
  const Tensor below = floor(x);
  const Tensor is_odd = both(x < real(0), remainder(below, real(2)) != real(0));
  return select(is_odd, real(-1), real(1));
}

// Up to 15 the power series in k^2 / 4, beyond the asymptotic one in 1 / k: both within 1e-13.
Tensor log_bessel_i0_scaled(const Tensor& k) {
  constexpr int terms = 26;
  static const auto [series, tail] = [] {
    std::array<double, 40> power{};
    std::array<double, terms> asymptotic{};
    power[0] = asymptotic[0] = 1;
    for (size_t n = 1; n < power.size(); ++n) power[n] = power[n - 1] / static_cast<double>(n * n);
    for (size_t n = 1; n < terms; ++n) {
      const double odd = 2 * static_cast<double>(n) - 1;
      asymptotic[n] = asymptotic[n - 1] * odd * odd / (8 * static_cast<double>(n));
    }
    return std::pair(power, asymptotic);
  }();
  const Tensor is_far = k > real(15);
  const Tensor near = guarded(logical_not(is_far), k, 1), far = guarded(is_far, k, 16);
  const Tensor by_series = log(formulas_polynomial(square(near) * real(0.25), series)) - near;
  const Tensor by_tail =
      log(formulas_polynomial(reciprocal(far), tail)) - real(0.5) * log(far * real(2 * std::numbers::pi));
  return select(is_far, by_tail, by_series);
}

}  // namespace adit::stan
