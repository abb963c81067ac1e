#include "stats/formula.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "graph/op.hpp"

namespace adit::stats {

namespace {

constexpr double log_root_two_pi = 0.91893853320467274178;
constexpr double tail_begins = 8;  // the fraction below is sharp from here on

template <size_t n>
Tensor polynomial(const Tensor& x, const std::array<double, n>& coefficients) {
  Tensor sum = real(coefficients[n - 1]);
  for (size_t i = n - 1; i-- > 0;) sum = sum * x + real(coefficients[i]);
  return sum;
}

// Mills' ratio P(Z > t) / density(t) times t for t >= 8: the continued fraction
// 1 / (1 + s / (1 + 2 s / (1 + 3 s / ...))) in s = 1 / t^2, ten levels written as one fraction. It is within
// 2e-13 of the ratio at 8 and closer beyond; no coefficient is negative, so nothing cancels.
Tensor log_mills_ratio_times(const Tensor& t) {
  const Tensor s = square(reciprocal(t));
  return log(polynomial(s, std::array{1.0, 54.0, 938.0, 6090.0, 12645.0, 3840.0}) /
             polynomial(s, std::array{1.0, 55.0, 990.0, 6930.0, 17325.0, 10395.0}));
}

}  // namespace

std::optional<double> literal_of(const Tensor& x) {
  using graph::Op;
  const std::scoped_lock lock(graph::graph_lock());  // another thread may be computing it
  const graph::Node* node = &graph::node_of(x);
  while ((node->op == Op::broadcast || node->op == Op::as_type || node->op == Op::reshape) &&
         !node->operands.empty())
    node = &graph::node_of(node->operands[0]);
  if (node->op != Op::number && node->op != Op::constant) return std::nullopt;
  const auto& literal = node->as<graph::Literal>();
  return is_integer(node->type) ? static_cast<double>(literal.integer) : literal.real;
}

Tensor log1m_exp(const Tensor& a) {
  const Tensor near = a > real(-std::numbers::ln2);
  // Where a is 0 the branch of log1p has an infinite slope: it never sees such an a.
  return select(near, log(-expm1(a)), log1p(-exp(guarded(logical_not(near), a, -1))));
}

Tensor log_difference_exp(const Tensor& a, const Tensor& b) { return a + log1m_exp(b - a); }

Tensor log_sum_exp(const Tensor& a, const Tensor& b) {
  const Tensor larger = select(a > b, a, b), smaller = select(a > b, b, a);
  const Tensor gap = guarded(larger > minus_infinity(), smaller - larger, 0);
  return larger + log1p(exp(gap));
}

Tensor log_of_side(const Tensor& tail, const Tensor& above) {
  return select(above, log1p(-tail), log(select(above, real(1), tail)));
}

Tensor log_normal_density(const Tensor& z) { return real(-0.5) * square(z) - real(log_root_two_pi); }

// - above -8: the smaller tail is erfc(|z| / sqrt 2) / 2;
// - below: -z^2 / 2 - log sqrt(2 pi) + log of Mills' ratio, which never underflows.
Tensor log_normal_cdf(const Tensor& z) {
  const Tensor is_far = z < real(-tail_begins);
  const Tensor near_z = guarded(logical_not(is_far), z, 0);
  const Tensor tail = real(0.5) * erfc(distance(near_z) * real(1 / std::numbers::sqrt2));
  const Tensor near = log_of_side(tail, near_z > real(0));
  const Tensor t = select(is_far, -z, real(tail_begins));
  const Tensor far = log_normal_density(t) - log(t) + log_mills_ratio_times(t);
  return select(is_far, far, near);
}

// Newton's method from -sqrt(-2 log p), which lies below: log P is concave, so the steps come from one side
// and five of them reach f64's precision everywhere.
Tensor normal_quantile_of_log(const Tensor& log_p) {
  Tensor z = -sqrt(real(-2) * log_p);
  for (int step = 0; step < 5; ++step) {
    const Tensor reached = log_normal_cdf(z);
    z = z - (reached - log_p) * exp(reached - log_normal_density(z));
  }
  return z;
}

}  // namespace adit::stats
