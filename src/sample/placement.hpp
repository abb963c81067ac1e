// Where the chains of a GPU compute their densities: each by a lane, by a team, or all by the whole device.
#pragma once

#include "density/schedule.hpp"
#include "sample/speeds.hpp"

namespace adit::sampling {

// What a model asks of a device.
struct Demand {
  int64_t chains = 0;
  int64_t size = 0;      // of a position
  int64_t work = 0;      // elements of a gradient
  int64_t serial = 0;    // those of them that come one after the other
  int64_t steps = 0;     // and of these, those of short rounds
  int64_t products = 0;  // multiplications with matrices of the data
  double written = 0;    // operations of small tensors' elements, by a lane one after the other
  int64_t factors = 0;   // elements of the work that a CPU's team computes by blocks of a factorisation
  struct Loop {
    int64_t count = 0;
    double cost = 0;  // of a step, in operations
  };
  std::vector<Loop> passes{};
};

// Microseconds of a leapfrog of all chains, roughly.
double team_microseconds(const Demand& demand, const Limits& limits, const Speeds& speeds);
double device_microseconds(const Demand& demand, const Speeds& speeds);
double rows_microseconds(const Demand& demand, const Limits& limits, const Speeds& speeds);
double gpu_lane_microseconds(const Demand& demand, const Limits& limits, const Speeds& speeds);
// Of a CPU whose vectors have `width` numbers: chains in lanes, each on a vector's lanes, and all by the
// engine of tensors.
double lane_microseconds(const Demand& demand, uint32_t lanes, uint32_t width, const Limits& limits,
                         const Speeds& speeds);
double vectors_microseconds(const Demand& demand, uint32_t width, const Limits& limits, const Speeds& speeds);
// Two chains at a time on a vector's lanes, whose products with matrices of the data read them once.
double pairs_microseconds(const Demand& demand, uint32_t width, const Limits& limits, const Speeds& speeds);
double host_microseconds(const Demand& demand, const Limits& limits, const Speeds& speeds);

}  // namespace adit::sampling
