// A model's log density and gradient at the points of all chains, by the engine of tensors.
#pragma once

#include <adit/transform.hpp>

#include "density/bind.hpp"

namespace adit::sampling {

class BatchedDensity {
 public:
  // `sets`: as bind_data takes them; the points of a set's chains come one after the other.
  BatchedDensity(const stats::ModelState& model, const Density& density, const std::vector<DataSet>& sets,
                 int64_t chains_a_set, std::shared_ptr<Device> device);

  double constant() const { return constant_; }  // of the log density, of the first set
  std::vector<Buffer> leaves() const;
  // [chains, size]: where the kernel leaves its points.
  const Buffer& points() const { return points_; }
  // At those points, in the order of the device's queue: values [chains], gradients [chains, size].
  void evaluate();
  Buffer values() const;
  Buffer gradients() const;

 private:
  std::shared_ptr<Device> device_;
  DType type_;
  Shape shape_;  // of the points
  Buffer points_;
  Tensors leaves_;
  std::unique_ptr<Jit> function_;
  Tensors results_;
  double constant_ = 0;
};

}  // namespace adit::sampling
