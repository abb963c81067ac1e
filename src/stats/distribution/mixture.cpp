// A mixture of M distributions p_i with weights w_i, which sum to 1:
//
//   log p(x) = log sum_i exp(log w_i + log p_i(x))
//
// A draw is one of a component chosen by the weights. Mean m = sum w_i m_i, variance
// sum w_i (v_i + (m_i - m)^2), the law of total variance. P(X <= x) is mixed as the density is.
// The support is that of the first component; the others' must be of the same kind. (Bounds are not
// compared.)
#include <fmt/format.h>

#include "graph/row.hpp"
#include "stats/whole_number.hpp"

namespace adit {

using namespace stats;

namespace {

using Components = std::vector<Distribution>;

void check(const Tensor& weights, const Components& components) {
  const auto fail = [](const char* argument, const std::string& message) {
    graph::fail("mixture", argument, message);
  };
  if (components.empty()) fail("components", "expected at least one, got none");
  const auto count = static_cast<int64_t>(components.size());
  if (weights.dim(-1) != count)
    fail("weights", fmt::format("expected {} along the last axis, one a component, got shape {}", count,
                                to_string(weights.shape())));
  const Distribution& first = components[0];
  for (const Distribution& other : components) {
    if (!other.log_density) fail("components", "expected distributions, got one without a density");
    if (other.event != first.event)
      fail("components", fmt::format("expected events of one shape, got {} of {} and {} of {}",
                                     to_string(first.event), first.name, to_string(other.event), other.name));
    if (other.support.name != first.support.name || other.support.discrete != first.support.discrete)
      fail("components", fmt::format("expected one support, got {} of {} and {} of {}", first.support.name,
                                     first.name, other.support.name, other.name));
  }
}

// Along the last axis, without it.
Tensor one_of(const Tensor& x, size_t number) {
  Dims starts = Dims::filled(x.rank(), 0), lengths = x.shape();
  starts[x.rank() - 1] = static_cast<int64_t>(number);
  lengths[x.rank() - 1] = 1;
  return squeeze(slice(x, starts, lengths), {-1});
}

// With axes of extent 1 at the end, to go beside events.
Tensor beside(const Tensor& x, const Shape& event) {
  return reshape(x, joined(x.shape(), Dims::filled(event.size(), 1)));
}

// One term after the other rather than stacked: nothing is computed twice, and each is elementwise.
Tensor log_sum_of(const std::vector<Tensor>& terms) {
  Tensor top = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) top = maximum(top, terms[i]);
  top = stop_gradient(top);
  const Tensor is_none = top == minus_infinity(), shift = select(is_none, real(0), top);
  Tensor total = exp(terms[0] - shift);
  for (size_t i = 1; i < terms.size(); ++i) total = total + exp(terms[i] - shift);
  return select(is_none, minus_infinity(), shift + log(select(is_none, real(1), total)));
}

// A mixture of a function of the components, where all have it.
std::function<Tensor(const Tensor&)> mixed(const Components& components, const Tensor& weights,
                                           std::function<Tensor(const Tensor&)> Distribution::*function) {
  for (const Distribution& each : components)
    if (!(each.*function)) return {};
  return [=](const Tensor& x) {
    const Tensor log_weights = log_from_zero(weights);
    std::vector<Tensor> terms;
    for (size_t i = 0; i < components.size(); ++i)
      terms.push_back(one_of(log_weights, i) + (components[i].*function)(x));
    return log_sum_of(terms);
  };
}

bool all_have(const Components& components, std::function<Tensor()> Distribution::*function) {
  return std::all_of(components.begin(), components.end(),
                     [=](const Distribution& each) { return bool(each.*function); });
}

// sum_i w_i f(i)
template <class F>
Tensor weighted(const Components& components, const Tensor& weights, F f) {
  Tensor total = real(0);
  for (size_t i = 0; i < components.size(); ++i)
    total = total + beside(one_of(weights, i), components[i].event) * f(components[i]);
  return total;
}

Tensor mean_of(const Components& components, const Tensor& weights) {
  return weighted(components, weights, [](const Distribution& each) { return each.mean(); });
}

Tensor variance_of(const Components& components, const Tensor& weights) {
  const Tensor mean = mean_of(components, weights);
  return weighted(components, weights,
                  [&](const Distribution& each) { return each.variance() + square(each.mean() - mean); });
}

Tensor draw_of(const Components& components, const Tensor& weights, const Tensor& key, const Shape& shape) {
  const Shape& event = components[0].event;
  const Shape events(std::span(shape.begin(), static_cast<size_t>(shape.size() - event.size())));
  const Tensor keys = random::split(key, static_cast<int64_t>(components.size()) + 1);
  const Tensor chosen = beside(draw_class(random::row(keys, 0), log(weights), events), event);
  Tensor x = components[0].draw(random::row(keys, 1), shape);
  for (size_t i = 1; i < components.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    const Tensor drawn = components[i].draw(random::row(keys, number + 1), shape);
    x = select(chosen == real(static_cast<double>(i)), drawn, x);
  }
  return x;
}

}  // namespace

Distribution mixture(const Tensor& weights, std::vector<Distribution> components) {
  const NamedParameter w = not_negative("mixture", "weights", of_classes("mixture", "weights", weights));
  check(w, components);
  std::vector<Named> batches{{"weights", leading(w, 1)}};
  std::vector<NamedParameter> parameters{w};
  for (size_t i = 0; i < components.size(); ++i) {
    batches.push_back({fmt::format("component {}", i), components[i].batch});
    for (NamedParameter each : components[i].parameters) {
      each.name += fmt::format(" of component {}", i);
      parameters.push_back(std::move(each));
    }
  }

  Formulas formulas{.log_density = mixed(components, w, &Distribution::log_density),
                    .draw = {},
                    .mean = {},
                    .variance = {},
                    .log_cdf = mixed(components, w, &Distribution::log_cdf),
                    .log_survival = mixed(components, w, &Distribution::log_survival)};
  const bool can_draw = std::all_of(components.begin(), components.end(),
                                    [](const Distribution& each) { return bool(each.draw); });
  if (can_draw)
    formulas.draw = [=](const Tensor& key, const Shape& shape) { return draw_of(components, w, key, shape); };
  const bool has_mean = all_have(components, &Distribution::mean);
  if (has_mean) formulas.mean = [=] { return mean_of(components, w); };
  if (has_mean && all_have(components, &Distribution::variance))
    formulas.variance = [=] { return variance_of(components, w); };
  return make_distribution("mixture", batch_of("mixture", batches), components[0].event,
                           std::move(parameters), components[0].support, std::move(formulas));
}

}  // namespace adit
