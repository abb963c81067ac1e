// Where the chains of a GPU compute their densities: each by a lane, by a team, or all by the whole device.
#pragma once

#include "density/schedule.hpp"

namespace adit::sampling {

// What a model asks of a device.
struct Demand {
  int64_t chains = 0;
  int64_t work = 0;      // elements of a gradient
  int64_t serial = 0;    // those of them that come one after the other
  int64_t products = 0;  // multiplications with matrices of the data
};

// Microseconds of a leapfrog of all chains, roughly.
double team_microseconds(const Demand& demand, const Limits& limits);
double device_microseconds(const Demand& demand);
double rows_microseconds(const Demand& demand, const Limits& limits);

}  // namespace adit::sampling
