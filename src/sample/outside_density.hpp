// A model's log density and gradient at the points of all chains, computed between the rounds of their trees.
#pragma once

#include <adit/device.hpp>

namespace adit::sampling {

class OutsideDensity {
 public:
  virtual ~OutsideDensity() = default;
  virtual double constant() const = 0;  // of the log density, of the first data set
  virtual std::vector<Buffer> leaves() const = 0;
  // [chains, size]: where the kernel leaves its points.
  virtual const Buffer& points() const = 0;
  // At those points, in the order of the device's queue: values [chains], gradients [chains, size].
  virtual void evaluate() = 0;
  virtual Buffer values() const = 0;
  virtual Buffer gradients() const = 0;
};

}  // namespace adit::sampling
