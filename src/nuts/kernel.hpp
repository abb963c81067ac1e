// The sampler as one kernel: whole NUTS transitions with Stan's adaptation, resumable.
//
// A chain is a state machine. Each round of its loop evaluates the density once, at a point that its phase
// asks for: a start point, a trial of the search for a step size, or the next leaf of the tree. Chains that
// share a subgroup (or a vector) therefore wait for each other at the gradient alone. The state lies in
// memory; a dispatch does a bounded number of rounds. Where the density is computed outside, a dispatch is
// one round from what follows a density to what leads to the next.
#pragma once

#include <adit/kernel/program.hpp>

#include "density/writer.hpp"
#include "nuts/layout.hpp"

namespace adit::sampling {

// Where a chain's numbers lie while it runs.
enum class Home : uint8_t {
  buffer,  // where they lie between dispatches
  array,   // in a private array of the lane: on a CPU they are vectors then
  shared,  // in the workgroup's shared memory: all of a team's, or what every leaf of a lane's chain touches
  split    // of a team: what every leaf touches in shared memory, with what it wants of the density's scratch
};

struct KernelOptions {
  bool by_team = false;
  bool outside = false;  // the density is computed outside of the kernel, for all chains, between dispatches
  uint32_t lanes = 32;   // of a team; or chains that share a workgroup
  Home home = Home::buffer;
  bool by_hand = false;      // a team's loops over components are shared out by hand: a GPU
  bool fuses = true;         // a multiply-add is rounded once
  bool in_vectors = false;   // chains lie in the lanes of a CPU's vectors
  bool in_step = false;      // transitions begin in the rounds of a beat, so that chains do alike together
  int64_t slots = 1 << 20;   // of the stack, in a lane's own memory; the rest are in the buffer
  int64_t sets = 1;          // data sets
  int64_t together = 1;      // chains of a CPU's team, which go through the data together
  int64_t written_out = 40;  // positions up to this size stay in registers of a lane
};

struct NutsKernel {
  kernel::Program program;
  Layout layout;
  Segments segments;
  int64_t loop_trips = 0;  // of one round at most, roughly
};

// Parameters of the program, in order.
//   buffers: state [chains, layout.count], words [chains, word_count], rows [chains, ring, layout.stats +
//   size], in vectors, or where chains go together: the chains by place; then the numbers of the dispatch as
//   Machine declares them and Run::arguments lists them; reals, places. Where the density is computed
//   outside: points [chains, size] that the kernel writes, and the values [chains] and gradients [chains,
//   size] there that it reads, instead.
NutsKernel make_nuts_kernel(const Density& density, const Schedule& schedule, Metric metric, int max_depth,
                            const KernelOptions& options);

}  // namespace adit::sampling
