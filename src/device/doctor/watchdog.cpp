// How long may one dispatch run? A display driver's watchdog resets the device after a while, so a child
// process tries.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <sstream>

#include <adit/kernel/builder.hpp>

#include "device/doctor/child.hpp"
#include "device/doctor/probes.hpp"

namespace adit::doctor {
namespace {

using namespace kernel;

constexpr double longest_seconds = 1.5;

Program busy() {
  Builder k("doctor_busy", Team::one());
  const Array out = k.buffer("out", Type::u32, Access::read_write);
  const Value trips = k.scalar("trips", Type::u32);
  const Variable x = k.variable(k.team());
  k.for_(trips, [&](Value) { x = (x.get() ^ (x.get() >> 15)) * 2654435761u + 1u; });
  k.if_(x.get() == 123456789u, [&] { out[k.constant(Type::u32, 0)] = x.get(); });
  return k.finish();
}

}  // namespace

// One line for each dispatch that came back: its seconds. The parent reads them even if this process dies.
int measure_watchdog(const std::string& device_id) {
  const auto device = Device::open(device_id);
  const auto kernel = device->compile(busy());
  const Buffer out = device->allocate(4);
  // Trips stay below the device's own limit; teams make the rest of the time.
  const uint64_t limit = device->limits().max_loop_trips ? device->limits().max_loop_trips : 1u << 20;
  uint32_t trips = 1u << 12;
  uint64_t teams = 1u << 10;
  for (double seconds = 0; seconds < longest_seconds;) {
    const auto start = std::chrono::steady_clock::now();
    device->run(*kernel, teams, {out, trips});
    device->wait();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("seconds {:.3f}\n", seconds);
    std::fflush(stdout);
    // Four times the work while it is cheap, then twice: no step goes far beyond the goal.
    const uint32_t factor = seconds < longest_seconds / 8 ? 4 : 2;
    if (uint64_t{trips} * factor <= limit)
      trips *= factor;
    else
      teams *= factor;
  }
  return 0;
}

Finding probe_watchdog(Device& device, const std::string& program) {
  Finding finding{.probe = "watchdog", .claimed = "-", .measured = "-"};
  const auto skip = [&](const std::string& why) {
    finding.verdict = Verdict::skipped;
    finding.note = why;
    return finding;
  };
  if (device.info().kind == DeviceKind::cpu) return skip("a CPU has none");
  if (program.empty()) return skip("no program to run it in");
  const ChildResult child = run_child(program, {"probe", "watchdog", "--device", device.info().id}, 60);
  if (!child.started) return skip("its process did not start");

  double longest = 0;
  std::istringstream lines(child.output);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("seconds ")) longest = std::max(longest, std::strtod(line.c_str() + 8, nullptr));
  finding.measured = fmt::format("{:.2f} s", longest);
  if (child.exit_status == 0 && longest >= longest_seconds) {
    finding.note = "a dispatch of that length came back";
  } else {
    finding.verdict = Verdict::limited;
    finding.note = "the longest dispatch that came back; longer work must be split";
  }
  return finding;
}

}  // namespace adit::doctor
