// How built-in functions are computed. What they take and give stands in signature.hpp.
//
// Tensors are f64 unless said otherwise. A loop over data runs all its rounds at once: the values of the
// rounds lie along one more leading axis ("lanes"), so every function here works on trailing axes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <adit/ops.hpp>

#include "stan/type.hpp"

namespace adit::stan {

// Elementwise: operands broadcast as in NumPy. `number` is the same for values that are known before anything
// is traced (data); it is none where the tensor's form is to serve there too.
struct UnaryFunction {
  const char* name;
  Tensor (*tensor)(const Tensor& x);
  double (*number)(double x);
};
struct BinaryFunction {
  const char* name;
  Tensor (*tensor)(const Tensor& a, const Tensor& b);
  double (*number)(double a, double b);
};
struct TernaryFunction {
  const char* name;
  Tensor (*tensor)(const Tensor& a, const Tensor& b, const Tensor& c);
  double (*number)(double a, double b, double c);
};

// Elementwise densities of numbers, normalised; operands broadcast. Outside of the support: -infinity.
// x of a discrete one holds whole numbers as f64. p points to the parameters, in Stan's order.
struct UnivariateDensity {
  const char* name;  // without suffix: "normal"
  bool is_discrete;
  int parameters;
  Tensor (*log_density)(const Tensor& x, const Tensor* p);
  Tensor (*log_cdf)(const Tensor& x, const Tensor* p);   // log P(X <= x); none: there is none yet
  Tensor (*log_ccdf)(const Tensor& x, const Tensor* p);  // log P(X > x)
  Tensor (*draw)(const Tensor& key, const Tensor* p,
                 const Shape& shape);  // shape: what the parameters broadcast to
};

// Everything else: linear algebra, reductions, multivariate densities and draws.
struct Arguments {
  std::vector<Tensor> tensors;  // [lanes, ] own axes of the type; integers are i64
  std::vector<Type> types;
  std::vector<bool> in_lanes;  // whether the tensor leads with lanes
  int64_t lanes = 0;           // 0: none of them does
  Tensor key;                  // of _rng functions

  size_t size() const { return tensors.size(); }
  bool any_lanes() const { return lanes > 0; }
  const Tensor& at(size_t i) const { return tensors[i]; }
  // The argument with the lanes' axis in front wherever any argument has it (else as it is).
  Tensor lifted(size_t i) const;
  // As f64.
  Tensor real(size_t i) const;
};
// Own axes of the result, behind the lanes where any_lanes() says so.
struct GeneralFunction {
  const char* name;  // with suffix: "multi_normal_lpdf"
  Tensor (*compute)(const Arguments& arguments);
};

std::span<const UnaryFunction> unary_functions();
std::span<const BinaryFunction> binary_functions();
std::span<const TernaryFunction> ternary_functions();
std::span<const UnivariateDensity> univariate_densities();
// That of so many parameters, or the first of the name; none: nothing.
const UnivariateDensity* univariate_named(const std::string& name, std::optional<size_t> parameters = {});
std::span<const GeneralFunction> general_functions();

}  // namespace adit::stan
