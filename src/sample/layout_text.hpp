// How chains lie on a device, in words: what a run tells of itself, and what makes another one lie alike.
//
//   device            the density between dispatches, by the engine of tensors
//   device:132        the same, by kernels that spread a chain's rows over 132 teams
//   lane:4:array      chains in lanes, 4 together, their numbers in arrays
//   lane:16:shared:3  with 3 slots of the tree's stack in shared memory
//   team:32:buffer:2  two chains on a CPU's team, which read the data together
//   team:64:split     a chain on 64 lanes, what every leaf touches in shared memory
//   lane:2:buffer:blocks:30000  loops that would keep more numbers of a chain go by blocks
#pragma once

#include <string>

#include "sample/shape.hpp"

namespace adit::sampling {

std::string layout_text(const KernelOptions& shape, const Density& density);
// What a layout's text ends with where loops go by blocks.
std::string blocks_text(const Density& density);

struct LayoutWish {
  Placement placement = Placement::automatic;
  Forced forced{};
};
// "" and "auto": none. Names of placements alone leave the rest to the sampler. Throws where it is no layout.
LayoutWish layout_wish(const std::string& text);
// Throws where the device has no such layout.
void check_layout(const LayoutWish& wish, const std::string& text, const Device& device);

}  // namespace adit::sampling
