// integrate_1d and its kin, and the solvers of algebraic equations.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "stan/evaluator.hpp"
#include "stan/functions/formulas.hpp"
#include "stan/integrals.hpp"
#include "stan/roots.hpp"

namespace adit::stan {

// A value as the statement at hand sees it: with all lanes where there are any.
Tensor Evaluator::tensor_here(const Value& value, const Shape& own) {
  const int level = levels_.top(), inside = levels_.innermost_scan(level);
  const int64_t lanes = levels_.lanes(level, inside);
  Shape shape = own;
  if (lanes > 0) shape.insert(0, lanes);
  bool in_lanes = false;
  const Tensor found = tensor_at(value, level, inside, in_lanes);
  return found.shape() == shape ? found : broadcast_to(found, shape);
}

Value Evaluator::call_traced(const Function& function, std::vector<Value> arguments, const Place& place) {
  Catches caught{.level = levels_.top(), .inside = levels_.innermost_scan(levels_.top())};
  struct Guard {
    Evaluator& evaluator;
    const bool was_data_only;
    Catches* catches;
    ~Guard() { evaluator.is_data_only = was_data_only, evaluator.catches_ = catches; }
  } guard{*this, std::exchange(is_data_only, false), std::exchange(catches_, &caught)};
  // What it rejects has no numbers, and nor has what is solved with it.
  const Value value = call_function(function, std::move(arguments), place);
  return caught.list.empty() ? value : with_caught(whole(value), caught.list);
}

// What was not found has no numbers: in transformed data an error, in a density a rejection with these words.
Value Evaluator::found_or_rejected(const Expression& e, Tensor found, const Shape& shape,
                                   const std::string& words) {
  const int level = levels_.top(), inside = levels_.innermost_scan(level);
  if (is_data_only) {
    const Value numbers = settled(traced_value(e.type, shape, found, level, inside));
    if (std::any_of(numbers.known->numbers.begin(), numbers.known->numbers.end(),
                    [](double number) { return std::isnan(number); }))
      fail(e.place, words);
    return numbers;
  }
  Axes axes;
  for (int i = 1; i <= shape.size(); ++i) axes.push_back(-i);
  const Tensor known = stop_gradient(found), is_none = is_nan(axes.empty() ? known : sum(known, axes));
  const Tensor holds = as_type(logical_not(is_none), DType::f64);
  demand(traced_value(scalar_type(Base::integer), {}, holds, level, inside), {}, e.place, words);
  if (!has_density) return traced_value(e.type, shape, found, level, inside);
  // What reads the result finds numbers there, so that no other statement is to blame.
  return traced_value(e.type, shape, select(is_nan(known), real(1), found), level, inside);
}

namespace {

enum class End : uint8_t { finite, infinite, mixed };

// Whether a bound is the infinite one of its side, in all lanes or in none.
End end_of(const Value& bound, double infinite) {
  if (!bound.is_known()) return End::finite;
  const std::vector<double>& all = bound.known->numbers;
  const auto count = std::count(all.begin(), all.end(), infinite);
  return count == 0 ? End::finite : count == std::ssize(all) ? End::infinite : End::mixed;
}

bool is_below_zero(double x) { return x < 0; }
bool is_above_zero(double x) { return x > 0; }
bool all_of(const Value& bound, bool (*holds)(double)) {
  return bound.is_known() && std::all_of(bound.known->numbers.begin(), bound.known->numbers.end(), holds);
}

// Bounds on both sides of 0 that are known: each side is integrated to its own tolerance, as Stan does; what
// has a corner there is smooth on both.
std::vector<Interval> sides_of_zero(const Interval& whole, const Value& from, const Value& to) {
  if (!all_of(from, is_below_zero) || !all_of(to, is_above_zero)) return {whole};
  const Tensor zero = zeros_like(whole.ends_low ? whole.from : whole.to);
  return {{whole.from, zero, whole.ends_low, true}, {zero, whole.to, true, whole.ends_high}};
}

}  // namespace

// Bounds that are known do not fall.
void Evaluator::expect_rising_bounds(const Expression& e, const Value& from, const Value& to) const {
  if (!from.is_known() || !to.is_known()) return;
  const int level = std::max(from.level, to.level);
  const Value low = levels_.lifted(from, level), high = levels_.lifted(to, level);
  for (size_t i = 0; i < low.known->numbers.size(); ++i)
    if (!(low.known->numbers[i] <= high.known->numbers[i]))
      fail(e.place,
           fmt::format("{}: expected bounds of which the first is not above the second, got {} and {}",
                       e.name, low.known->numbers[i], high.known->numbers[i]));
}

// Old: (f, a, b, theta, x_r, x_i [, tolerance]); new: (f, a, b [, relative, absolute, refinements], ...).
Value Evaluator::integrated(const Expression& e, std::vector<Value>& a) {
  solves_equations = true;
  IntegralOptions options;
  std::vector<Value> more(a.begin() + 2, a.end());
  if (e.name == "integrate_1d") {
    if (a.size() > 5) options.relative = number_of(a[5], e.place);
    more.resize(3);
  } else if (e.name.ends_with("_tol")) {
    options.relative = number_of(a[2], e.place), options.absolute = number_of(a[3], e.place);
    options.refinements = static_cast<int>(std::clamp(number_of(a[4], e.place), 0.0, 100.0));
    more.erase(more.begin(), more.begin() + 3);
  }
  if (!(options.relative > 0) && !(options.absolute > 0))
    fail(e.place, fmt::format("{}: expected a tolerance above 0, got {}", e.name, options.relative));
  const Value from = whole(a[0]), to = whole(a[1]);
  const End low = end_of(from, -INFINITY), high = end_of(to, INFINITY);
  if (low == End::mixed || high == End::mixed)
    fail(e.place,
         fmt::format("{}: expected a bound that is finite, or infinite, in all rounds of a loop", e.name));
  expect_rising_bounds(e, from, to);
  const bool is_endless = low == End::infinite && high == End::infinite;
  const Interval interval{tensor_here(low == End::finite ? from
                                      : is_endless       ? known_real(0)
                                                         : to,
                                      {}),
                          tensor_here(high == End::finite ? to
                                      : is_endless        ? known_real(0)
                                                          : from,
                                      {}),
                          low == End::finite,
                          high == End::finite,
                          !from.is_known(),
                          !to.is_known()};
  const int level = levels_.top(), inside = levels_.innermost_scan(level);
  const bool tells_distance = e.name.find("gauss") == std::string::npos;
  const Function& function = *e.parts[0]->function;
  const Integrand f = [&](const Tensor& x, const Tensor& to_bound) {
    const Tensor distance = tells_distance ? to_bound : full(x.shape(), NAN, DType::f64);
    std::vector<Value> all{traced_value(scalar_type(Base::real), {}, x, level, inside),
                           traced_value(scalar_type(Base::real), {}, distance, level, inside)};
    all.insert(all.end(), more.begin(), more.end());
    return tensor_here(call_traced(function, std::move(all), e.place), {});
  };
  Tensor total;
  for (const Interval& side : sides_of_zero(interval, from, to)) {
    const Tensor part = integral_of(f, side, options);
    total = total ? total + part : part;
  }
  return found_or_rejected(
      e, total, {},
      fmt::format("{}: the integral of {} is not found to the tolerance", e.name, function.name));
}

// Old: (f, guess, theta, x_r, x_i [, tolerances]); new: (f, guess [, tolerances], ...).
Value Evaluator::root_found(const Expression& e, std::vector<Value>& a) {
  solves_equations = true;
  RootOptions options;
  std::vector<Value> more(a.begin() + 1, a.end());
  const auto take_options = [&](size_t first) {
    options.tolerance = number_of(a[first + 1], e.place),
    options.most_steps = number_of(a[first + 2], e.place);
    if (!(options.tolerance > 0) || !(options.most_steps > 0))
      fail(e.place, fmt::format("{}: expected a tolerance and a limit of steps above 0, got {} and {}",
                                e.name, options.tolerance, options.most_steps));
  };
  if (e.name.starts_with("algebra_solver")) {
    if (a.size() > 4) take_options(4);
    more.resize(3);
  } else if (e.name.ends_with("_tol")) {
    take_options(1);
    more.erase(more.begin(), more.begin() + 3);
  }
  const Function& function = *e.parts[0]->function;
  const Value guess = whole(a[0]);
  const int64_t size = guess.size();
  if (size == 0) return known_value(e.type, {0}, {});
  const int level = levels_.top(), inside = levels_.innermost_scan(level);
  const auto f = [&](const Tensor& y) {
    std::vector<Value> all{traced_value(scalar_type(Base::vector), {size}, y, level, inside)};
    all.insert(all.end(), more.begin(), more.end());
    const Value given = whole(call_traced(function, std::move(all), e.place));
    if (given.size() != size)
      fail(e.place, fmt::format("{}: expected {} equations of {} for as many unknowns, got {}", e.name, size,
                                function.name, given.size()));
    return tensor_here(given, {size});
  };
  return found_or_rejected(
      e, root_of(f, tensor_here(guess, {size}), options), {size},
      fmt::format("{}: no solution of {} within {} steps", e.name, function.name, options.most_steps));
}

}  // namespace adit::stan
