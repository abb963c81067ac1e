// Where the shape of a kernel changes, and where each number comes from.
#pragma once

#include <cstdint>

namespace adit::sampling {

// --- A lane or a team for a chain
// Elements of a gradient up to which it counts less than the tree around it. A guess, not measured.
inline constexpr int64_t light_work = 256;
// From which a CPU's vectors are better filled with observations than with chains. A guess, not measured.
inline constexpr int64_t heavy_work = 1024;

// --- A team or the device for chains of a GPU: microseconds, bytes and operations a microsecond.
// Measured on an H200 with models of bench/models: logistic_large with 4, 256 and 1,024 chains, linear_large
// with 4 and 64, and poisson_slopes, crossed and nested with 1,024.
inline constexpr double team_step = 0.04;           // of a lane, for each element that it computes
inline constexpr double serial_step = 0.04;         // of a loop that goes on from element to element
inline constexpr double team_read_bytes = 5e6;      // of matrices that every team reads for itself
inline constexpr double device_round = 60;          // a round of some ten kernels of little work
inline constexpr double device_element_bytes = 20;  // that kernels read and write for an element
inline constexpr double device_bytes = 3.6e6;
inline constexpr double device_read_bytes = 2e5;    // of matrices, by products with few chains
inline constexpr double device_operations = 1.5e7;  // of products with many
inline constexpr double device_serial_step = 5;     // a loop is at least a kernel a step

// --- Teams of a GPU
// Lanes for each processor beyond which teams do not grow. On an H200 with 1,024 chains teams of 64 were the
// best or within 5 % of it for models of 1,000 to 2,400 rows; 128 and 256 lost 10 to 50 %.
inline constexpr int64_t busy_lanes = 128;
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
// A round of a full vector takes so many tenths of one of a chain alone: vectors then begin at three chains a
// thread, where they were measured to pay on two cores of a Neoverse V1 (bench/RESULTS.md).
inline constexpr int64_t vector_round_tenths = 22;
// A lane's arrays lie on the stack of its thread, which has a few MiB. A guess, not measured.
inline constexpr int64_t most_array_bytes = 512 * 1024;

// --- Lanes of a GPU
// The part of a workgroup's shared memory that its chains take, so that four workgroups fit on a processor:
// with three, eight schools took twice as long, measured on an H200 (bench/RESULTS.md).
inline constexpr int64_t shared_part = 2;

}  // namespace adit::sampling
