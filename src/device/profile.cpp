#include "device/profile.hpp"

#include <algorithm>
#include <mutex>

#include "support/cache.hpp"
#include "support/json.hpp"
#include "support/log.hpp"

namespace adit {
namespace {

using Json = nlohmann::ordered_json;

constexpr int profile_version = 1;

// Calls f(name, member) for each member, so that reading and writing cannot drift apart.
template <class P, class F>
void for_each_member(P& profile, F&& f) {
  f("max_loop_trips", profile.max_loop_trips);
  f("max_buffer_bytes", profile.max_buffer_bytes);
  f("shared_bytes", profile.shared_bytes);
  f("subgroup_size", profile.subgroup_size);
  f("float16", profile.float16);
  f("float64", profile.float64);
  f("int64", profile.int64);
  f("fused_fma", profile.fused_fma);
  f("keeps_denormals", profile.keeps_denormals);
  f("ordered_between_teams", profile.ordered_between_teams);
  f("step_ns", profile.step_ns);
  f("launch_us", profile.launch_us);
  f("memory_gbs", profile.memory_gbs);
}

void read_member(const Json& json, const char* name, std::optional<bool>& member) {
  if (!json.is_boolean())
    throw Error(ErrorKind::bad_argument, fmt::format("[profile] {}: expected true or false", name));
  member = json.get<bool>();
}

void read_member(const Json& json, const char* name, std::optional<double>& member) {
  if (!json.is_number() || !(json.get<double>() > 0))
    throw Error(ErrorKind::bad_argument, fmt::format("[profile] {}: expected a positive number", name));
  member = json.get<double>();
}

template <class T>
void read_member(const Json& json, const char* name, std::optional<T>& member) {
  if (!json.is_number_unsigned() || json.get<uint64_t>() > std::numeric_limits<T>::max())
    throw Error(ErrorKind::bad_argument, fmt::format("[profile] {}: expected a whole number", name));
  member = json.get<T>();
}

std::string key_of(const DeviceInfo& info) {
  return fmt::format("{}\n{}\n{}", info.name, name_of(info.kind), info.driver);
}

struct Override {
  std::mutex mutex;
  std::optional<Profile> profile;
};
Override& the_override() {
  static Override& instance = *new Override;
  return instance;
}

}  // namespace

std::string to_json(const Profile& profile) {
  Json json{{"profile", profile_version}};
  for_each_member(profile, [&](const char* name, const auto& member) {
    if (member) json[name] = *member;
  });
  return json.dump(2);
}

Profile profile_from_json(const std::string& text) {
  const Json json = parse_json<Json>(text);
  if (!json.is_object() || json.value("profile", Json()) != profile_version)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[profile] expected a profile of version {}", profile_version));
  Profile profile;
  for_each_member(profile, [&](const char* name, auto& member) {
    if (json.contains(name)) read_member(json[name], name, member);
  });
  return profile;
}

void merge(Profile& profile, const Profile& newer) {
  Json all = Json::parse(to_json(profile));
  all.update(Json::parse(to_json(newer)));
  profile = profile_from_json(all.dump());
}

void save_profile(const DeviceInfo& info, const Profile& profile) {
  const std::string text = to_json(profile);
  cache::save("profiles", key_of(info), std::as_bytes(std::span(text)));
}

std::optional<Profile> load_profile(const DeviceInfo& info) {
  const auto payload = cache::load("profiles", key_of(info));
  if (!payload) return std::nullopt;
  try {
    return profile_from_json(std::string(reinterpret_cast<const char*>(payload->data()), payload->size()));
  } catch (const Error& error) {
    log_debug("{}: the saved profile of {} is ignored", error.what(), info.id);
    return std::nullopt;
  }
}

void apply(const Profile& profile, Limits& limits) {
  limits.max_loop_trips = profile.max_loop_trips.value_or(limits.max_loop_trips);
  if (profile.subgroup_size.value_or(limits.subgroup_size) != limits.subgroup_size)
    limits.fixed_subgroups = false;
  limits.subgroup_size = profile.subgroup_size.value_or(limits.subgroup_size);
  limits.fused_fma = profile.fused_fma.value_or(limits.fused_fma);
  limits.keeps_denormals = profile.keeps_denormals.value_or(limits.keeps_denormals);
  limits.ordered_between_teams = profile.ordered_between_teams.value_or(limits.ordered_between_teams);
  // These only ever become less.
  limits.max_buffer_bytes =
      std::min(limits.max_buffer_bytes, profile.max_buffer_bytes.value_or(~uint64_t{0}));
  limits.shared_bytes = std::min(limits.shared_bytes, profile.shared_bytes.value_or(~uint32_t{0}));
  limits.float16 = limits.float16 && profile.float16.value_or(true);
  limits.float64 = limits.float64 && profile.float64.value_or(true);
  limits.int64 = limits.int64 && profile.int64.value_or(true);
}

void apply_profile(const DeviceInfo& info, Limits& limits) {
  auto& override_ = the_override();
  {
    const std::lock_guard lock(override_.mutex);
    if (override_.profile) return apply(*override_.profile, limits);
  }
  if (const auto profile = load_profile(info)) {
    log_debug("[profile] {}: the doctor's profile is applied", info.id);
    apply(*profile, limits);
  }
}

void override_profiles(const Profile& profile) {
  auto& override_ = the_override();
  const std::lock_guard lock(override_.mutex);
  override_.profile = profile;
}

}  // namespace adit
