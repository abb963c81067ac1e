// The engine's plain structures as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <adit/doctor.hpp>

namespace adit::cli {

using Json = nlohmann::ordered_json;

Json to_json(const DeviceInfo& info);
Json to_json(const Limits& limits);
Json to_json(const doctor::Report& report);

}  // namespace adit::cli
