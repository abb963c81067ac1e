// How many times may a loop go round? Mesa's software Vulkan silently stops after 65,535.
#include <fmt/format.h>

#include <adit/kernel/builder.hpp>

#include "device/doctor/probes.hpp"

namespace adit::doctor {
namespace {

using namespace kernel;

constexpr uint32_t most_trips = 1u << 24;

// Each step needs the one before it and no closed form exists, so no driver can fold the loop.
uint32_t steps_on_host(uint32_t x, uint32_t trips) {
  for (uint32_t i = 0; i < trips; ++i) {
    x = x * 1664525u + 1013904223u;
    x ^= x >> 16;
  }
  return x;
}

Program counting_loop() {
  Builder k("doctor_loop", Team::one());
  const Array out = k.buffer("out", Type::u32, Access::write);
  const Value trips = k.scalar("trips", Type::u32), seed = k.scalar("seed", Type::u32);
  const Variable x = k.variable(seed);
  k.for_(trips, [&](Value) {
    const Value next = x * x.get().like(1664525u) + 1013904223u;
    x = next ^ (next >> 16);
  });
  out[k.team()] = x.get();
  return k.finish();
}

}  // namespace

Finding probe_loop_limit(Device& device, Profile& profile) {
  const auto kernel = device.compile(counting_loop());
  const Buffer out = device.allocate(4);
  const auto completes = [&](uint32_t trips) {
    device.fill(out, 0);
    device.run(*kernel, 1, {out, trips, 12345u});
    return read_all<uint32_t>(device, out, 1)[0] == steps_on_host(12345u, trips);
  };

  const uint64_t known = device.limits().max_loop_trips;
  Finding finding{.probe = "loop limit", .claimed = known ? fmt::format("{}", known) : "none"};
  if (completes(most_trips)) {
    profile.max_loop_trips = 0;
    finding.measured = fmt::format("none up to {}", most_trips);
    return finding;
  }
  uint32_t good = 0, bad = most_trips;
  while (bad - good > 1) {
    const uint32_t middle = good + (bad - good) / 2;
    (completes(middle) ? good : bad) = middle;
  }
  profile.max_loop_trips = good;
  finding.measured = fmt::format("{}", good);
  finding.verdict = good > 0 ? Verdict::limited : Verdict::broken;
  finding.note = "longer loops end silently; programs must do bounded work a dispatch";
  return finding;
}

}  // namespace adit::doctor
