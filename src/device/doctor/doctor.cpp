#include <cstring>
#include <fmt/format.h>
#include <sstream>

#include <adit/doctor.hpp>

#include "device/doctor/child.hpp"
#include "device/doctor/probes.hpp"
#include "support/json.hpp"
#include "support/log.hpp"

namespace adit::doctor {
namespace {

using Json = nlohmann::ordered_json;

constexpr double child_seconds = 120;

struct Probe {
  const char* name;
  Finding (*measure)(Device& device, Profile& profile);
  std::optional<bool> Profile::*feature = nullptr;  // what cannot be used where the probe dies
};

constexpr Probe probes[] = {
    {"loop limit", probe_loop_limit},
    {"order between teams", probe_memory_model, &Profile::ordered_between_teams},
    {"subgroup size", probe_subgroup_size},
    {"shared memory", probe_shared_memory},
    {"large buffers", probe_large_buffers},
    {"f16 arithmetic", probe_float16, &Profile::float16},
    {"f64 arithmetic", probe_float64, &Profile::float64},
    {"i64 arithmetic", probe_int64, &Profile::int64},
    {"f32 subnormals", probe_denormals32},
    {"f16 subnormals", probe_denormals16},
    {"f64 subnormals", probe_denormals64},
    {"pace", probe_pace},
};

// One probe in this process; errors become its finding. Sets `lost` where the device is of no more use.
Finding measure_here(const Probe& probe, Device& device, Profile& profile, bool& lost) {
  Finding finding{.probe = probe.name, .claimed = "-", .measured = "-"};
  try {
    if (lost) throw Error(ErrorKind::unsupported, "the device was lost in an earlier probe");
    return probe.measure(device, profile);
  } catch (const Error& error) {
    finding.verdict = error.kind() == ErrorKind::unsupported ? Verdict::skipped : Verdict::broken;
    finding.note = error.what();
    lost = lost || error.kind() == ErrorKind::device_lost;
  }
  return finding;
}

// A child says which probe it begins, and then a line of JSON with the finding and what it adds to the
// profile.
int send_findings(const std::string& device_id, size_t skip) {
  override_profiles({});
  const auto device = Device::open(device_id);
  bool lost = false;
  for (size_t i = skip; i < std::size(probes) && !lost; ++i) {
    Profile profile;
    const Finding finding = measure_here(probes[i], *device, profile, lost);
    const Json line{{"number", i},
                    {"claimed", finding.claimed},
                    {"measured", finding.measured},
                    {"verdict", static_cast<int>(finding.verdict)},
                    {"note", finding.note},
                    {"profile", Json::parse(to_json(profile))}};
    fmt::print("finding {}\n", line.dump());
    std::fflush(stdout);
  }
  return 0;
}

// Adds what one child found; false where a line is not one of ours.
bool take_finding(const std::string& line, Report& report) {
  const Json json = parse_json<Json>(line.substr(std::strlen("finding ")));
  if (json.is_discarded() || json.value("number", ~size_t{0}) != report.findings.size()) return false;
  report.findings.push_back({.probe = probes[report.findings.size()].name,
                             .claimed = json.value("claimed", ""),
                             .measured = json.value("measured", ""),
                             .verdict = static_cast<Verdict>(json.value("verdict", 0)),
                             .note = json.value("note", "")});
  merge(report.profile, profile_from_json(json.at("profile").dump()));
  return true;
}

// Children go through the probes; where one dies, the next goes on after the probe that killed it.
void examine_in_children(const std::string& device_id, const std::string& program, Report& report) {
  while (report.findings.size() < std::size(probes)) {
    const size_t done = report.findings.size();
    const ChildResult child = run_child(
        program, {"probe", "findings", "--device", device_id, "--skip", std::to_string(done)}, child_seconds);
    std::istringstream lines(child.output);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("finding ")) take_finding(line, report);
    if (child.exit_status == 0 && report.findings.size() > done) continue;

    const size_t next = report.findings.size();
    if (next == std::size(probes)) break;  // it died while it ended
    const std::string why = child.signal ? fmt::format("signal {}, {}", child.signal, strsignal(child.signal))
                                         : fmt::format("status {}", child.exit_status);
    report.findings.push_back({.probe = probes[next].name,
                               .claimed = "-",
                               .measured = child.timed_out ? "hangs" : "kills its process",
                               .verdict = Verdict::broken,
                               .note = child.timed_out ? "" : why});
    if (probes[next].feature) report.profile.*probes[next].feature = false;
  }
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  constexpr std::string_view names[] = {"good", "limited", "broken", "skipped"};
  return names[static_cast<int>(verdict)];
}

Report examine(Device& device, const std::string& program) {
  Report report;
  bool lost = false;
  if (program.empty())
    for (const Probe& probe : probes)
      report.findings.push_back(measure_here(probe, device, report.profile, lost));
  else
    examine_in_children(device.info().id, program, report);
  report.findings.push_back(probe_fused_fma(device, report.profile, program));
  report.findings.push_back(probe_watchdog(device, program));
  return report;
}

int run_in_child(const std::string& probe, const std::string& device_id, size_t skip) {
  if (probe == "findings") return send_findings(device_id, skip);
  if (probe == "fma") return measure_fused_fma(device_id);
  if (probe == "watchdog") return measure_watchdog(device_id);
  throw Error(ErrorKind::bad_argument,
              fmt::format("[probe] name: expected findings, fma or watchdog, got {}", probe));
}

}  // namespace adit::doctor
