// The kernel of leapfrog_chain: many leapfrog steps of many points in one dispatch.
#pragma once

#include <adit/kernel/program.hpp>

#include "density/writer.hpp"

namespace adit::sampling {

struct LeapfrogShape {
  bool by_team = false;
  uint32_t lanes = 32;       // of a team; or points that share a workgroup
  bool is_own = false;       // a point's numbers lie in shared memory of its team, or in an array of its lane
  int64_t written_out = 40;  // positions up to this size stay in registers of a lane, or of all of a team's
  bool fuses = true;         // a multiply-add is rounded once
};

struct LeapfrogProgram {
  kernel::Program program;
  Segments segments;
  int64_t work = 0;        // numbers of a point in the buffer `work`; 0: the program has no such buffer
  int64_t loop_trips = 0;  // of one step at most, roughly
};

// Parameters of the program, in order.
//   buffers: q, p [n, D], inverse_metric [D] or [D, D], positions, momenta, gradients [steps, n, D],
//   log_densities [steps, n], work [n, work] where there is one;
//   numbers: points n, steps, step, half (a step), constant (of the log density); then reals, places.
LeapfrogProgram make_leapfrog_program(const Density& density, const Schedule& schedule, bool dense,
                                      const LeapfrogShape& shape);

}  // namespace adit::sampling
