// What a step of a loop makes of states that are logarithms, where e to them goes on linearly.
#pragma once

#include <optional>

#include "graph/by_node.hpp"
#include "graph/trace.hpp"

namespace adit::lower {

// A number of a step that is log(power) + sum(addends). `power` is a graph whose states stand for powers too.
struct Scaled {
  Tensor power;
  Tensors addends{};      // apart from the states, each of its shape
  Tensor sums{};          // the power, infinity where nothing goes on; empty: all are single states
  bool has_lanes = true;  // element i along the first axis is made of the states' elements i alone
};

// A difference of an exponent and the largest beside it, and the exponent itself.
struct Exponent {
  Tensor gap, whole;
};

class LinearStates {
 public:
  // Equal nodes of the function are one node.
  LinearStates(const graph::Subgraph& step, const Tensors& states, const Tensors& carries);
  // Nothing where it is not linear.
  std::optional<Scaled> operator()(const Tensor& x);
  bool depends(const Tensor& x) const { return changing_.contains(x); }

  std::vector<Exponent> exponents;  // of factors

 private:
  bool is_candidate(const Tensor& x) const { return depends(x) && x.dtype() == DType::f64; }
  Tensors read_by(const Tensor& x) const;
  std::optional<Scaled> found(const Tensor& x);
  std::optional<Scaled> viewed(const Tensor& x);
  std::optional<Scaled> chosen(const Tensor& x);
  std::optional<Scaled> joined(const Tensor& x);
  std::optional<Scaled> reduced(const Tensor& x);
  std::optional<Scaled> written(const Tensor& x, const Tensors& terms);

  graph::Dependents changing_;
  struct {
    Tensor state, next;
  } alone_;  // where it is the only one
  graph::ByNode<std::optional<Scaled>> known_;
};

// The results with equal nodes as one.
Tensors interned(const Tensors& results);

inline Tensor number(double x) { return graph::constant(DType::f64, x); }
// Finite ones as they are, 0 for others.
Tensor finite_or_zero(const Tensor& x);
// e to the difference, which is noted in `exponents`.
Tensor power_below(const Tensor& x, const Tensor& top, std::vector<Exponent>& exponents);
Tensor total_of(const Tensors& terms, const Shape& shape);

}  // namespace adit::lower
