// RODAS (Hairer and Wanner, Solving Ordinary Differential Equations II, 1996, section IV.7): a Rosenbrock
// method of six stages, each of which solves one linear system with the matrix 1 / (gamma h) - df/dy.
#include <array>

#include <adit/transform.hpp>

#include "stan/ode_steps.hpp"

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

Tensor row(const Tensor& matrix, int64_t i) { return slice(matrix, {i, 0}, {1, matrix.dim(1)}); }

// Gauss and Jordan without a search for pivots: with short steps the diagonal leads, and a step whose matrix
// was too bad has too large an error and is made shorter.
Tensor inverse(const Tensor& matrix) {
  const int64_t n = matrix.dim(0);
  const Tensor numbers = iota({n}, DType::i64);
  const Tensor one = as_type(expand_dims(numbers, 1) == expand_dims(numbers, 0), DType::f64);
  Tensor both = concatenate({matrix, one}, 1);
  for (int64_t i = 0; i < n; ++i) {
    const Tensor pivot = row(both, i) / slice(both, {i, i}, {1, 1});
    const Tensor factors = slice(both, {0, i}, {n, 1});
    const Tensor is_own = expand_dims(numbers == i, 1);
    both =
        select(broadcast_to(is_own, both.shape()), broadcast_to(pivot, both.shape()), both - factors * pivot);
  }
  return slice(both, {0, n}, {n, n});
}

}  // namespace

Attempt implicit_step(const Derivative& f, const Tensor& t, const Tensor& y, const Tensor& slope,
                      const Tensor& h, const OdeOptions& options) {
  const int64_t n = y.dim(0);
  const Tensor slopes = jacobian([&](const Tensor& at) { return f(t, at); })(y);
  const Tensor in_time =
      jvp([&](const Tensor& at) { return f(at, y); }, {t}, {full({}, 1.0, DType::f64)}).second[0];
  const Tensor numbers = iota({n}, DType::i64);
  const Tensor one = as_type(expand_dims(numbers, 1) == expand_dims(numbers, 0), DType::f64);
  const Tensor solve = inverse(one / (h * gamma) - slopes);
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
    for (size_t j = 0; j < i; ++j) right = right + stages[j] * (side[i][j] / h);
    if (by_time[i] != 0) right = right + in_time * (h * by_time[i]);
    stages.push_back(dot(solve, right));
  }
  const Tensor next = at + stages[5];
  return {next, f(t + h, next), error_of(stages[5], y, next, options)};
}

}  // namespace adit::stan
