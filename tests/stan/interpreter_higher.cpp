// Functions that take functions: differential equations, integrals, roots, sums of parts.
#include <algorithm>
#include <set>

#include "interpreter_linear.hpp"
#include "interpreter_machine.hpp"

namespace adit::stan::reference {

namespace {

using Slope = std::function<Numbers(const Number& time, const Numbers& state)>;

// Gragg's midpoint rule over `step` in n parts.
Numbers higher_midpoint(const Slope& f, const Number& time, const Numbers& y, const Number& step, int n) {
  const Number h = step / n;
  Numbers before = y, now = y;
  const Numbers first = f(time, y);
  for (size_t i = 0; i < y.size(); ++i) now[i] += h * first[i];
  for (int k = 1; k < n; ++k) {
    const Numbers slope = f(time + h * k, now);
    Numbers next = before;
    for (size_t i = 0; i < y.size(); ++i) next[i] += 2 * h * slope[i];
    before = now;
    now = next;
  }
  const Numbers last = f(time + step, now);
  for (size_t i = 0; i < y.size(); ++i) now[i] = 0.5 * (now[i] + before[i] + h * last[i]);
  return now;
}

// Extrapolated to no step at all, as Bulirsch and Stoer do; halves the step where the last two differ.
Numbers higher_solve(const Slope& f, const Number& from, Numbers y, const Number& to, int depth = 0) {
  if (from.value == to.value && from.slope == to.slope) return y;
  constexpr int columns = 8;
  std::vector<Numbers> table;
  const Number step = to - from;
  double error = 0;
  for (int k = 0; k < columns; ++k) {
    std::vector<Numbers> row{higher_midpoint(f, from, y, step, 2 * (k + 1))};
    for (int m = 1; m <= k; ++m) {
      const double ratio = static_cast<double>(k + 1) / (k + 1 - m);
      Numbers better = row[static_cast<size_t>(m - 1)];
      for (size_t i = 0; i < y.size(); ++i)
        better[i] += (better[i] - table[static_cast<size_t>(m - 1)][i]) / (ratio * ratio - 1);
      row.push_back(better);
    }
    error = 0;
    for (size_t i = 0; k > 0 && i < y.size(); ++i) {
      const Number &best = row[static_cast<size_t>(k)][i], &other = row[static_cast<size_t>(k - 1)][i];
      error = std::max(error, std::fabs(best.value - other.value) / (1e-3 + std::fabs(best.value)));
      error = std::max(error, std::fabs(best.slope - other.slope) / (1 + std::fabs(best.slope)));
      if (!std::isfinite(best.value)) error = infinity;
    }
    table = row;
    if (k > 3 && error < 1e-14) return table.back();
  }
  if (error < 2e-13) return table.back();
  if (depth >= 14) throw Rejected("differential equations are too stiff for the interpreter");
  const Number middle = from + 0.5 * step;
  return higher_solve(f, middle, higher_solve(f, from, y, middle, depth + 1), to, depth + 1);
}

// ode_rk45(f, y0, t0, ts, ...): f(time, vector state, ...).
Value higher_ode(Machine& machine, const std::string& function, const Values& a, size_t skipped) {
  const Values rest(a.begin() + 3 + static_cast<std::ptrdiff_t>(skipped), a.end());
  const Slope f = [&](const Number& time, const Numbers& state) {
    Values arguments{real(time), vector(state)};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    return flat(machine.call(function, arguments));
  };
  Number time = a[1].number();
  Numbers state = flat(a[0]);
  Value result = array_value(Base::vector, 1, {});
  for (const Number& next : flat(a[2])) {
    state = higher_solve(f, time, state, next);
    time = next;
    result.parts.push_back(vector(state));
  }
  return result;
}

// integrate_ode(f, y0, t0, ts, theta, x_r, x_i): f(time, real[] state, theta, x_r, x_i).
Value higher_old_ode(Machine& machine, const std::string& function, const Values& a) {
  const Slope f = [&](const Number& time, const Numbers& state) {
    return flat(machine.call(function, {real(time), reals(state), a[3], a[4], a[5]}));
  };
  Number time = a[1].number();
  Numbers state = flat(a[0]);
  Value result = array_value(Base::real, 2, {});
  for (const Number& next : flat(a[2])) {
    state = higher_solve(f, time, state, next);
    time = next;
    result.parts.push_back(reals(state));
  }
  return result;
}

// reduce_sum(f, x, grainsize, ...): f(part, start, end, ...) over two parts, so that places are tried.
Value higher_sum(Machine& machine, const std::string& function, const Values& a) {
  const int64_t size = a[0].count(), middle = size / 2;
  Number sum = 0;
  for (const auto& [from, to] : {std::pair{int64_t{0}, middle}, std::pair{middle, size}}) {
    if (from == to) continue;
    Value part =
        array_value(a[0].base, a[0].array, Values(a[0].parts.begin() + from, a[0].parts.begin() + to));
    Values arguments{part, integer(from + 1), integer(to)};
    arguments.insert(arguments.end(), a.begin() + 2, a.end());
    sum += machine.call(function, arguments).number();
  }
  return real(sum);
}

// map_rect(f, shared, each, x_r, x_i): f(shared, one, x_r, x_i), joined.
Value higher_rect(Machine& machine, const std::string& function, const Values& a) {
  Numbers all;
  for (size_t i = 0; i < a[1].parts.size(); ++i) {
    const Numbers one =
        flat(machine.call(function, {a[0], a[1].parts[i], a[2].parts.at(i), a[3].parts.at(i)}));
    all.insert(all.end(), one.begin(), one.end());
  }
  return vector(all);
}

// tanh-sinh: x = middle + half tanh(pi/2 sinh t), or its kin for bounds without end.
Value higher_integral(Machine& machine, const std::string& function, const Values& a, const Values& rest,
                      bool tells_distance) {
  const Number low = a[0].number(), high = a[1].number();
  const auto f = [&](const Number& x, const Number& complement) {
    Values arguments{real(x), real(tells_distance ? complement : Number(not_a_number))};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    return machine.call(function, arguments).number();
  };
  const bool no_low = low.value == -infinity, no_high = high.value == infinity;
  Number sum = 0;
  constexpr double h = 1.0 / 64;
  for (int k = -6 * 64; k <= 6 * 64; ++k) {
    const double t = k * h, s = 0.5 * pi * std::sinh(t), ds = 0.5 * pi * std::cosh(t);
    if (no_low || no_high) {
      const bool both = no_low && no_high;
      const double away = both ? std::sinh(s) : std::exp(s),
                   weight = h * ds * (both ? std::cosh(s) : std::exp(s));
      if (!std::isfinite(weight) || weight == 0) continue;
      const Number x = both ? Number(away) : no_high ? low + away : high - away;
      const Number term = f(x, not_a_number);
      if (term.value != 0 || term.slope != 0) sum += weight * term;
      continue;
    }
    const double c = std::cosh(s), weight = h * ds / (c * c);
    if (!std::isfinite(c) || weight == 0) continue;
    const Number half = 0.5 * (high - low);
    const double edge = 1 / (std::exp(std::fabs(s)) * c);  // 1 - |tanh s|
    const Number x = s < 0 ? low + half * edge : high - half * edge;
    const Number complement = s < 0 ? low - x : high - x;
    sum += half * weight * f(x, complement);
  }
  return real(sum);
}

// Newton's steps on the values, by differences along each axis; one more with derivatives gives those.
Value higher_root(Machine& machine, const std::string& function, const Values& a, size_t skipped,
                  bool is_old) {
  const Values rest(a.begin() + 1 + static_cast<std::ptrdiff_t>(skipped), a.end());
  const auto f = [&](const Numbers& x) {
    Values arguments{vector(x)};
    if (is_old)
      arguments.insert(arguments.end(), a.begin() + 1, a.begin() + 4);
    else
      arguments.insert(arguments.end(), rest.begin(), rest.end());
    return flat(machine.call(function, arguments));
  };
  Numbers x = flat(a[0]);
  for (Number& v : x) v.slope = 0;
  const size_t n = x.size();
  Value jacobian = matrix(static_cast<int64_t>(n), static_cast<int64_t>(n));
  for (int round = 0; round < 200; ++round) {
    for (size_t j = 0; j < n; ++j) {
      const double h = 1e-6 * std::max(1.0, std::fabs(x[j].value));
      Numbers up = x, down = x;
      up[j] = x[j].value + h;
      down[j] = x[j].value - h;
      const Numbers above = f(up), below = f(down);
      for (size_t i = 0; i < n; ++i)
        jacobian.at(static_cast<int64_t>(i), static_cast<int64_t>(j)) =
            (above[i].value - below[i].value) / (2 * h);
    }
    Numbers error = f(x);
    const Numbers step = solve(jacobian, vector(error)).numbers;
    double size = 0;
    for (size_t i = 0; i < n; ++i) {
      size = std::max(size, std::fabs(step[i].value) / (1 + std::fabs(x[i].value)));
      x[i] = x[i].value - step[i].value;
    }
    if (size < 1e-15) break;
  }
  // The Jacobian is a difference: repeated steps of the slopes remove what that leaves of error.
  for (int round = 0; round < 4; ++round) {
    const Numbers step = solve(jacobian, vector(f(x))).numbers;
    for (size_t i = 0; i < n; ++i) x[i] -= step[i];
  }
  return vector(x);
}

}  // namespace

bool is_higher_order(const std::string& name) {
  static const std::set<std::string> names{"reduce_sum",      "reduce_sum_static", "map_rect",
                                           "integrate_1d",    "algebra_solver",    "algebra_solver_newton",
                                           "solve_newton",    "solve_newton_tol",  "solve_powell",
                                           "solve_powell_tol"};
  return names.contains(name) || name.starts_with("integrate_1d") || name.starts_with("integrate_ode") ||
         name.starts_with("ode_");
}

Value call_higher_order(Machine& machine, const std::string& name, const std::string& function, Values a) {
  if (name.starts_with("reduce_sum")) return higher_sum(machine, function, a);
  if (name == "map_rect") return higher_rect(machine, function, a);
  if (name == "integrate_1d") return higher_integral(machine, function, a, {a[2], a[3], a[4]}, true);
  if (name.starts_with("integrate_1d_")) {
    const Values rest(a.begin() + (name.ends_with("_tol") ? 5 : 2), a.end());
    return higher_integral(machine, function, a, rest, name.find("gauss") == std::string::npos);
  }
  if (name.starts_with("integrate_ode")) return higher_old_ode(machine, function, a);
  if (name == "ode_adjoint_tol_ctl") return higher_ode(machine, function, a, 11);
  if (name.starts_with("ode_")) return higher_ode(machine, function, a, name.ends_with("_tol") ? 3 : 0);
  if (name.starts_with("algebra_solver")) return higher_root(machine, function, a, 0, true);
  return higher_root(machine, function, a, name.ends_with("_tol") ? 3 : 0, false);
}

}  // namespace adit::stan::reference
