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
// A team's state lies in shared memory where it fits beside this for sums over lanes, and teams are few or
// states small enough that several fit on a processor. Guesses, not measured one by one.
inline constexpr int64_t spare_shared_bytes = 1024;
inline constexpr int64_t few_teams = 512;
inline constexpr int64_t small_state_bytes = 8192;
// Else the current point and scratch alone, up to this: radon's fit. A guess, not measured beyond radon.
inline constexpr int64_t split_bytes = 12288;

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
