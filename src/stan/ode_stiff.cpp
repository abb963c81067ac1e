// RODAS (Hairer and Wanner, Solving Ordinary Differential Equations II, 1996, section IV.7): a Rosenbrock
// method of six stages, each of which solves one linear system with the matrix 1 / (gamma h) - df/dy.
#include <algorithm>
#include <array>

#include <adit/transform.hpp>

#include "graph/node.hpp"
#include "stan/ode_steps.hpp"
#include "stan/slopes.hpp"

namespace adit::stan {

namespace {

constexpr double gamma = 0.25;
// Of stages before, in the point of a stage, and in its right-hand side.
constexpr std::array<std::array<double, 4>, 5> point{{
    {},
    {1.544},
    {0.9466785280815826, 0.2557011698983284},
    {3.314825187068521, 2.896124015972201, 0.9986419139977817},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950},
}};
constexpr std::array<std::array<double, 5>, 6> side{{
    {},
    {-5.6688},
    {-2.430093356833875, -0.2063599157091915},
    {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
    {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
    {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054},
}};
constexpr std::array<double, 6> time_of{0, 0.386, 0.21, 0.63, 1, 1};
constexpr std::array<double, 6> by_time{0.25, -0.1043, 0.1035, -0.0362, 0, 0};

// df/dt; nothing where f knows no time.
Tensor slopes_by_time(const Derivative& f, const Tensor& t, const Tensor& y) {
  const std::vector<Tensor> all = graph::reachable(std::vector{f(t, y)}, true);
  if (std::none_of(all.begin(), all.end(),
                   [&](const Tensor& x) { return &graph::node_of(x) == &graph::node_of(t); }))
    return {};
  const Tensor one = broadcast_to(full({}, 1.0, DType::f64), t.shape());
  return jvp([&](const Tensor& at) { return f(at, y); }, {t}, {one}).second[0];
}

Tensor product(const Tensor& matrix, const Tensor& states) {
  return states.rank() == 1 ? dot(matrix, states) : sum(matrix * expand_dims(states, 1), {2});
}

}  // namespace

Attempt implicit_step(const Derivative& f, const Tensor& t, const Tensor& y, const Tensor& slope,
                      const Tensor& h, const OdeOptions& options) {
  const Tensor step = beside_states(h, y), diagonal = 1.0 / (step * gamma);
  const Tensor in_time = slopes_by_time(f, t, y);
  // With short steps the diagonal leads, and a step whose matrix was too bad has too large an error and is
  // made shorter.
  const Tensor solve = leading_inverse(identity_of(y.dim(y.rank() - 1)) *
                                           (y.rank() > 1 ? expand_dims(diagonal, 2) : diagonal) -
                                       slopes_of([&](const Tensor& at) { return f(t, at); }, y));
  std::vector<Tensor> stages;
  Tensor at = y;
  for (size_t i = 0; i < side.size(); ++i) {
    if (i < 5) {
      at = y;
      for (size_t j = 0; j < i; ++j) at = at + stages[j] * point[i][j];
    } else {
      at = at + stages[4];
    }
    Tensor right = i == 0 ? slope : f(t + h * time_of[i], at);
    for (size_t j = 0; j < i; ++j) right = right + stages[j] * (side[i][j] / step);
    if (in_time && by_time[i] != 0) right = right + in_time * (step * by_time[i]);
    stages.push_back(product(solve, right));
  }
  const Tensor next = at + stages[5];
  return {next, f(t + h, next), error_of(stages[5], y, next, options, of_implicit_steps), {}};
}

}  // namespace adit::stan
