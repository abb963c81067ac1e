#include "stats/formula.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "graph/op.hpp"
#include "graph/special.hpp"

namespace adit::stats {

namespace {

constexpr double log_root_two_pi = 0.91893853320467274178;
constexpr double half_root_two = 0.70710678118654752440;
constexpr double nothing_beyond = 40;  // the normal's tail from here on is 0 even in f64

// log(rest); where something is missing from 1, what the difference lost is put back.
Tensor log_of_rest(const Tensor& rest, const Tensor& is_whole, const Tensor& missing) {
  return log(rest) + stop_gradient(select(is_whole, real(0), (real(1) - rest - missing) * reciprocal(rest)));
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

// With t = |z| / sqrt 2 a tail is exp(-t^2) erfcx(t) / 2: below 0 its logarithm is taken apart, so that
// nothing underflows; above 0 it is what is missing from 1.
Tensor log_normal_cdf(const Tensor& z) {
  const Tensor is_low = z <= real(0);
  const Tensor t = select(is_low, -z, minimum(z, real(nothing_beyond))) * real(half_root_two);
  const Tensor ratio = real(0.5) * erfcx(t), height = -square(t);
  const Tensor missing = select(is_low, real(0), exp(height) * ratio);
  const Tensor rest = select(is_low, ratio, real(1) - missing);
  return select(is_low, height, real(0)) + log_of_rest(rest, is_low, missing);
}

// Mirrored where that is nearer to 0, the interval reaches from a to b >= |a|. Tails are exp(-t^2 / 2)
// ratio(t): where a is positive, a's exponential is taken out of both; else both tails are missing from 1.
Tensor log_normal_between(const NormalInterval& x) {
  const Tensor is_between = logical_and(x.has_low, x.has_high);
  const Tensor flips = select(is_between, x.low + x.high < real(0), x.has_high);
  const auto ratio = [](const Tensor& t) { return real(0.5) * erfcx(t * real(half_root_two)); };
  const Tensor a = select(flips, -x.high, x.low), is_tail = a > real(0);
  const Tensor size = select(is_tail, a, minimum(-a, real(nothing_beyond)));
  const Tensor b = select(is_between, select(flips, -x.low, x.high), size);
  const Tensor taken = select(is_tail, a, real(0)), height = real(-0.5) * square(a);
  const Tensor near = ratio(size) * exp(select(is_tail, real(0), height));
  const Tensor far = select(is_between, ratio(b) * exp(real(0.5) * (taken - b) * (taken + b)), real(0));
  const Tensor missing = near + far, rest = select(is_tail, near - far, real(1) - missing);
  return select(is_tail, height, real(0)) + log_of_rest(rest, is_tail, missing);
}

// Hastings' quotient is within 4.5e-4 of it from the middle to the far tail, and Newton's steps on the
// logarithm more than double the digits each: 1e-7, 3e-15.
Tensor normal_quantile_of_log(const Tensor& log_p, int steps) {
  const Tensor t = sqrt(real(-2) * log_p);
  const Tensor above = real(2.515517) + t * (real(0.802853) + t * real(0.010328));
  const Tensor below = real(1) + t * (real(1.432788) + t * (real(0.189269) + t * real(0.001308)));
  Tensor z = above / below - t;
  for (int step = 0; step < steps; ++step) {
    const Tensor reached = log_normal_cdf(z);
    z = z - (reached - log_p) * exp(reached - log_normal_density(z));
  }
  return z;
}

}  // namespace adit::stats
