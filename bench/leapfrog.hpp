// Leapfrog steps of eight schools, non-centred, one chain an invocation: the floor for a whole-sampler
// kernel.
#pragma once

#include <array>

#include <adit/kernel/builder.hpp>
#include <adit/kernel/math.hpp>

namespace adit::bench {

// Buffers: start (10 positions a chain), momentum (10 a chain), end (positions + log density, 10 a chain).
// Scalars: steps (u32), size of a step (f32).
inline kernel::Program leapfrog_program(uint32_t workgroup) {
  using namespace kernel;
  constexpr int schools = 8, parameters = schools + 2;
  constexpr std::array<double, schools> effect{28, 8, -3, 7, -1, 1, 18, 12},
      error{15, 10, 16, 11, 9, 11, 10, 18};
  Builder k("leapfrog", Team::one(workgroup));
  const Array start = k.buffer("start", Type::f32, Access::read),
              momentum = k.buffer("momentum", Type::f32, Access::read),
              end = k.buffer("end", Type::f32, Access::write);
  const Value steps = k.scalar("steps", Type::u32), size = k.scalar("size", Type::f32),
              chain = k.team() * parameters;

  std::vector<Variable> q, p, g;
  for (int i = 0; i < parameters; ++i) {
    q.push_back(k.variable(Value(start[chain + i]) * 0.5));
    p.push_back(k.variable(momentum[chain + i]));
    g.push_back(k.variable(Type::f32, 0));
  }
  // Sums as trees: the chains of one warp wait for the longest row of dependent operations.
  const auto sum = [](std::vector<Value> terms) {
    for (; terms.size() > 1; terms.resize(terms.size() / 2))
      for (size_t i = 0; i < terms.size() / 2; ++i) terms[i] = terms[i] + terms[i + terms.size() / 2];
    return terms[0];
  };
  // A step needs the gradient alone; the log density is computed once, at the end.
  const auto gradient = [&] {
    const Value mu = q[0], tau = exp(q[1]), square = tau * tau;
    std::vector<Value> pulls, turns;
    for (int i = 0; i < schools; ++i) {
      const double weight = 1 / (error[i] * error[i]);
      const Value z = q[2 + i];
      const Value pull = fma(tau * -weight, z, fma(mu, -weight, effect[i] * weight));
      pulls.push_back(pull);
      turns.push_back(pull * z);
      g[2 + i] = fma(pull, tau, -z);
    }
    g[0] = fma(mu, -1.0 / 25, sum(pulls));
    g[1] = fma(sum(turns), tau, (25 - square) / (25 + square));
  };
  const auto density = [&] {
    const Value mu = q[0], log_tau = q[1], tau = exp(log_tau);
    Value lp = fma(mu * mu, -0.5 / 25, log_tau - log1p(tau * tau * (1.0 / 25)));
    for (int i = 0; i < schools; ++i) {
      const Value z = q[2 + i], residual = fma(tau, z, mu - effect[i]) * (1 / error[i]);
      lp = fma(z * z, -0.5, fma(residual * residual, -0.5, lp));
    }
    return lp;
  };

  gradient();
  const Value half = size * 0.5;
  k.for_(steps, [&](Value) {
    for (int i = 0; i < parameters; ++i) {
      p[i] = fma(half, g[i], p[i]);
      q[i] = fma(size, p[i], q[i]);
    }
    gradient();
    for (int i = 0; i < parameters; ++i) p[i] = fma(half, g[i], p[i]);
  });
  const Value lp = density();
  for (int i = 0; i < parameters; ++i) end[chain + i] = Value(q[i]) + lp;
  return k.finish();
}

}  // namespace adit::bench
