// Built-in functions that take a function of the program.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "stan/evaluator.hpp"
#include "stan/ode.hpp"

namespace adit::stan {

namespace {

std::string late_words(const std::string& solver, double most_steps) {
  return fmt::format("{}: no solution within {} steps from one time to the next", solver, most_steps);
}

}  // namespace

Value Evaluator::call_with_function(const Expression& e) {
  const Function& function = *e.parts[0]->function;
  std::vector<Value> arguments;
  for (size_t i = 1; i < e.parts.size(); ++i) arguments.push_back(evaluate(*e.parts[i]));
  if (e.name.starts_with("reduce_sum")) {  // in one part
    const int64_t count = arguments[0].shape[0];
    if (count == 0) return known_real(0);
    std::vector<Value> all{arguments[0], known_integer(1), known_integer(count)};
    all.insert(all.end(), arguments.begin() + 2, arguments.end());
    return call_function(function, std::move(all), e.place);
  }
  if (e.name == "map_rect") return mapped(e, arguments);
  if (e.name.starts_with("integrate_1d")) return integrated(e, arguments);
  if (e.name.starts_with("solve_") || e.name.starts_with("algebra_solver")) return root_found(e, arguments);
  return solved(e, arguments);
}

// What the function gives of each shard, one behind the other.
Value Evaluator::mapped(const Expression& e, std::vector<Value>& a) {
  const int64_t shards = a[1].shape[0];
  for (size_t k = 2; k < 4; ++k)
    if (a[k].shape[0] != shards)
      fail(e.place, fmt::format("map_rect: expected data of {} shards, as there are parameters of, got {}",
                                shards, a[k].shape[0]));
  if (shards == 0) return known_value(e.type, {0}, {});
  std::vector<Value> parts;
  for (int64_t i = 0; i < shards; ++i) {
    const Spots row{{Spot::Kind::single, known_integer(i)}};
    std::vector<Value> own{a[0]};
    for (size_t k = 1; k < 4; ++k) own.push_back(at(a[k], row, type_of_element(a[k].type), e.place));
    parts.push_back(call_function(*e.parts[0]->function, std::move(own), e.place));
  }
  // Two by two: no long chain of what is joined.
  while (parts.size() > 1) {
    std::vector<Value> joined;
    for (size_t i = 0; i < parts.size(); i += 2) {
      std::vector<Value> two(parts.begin() + static_cast<std::ptrdiff_t>(i),
                             parts.begin() + static_cast<std::ptrdiff_t>(std::min(i + 2, parts.size())));
      joined.push_back(two.size() == 1 ? two[0]
                                       : appended("append_row", two, scalar_type(Base::vector), e.place));
    }
    parts = std::move(joined);
  }
  return parts[0];
}

// Old interface: (f, y, t0, ts, theta, x_r, x_i [, tolerances]); new: (f, y, t0, ts [, tolerances], ...).
Value Evaluator::solved(const Expression& e, std::vector<Value>& a) {
  solves_equations = true;
  const bool is_old = e.name.starts_with("integrate_ode");
  OdeOptions options;
  options.may_be_stiff =
      e.name.find("bdf") != std::string::npos || e.name.find("adjoint") != std::string::npos;
  // Stan's own limits.
  options.most_steps = options.may_be_stiff || e.name.find("adams") != std::string::npos ? 1e8 : 1e6;
  const int level = levels_.top(), inside = levels_.innermost_scan(level);
  std::vector<Value> more;
  if (is_old) {
    more.assign(a.begin() + 3, a.begin() + 6);
    if (a.size() > 6)
      options.relative = number_of(a[6], e.place), options.absolute = number_of(a[7], e.place),
      options.most_steps = number_of(a[8], e.place);
  } else if (e.name == "ode_adjoint_tol_ctl") {
    options.relative = number_of(a[3], e.place), options.most_steps = number_of(a[9], e.place);
    more.assign(a.begin() + 14, a.end());
  } else if (e.name.ends_with("_tol")) {
    options.relative = number_of(a[3], e.place), options.absolute = number_of(a[4], e.place);
    options.most_steps = number_of(a[5], e.place);
    more.assign(a.begin() + 6, a.end());
  } else {
    more.assign(a.begin() + 3, a.end());
  }
  for (const auto& [what, number] : {std::pair{"a relative tolerance", options.relative},
                                     std::pair{"an absolute tolerance", options.absolute},
                                     std::pair{"a limit of steps", options.most_steps}})
    if (!(number > 0) || !std::isfinite(number))
      fail(e.place, fmt::format("{}: expected {} above 0, got {}", e.name, what, number));
  const Function& function = *e.parts[0]->function;
  const Value y0 = whole(a[0]), times = whole(a[2]);
  const int64_t size = y0.size(), count = times.size();
  if (count == 0) return known_value(e.type, {0, size}, {});
  expect_rising(e, whole(a[1]), times);
  const auto tensor_of = [&](const Value& value, const Shape& own) { return tensor_here(value, own); };
  const Type state = is_old ? array_of(scalar_type(Base::real)) : scalar_type(Base::vector);
  const auto f = [&](const Tensor& t, const Tensor& y) {
    std::vector<Value> all{traced_value(scalar_type(Base::real), {}, t, level, inside),
                           traced_value(state, {size}, y, level, inside)};
    all.insert(all.end(), more.begin(), more.end());
    const Value slope = whole(call_traced(function, std::move(all), e.place));
    if (slope.size() != size)
      fail(e.place, fmt::format("{}: expected {} derivatives of {}, got {}", e.name, size, function.name,
                                slope.size()));
    return tensor_of(slope, {size});
  };
  const Tensor start = tensor_of(y0, {size});
  Tensor states = integrate(f, start, tensor_of(a[1], {}), tensor_of(times, {count}), options);
  const double limit = std::min(options.most_steps, step_limit(options));
  const Shape shape{count, size};
  if (is_data_only) {
    const Value numbers = settled(traced_value(e.type, shape, states, level, inside));
    if (std::any_of(numbers.known->numbers.begin(), numbers.known->numbers.end(),
                    [](double number) { return std::isnan(number); }))
      fail(e.place, late_words(e.name, limit));
    return numbers;
  }
  reject_late(e, states, limit);
  if (has_density) {
    // What reads the states finds the initial ones there, so that no other statement is to blame.
    const Tensor instead = broadcast_to(expand_dims(stop_gradient(start), states.rank() - 2), states.shape());
    states = select(is_nan(stop_gradient(states)), instead, states);
  }
  return traced_value(e.type, shape, states, level, inside);
}

// Times that are known rise from the initial one.
void Evaluator::expect_rising(const Expression& e, const Value& start, const Value& times) const {
  if (!times.is_known()) return;
  const int level = start.is_known() ? std::max(start.level, times.level) : times.level;
  const Value by_lane = levels_.lifted(times, level);
  const auto count = static_cast<size_t>(times.size());
  for (size_t i = 0; i < by_lane.known->numbers.size(); ++i) {
    const bool is_first = i % count == 0;
    double last = is_first ? -INFINITY : by_lane.known->numbers[i - 1];
    if (is_first && start.is_known()) last = levels_.lifted(start, level).known->numbers[i / count];
    const double time = by_lane.known->numbers[i];
    if (!(time >= last) || (is_first && time == last))
      fail(e.place, fmt::format("{}: expected times that rise from the initial one, got {} after {}", e.name,
                                time, last));
  }
}

// States that were not reached have no numbers, nor do those after them: the last ones tell.
void Evaluator::reject_late(const Expression& e, const Tensor& states, double most_steps) {
  const int level = levels_.top(), inside = levels_.innermost_scan(level);
  const int axis = states.rank() - 2;
  Dims starts = Dims::filled(states.rank(), 0), lengths = states.shape();
  starts[axis] = lengths[axis] - 1, lengths[axis] = 1;
  const Tensor is_none = is_nan(stop_gradient(sum(slice(states, starts, lengths), {axis, axis + 1})));
  const Tensor holds = as_type(logical_not(is_none), DType::f64);
  demand(traced_value(scalar_type(Base::integer), {}, holds, level, inside), {}, e.place,
         late_words(e.name, most_steps));
}

}  // namespace adit::stan
