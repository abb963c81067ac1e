// Constraints: where a variable may lie, and the smooth map from all real numbers to there.
//
// Samplers move on the unconstrained scale u; a model is written in x = constrain(u). The density of u is
// that of x times the Jacobian, whose logarithm the map gives along.
#pragma once

#include <functional>
#include <string>

#include <adit/ops.hpp>

#pragma GCC visibility push(default)
namespace adit {

// A value and the logarithm of the absolute Jacobian determinant of the map that made it, a scalar.
struct Constrained {
  Tensor value, log_jacobian;
};

struct Constraint {
  std::string name;  // for messages: "real", "lower", "simplex", ...
  bool discrete = false;
  bool is_identity = false;  // x is u
  int event_rank = 0;  // trailing axes that the constraint ties together: 1 for a simplex, 2 for a matrix
  // The shape of u for an x of this shape; throws where the shape cannot be.
  std::function<Shape(const Shape& x)> unconstrained_shape{};
  std::function<Constrained(const Tensor& u, const Shape& x)> constrain{};
  std::function<Tensor(const Tensor& x)> unconstrain{};
  // 1 where x lies inside, u8, one number an event: observations are checked with it before anything is run.
  std::function<Tensor(const Tensor& x)> contains{};
  std::string expected{};  // what errors ask for: "a number of at least 0"
};

// A bound or a parameter: a number or a tensor. Numbers are arguments of kernels, never part of them.
class Parameter {
 public:
  Parameter(double number);
  Parameter(const Tensor& tensor);  // of numbers; integers and f32 become f64
  template <Number T>
  requires(!std::is_same_v<T, double>) Parameter(T number) : Parameter(static_cast<double>(number)) {}
  const Tensor& tensor() const { return tensor_; }
  operator const Tensor&() const { return tensor_; }

 private:
  Tensor tensor_;
};

namespace constraint {

Constraint real();
Constraint lower(Parameter bound);                                     // x = L + exp(u)
Constraint positive();                                                 // lower(0)
Constraint upper(Parameter bound);                                     // x = U - exp(u)
Constraint interval(Parameter low, Parameter high);                    // x = L + (U - L) sigmoid(u)
Constraint unit();                                                     // interval(0, 1)
Constraint offset_multiplier(Parameter offset, Parameter multiplier);  // x = o + m u
Constraint ordered();                                                  // x1 = u1, x_k = x_{k-1} + exp(u_k)
Constraint positive_ordered();
Constraint simplex();  // K - 1 reals to K: softmax of the inverse isometric log ratio, as Stan from 2.37
Constraint cholesky_factor_corr();  // K (K - 1) / 2 reals to [K, K]
Constraint corr_matrix();
Constraint cov_matrix();           // K (K + 1) / 2 reals to [K, K]
Constraint cholesky_factor_cov();  // of [M, N] with M >= N: N (N + 1) / 2 + (M - N) N reals
Constraint unit_vector();          // K reals to K, divided by their length
Constraint sum_to_zero();          // K - 1 reals to K, an isometry
Constraint sum_to_zero_matrix();   // (M - 1)(N - 1) reals to [M, N] whose rows and columns sum to zero
Constraint column_stochastic();    // [M, N] whose columns are simplices
// Whole numbers, for observations: they have no map.
Constraint integer(int64_t low);                  // low, low + 1, ...
Constraint integer(int64_t low, Parameter high);  // low .. high

}  // namespace constraint
}  // namespace adit
#pragma GCC visibility pop
