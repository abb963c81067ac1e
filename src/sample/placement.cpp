#include "sample/placement.hpp"

#include <algorithm>
#include <cmath>

#include <adit/device.hpp>

#include "density/schedule.hpp"
#include "sample/shape_limits.hpp"

namespace adit::sampling {

double team_microseconds(const Demand& demand, const Limits& limits, const Speeds& speeds) {
  const auto chains = static_cast<double>(demand.chains), products = static_cast<double>(demand.products);
  // Teams that run at a time, and how wide they are.
  const double places = static_cast<double>(resident_lanes) * limits.processors;
  const double lanes = std::clamp(places / chains, 32.0, 256.0),
               turns = std::max(1.0, chains * lanes / places);
  const auto shared = static_cast<double>(demand.work - demand.serial);
  const double alone = team_round + team_pass * static_cast<double>(demand.passes.size()) +
                       std::max(shared, products) / lanes * team_step +
                       static_cast<double>(demand.serial) * serial_step;
  return std::max(turns * alone * speeds.step, chains * products * 4 / team_read_bytes * speeds.memory);
}

double rows_microseconds(const Demand& demand, const Limits& limits, const Speeds& speeds) {
  const auto chains = static_cast<double>(demand.chains);
  const double lanes = static_cast<double>(rows_teams) * rows_lanes * limits.multiprocessors;
  return rows_round * speeds.launch +
         chains * std::max(static_cast<double>(demand.work) / lanes * team_step * speeds.step,
                           static_cast<double>(demand.products) * 2 / team_read_bytes * speeds.memory);
}

double device_microseconds(const Demand& demand, const Speeds& speeds) {
  const auto chains = static_cast<double>(demand.chains), products = static_cast<double>(demand.products);
  const double rest = std::max(0.0, static_cast<double>(demand.work - demand.serial) - products);
  return (device_round + static_cast<double>(demand.serial) * device_serial_step) * speeds.launch +
         chains * rest * device_element_bytes / device_bytes * speeds.memory +
         std::max(products * 4 / device_read_bytes * speeds.memory,
                  chains * products * 2 / device_operations * speeds.step * speeds.narrow);
}

double gpu_lane_microseconds(const Demand& demand, const Limits& limits, const Speeds& speeds) {
  const double places = static_cast<double>(limits.processors) * limits.subgroup_size;
  const double alone =
      static_cast<double>(demand.work) * lane_step + static_cast<double>(demand.size) * lane_number;
  return alone * speeds.step * std::max(1.0, static_cast<double>(demand.chains) / places);
}

namespace {

// Of the tree around a gradient.
double tree_elements(int64_t size) { return 10 + 2 * static_cast<double>(size); }

double turns_of(int64_t groups, const Limits& limits) {
  const int64_t threads = std::max(1u, limits.processors);
  return static_cast<double>((groups + threads - 1) / threads);
}

// Elements of the loops that lanes share, as many as a vector takes at a time; the last may not be full.
double shared_elements(const Demand& demand, uint32_t width) {
  double all = 0, found = 0;
  const double saved = (1 - factor_share) * static_cast<double>(demand.factors);
  for (const Demand::Loop& each : demand.passes) {
    const auto count = static_cast<double>(each.count);
    all += count * each.cost;
    found += std::ceil(count / width) * width * each.cost;
  }
  const double shared = static_cast<double>(demand.work - demand.serial) - saved;
  return all > 0 ? shared * found / all : shared * width;  // without a loop every lane does all of it
}

}  // namespace

double lane_microseconds(const Demand& demand, uint32_t lanes, uint32_t width, const Limits& limits,
                         const Speeds& speeds) {
  const double full = static_cast<double>(lanes) / width;
  const double round = lanes == 1 ? 1 : vector_round * std::max(narrow_vector, full);
  const double elements = static_cast<double>(demand.work) + tree_elements(demand.size);
  return turns_of((demand.chains + lanes - 1) / lanes, limits) * round * elements * cpu_element * speeds.step;
}

namespace {

// Elements of a chain's leapfrog by all lanes of a vector.
double elements_of_vectors(const Demand& demand, uint32_t width) {
  const double vectors = vector_share * width;
  // Short positions are written out; the loops of longer ones go by vectors.
  const double written = tree_elements(std::min(demand.size, small));
  const double tree = team_tree * written + (tree_elements(demand.size) - written) / vectors;
  return shared_elements(demand, width) / vectors + serial_share * static_cast<double>(demand.serial) + tree +
         loop_elements * static_cast<double>(demand.passes.size());
}

}  // namespace

double vectors_microseconds(const Demand& demand, uint32_t width, const Limits& limits,
                            const Speeds& speeds) {
  return turns_of(demand.chains, limits) * elements_of_vectors(demand, width) * cpu_element * speeds.step;
}

double pairs_microseconds(const Demand& demand, uint32_t width, const Limits& limits, const Speeds& speeds) {
  const double saved = pair_share * static_cast<double>(demand.products) / (vector_share * width);
  const double elements = elements_of_vectors(demand, width) - saved + pair_elements;
  return turns_of((demand.chains + 1) / 2, limits) * 2 * elements * cpu_element * speeds.step;
}

double host_microseconds(const Demand& demand, const Limits& limits, const Speeds& speeds) {
  // Threads share all but the steps of a loop that are too short for it.
  const auto shared = static_cast<double>(demand.work - demand.steps) / std::max(1u, limits.processors);
  const double elements = shared + host_serial * static_cast<double>(demand.steps);
  return host_round * speeds.launch +
         static_cast<double>(demand.chains) * elements * cpu_element * speeds.step / host_share;
}

}  // namespace adit::sampling
