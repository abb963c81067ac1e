// Where the shape of a kernel changes, and where each number comes from.
#pragma once

#include <cstdint>

namespace adit::sampling {

// --- What the doctor's probe of the pace found on the devices that the costs below were measured on. Another
// device's costs are those, as much longer as its own probe was (speeds.hpp).
struct Measured {
  double step_ns, launch_us, memory_gbs;
  uint32_t processors;
};
inline constexpr Measured measured_gpu{61, 2.6, 745, 528};  // an H200
inline constexpr Measured measured_cpu{45, 0.1, 9, 2};  // two cores of a Xeon with AVX-512, beside other work

// --- A lane or a team for a chain
// Elements of a gradient up to which it counts less than the tree around it. A guess, not measured.
inline constexpr int64_t light_work = 256;
// Operations of elements that a lane computes one by one, up to which it is sooner done than a team that
// shares them: of 2.5 ns each, in the time of a team's round. A guess from the figures below.
inline constexpr double light_operations = 1000;
// The same where chains fill the lanes: beyond it a kernel with all of them written out takes a driver
// seconds (60,000 words of SPIR-V at some 30 us each).
inline constexpr double long_operations = 3000;

// --- A lane, a team or the device for chains of a GPU: microseconds, bytes and operations a microsecond.
// Measured on an H200 with models of bench/models: logistic_large with 4, 256 and 1,024 chains, linear_large
// with 4 and 64, poisson_slopes, crossed and nested with 1,024; and by layouts_bench with crossed, garch,
// mixture, correlated and four random models.
inline constexpr double lane_step = 0.03;    // of a chain's own lane, for each element,
inline constexpr double lane_number = 1.2;   // and for each number of its position
inline constexpr double team_round = 2;      // the tree of a team,
inline constexpr double team_pass = 0.7;     // each loop of it,
inline constexpr double team_step = 0.04;    // and of a lane, for each element that it computes
inline constexpr double serial_step = 0.04;  // of a loop that goes on from element to element
// Lanes of teams that a subgroup's processor holds: a quarter of a multiprocessor's 65,536 registers, 255
// each.
inline constexpr int64_t resident_lanes = 64;
inline constexpr double team_read_bytes = 5e6;      // of matrices that every team reads for itself
inline constexpr double device_round = 60;          // a round of some ten kernels of little work
inline constexpr double device_element_bytes = 20;  // that kernels read and write for an element
inline constexpr double device_bytes = 3.6e6;
inline constexpr double device_read_bytes = 2e5;    // of matrices, by products with few chains
inline constexpr double device_operations = 1.5e7;  // of products with many
inline constexpr double device_serial_step = 5;     // a loop is at least a kernel a step

// --- Teams of a GPU
// Lanes for each processor beyond which teams do not grow, and up to how many lanes they do while they fill
// more than half of that. On an H200 with 1,024 chains teams of 64 were the best or within 10 % of it for
// most models of 1,000 to 2,400 rows; with 256 chains 128 were 1.1 to 1.9 times as fast as 256 for all of
// eight.
inline constexpr int64_t busy_lanes = 128;
inline constexpr uint32_t crowded_lanes = 64;
// Elements of a loop for each lane, from which a team grows: while there is room, and when there is not.
inline constexpr int64_t lane_elements = 4, crowded_lane_elements = 16;
// Subgroups that a multiprocessor holds at a time of kernels such as these, which use about half of a lane's
// registers. A guess from an H200's 65,536 registers.
inline constexpr int64_t resident_subgroups = 16;
// Of a team's share of shared memory, left for sums over lanes and for what drivers keep. A guess.
inline constexpr int64_t spare_shared_bytes = 2048;

// --- Rows of few chains, spread over a device
// Lanes of a team, and teams for each multiprocessor: so that two or more of them share it, and no lane has
// many rows of a small model. Guesses.
inline constexpr uint32_t rows_lanes = 128;
inline constexpr int64_t rows_teams = 4;
// Microseconds of a round: three kernels that wait for each other.
inline constexpr double rows_round = 18;

// --- Vectors of a CPU
// Microseconds of an element of a chain alone, and of a round of the engine of tensors. Elements that a loop
// takes which a team begins. The part of their width by which a team's vectors are faster than a lane, and
// how much faster the engine is. From layouts_bench on a Xeon with AVX-512, one thread, f64, 64 chains:
// crossed, ordered_probit, ar2, garch, hmm, mixture, zero_inflated. An element took 0.5 to 18 ns there.
inline constexpr double cpu_element = 0.006, host_round = 60, loop_elements = 40;
inline constexpr double vector_share = 0.75, host_share = 2;
// What two chains that go through the data together save of their products, and the elements that turns of
// theirs take. Of logistic regressions and a normal one on two cores of a Neoverse V1, in f64.
inline constexpr double pair_share = 0.25, pair_elements = 60;
// Elements that the engine takes in the time of one which comes after another in a loop: sir, lotka_volterra
// of posteriordb on a Neoverse V1, 4 chains, 69 and 104 leapfrogs a second (teams: 4,400 and 5,200).
inline constexpr double host_serial = 5;
inline constexpr double team_tree = 1.3;  // a team's tree beside a lane's: eight schools, random 1
// An element of a loop that lanes cannot share, by a team, beside one by a lane. On two threads with 4 chains
// a team took 0.63 (garch), 0.35 (volatility_noncentred), 0.56 (a random walk of 600 with t errors), 1.21
// (ARMA(2, 1) of 1,000) and 1.23 (hmm) times as long as vectors of two chains.
inline constexpr double serial_share = 0.8;
// An element of a factorisation by blocks (density/factor_blocks.cpp, factor_vjp.cpp) beside those of other
// loops: gp_latent of 64 and 100 rows on a Neoverse V1, where a team's chain was 1.8 times as fast as the
// engine with both threads.
inline constexpr double factor_share = 0.125;
// A round of a full vector takes so much longer than one of a chain alone, and one that is not full at least
// this part of it. There 8 lanes took 1.1 to 2.4 times as long as one, 4 of them 0.9 to 1.3 and 2 about as
// long; on a Neoverse V1 a full vector took 2.2 times as long (bench/RESULTS.md).
inline constexpr double vector_round = 2, narrow_vector = 0.55;
// A lane's arrays lie on the stack of its thread, which has a few MiB. A guess, not measured.
inline constexpr int64_t most_array_bytes = 512 * 1024;

// --- Lanes of a GPU
// The part of a workgroup's shared memory that its chains take, so that four workgroups fit on a processor:
// with three, eight schools took twice as long, measured on an H200 (bench/RESULTS.md).
inline constexpr int64_t shared_part = 2;

}  // namespace adit::sampling
