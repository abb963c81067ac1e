// The incomplete gamma and beta functions, as logarithms. Each has a tail that is computed and one that is 1
// less it:
// - small parameters: the power series or the continued fraction, a fixed number of terms in a scan;
// - large ones, where those converge slowly: a quadrature rule over the part of the tail that counts.
// Relative errors of the tail are below 1e-12 for parameters up to 1e5, and grow as its square root beyond.
#include <cmath>
#include <numbers>

#include <adit/control.hpp>

#include "stan/functions/formulas.hpp"

namespace adit::stan {

namespace {

constexpr int64_t incomplete_terms = 160;
constexpr double incomplete_large = 200;  // the rule begins here
constexpr int64_t incomplete_nodes = 81;

// Places u in (0, 1) and weights of a rule for smooth functions, by tanh-sinh: u = sigmoid(pi sinh t) at
// equally spaced t. Made of formulas, so that no table has to come from outside of the graph.
struct Rule {
  Tensor u, weight;
};
Rule unit_rule() {
  constexpr double most = 3.4, step = 2 * most / (incomplete_nodes - 1);
  const Tensor t = iota({incomplete_nodes}, DType::f64) * real(step) - real(most);
  const Tensor s = real(std::numbers::pi) * sinh(t);
  const Tensor u = sigmoid(s);
  return {u, real(std::numbers::pi * step) * cosh(t) * u * sigmoid(-s)};
}

// log of the integral of exp(f(v)) over v from 0 to `extent`, which derivatives take as a constant: nothing
// is left beyond it.
template <class F>
Tensor log_integral(const Tensor& extent, F f) {
  const Rule rule = unit_rule();
  const Tensor end = stop_gradient(extent), v = expand_dims(end, -1) * rule.u;
  return log(sum(exp(f(v)) * rule.weight, {-1})) + log(end);
}
// How far a tail reaches whose logarithm begins with slope -rate and curvature -curve: 60 down.
Tensor extent_of_tail(const Tensor& rate, const Tensor& curve) {
  const Tensor r = maximum(rate, real(0));
  return minimum(real(120) / (r + sqrt(square(r) + real(120) * curve)), real(1 - 0x1p-20));
}
Tensor incomplete_column(const Tensor& x) { return expand_dims(x, -1); }

// a log x - x - log gamma(a), without large terms that cancel.
Tensor log_gamma_front(const Tensor& a, const Tensor& x) {
  const Tensor is_large = a > real(8), m = guarded(is_large, a, 9);
  const Tensor small = guarded(logical_not(is_large), a, 1);
  const Tensor gap = (guarded(is_large, x, 9) - m) / m;
  // log gamma(m) = (m - 1/2) log m - m + log sqrt(2 pi) + S(m); S from the distance of log gamma to it.
  const Tensor r = reciprocal(m), r2 = square(r);
  const Tensor stirling =
      r * (real(1.0 / 12) +
           r2 * (real(-1.0 / 360) +
                 r2 * (real(1.0 / 1260) +
                       r2 * (real(-1.0 / 1680) + r2 * (real(1.0 / 1188) + r2 * real(-691.0 / 360360))))));
  const Tensor large =
      m * (log1p(gap) - gap) + real(0.5) * log(m * real(0.5 * std::numbers::inv_pi)) - stirling;
  return select(is_large, large, small * log(x) - x - lgamma(small));
}

// P for x < a + 1: x^a e^-x / gamma(a + 1) times 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...
Tensor log_gamma_series(const Tensor& a, const Tensor& x) {
  const auto step = [&](const Tensors& carry, const Tensors& number) -> Step {
    const Tensor term = carry[0] * (x / (a + number[0]));
    return {{term, carry[1] + term}, {}};
  };
  const Tensor one = ones_like(a + x);
  const Tensor count = iota({incomplete_terms}, DType::f64) + real(1);
  return log(scan(step, {one, one}, {count}).carry[1]) - log(a);
}

// Q for x >= a + 1, Legendre's continued fraction by Lentz's method.
Tensor log_gamma_fraction(const Tensor& a, const Tensor& x) {
  const auto step = [&](const Tensors& carry, const Tensors& number) -> Step {
    const Tensor& i = number[0];
    const Tensor numerator = i * (a - i), b = x + real(1) - a + real(2) * i;
    const Tensor d = reciprocal(numerator * carry[1] + b), c = b + numerator / carry[0];
    return {{c, d, carry[2] * (d * c)}, {}};
  };
  const Tensor first = reciprocal(x + real(1) - a);
  const Tensor count = iota({incomplete_terms}, DType::f64) + real(1);
  return log(scan(step, {full(first.shape(), 1e30, DType::f64), first, first}, {count}).carry[2]);
}

struct Tail {
  Tensor log_value, is_lower;
};
Tail gamma_tail(const Tensor& a, const Tensor& x) {
  const Tensor is_large = a > real(incomplete_large);
  const Tensor is_lower = x < select(is_large, a, a + real(1));
  const Tensor by_series = both(is_lower, logical_not(is_large));
  const Tensor by_fraction = logical_not(logical_or(is_lower, is_large));
  const Tensor series = log_gamma_series(guarded(by_series, a, 1), guarded(by_series, x, 1));
  const Tensor fraction = log_gamma_fraction(guarded(by_fraction, a, 1), guarded(by_fraction, x, 3));
  // t = x (1 - v) below and x (1 + v) above: the same formula with v of either sign.
  const Tensor big = guarded(is_large, a, 300), at = guarded(is_large, x, 300);
  const Tensor sign = select(is_lower, real(-1), real(1));
  const Tensor extent = extent_of_tail(sign * (at - big + real(1)), big - real(1));
  const Tensor rule = log_integral(extent, [&](const Tensor& v) {
    const Tensor signed_v = incomplete_column(sign) * v;
    return incomplete_column(big - real(1)) * log1p(signed_v) - incomplete_column(at) * signed_v;
  });
  const Tensor inner = select(is_large, rule, select(is_lower, series, fraction));
  return {log_gamma_front(a, x) + inner, is_lower};
}

Tensor log_of_gamma_side(const Tensor& a, const Tensor& x, bool lower) {
  const Tensor is_inside = both(both(is_positive(a), a < infinity()), both(is_positive(x), x < infinity()));
  const Tail tail = gamma_tail(guarded(is_inside, a, 1), guarded(is_inside, x, 1));
  const Tensor computed = lower ? tail.is_lower : logical_not(tail.is_lower);
  // Rounding may leave the other one's logarithm at 0.
  const Tensor other = select(computed, real(-1), minimum(tail.log_value, real(-0x1p-60)));
  const Tensor value = select(computed, tail.log_value, stats::log1m_exp(other));
  const Tensor at_zero = lower ? minus_infinity() : real(0), at_end = lower ? real(0) : minus_infinity();
  const Tensor at_limit = select(x == real(0), at_zero, select(x == infinity(), at_end, not_a_number()));
  return select(is_inside, value, select(is_positive(a), at_limit, not_a_number()));
}

// The continued fraction of I_x(a, b) for x below (a + 1) / (a + b + 2), by Lentz's method.
Tensor log_beta_fraction(const Tensor& a, const Tensor& b, const Tensor& x) {
  const auto apart = [](const Tensor& t) { return select(abs(t) < real(1e-30), real(1e-30), t); };
  const auto step = [&](const Tensors& carry, const Tensors& number) -> Step {
    const Tensor &m = number[0], twice = real(2) * m;
    const Tensor even = m * (b - m) * x / ((a + twice - real(1)) * (a + twice));
    const Tensor d = reciprocal(apart(real(1) + even * carry[1])), c = apart(real(1) + even / carry[0]);
    const Tensor h = carry[2] * (d * c);
    const Tensor odd = -(a + m) * (a + b + m) * x / ((a + twice) * (a + twice + real(1)));
    const Tensor d2 = reciprocal(apart(real(1) + odd * d)), c2 = apart(real(1) + odd / c);
    return {{c2, d2, h * (d2 * c2)}, {}};
  };
  const Tensor first = reciprocal(apart(real(1) - (a + b) * x / (a + real(1))));
  const Tensor count = iota({incomplete_terms}, DType::f64) + real(1);
  return log(scan(step, {ones_like(first), first, first}, {count}).carry[2]) - log(a);
}

// log x by whichever of x and y = 1 - x is the smaller one.
Tensor log_of_share(const Tensor& x, const Tensor& y) {
  const Tensor is_small = x < real(0.5);
  return select(is_small, log(guarded(is_small, x, 0.5)), log1p(-select(is_small, real(0), y)));
}

// log I_x(a, b) where x lies below the middle; a, b > 0, 0 < x < 1.
Tensor log_beta_lower(const Tensor& a, const Tensor& b, const Tensor& x, const Tensor& y) {
  const Tensor is_large = both(a > real(incomplete_large), b > real(incomplete_large));
  const Tensor by_fraction = logical_not(is_large);
  const Tensor fraction = log_beta_fraction(guarded(by_fraction, a, 1), guarded(by_fraction, b, 1),
                                            guarded(by_fraction, x, 0.25));
  const Tensor p = guarded(is_large, a, 300), q = guarded(is_large, b, 300);
  const Tensor odds = guarded(is_large, x, 0.5) / guarded(is_large, y, 0.5);
  const Tensor rate = p - real(1) - (q - real(1)) * odds;
  const Tensor curve = p - real(1) + (q - real(1)) * square(odds);
  // t = x (1 - v)
  const Tensor rule = log_integral(extent_of_tail(rate, curve), [&](const Tensor& v) {
    return incomplete_column(p - real(1)) * log1p(-v) +
           incomplete_column(q - real(1)) * log1p(incomplete_column(odds) * v);
  });
  const Tensor front = a * log_of_share(x, y) + b * log_of_share(y, x) - log_beta(a, b);
  return front + select(is_large, rule - log(guarded(is_large, y, 0.5)), fraction);
}

}  // namespace

Tensor log_gamma_p(const Tensor& a, const Tensor& x) { return log_of_gamma_side(a, x, true); }
Tensor log_gamma_q(const Tensor& a, const Tensor& x) { return log_of_gamma_side(a, x, false); }

Tensor log_incomplete_beta(const Tensor& a, const Tensor& b, const Tensor& x, const Tensor& y) {
  const Tensor has_parameters =
      both(both(is_positive(a), a < infinity()), both(is_positive(b), b < infinity()));
  const Tensor is_inside = both(has_parameters, both(is_positive(x), is_positive(y)));
  const Tensor p = guarded(is_inside, a, 1), q = guarded(is_inside, b, 1);
  const Tensor at = guarded(is_inside, x, 0.5), rest = guarded(is_inside, y, 0.5);
  const Tensor is_lower = at * (p + q + real(2)) < p + real(1);
  // The other tail is the same function with the sides exchanged.
  const Tensor tail = log_beta_lower(select(is_lower, p, q), select(is_lower, q, p),
                                     select(is_lower, at, rest), select(is_lower, rest, at));
  const Tensor least = select(is_lower, real(-1), minimum(tail, real(-0x1p-60)));
  const Tensor value = select(is_lower, tail, stats::log1m_exp(least));
  const Tensor at_limit =
      select(x == real(0), minus_infinity(), select(y == real(0), real(0), not_a_number()));
  return select(is_inside, value, select(has_parameters, at_limit, not_a_number()));
}

// T(h, a) = 1 / (2 pi) times the integral of exp(-h^2 (1 + t^2) / 2) / (1 + t^2) from 0 to a. For a > 1 by
// T(h, a) = (P(h) + P(ah)) / 2 - P(h) P(ah) - T(ah, 1 / a) with P the normal cdf, in terms of upper tails.
Tensor owens_t(const Tensor& h, const Tensor& a) {
  const Rule rule = unit_rule();
  const Tensor top = abs(h), slope = select(a < real(0), -a, a), is_steep = slope > real(1);
  const Tensor finite = guarded(slope < infinity(), slope, 2);
  const Tensor far = top * finite;
  const Tensor from = select(is_steep, far, top),
               to = select(is_steep, reciprocal(guarded(is_steep, slope, 1)), slope);
  const Tensor t = incomplete_column(to) * rule.u, wide = real(1) + square(t);
  const Tensor inside = exp(real(-0.5) * square(incomplete_column(from)) * wide) / wide * rule.weight;
  const Tensor direct = to * sum(inside, {-1}) * real(0.5 * std::numbers::inv_pi);
  const auto upper = [](const Tensor& z) { return real(0.5) * erfc(z * real(1 / std::numbers::sqrt2)); };
  const Tensor near_tail = upper(top), far_tail = select(slope < infinity(), upper(far), real(0));
  const Tensor steep = real(0.5) * (near_tail + far_tail) - near_tail * far_tail - direct;
  const Tensor value = select(is_steep, steep, direct);
  return select(a < real(0), -value, value);
}

}  // namespace adit::stan
