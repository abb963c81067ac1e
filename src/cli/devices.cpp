// adit devices: what exists, which is chosen and why.
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <adit/device.hpp>
#include <adit/system.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/table.hpp"

namespace adit::cli {
namespace {

// The limits of a device, or why it cannot be opened.
void add_limits(Json& object, const std::string& id) {
  try {
    object["limits"] = to_json(Device::open(id)->limits());
  } catch (const Error& error) {
    object["limits"] = nullptr;
    object["error"] = error.what();
  }
}

void print_limits(const std::string& id) {
  Json object;
  add_limits(object, id);
  print_out("\n{}\n", id);
  if (object["limits"].is_null())
    return print_out("  cannot be opened: {}\n", object["error"].get<std::string>());
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : object["limits"].items()) rows.push_back({"  " + name, value.dump()});
  write_out(table(rows));
}

}  // namespace

int devices(bool json, bool with_limits) {
  const std::vector<DeviceInfo> all = Device::list();
  const bool any_chosen = std::any_of(all.begin(), all.end(), [](const auto& info) { return info.chosen; });
  if (json) {
    Json array = Json::array();
    for (const DeviceInfo& info : all) {
      array.push_back(to_json(info));
      add_limits(array.back(), info.id);
    }
    print_json(array);
  } else {
    std::vector<std::vector<std::string>> rows{{"", "id", "kind", "memory", "name", "driver", "why"}};
    for (const DeviceInfo& info : all)
      rows.push_back({info.chosen ? "*" : " ", info.id, std::string(name_of(info.kind)),
                      info.memory_bytes ? size_in_words(info.memory_bytes) : "-", info.name, info.driver,
                      info.reason});
    write_out(table(rows));
    if (all.size() == 1) print_out("\nNo Vulkan device: {}\n", vulkan_state());
    if (with_limits)
      for (const DeviceInfo& info : all) print_limits(info.id);
  }
  const char* named = std::getenv("ADIT_DEVICE");
  if (!any_chosen && named && *named)
    throw Error(ErrorKind::not_found,
                fmt::format("ADIT_DEVICE={} names none of these devices that can be used", named));
  if (!any_chosen && !json) print_out("\nNone is chosen by itself.\n");
  return 0;
}

}  // namespace adit::cli
