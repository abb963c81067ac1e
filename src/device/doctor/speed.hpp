// The stopwatch behind `adit bench device`: latency, bandwidth and compile times of one device.
#pragma once

#include <string>
#include <vector>

#include <adit/device.hpp>

namespace adit::doctor {

struct Measurement {
  std::string key;   // a name for programs: "launch"
  std::string name;  // a name for people
  double value = 0;
  std::string unit;  // "us", "ms", "GB/s"
};

// `program` is the adit command for what needs a fresh process; without it those rows are left out.
std::vector<Measurement> measure_speed(Device& device, const std::string& program);

// What such a process runs: from opening the device to the first result, with the caches as they are.
int measure_first_result(const std::string& device_id);

}  // namespace adit::doctor
