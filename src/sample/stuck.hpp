// Chains that warm-up left where the posterior has next to nothing: they would hardly ever come out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace adit::sampling {

// Where a chain is when the metric is settled. `mass`: its log density plus the logarithm of the volume that
// it moves in, so that a wide place of low density is not taken for a poor one. `size`: the numbers of a
// position.
//
// Gives the chains whose mass is next to nothing beside the others', at most half of them: of more nobody
// knows who is right.
std::vector<int64_t> stuck_chains(std::span<const double> masses, int64_t size);

// The same, and of more than half of them: to be told, not to be moved.
std::vector<int64_t> chains_far_below(std::span<const double> masses, int64_t size);
// What lies farther apart is not of one posterior's draws.
double least_gap(int64_t size);

// For each of them the chain whose state it takes over: one of the others, by turns, the one of largest mass
// first.
std::vector<int64_t> sources_for(std::span<const int64_t> stuck, std::span<const double> masses);

}  // namespace adit::sampling
