// What the doctor measured on a device, kept on disk and applied whenever that device is opened.
//
// - One file a driver (name, kind and driver version), in the cache under "profiles"; another driver version
// has none.
// - A profile corrects what the driver claims. It never grants a feature that the driver does not offer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <adit/device.hpp>

namespace adit {

// Only what was measured is set.
struct Profile {
  std::optional<uint64_t> max_loop_trips{};  // 0: no limit was found
  std::optional<uint64_t> max_buffer_bytes{};
  std::optional<uint32_t> shared_bytes{}, subgroup_size{};
  std::optional<bool> float16{}, float64{}, int64{};
  std::optional<bool> fused_fma{}, keeps_denormals{}, ordered_between_teams{};
};

// The profile as JSON and back; reading throws Error(bad_argument) for anything that is not a profile.
std::string to_json(const Profile& profile);
Profile profile_from_json(const std::string& text);

// Takes over every member of `newer` that is set.
void merge(Profile& profile, const Profile& newer);

void save_profile(const DeviceInfo& info, const Profile& profile);
std::optional<Profile> load_profile(const DeviceInfo& info);

void apply(const Profile& profile, Limits& limits);
// The saved profile of the device, if there is one; Device::open calls it.
void apply_profile(const DeviceInfo& info, Limits& limits);

// From now on this process applies `profile` instead of what is saved: the doctor measures without its own
// past.
void override_profiles(const Profile& profile);

}  // namespace adit
