#include "stan/integrals.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <adit/control.hpp>
#include <adit/transform.hpp>

#include "stan/functions/formulas.hpp"

namespace adit::stan {

namespace {

// QuadraturePlaces a round, and rounds of halved distances: 2^10 - 1 of them are what a density keeps of a
// loop.
constexpr int64_t places_a_round = 64;
constexpr int most_halvings = 10;
// Where places begin and end in t. Between two bounds 1 / (1 + exp(-pi sinh t)) of the way is 1e-300 at the
// ends; to infinity exp(pi / 2 sinh t) is 1e-227 and 1e100: squares of x are still numbers.
constexpr double between_most = 6.08, away_least = -6.5, away_most = 5.65;

struct QuadraturePlaces {
  Tensor x, to_bound, weight;  // [places] or [places, lanes]
};

class Quadrature {
 public:
  Quadrature(const Integrand& f, const Interval& interval) : f_(f), interval_(interval) {
    const bool both = interval.ends_low && interval.ends_high;
    begin_ = both ? -between_most : away_least;
    step_ = ((both ? between_most : away_most) - begin_) / places_a_round;
  }
  double step() const { return step_; }
  Shape shape() const { return bound().shape(); }

  // The sums of f and of its size at these t.
  std::pair<Tensor, Tensor> sums(const Tensor& t) const {
    const QuadraturePlaces at = places(t);
    const Tensor values = vmap(f_)(at.x, at.to_bound) * at.weight;
    return {sum(values, {0}), sum(abs(stop_gradient(values)), {0})};
  }
  Tensor places_of(const Tensor& number) const { return real(begin_) + real(step_) * number; }

 private:
  const Tensor& bound() const { return interval_.ends_low ? interval_.from : interval_.to; }

  QuadraturePlaces places(const Tensor& t) const {
    const auto by_lane = [&](const Tensor& x) { return bound().rank() > 0 ? expand_dims(x, -1) : x; };
    constexpr double pi = std::numbers::pi;
    if (interval_.ends_low && interval_.ends_high) {
      const Tensor from = stop_gradient(interval_.from), to = stop_gradient(interval_.to), width = to - from;
      const Tensor s = by_lane(real(pi) * sinh(t)), share = sigmoid(s), rest = sigmoid(-s);
      const Tensor is_first = share < real(0.5);
      // A place that rounds to its bound stands beside it.
      const Tensor gap = maximum(abs(from), abs(to)) * real(0x1p-52);
      const Tensor x =
          select(is_first, maximum(from + width * share, from + minimum(gap, width * real(0.25))),
                 minimum(to - width * rest, to - minimum(gap, width * real(0.25))));
      return {x, select(is_first, -width * share, width * rest),
              width * by_lane(real(pi) * cosh(t)) * share * rest};
    }
    const Tensor away = by_lane(exp(real(pi / 2) * sinh(t))), near = stop_gradient(bound());
    const Tensor x = interval_.ends_low ? near + away : near - away;
    return {x, full(x.shape(), NAN, DType::f64), away * by_lane(real(pi / 2) * cosh(t))};
  }

  const Integrand& f_;
  const Interval& interval_;
  double begin_ = 0, step_ = 0;
};

// What goes from round to round.
struct IntegralCourse {
  Tensor halving, round;     // which places are added now
  Tensor total, size;        // of all halvings before
  Tensor added, added_size;  // of this one until now
  Tensor value, is_open;     // by lane; is_open: 1 until two values agree
  Tensors list() const { return {halving, round, total, size, added, added_size, value, is_open}; }
  static IntegralCourse of(const Tensors& s) { return {s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]}; }
};

IntegralCourse next_integral_round(const IntegralCourse& c, const Quadrature& rule,
                                   const IntegralOptions& options) {
  const Tensor count = iota({places_a_round}, DType::f64), parts = exp2(-c.halving);
  const Tensor number = (real(2) * (c.round * real(places_a_round) + count) + real(1)) * parts;
  const auto [sum_of, size_of] = rule.sums(rule.places_of(number));
  const Tensor added = c.added + sum_of, added_size = c.added_size + size_of;
  const Tensor is_last = (c.round + real(1)) * real(2) * parts >= real(1);
  const Tensor total = c.total + added, size = c.size + added_size, step = real(rule.step()) * parts;
  const Tensor value = step * total, change = abs(stop_gradient(value - c.value));
  const Tensor allowed = maximum(real(options.relative) * step * size, real(options.absolute));
  // What is no number stays none.
  const Tensor closes = logical_or(change <= allowed, logical_not(change < infinity()));
  const Tensor takes = both(is_last, c.is_open > real(0)), none = zeros_like(added);
  return {select(is_last, c.halving + real(1), c.halving),
          select(is_last, zeros_like(c.round), c.round + real(1)),
          select(is_last, total, c.total),
          select(is_last, size, c.size),
          select(is_last, none, added),
          select(is_last, none, added_size),
          select(takes, value, c.value),
          stop_gradient(select(both(takes, closes), none, c.is_open))};
}

}  // namespace

Tensor integral_of(const Integrand& f, const Interval& interval, const IntegralOptions& options) {
  const Quadrature rule(f, interval);
  const auto [total, size] = rule.sums(rule.places_of(iota({places_a_round}, DType::f64)));
  const Tensor none = zeros(rule.shape(), DType::f64);
  const IntegralCourse start{real(1),       real(0), total, size, none, none, real(rule.step()) * total,
                             none + real(1)};
  const double most = std::min(options.refinements, most_halvings);
  const IntegralCourse end = IntegralCourse::of(while_loop(
      [&](const Tensors& s) {
        const IntegralCourse c = IntegralCourse::of(s);
        const Tensor is_open = c.is_open > real(0);
        return both(c.is_open.rank() > 0 ? any(is_open) : is_open, c.halving <= real(most));
      },
      [&](const Tensors& s) { return next_integral_round(IntegralCourse::of(s), rule, options).list(); },
      start.list()));
  Tensor value = select(end.is_open > real(0), not_a_number(), end.value);
  // The bounds' own derivatives: f there, times how far they move.
  const auto at_bound = [&](const Tensor& bound, double sign) {
    const Tensor fixed = stop_gradient(bound);
    const Tensor slope = stop_gradient(f(fixed, zeros_like(fixed)));
    value = value + real(sign) * (bound - fixed) * select(is_finite(slope), slope, real(0));
  };
  if (interval.moves_high) at_bound(interval.to, 1);
  if (interval.moves_low) at_bound(interval.from, -1);
  return value;
}

}  // namespace adit::stan
