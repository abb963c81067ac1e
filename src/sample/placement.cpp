#include "sample/placement.hpp"

#include <algorithm>

#include <adit/device.hpp>

#include "sample/shape_limits.hpp"

namespace adit::sampling {

double team_microseconds(const Demand& demand, const Limits& limits) {
  const auto chains = static_cast<double>(demand.chains), products = static_cast<double>(demand.products);
  // Teams that run at a time, and how wide they are.
  const double places = static_cast<double>(busy_lanes) * limits.processors;
  const double lanes = std::clamp(places / chains, 32.0, 256.0),
               turns = std::max(1.0, chains * lanes / places);
  const auto shared = static_cast<double>(demand.work - demand.serial);
  const double alone =
      std::max(shared, products) / lanes * team_step + static_cast<double>(demand.serial) * serial_step;
  return std::max(turns * alone, chains * products * 4 / team_read_bytes);
}

double rows_microseconds(const Demand& demand, const Limits& limits) {
  const auto chains = static_cast<double>(demand.chains);
  const double lanes = static_cast<double>(rows_teams) * rows_lanes * limits.multiprocessors;
  return rows_round + chains * std::max(static_cast<double>(demand.work) / lanes * team_step,
                                        static_cast<double>(demand.products) * 2 / team_read_bytes);
}

double device_microseconds(const Demand& demand) {
  const auto chains = static_cast<double>(demand.chains), products = static_cast<double>(demand.products);
  const double rest = std::max(0.0, static_cast<double>(demand.work - demand.serial) - products);
  return device_round + chains * rest * device_element_bytes / device_bytes +
         std::max(products * 4 / device_read_bytes, chains * products * 2 / device_operations) +
         static_cast<double>(demand.serial) * device_serial_step;
}

}  // namespace adit::sampling
