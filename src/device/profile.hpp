// The engine's side of a Profile: how it is read and applied.
#pragma once

#include <string>

#include <adit/doctor.hpp>

namespace adit {

// What to_json wrote; throws Error(bad_argument) for anything that is not a profile.
Profile profile_from_json(const std::string& text);

// Takes over every member of `newer` that is set.
void merge(Profile& profile, const Profile& newer);

void apply(const Profile& profile, Limits& limits);
// The saved profile of the device, if there is one; Device::open calls it.
void apply_profile(const DeviceInfo& info, Limits& limits);

}  // namespace adit
