#include "cli/report.hpp"

namespace adit::cli {

Json to_json(const DeviceInfo& info) {
  return {{"id", info.id},
          {"name", info.name},
          {"kind", name_of(info.kind)},
          {"chosen", info.chosen},
          {"reason", info.reason},
          {"driver", info.driver},
          {"memory_bytes", info.memory_bytes}};
}

Json to_json(const Limits& limits) {
  return {{"max_loop_trips", limits.max_loop_trips},
          {"max_buffer_bytes", limits.max_buffer_bytes},
          {"max_lanes", limits.max_lanes},
          {"shared_bytes", limits.shared_bytes},
          {"subgroup_size", limits.subgroup_size},
          {"processors", limits.processors},
          {"multiprocessors", limits.multiprocessors},
          {"multiprocessor_shared_bytes", limits.multiprocessor_shared_bytes},
          {"sure_teams", limits.sure_teams},
          {"float16", limits.float16},
          {"float64", limits.float64},
          {"int8", limits.int8},
          {"int16", limits.int16},
          {"int64", limits.int64},
          {"storage8", limits.storage8},
          {"storage16", limits.storage16},
          {"fused_fma", limits.fused_fma},
          {"keeps_denormals", limits.keeps_denormals},
          {"subgroup_arithmetic", limits.subgroup_arithmetic},
          {"subgroup_shuffle", limits.subgroup_shuffle},
          {"subgroup_vote", limits.subgroup_vote},
          {"subgroup_ballot", limits.subgroup_ballot},
          {"fixed_subgroups", limits.fixed_subgroups},
          {"int64_atomics", limits.int64_atomics},
          {"float_atomics", limits.float_atomics},
          {"lanes_by_hand", limits.lanes_by_hand},
          {"ordered_between_teams", limits.ordered_between_teams},
          {"unified_memory", limits.unified_memory}};
}

Json to_json(const doctor::Report& report) {
  Json findings = Json::array();
  for (const auto& finding : report.findings)
    findings.push_back({{"probe", finding.probe},
                        {"claimed", finding.claimed},
                        {"measured", finding.measured},
                        {"verdict", doctor::name_of(finding.verdict)},
                        {"note", finding.note}});
  return {{"findings", findings}, {"profile", Json::parse(adit::to_json(report.profile))}};
}

}  // namespace adit::cli
