// censored(inner, low, high): values at or beyond a bound were seen only as the bound.
//   log p(x) = log P(X <= low) for x <= low, log P(X >= high) for x >= high, else that of inner.
#include "graph/row.hpp"
#include "stats/distribution/common.hpp"

namespace adit {

using namespace stats;

namespace {

// One bound: where it applies, and the logarithm of the probability beyond it.
struct Bound {
  bool is_open = false;  // a caller wrote an infinite number: nothing is censored
  Tensor at;             // finite; where a tensor holds infinities, a harmless number
  Tensor log_beyond;
};

Bound bound_of(const Distribution& inner, const Tensor& at, bool is_low) {
  const double outward =
      is_low ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if (is_literal(at, outward)) return {.is_open = true, .at = {}, .log_beyond = {}};
  const auto& log_tail = is_low ? inner.log_cdf : inner.log_survival;
  if (!log_tail)
    graph::fail("censored", "inner",
                std::string("expected a distribution with a ") + (is_low ? "log_cdf" : "log_survival") +
                    ", got " + inner.name);
  const Tensor safe = literal_of(at) ? at : guarded(logical_not(is_infinity(at)), at, 0);
  // P(X >= high) of whole numbers is P(X > high - 1).
  const bool steps_back = !is_low && inner.support.discrete;
  return {.is_open = false, .at = safe, .log_beyond = log_tail(steps_back ? ceil(safe) - real(1) : safe)};
}

}  // namespace

Distribution censored(const Distribution& inner, Parameter low, Parameter high) {
  const NamedParameter from = not_nan("censored", "low", low), to = not_nan("censored", "high", high);
  if (!inner.log_density) graph::fail("censored", "inner", "expected a distribution, got none");
  if (!inner.event.empty())
    graph::fail("censored", "inner",
                "expected a distribution of numbers, got events of " + to_string(inner.event));
  const Shape batch =
      batch_of("censored", {{"inner", inner.batch}, {"low", from.value.shape()}, {"high", to.value.shape()}});
  std::vector<NamedParameter> parameters = inner.parameters;
  for (const NamedParameter& each : {from, to, width("censored", from, to)}) parameters.push_back(each);
  const Bound below = bound_of(inner, from, true), above = bound_of(inner, to, false);

  const auto log_density = [=](const Tensor& x) {
    Tensor seen = x, is_low, is_high;
    // What lies at a bound takes part in the density of inner only as a finite number.
    if (!below.is_open) seen = select(is_low = x <= from, below.at, seen);
    if (!above.is_open) seen = select(is_high = x >= to, above.at, seen);
    Tensor density = inner.log_density(seen);
    if (is_low) density = select(is_low, below.log_beyond, density);
    if (is_high) density = select(is_high, above.log_beyond, density);
    return density;
  };
  Formulas formulas = {.log_density = log_density};
  if (inner.draw)
    formulas.draw = [=](const Tensor& key, const Shape& shape) {
      return minimum(maximum(inner.draw(key, shape), from), to);
    };
  return make_distribution("censored", batch, {}, std::move(parameters), inner.support, std::move(formulas));
}

}  // namespace adit
