// The doctor: runs small kernels on a device to see what it really does, beside what its driver claims.
//
// The findings become a table for people and a Profile that Device::open applies from then on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <adit/device.hpp>

#include "device/profile.hpp"

namespace adit::doctor {

enum class Verdict {
  good,     // as claimed, or as one would wish
  limited,  // works, with a bound that the engine must keep
  broken,   // gives wrong results; the engine avoids it
  skipped   // not measured; the note says why
};
std::string_view name_of(Verdict verdict);

struct Finding {
  std::string probe{}, claimed{}, measured{};
  Verdict verdict = Verdict::good;
  std::string note{};
};

struct Report {
  std::vector<Finding> findings;
  Profile profile;
};

// `program` is the adit command. It is re-executed, so that a probe which kills its process or loses the
// device ends as a row of the table. With "" the probes run in this process, and those that need another one
// are skipped. The device should have been opened under override_profiles({}).
Report examine(Device& device, const std::string& program);

// What such a child runs, its words on standard output: "findings" (the probes from number `skip` on), "fma"
// or "watchdog". Returns the exit status; throws bad_argument for another name.
int run_in_child(const std::string& probe, const std::string& device_id, size_t skip);

}  // namespace adit::doctor
