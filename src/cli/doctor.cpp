// adit doctor: measures a device and saves what it found.

#include <fmt/format.h>

#include <adit/cache.hpp>
#include <adit/doctor.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/table.hpp"

namespace adit::cli {

int doctor(bool json, const std::string& device_id, bool save) {
  override_profiles({});  // measured is the device, not what an earlier visit wrote down
  const auto device = Device::open(device_id);
  const DeviceInfo& info = device->info();
  if (!json) print_out("{}: {} ({})\n\n", info.id, info.name, info.driver);
  std::fflush(stdout);

  const doctor::Report report = doctor::examine(*device, doctor::program_path());
  if (save) save_profile(info, report.profile);
  const bool saved = save && load_profile(info).has_value();
  if (json) {
    Json document{{"device", to_json(info)}};
    document.update(to_json(report));
    document["saved"] = saved;
    print_json(document);
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"probe", "claimed", "measured", "verdict", "note"}};
  for (const auto& finding : report.findings)
    rows.push_back({finding.probe, finding.claimed, finding.measured,
                    std::string(doctor::name_of(finding.verdict)), finding.note});
  write_out(table(rows));
  if (saved)
    print_out("\nSaved as the profile of this device under {}.\n", cache::directory()->string());
  else if (save)
    print_out("\nNot saved: the cache is off or cannot be written.\n");
  return 0;
}

}  // namespace adit::cli
