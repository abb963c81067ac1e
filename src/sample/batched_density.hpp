// The density of all chains by the engine of tensors.
#pragma once

#include <adit/transform.hpp>

#include "density/bind.hpp"
#include "sample/outside_density.hpp"

namespace adit::sampling {

class BatchedDensity final : public OutsideDensity {
 public:
  // `sets`: as bind_data takes them; the points of a set's chains come one after the other. `at_once`: chains
  // whose tensors are in memory together, 0: as many as fit. Those of several data sets are all at once.
  BatchedDensity(const stats::ModelState& model, const Density& density, const std::vector<DataSet>& sets,
                 int64_t chains_a_set, std::shared_ptr<Device> device, int64_t at_once = 0);

  double constant() const override { return constant_; }
  std::vector<Buffer> leaves() const override;
  const Buffer& points() const override { return points_; }
  void evaluate() override;
  Buffer values() const override { return values_; }
  Buffer gradients() const override { return gradients_; }

 private:
  std::shared_ptr<Device> device_;
  DType type_{}, value_type_{};
  Shape shape_;  // of the points
  Buffer points_;
  Tensors leaves_;
  std::unique_ptr<Jit> function_;
  Tensors evaluate_part(int64_t first, int64_t count);

  int64_t at_once_ = 0;
  Buffer values_, gradients_;
  double constant_ = 0;
};

}  // namespace adit::sampling
