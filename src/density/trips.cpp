#include "density/trips.hpp"

#include <fmt/format.h>

#include <adit/error.hpp>

namespace adit::sampling {

void check_trips(int64_t loop_trips, const Device& device) {
  const uint64_t most = device.limits().max_loop_trips;
  if (most == 0 || static_cast<uint64_t>(loop_trips) <= most) return;
  throw Error(
      ErrorKind::unsupported,
      fmt::format("[sample] device: expected one whose kernels may loop {} times for one gradient, got "
                  "{}, which ends loops after {}",
                  loop_trips, device.info().id, most));
}

}  // namespace adit::sampling
