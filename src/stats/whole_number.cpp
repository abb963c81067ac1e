#include "stats/whole_number.hpp"

#include <cmath>
#include <fmt/format.h>

#include <adit/control.hpp>

#include "graph/operands.hpp"
#include "graph/row.hpp"

namespace adit::stats {

namespace {

constexpr int64_t most_compared = 64;  // classes

Tensor with_axis(const Tensor& x) { return expand_dims(x, -1); }

}  // namespace

Tensor of_classes(std::string_view where, std::string_view argument, const Tensor& x) {
  const Tensor numbers = Parameter(x);
  if (numbers.rank() == 0 || numbers.dim(-1) == 0)
    graph::fail(where, argument,
                fmt::format("expected numbers along a last axis, got shape {}", to_string(numbers.shape())));
  return numbers;
}

Shape leading(const Tensor& x, int last_axes) {
  return Shape(std::span(x.shape().begin(), static_cast<size_t>(x.rank() - last_axes)));
}

Tensor is_whole(const Tensor& x) { return logical_and(x >= real(0), floor(x) == x); }
Tensor is_whole_below(const Tensor& x, const Tensor& end) { return logical_and(is_whole(x), x < end); }

Tensor log_from_zero(const Tensor& x) {
  const Tensor is_zero = x == real(0);
  return select(is_zero, minus_infinity(), log(select(is_zero, real(1), x)));
}
Tensor log1m_to_one(const Tensor& x) {
  const Tensor is_one = x == real(1);
  return select(is_one, minus_infinity(), log1p(-select(is_one, real(0), x)));
}
Tensor times_log(const Tensor& count, const Tensor& logarithm) {
  return select(count == real(0), real(0), count * logarithm);
}
Tensor log_choose(const Tensor& n, const Tensor& k) {
  return lgamma(n + real(1)) - lgamma(k + real(1)) - lgamma(n - k + real(1));
}

Tensor at_class(const Tensor& rows, const Tensor& x) {
  const int64_t classes = rows.dim(-1);
  if (classes <= most_compared) {
    const Tensor is_chosen = iota({classes}, DType::f64) == with_axis(x);
    return sum(select(is_chosen, rows, real(0)), {-1});
  }
  const Tensor index = as_type(x, DType::i64);
  if (rows.rank() == 1) return take(rows, index);
  const Shape batch = graph::broadcast_shapes("at_class", "x", leading(rows, 1), x.shape());
  const Tensor all = broadcast_to(rows, joined(batch, {classes}));
  return squeeze(take_along_axis(all, with_axis(broadcast_to(index, batch)), -1), {-1});
}

// With p(m) the mass at the mode m, p(m + k) <= p(m) min(1, exp(1 - p(m) |k|)) (Devroye 1987, "A simple
// generator for discrete log-concave distributions"). So a point y of the density that is proportional to
// min(1, exp(w - p(m) y)), w = 1 + p(m) / 2, is rounded, given a sign, and taken with probability
// p(m + k) / p(m) / min(1, exp(w - p(m) y)): one in four or five proposals, whatever the distribution.
// A mass of NaN (from a bad parameter) is taken, so that the loop ends.
Tensor draw_log_concave(const Tensor& key, const Tensor& mode,
                        const std::function<Tensor(const Tensor& x)>& log_mass, const Shape& shape) {
  const Tensor centre = broadcast_to(mode, shape);
  const Tensor log_peak = log_mass(mode), peak = exp(log_peak), w = real(1) + real(0.5) * peak;
  const auto proposed = [&](const Tensors& state) -> Tensors {
    const Tensor keys = random::split(state[0], 4);
    const auto uniform = [&](int64_t number) { return draw_uniform(random::row(keys, number), shape); };
    const Tensor place = uniform(1),
                 side = real(2) * uniform(2) - real(1);  // |side| chooses between the parts
    const Tensor y = select(abs(side) * (real(1) + w) < w, place * w, w - log1p(-place));  // times p(m)
    const Tensor k = floor(y / peak + real(0.5));
    const Tensor x = centre + select(side < real(0), -k, k);
    const Tensor log_chance = log_mass(x) - log_peak - minimum(real(0), w - y);
    const Tensor is_refused = log(uniform(3)) > log_chance;
    return {random::row(keys, 0), select(state[2], state[1], x),
            logical_or(state[2], logical_not(is_refused))};
  };
  const auto is_open = [](const Tensors& state) { return any(logical_not(state[2])); };
  return while_loop(is_open, proposed, {key, zeros(shape, DType::f64), zeros(shape, DType::u8)})[1];
}

Tensor draw_poisson(const Tensor& key, const Tensor& rate, const Shape& shape) {
  const Tensor log_rate = log_from_zero(rate);
  const auto log_mass = [&](const Tensor& x) {
    const Tensor is_inside = logical_not(x < real(0)), k = guarded(is_inside, x, 0);
    return times_log(k, log_rate) - rate - lgamma(k + real(1)) + support_term(is_inside);
  };
  return draw_log_concave(key, floor(rate), log_mass, shape);
}

Tensor draw_binomial(const Tensor& key, const Tensor& count, const Tensor& p, const Shape& shape) {
  const Tensor log_p = log_from_zero(p), log_q = log1m_to_one(p);
  const auto log_mass = [&](const Tensor& x) {
    const Tensor is_inside = logical_not(logical_or(x<real(0), x> count));
    const Tensor k = guarded(is_inside, x, 0);
    return log_choose(count, k) + times_log(k, log_p) + times_log(count - k, log_q) + support_term(is_inside);
  };
  return draw_log_concave(key, minimum(count, floor((count + real(1)) * p)), log_mass, shape);
}

Tensor draw_class(const Tensor& key, const Tensor& logits, const Shape& shape) {
  const Tensor all = broadcast_to(logits, joined(shape, {logits.dim(-1)}));
  return as_type(random::categorical(key, all, -1), DType::f64);
}

}  // namespace adit::stats
