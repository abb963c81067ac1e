// Value and gradient of a model from a kernel of the sampler beside those of the tensor engine in f64.
#pragma once

#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include <adit/adit.hpp>

#include "devices.hpp"

namespace adit::test {

inline std::vector<double> normals(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal_numbers;
  std::vector<double> values(static_cast<size_t>(count));
  for (double& v : values) v = normal_numbers(random);
  return values;
}

inline std::vector<int64_t> places(int64_t count, int64_t below) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = (i * 7 + i * i / 3) % below;
  return values;
}

inline double worst(const Tensor& got, const Tensor& want) {
  const auto a = as_type(got, DType::f64).to_vector<double>(), b = want.to_vector<double>();
  double most = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const double error = std::fabs(a[i] - b[i]) / (1 + std::fabs(b[i]));
    most = std::isfinite(error) ? std::max(most, error) : INFINITY;
  }
  return most;
}

struct DensityCase {
  const char* name;
  Model (*make)();
};

// One leapfrog step from a point near 0; its end is where both are compared.
inline void compare_density(const Model& model, const std::string& name, const std::string& id,
                            Placement placement, DType type, double tolerance, uint64_t seed = 9,
                            int64_t loop_numbers = 0) {
  const int64_t size = model.size();
  std::vector<double> start = normals(size, seed);
  for (double& v : start) v *= 0.4;
  const auto home = Device::open(id);
  const Tensor q = as_type(tensor(std::span<const double>(start), {size}, home), type);
  const LeapfrogKernel kernel(
      model, {.type = type, .device = id, .placement = placement, .loop_numbers = loop_numbers});
  const LeapfrogChain chain = kernel(q, q, 0.01, 1);
  const Tensor point = to_device(as_type(reshape(chain.positions, {size}), DType::f64), Device::open("cpu"));
  const auto [value, gradients] = value_and_grad([&](Tensor u) { return model.log_density(u); })(point);
  EXPECT_LT(worst(reshape(chain.log_densities, {}), value), tolerance) << name;
  EXPECT_LT(worst(reshape(chain.gradients, {size}), gradients[0]), tolerance) << name;
}

}  // namespace adit::test
