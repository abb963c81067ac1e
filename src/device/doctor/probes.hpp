// The doctor's probes. Each measures one thing, notes it in the profile and returns its row of the table.
#pragma once

#include "device/profile.hpp"

namespace adit::doctor {

Finding probe_loop_limit(Device& device, Profile& profile);
Finding probe_memory_model(Device& device, Profile& profile);
Finding probe_subgroup_size(Device& device, Profile& profile);
Finding probe_shared_memory(Device& device, Profile& profile);
Finding probe_large_buffers(Device& device, Profile& profile);
Finding probe_float16(Device& device, Profile& profile);
Finding probe_float64(Device& device, Profile& profile);
Finding probe_int64(Device& device, Profile& profile);
Finding probe_denormals32(Device& device, Profile& profile);
Finding probe_denormals16(Device& device, Profile& profile);
Finding probe_denormals64(Device& device, Profile& profile);
Finding probe_pace(Device& device, Profile& profile);
Finding probe_fused_fma(Device& device, Profile& profile, const std::string& program);
Finding probe_watchdog(Device& device, const std::string& program);

// The halves of those two that run in the child.
int measure_fused_fma(const std::string& device_id);
int measure_watchdog(const std::string& device_id);

// Reads `count` elements of a buffer.
template <class T>
std::vector<T> read_all(Device& device, const Buffer& buffer, size_t count) {
  std::vector<T> values(count);
  device.read(buffer, values.data(), count * sizeof(T));
  return values;
}

// A buffer that holds these elements.
template <class T>
Buffer upload(Device& device, const std::vector<T>& values) {
  Buffer buffer = device.allocate(values.size() * sizeof(T));
  device.write(buffer, values.data(), values.size() * sizeof(T));
  return buffer;
}

}  // namespace adit::doctor
