#include "sample/speeds.hpp"

#include <algorithm>

#include <adit/doctor.hpp>

#include "sample/shape_limits.hpp"

namespace adit::sampling {

Speeds speeds_of(const Device& device) {
  const bool is_cpu = device.info().kind == DeviceKind::cpu;
  const Measured& known = is_cpu ? measured_cpu : measured_gpu;
  Speeds speeds;
  speeds.narrow = static_cast<double>(known.processors) / std::max(1u, device.limits().processors);
  speeds.memory = speeds.narrow;
  const std::optional<Profile> profile = load_profile(device.info());
  if (!profile) return speeds;
  if (profile->step_ns) speeds.step = *profile->step_ns / known.step_ns;
  if (profile->launch_us) speeds.launch = *profile->launch_us / known.launch_us;
  if (profile->memory_gbs) speeds.memory = known.memory_gbs / *profile->memory_gbs;
  return speeds;
}

}  // namespace adit::sampling
