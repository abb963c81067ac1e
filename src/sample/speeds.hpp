// How fast a device is beside the one that the costs of placement.hpp were measured on.
#pragma once

#include <adit/device.hpp>

namespace adit::sampling {

struct Speeds {
  double step = 1;    // how much longer a lane takes for an element,
  double launch = 1;  // a kernel to begin after another,
  double memory = 1;  // and a byte to come from memory
};
// As the doctor measured it; 1 where it did not.
Speeds speeds_of(const Device& device);

}  // namespace adit::sampling
