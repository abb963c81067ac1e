// What functions demand of arguments beside each other, beyond the table's one order (domains.hpp).
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "stan/evaluator.hpp"

namespace adit::stan {

namespace {

Tensor relation_number(double x) { return full({}, x, DType::f64); }

bool is_pole_of_gamma(double x) { return x <= 0 && std::floor(x) == x; }
Tensor is_pole_of_gamma(const Tensor& x) { return logical_and(x <= relation_number(0), floor(x) == x); }

// Of the series of sum_k prod (a)_k / prod (b)_k z^k / k!: it ends by itself where one of a is a whole number
// from 0 down, which has to be before one of b is 0.
struct Series {
  size_t above = 0, below = 0;  // counts of a and b; behind them comes z
  bool is_gauss = false;        // two and one: by transformations it goes on to all z below 1
};

bool series_has_value(const Series& of, const double* x) {
  double degree = -1, of_above = 0, of_below = 0;
  for (size_t i = 0; i < of.above; ++i) {
    of_above += x[i];
    if (is_pole_of_gamma(x[i])) degree = std::max(degree, -x[i]);
  }
  const double *b = x + of.above, z = b[of.below];
  for (size_t i = 0; i < of.below; ++i) {
    of_below += b[i];
    if (is_pole_of_gamma(b[i]) && (degree < 0 || -b[i] < degree)) return false;
  }
  if (degree >= 0 || of.above <= of.below) return true;
  if (of.is_gauss) return z < 1 || (z == 1 && of_below > of_above);
  return of.above == of.below + 1 ? std::fabs(z) <= 1 : z == 0;
}

Tensor series_has_value(const Series& of, const Tensor* x) {
  const Tensor zero = relation_number(0), one = relation_number(1), none = relation_number(-1);
  Tensor degree = none, of_above = zero, of_below = zero;
  for (size_t i = 0; i < of.above; ++i) {
    of_above = of_above + x[i];
    degree = maximum(degree, select(is_pole_of_gamma(x[i]), -x[i], none));
  }
  const Tensor *b = x + of.above, &z = b[of.below], ends = degree >= zero;
  Tensor is_divided_by_0 = degree < none;
  for (size_t i = 0; i < of.below; ++i) {
    of_below = of_below + b[i];
    is_divided_by_0 = logical_or(
        is_divided_by_0, logical_and(is_pole_of_gamma(b[i]), logical_or(logical_not(ends), -b[i] < degree)));
  }
  Tensor converges = degree >= none;
  if (of.is_gauss)
    converges = logical_or(z < one, logical_and(z == one, of_below > of_above));
  else if (of.above == of.below + 1)
    converges = abs(z) <= one;
  else if (of.above > of.below)
    converges = z == zero;
  return logical_and(logical_or(ends, converges), logical_not(is_divided_by_0));
}

}  // namespace

void Evaluator::expect_relations(const std::string& name, std::span<const Value> a, const Place& place) {
  if (name == "hypergeometric_rng")
    return demand_all(operate(Operator::less_equal, a[0], operate(Operator::add, a[1], a[2], place), place),
                      a[0], place, name + ": argument 1: expected no more draws than there are things, got ");
  // In a density the formula gives no number there.
  if (has_density && std::any_of(a.begin(), a.end(), [](const Value& value) { return !value.is_known(); }))
    return;
  if (name == "lchoose" || name == "binomial_coefficient_log")
    return demand_all(
        operate(Operator::less_equal, a[1], operate(Operator::add, a[0], known_integer(1), place), place),
        a[1], place, name + ": argument 2: expected at most one more than argument 1, got ");
  if (name == "lower_upper_bound_unconstrain") {
    expect_rising_arguments(name, 1, 0, a, true, place);
    return expect_rising_arguments(name, 0, 2, a, true, place);
  }
  if (name == "hypergeometric_2F1" || name == "hypergeometric_3F2" || name == "hypergeometric_pFq")
    expect_series(name, a, place);
}

// a, b and z: numbers of their own, or two lists and one.
void Evaluator::expect_series(const std::string& name, std::span<const Value> a, const Place& place) {
  Series series{.is_gauss = name == "hypergeometric_2F1"};
  std::vector<Value> numbers;
  const auto add = [&](const Value& value) {
    if (value.shape.empty()) return numbers.push_back(value);
    for (int64_t i = 0; i < value.size(); ++i)
      numbers.push_back(at(value, {{Spot::Kind::single, known_integer(i)}}, scalar_type(Base::real), place));
  };
  for (size_t i = 0; i < a.size(); ++i) {
    add(a[i]);
    if (i == (series.is_gauss ? 1 : 0)) series.above = numbers.size();
  }
  series.below = numbers.size() - series.above - 1;
  const Value holds = elementwise(
      scalar_type(Base::integer), numbers, place,
      [=](const double* x) { return series_has_value(series, x) ? 1 : 0; },
      [=](const Tensor* x) { return as_type(series_has_value(series, x), DType::f64); });
  demand(holds, whole(a.back()), place, name + ": expected a series that converges, got z = ");
}

}  // namespace adit::stan
