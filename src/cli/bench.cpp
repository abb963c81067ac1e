// adit bench device: the speed of one device.
#include <fmt/format.h>

#include <adit/doctor.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/table.hpp"

namespace adit::cli {

int bench_device(bool json, const std::string& device_id) {
  const auto device = Device::open(device_id);
  const DeviceInfo& info = device->info();
  const auto results = doctor::measure_speed(*device, doctor::program_path());
  if (json) {
    Json document{{"device", to_json(info)}, {"results", Json::array()}};
    for (const auto& result : results)
      document["results"].push_back(
          {{"key", result.key}, {"name", result.name}, {"value", result.value}, {"unit", result.unit}});
    print_json(document);
    return 0;
  }
  print_out("{}: {} ({})\n\n", info.id, info.name, info.driver);
  std::vector<std::vector<std::string>> rows;
  for (const auto& result : results)
    rows.push_back(
        {result.name, fmt::format("{:>10.{}f} {}", result.value, result.value < 10 ? 3 : 1, result.unit)});
  write_out(table(rows));
  return 0;
}

}  // namespace adit::cli
