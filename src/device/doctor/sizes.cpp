// How many lanes run together, how much memory a team really has, how large a buffer really may be.
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <string>

#include <adit/kernel/builder.hpp>

#include "device/doctor/probes.hpp"
#include "support/machine.hpp"

namespace adit::doctor {
namespace {

using namespace kernel;

std::string kib(uint64_t bytes) { return fmt::format("{} KiB", bytes >> 10); }
std::string mib(uint64_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

Program subgroup_census(bool count_lanes) {
  Builder k("doctor_subgroup", Team::one(64));
  const Array size = k.buffer("size", Type::u32, Access::write),
              active = k.buffer("active", Type::u32, Access::write);
  const Value i = k.team();
  size[i] = k.subgroup_size();
  if (count_lanes) active[i] = k.subgroup_reduce(Reduction::add, k.constant(Type::u32, 1));
  return k.finish();
}

// Fills the team's shared memory and reads it backwards.
Program shared_mirror(uint32_t words, uint32_t lanes) {
  Builder k("doctor_shared", Team::many(lanes));
  const Array out = k.buffer("out", Type::u32, Access::write);
  const Array shared = k.shared(Type::u32, words);
  const Value count = k.constant(Type::u32, words);
  k.each(count, [&](Value i) { shared[i] = i * 2654435761u; });
  k.each(count, [&](Value i) { out[i] = shared[count - 1 - i]; });
  return k.finish();
}

bool shared_memory_works(Device& device, uint32_t bytes) {
  const uint32_t words = bytes / 4, lanes = std::min(64u, device.limits().max_lanes);
  try {
    const auto kernel = device.compile(shared_mirror(words, lanes));
    const Buffer out = device.allocate(bytes);
    device.fill(out, 0);
    device.run(*kernel, 1, {out});
    const auto seen = read_all<uint32_t>(device, out, words);
    for (uint32_t i = 0; i < words; ++i)
      if (seen[i] != (words - 1 - i) * 2654435761u) return false;
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::device_lost) throw;
    return false;
  }
}

// Writes one word far from the start, indexed as `type` does.
Program touch(Type type) {
  Builder k(type == Type::u64 ? "doctor_touch64" : "doctor_touch32", Team::one());
  const Array buffer = k.buffer("buffer", Type::u32, Access::read_write);
  const Value index = k.scalar("index", type), word = k.scalar("word", Type::u32);
  k.if_(k.team() == 0, [&] { buffer[index] = word; });
  return k.finish();
}

bool buffer_works(Device& device, const Kernel& kernel, bool wide, uint64_t bytes) {
  try {
    const Buffer buffer = device.allocate(bytes);
    const uint64_t last = bytes / 4 - 1;
    const auto word = static_cast<uint32_t>(bytes >> 20) + 7u;
    for (const uint64_t index : {uint64_t{0}, last}) {
      const Argument at = wide ? Argument(index) : Argument(static_cast<uint32_t>(index));
      device.run(kernel, 1, {buffer, at, word});
    }
    uint32_t seen[2] = {};
    device.read(buffer, &seen[0], 4, 0);
    device.read(buffer, &seen[1], 4, last * 4);
    return seen[0] == word && seen[1] == word;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::device_lost) throw;
    return false;
  }
}

// Memory of the host that can be taken without pushing anybody out.
uint64_t host_memory_available() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:"))
      return std::min<uint64_t>(std::stoull(line.substr(13)) << 10, machine::memory_bytes());
  return machine::memory_bytes() / 2;
}

}  // namespace

Finding probe_subgroup_size(Device& device, Profile& profile) {
  const Limits& limits = device.limits();
  Finding finding{.probe = "subgroup size", .claimed = fmt::format("{}", limits.subgroup_size)};
  const auto kernel = device.compile(subgroup_census(limits.subgroup_arithmetic));
  const Buffer size = device.allocate(256 * 4), active = device.allocate(256 * 4);
  device.fill(active, 0);
  device.run(*kernel, 256, {size, active});
  const auto sizes = read_all<uint32_t>(device, size, 256), lanes = read_all<uint32_t>(device, active, 256);
  const uint32_t told = *std::max_element(sizes.begin(), sizes.end());
  const uint32_t counted = *std::max_element(lanes.begin(), lanes.end());
  finding.measured =
      limits.subgroup_arithmetic ? fmt::format("{} ({} counted)", told, counted) : fmt::format("{}", told);
  if (limits.subgroup_arithmetic && counted != told) {
    finding.verdict = Verdict::broken;
    finding.note = "the lanes that add up are not as many as the driver says";
    return finding;
  }
  profile.subgroup_size = told;
  if (told != limits.subgroup_size) finding.verdict = Verdict::limited;
  return finding;
}

Finding probe_shared_memory(Device& device, Profile& profile) {
  const uint32_t claimed = device.limits().shared_bytes;
  Finding finding{.probe = "shared memory", .claimed = kib(claimed)};
  if (claimed < 4) {
    finding.verdict = Verdict::skipped;
    finding.note = "the device has none";
    return finding;
  }
  uint32_t bytes = claimed / 4 * 4;
  while (bytes >= 1024 && !shared_memory_works(device, bytes)) bytes = bytes / 8 * 4;
  finding.measured = bytes >= 1024 ? kib(bytes) : "none";
  profile.shared_bytes = bytes >= 1024 ? bytes : 0;
  if (bytes < claimed / 4 * 4) finding.verdict = Verdict::broken;
  return finding;
}

Finding probe_large_buffers(Device& device, Profile& profile) {
  const Limits& limits = device.limits();
  const DeviceInfo& info = device.info();
  Finding finding{.probe = "large buffers", .claimed = mib(limits.max_buffer_bytes)};
  // A quarter of what there is: the doctor visits machines that others work on.
  uint64_t room = info.memory_bytes / 4;
  if (limits.unified_memory || info.kind == DeviceKind::software || info.kind == DeviceKind::cpu)
    room = std::min(room, host_memory_available() / 4);
  const uint64_t most = std::min({limits.max_buffer_bytes, room, uint64_t{16} << 30}) / 4 * 4;
  const auto kernel = device.compile(touch(limits.int64 ? Type::u64 : Type::u32));

  uint64_t good = 0, next = std::min(most, uint64_t{64} << 20);
  while (next > 0 && buffer_works(device, *kernel, limits.int64, next)) {
    good = next;
    device.trim();
    if (good == most) break;
    next = std::min(most, good * 2);
  }
  device.trim();
  finding.measured = fmt::format("{}", mib(good));
  if (good < most) {
    profile.max_buffer_bytes = good;
    finding.verdict = Verdict::limited;
    finding.note = fmt::format("{} did not work", mib(next));
  } else if (most < limits.max_buffer_bytes) {
    finding.note = "as far as a quarter of the free memory reaches";
  }
  return finding;
}

}  // namespace adit::doctor
