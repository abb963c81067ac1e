// Built-in functions that take a function of the program.
#include <fmt/format.h>

#include "stan/evaluator.hpp"
#include "stan/ode.hpp"

namespace adit::stan {

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
  if (e.name == "map_rect") {
    Value joined;
    for (int64_t i = 0; i < arguments[1].shape[0]; ++i) {
      const Spots row{{Spot::Kind::single, known_integer(i)}};
      std::vector<Value> own{arguments[0]};
      for (size_t k = 1; k < 4; ++k)
        own.push_back(at(arguments[k], row, type_of_element(arguments[k].type), e.place));
      const Value part = call_function(function, std::move(own), e.place);
      if (i == 0) {
        joined = part;
        continue;
      }
      std::vector<Value> both{joined, part};
      joined = appended("append_row", both, scalar_type(Base::vector), e.place);
    }
    return joined;
  }
  return solved(e, arguments);
}

// Old interface: (f, y, t0, ts, theta, x_r, x_i [, tolerances]); new: (f, y, t0, ts [, tolerances], ...).
Value Evaluator::solved(const Expression& e, std::vector<Value>& a) {
  if (levels_.top() > 0) throw NotTogether{"a differential equation in a loop"};
  solves_equations = true;
  const bool is_old = e.name.starts_with("integrate_ode");
  OdeOptions options;
  options.is_stiff = e.name.find("bdf") != std::string::npos || e.name.find("adjoint") != std::string::npos;
  std::vector<Value> more;
  if (is_old) {
    more.assign(a.begin() + 3, a.begin() + 6);
    if (a.size() > 6)
      options.relative = number_of(a[6], e.place), options.absolute = number_of(a[7], e.place);
  } else if (e.name == "ode_adjoint_tol_ctl") {
    options.relative = number_of(a[3], e.place);
    more.assign(a.begin() + 14, a.end());
  } else if (e.name.ends_with("_tol")) {
    options.relative = number_of(a[3], e.place), options.absolute = number_of(a[4], e.place);
    more.assign(a.begin() + 6, a.end());
  } else {
    more.assign(a.begin() + 3, a.end());
  }
  const Function& function = *e.parts[0]->function;
  const Value y0 = whole(a[0]), times = whole(a[2]);
  const int64_t size = y0.size(), count = times.size();
  if (count == 0) return known_value(e.type, {0, size}, {});
  if (times.is_known()) {
    double last = a[1].is_known() ? number_of(a[1], e.place) : -INFINITY;
    for (const double time : times.known->numbers) {
      if (!(time >= last) || (time == last && &time == times.known->numbers.data()))
        fail(e.place, fmt::format("{}: expected times that rise from the initial one, got {} after {}",
                                  e.name, time, last));
      last = time;
    }
  }
  const Type state = is_old ? array_of(scalar_type(Base::real)) : scalar_type(Base::vector);
  const auto f = [&](const Tensor& t, const Tensor& y) {
    std::vector<Value> all{traced_value(scalar_type(Base::real), {}, t), traced_value(state, {size}, y)};
    all.insert(all.end(), more.begin(), more.end());
    const Value slope = whole(call_function(function, std::move(all), e.place));
    if (slope.size() != size)
      fail(e.place, fmt::format("{}: expected {} derivatives of {}, got {}", e.name, size, function.name,
                                slope.size()));
    return broadcast_to(real_tensor(slope), {size});
  };
  const Tensor states = integrate(f, broadcast_to(real_tensor(y0), {size}), reshape(real_tensor(a[1]), {}),
                                  broadcast_to(real_tensor(times), {count}), options);
  return traced_value(e.type, {count, size}, states);
}

}  // namespace adit::stan
