// Classes 1 .. K by probabilities, logits or cut points.
#include <array>

#include "stan/functions/classes.hpp"
#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

// Numbers from 0 on, which lie inside; and whether they did.
struct ClassNumber {
  Tensor number, is_inside;
};
ClassNumber class_number(const Tensor& y, int64_t classes) {
  const Tensor from_zero = y - real(1);
  const Tensor inside = stats::is_whole_below(from_zero, real(static_cast<double>(classes)));
  return {guarded(inside, from_zero, 0), inside};
}
// The vector's part for y's own axes: [K] behind them.
Part beside(const Part& vector, const Part& y) { return widened(vector, y.axes() + 1); }

}  // namespace

Tensor log_class_by_logits(const Tensor& y, const Tensor& logits) {
  const ClassNumber k = class_number(y, logits.dim(-1));
  return stats::at_class(logits, k.number) - logsumexp(logits, {-1}) + support_term(k.is_inside);
}

namespace {

struct Cuts {
  Tensor has_low, has_high, low, high, is_inside;
};
// The cut points on both sides of class y; where there is none, 0.
Cuts cuts_of(const Tensor& y, const Tensor& cuts) {
  const int64_t classes = cuts.dim(-1) + 1;
  const ClassNumber k = class_number(y, classes);
  const double last = static_cast<double>(classes - 1);
  const Tensor has_low = k.number > real(0), has_high = k.number < real(last);
  const auto at = [&](const Tensor& number) { return stats::at_class(cuts, number); };
  return {has_low, has_high, at(maximum(k.number - real(1), real(0))),
          at(minimum(k.number, real(std::max(0.0, last - 1)))), k.is_inside};
}
// log(1 - e^(low - high)) between two cut points, else 0.
Tensor log_gap(const Cuts& c) {
  const Tensor is_between = both(c.has_low, c.has_high);
  return select(is_between, stats::log1m_exp(select(is_between, c.low - c.high, real(-1))), real(0));
}

}  // namespace

// sigmoid(a) - sigmoid(b) is sigmoid(a) sigmoid(-b) (1 - e^(b - a)).
Tensor log_ordered_logistic(const Tensor& y, const Tensor& eta, const Tensor& cuts) {
  const Cuts c = cuts_of(y, cuts);
  return select(c.has_low, log_sigmoid(eta - c.low), real(0)) +
         select(c.has_high, log_sigmoid(c.high - eta), real(0)) + log_gap(c) + support_term(c.is_inside);
}

namespace {

Tensor log_ordered_probit(const Tensor& y, const Tensor& eta, const Tensor& cuts) {
  const Cuts c = cuts_of(y, cuts);
  return stats::log_normal_between({c.low - eta, c.high - eta, c.has_low, c.has_high}) +
         support_term(c.is_inside);
}

// --- categorical
// ---------------------------------------------------------------------------------------------------
Tensor categorical_lpmf(const Arguments& a) {
  const Part y = part(a, 0), theta = beside(part(a, 1), y);
  const ClassNumber k = class_number(y.x, theta.x.dim(-1));
  const Tensor inside = both(theta.x >= real(0), theta.x <= real(1));
  const Tensor logs = stats::log_from_zero(theta.x) + domain_term(inside);
  return total(a,
               {stats::at_class(logs, k.number) + support_term(k.is_inside), y.in_lanes || theta.in_lanes});
}
Tensor categorical_logit_lpmf(const Arguments& a) {
  const Part y = part(a, 0), logits = beside(part(a, 1), y);
  return total(a, {log_class_by_logits(y.x, logits.x), y.in_lanes || logits.in_lanes});
}
Tensor class_draw(const Tensor& key, const Tensor& logs) {
  return as_type(stats::draw_class(key, logs, stats::leading(logs, 1)) + real(1), DType::i64);
}
Tensor categorical_rng(const Arguments& a) {
  return class_draw(a.key, stats::log_from_zero(drawing_part(a, 0).x));
}
Tensor categorical_logit_rng(const Arguments& a) { return class_draw(a.key, drawing_part(a, 0).x); }

// --- ordered
// ---------------------------------------------------------------------------------------------------------
// y and eta are numbers or along one axis; cut points are one vector, or one for each y.
template <class F>
Tensor ordered(const Arguments& a, F log_mass) {
  const Part y = part(a, 0), eta = part(a, 1);
  const int axes = std::max(y.axes(), eta.axes());
  const Part seen = widened(y, axes), at = widened(eta, axes), cuts = widened(part(a, 2), axes + 1);
  return total(a, {log_mass(seen.x, at.x, cuts.x), y.in_lanes || eta.in_lanes || cuts.in_lanes});
}
Tensor ordered_logistic_lpmf(const Arguments& a) { return ordered(a, log_ordered_logistic); }
Tensor ordered_probit_lpmf(const Arguments& a) { return ordered(a, log_ordered_probit); }
// One more than the cut points below eta + noise.
Tensor ordered_draw(const Arguments& a, Tensor (*noise)(const Tensor& key, const Shape& shape)) {
  const Part eta = drawing_part(a, 0), cuts = widened(part(a, 1), eta.axes() + 1);
  const Tensor x = eta.x + noise(a.key, eta.x.shape());
  const Tensor below = select(expand_dims(x, -1) > cuts.x, real(1), real(0));
  return as_type(sum(below, {-1}) + real(1), DType::i64);
}
Tensor ordered_logistic_rng(const Arguments& a) {
  return ordered_draw(a, [](const Tensor& key, const Shape& shape) {
    const Tensor u = stats::draw_open_uniform(key, shape);
    return log(u) - log1p(-u);
  });
}
Tensor ordered_probit_rng(const Arguments& a) { return ordered_draw(a, stats::draw_normal); }

constexpr std::array class_table{
    GeneralFunction{"categorical_logit_lpmf", categorical_logit_lpmf},
    GeneralFunction{"categorical_logit_rng", categorical_logit_rng},
    GeneralFunction{"categorical_lpmf", categorical_lpmf},
    GeneralFunction{"categorical_rng", categorical_rng},
    GeneralFunction{"ordered_logistic_lpmf", ordered_logistic_lpmf},
    GeneralFunction{"ordered_logistic_rng", ordered_logistic_rng},
    GeneralFunction{"ordered_probit_lpmf", ordered_probit_lpmf},
    GeneralFunction{"ordered_probit_rng", ordered_probit_rng},
};

}  // namespace

std::span<const GeneralFunction> class_functions() { return class_table; }

}  // namespace adit::stan
