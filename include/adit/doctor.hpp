// The doctor: runs small kernels on a device to see what it really does, beside what its driver claims. And
// the stopwatch behind `adit bench device`.
//
// The findings become a table for people and a Profile that Device::open applies from then on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <adit/device.hpp>

#pragma GCC visibility push(default)
namespace adit {

// What was measured on a device; only what was is set. It is kept on disk, one file a driver (name, kind and
// version). A profile corrects what the driver claims; it never grants a feature that the driver does not
// offer.
struct Profile {
  std::optional<uint64_t> max_loop_trips{};  // 0: no limit was found
  std::optional<uint64_t> max_buffer_bytes{};
  std::optional<uint32_t> shared_bytes{}, subgroup_size{};
  std::optional<bool> float16{}, float64{}, int64{};
  std::optional<bool> fused_fma{}, keeps_denormals{}, ordered_between_teams{};
  // How fast it is, which changes no result: of one step of a lane after another, of a kernel that waits for
  // the one before, and of memory, GB a second.
  std::optional<double> step_ns{}, launch_us{}, memory_gbs{};
};
std::string to_json(const Profile& profile);
void save_profile(const DeviceInfo& info, const Profile& profile);
std::optional<Profile> load_profile(const DeviceInfo& info);
// From now on this process applies `profile` instead of what is saved: the doctor measures without its own
// past.
void override_profiles(const Profile& profile);

namespace doctor {

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

// Whether a team may wait for words of one that began before it. On a GPU that the doctor has not seen, the
// probe runs now, for a few milliseconds, and what it finds is kept on disk.
bool are_teams_ordered(Device& device);

// What such a child runs, its words on standard output: "findings" (the probes from number `skip` on), "fma"
// or "watchdog". Returns the exit status; throws bad_argument for another name.
int run_in_child(const std::string& probe, const std::string& device_id, size_t skip);

// Latency, bandwidth and compile times of one device.
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

// Where the file of the running program is; "" where the system does not tell.
std::string program_path();

}  // namespace doctor
}  // namespace adit
#pragma GCC visibility pop
