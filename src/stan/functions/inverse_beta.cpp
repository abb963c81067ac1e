// The inverse of the regularised incomplete beta function.
#include <adit/control.hpp>

#include "stan/functions/formulas.hpp"

namespace adit::stan {

namespace {

constexpr int64_t inverse_rounds = 48;

Tensor log_of_logistic(const Tensor& y) { return log_sigmoid(y); }

// y = log(x / (1 - x)) with log I_x(a, b) = log p, p at most 1/2: Newton's method between bounds that close
// in, and their middle where it would leave them.
Tensor log_odds_of_quantile(const Tensor& a, const Tensor& b, const Tensor& log_p) {
  const auto step = [&](const Tensors& c, const Tensors&) -> Step {
    const Tensor &y = c[0], x = sigmoid(y), rest = sigmoid(-y);
    const Tensor value = log_incomplete_beta(a, b, x, rest), gap = value - log_p;
    const Tensor low = select(gap < real(0), y, c[1]), high = select(gap < real(0), c[2], y);
    // d log I / dy = x^a (1 - x)^b / (B I)
    const Tensor slope = exp(a * log_of_logistic(y) + b * log_of_logistic(-y) - log_beta(a, b) - value);
    const Tensor next = y - gap / slope, is_inside = both(next > low, next < high);
    return {{select(is_inside, next, real(0.5) * (low + high)), low, high}, {}};
  };
  const Tensor all = zeros_like(a + b + log_p), least = all - real(740), most = all + real(740);
  // Near 0: I_x is x^a / (a B).
  const Tensor near = clip((log_p + log(a) + log_beta(a, b)) / a, real(-700), real(2));
  const Tensors done = scan(step, {all + near, least, most}, {}, inverse_rounds).carry;
  return done[0];
}

}  // namespace

// From the smaller tail. A last step of Newton's method has the derivatives.
Tensor inverse_incomplete_beta(const Tensor& a, const Tensor& b, const Tensor& p) {
  const Tensor has_parameters =
      both(both(is_positive(a), a < infinity()), both(is_positive(b), b < infinity()));
  const Tensor is_inside = both(has_parameters, both(is_positive(p), p < real(1)));
  const Tensor first = guarded(is_inside, a, 1), second = guarded(is_inside, b, 1);
  const Tensor share = guarded(is_inside, p, 0.25), is_upper = share > real(0.5);
  const Tensor one = select(is_upper, second, first), other = select(is_upper, first, second);
  const Tensor tail = select(is_upper, real(1) - share, share);
  const Tensor y =
      stop_gradient(log_odds_of_quantile(stop_gradient(one), stop_gradient(other), log(stop_gradient(tail))));
  const Tensor x = sigmoid(y), rest = sigmoid(-y);
  const Tensor reached = exp(log_incomplete_beta(one, other, x, rest));
  const Tensor by_odds = exp(one * log_of_logistic(y) + other * log_of_logistic(-y) - log_beta(one, other));
  const Tensor known = stop_gradient(by_odds), is_steep = is_positive(known);
  const Tensor move = (tail - reached) / select(is_steep, known, real(1)) * x * rest;
  const Tensor value = clip(x + select(is_steep, move, real(0)), real(0), real(1));
  const Tensor at_limit = select(p == real(0), real(0), select(p == real(1), real(1), not_a_number()));
  return select(is_inside, select(is_upper, real(1) - value, value),
                select(has_parameters, at_limit, not_a_number()));
}

}  // namespace adit::stan
