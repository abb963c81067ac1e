// Where the shape of a kernel changes, and where each number comes from.
#pragma once

#include <cstdint>

namespace adit::sampling {

// --- A lane or a team for a chain
// Elements of a gradient up to which it counts less than the tree around it. A guess, not measured.
inline constexpr int64_t light_work = 256;
// From which a CPU's vectors are better filled with observations than with chains. A guess, not measured.
inline constexpr int64_t heavy_work = 1024;

// --- Chains across the device
// Elements of a gradient from which a GPU whose processors are not all busy with a chain each computes it
// with all of them: one processor reads some 70 GB a second, and the rounds between kernels take some 60 us.
// From figures of an H200's data sheet; not measured.
inline constexpr int64_t device_work = 1 << 20;

// --- Teams of a GPU
// Lanes for each processor beyond which teams do not grow. On an H200 with 1,024 chains teams of 64 were the best
// or within 5 % of it for models of 1,000 to 2,400 rows; 128 and 256 lost 10 to 50 %.
inline constexpr int64_t busy_lanes = 128;
// Subgroups that a multiprocessor holds at a time of kernels such as these, which use about half of a lane's
// registers. A guess from an H200's 65,536 registers.
inline constexpr int64_t resident_subgroups = 16;
// Of a team's share of shared memory, left for sums over lanes and for what drivers keep. A guess.
inline constexpr int64_t spare_shared_bytes = 2048;

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
