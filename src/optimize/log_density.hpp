// A model's log density and its gradient at points, by the engine of tensors in f64.
#pragma once

#include <adit/device.hpp>
#include <adit/transform.hpp>

#include "stats/model_state.hpp"

namespace adit::optimizing {

struct Evaluated {
  std::vector<double> point;
  double value = 0;
  std::vector<double> gradient;
  bool is_finite() const;
};

// The device of that id, or the CPU where it has no f64.
std::shared_ptr<Device> open_for_f64(const std::string& id);

// Throws "[where] model: ..." where there is no parameter.
void expect_parameters(const char* where, const stats::ModelState& model);

class LogDensity {
 public:
  // Without `jacobian` the terms of constraints are left out.
  LogDensity(const stats::ModelState& model, bool jacobian, std::shared_ptr<Device> device);

  Evaluated at(std::vector<double> point) const;
  // points [count, size]; values [count] and gradients [count, size].
  void at_many(const std::vector<double>& points, std::vector<double>& values,
               std::vector<double>& gradients) const;
  // Row-major; by derivatives of the gradient, or its differences where an operation has none.
  std::vector<double> hessian(const std::vector<double>& point) const;
  // Terms that are not finite at the point, in words; "": none.
  std::string odd_terms(const std::vector<double>& point) const;

  int64_t size() const { return model_.size; }
  const std::shared_ptr<Device>& device() const { return device_; }

 private:
  bool counts(const stats::ModelTerm& term) const;
  std::vector<double> exact_hessian(const std::vector<double>& point) const;
  std::vector<double> hessian_by_differences(const std::vector<double>& point) const;

  const stats::ModelState& model_;
  bool jacobian_;
  std::shared_ptr<Device> device_;
  Function value_;                          // of u [size]
  std::unique_ptr<Jit> one_, many_, rows_;  // rows: of the Hessian, for directions [n, size]
};

}  // namespace adit::optimizing
