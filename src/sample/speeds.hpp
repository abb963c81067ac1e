// How fast a device is beside the one that the costs of placement.hpp were measured on.
#pragma once

#include <adit/device.hpp>

namespace adit::sampling {

struct Speeds {
  double step = 1;    // how much longer a lane takes for an element,
  double launch = 1;  // a kernel to begin after another,
  double memory = 1;  // and a byte to come from memory;
  double narrow = 1;  // how many times fewer processors it has
};
// As the doctor measured it. Where it did not, memory goes with the processors, and the rest is alike.
Speeds speeds_of(const Device& device);

}  // namespace adit::sampling
