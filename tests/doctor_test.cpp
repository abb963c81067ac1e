// The doctor's probes on every device present, the profile it writes, and the children it sends ahead.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

#include <adit/doctor.hpp>

#include "device/doctor/child.hpp"
#include "device/profile.hpp"
#include "devices.hpp"
#include "native/compile.hpp"
#include "own_folder.hpp"
#include "support/cache.hpp"
#include "support/stopwatch.hpp"

namespace {

using namespace adit;
namespace fs = std::filesystem;

const int log_is_on = ::setenv("ADIT_LOG", "debug", 1);

class ProfileTest : public adit::test::InOwnFolder {
 protected:
  void SetUp() override {
    InOwnFolder::SetUp();
    ::setenv("ADIT_CACHE", root_.c_str(), 1);
  }
  DeviceInfo info_{
      .id = "vulkan:0", .name = "A card", .kind = DeviceKind::discrete, .driver = "maker 1.2", .reason = {}};
};

TEST_F(ProfileTest, json_keeps_every_member) {
  const Profile profile{.max_loop_trips = 65535,
                        .max_buffer_bytes = 1ull << 40,
                        .shared_bytes = 32768,
                        .subgroup_size = 8,
                        .float16 = false,
                        .float64 = true,
                        .int64 = false,
                        .fused_fma = true,
                        .keeps_denormals = false,
                        .ordered_between_teams = true,
                        .step_ns = 41.5,
                        .launch_us = 2.25,
                        .memory_gbs = 3600};
  const Profile back = profile_from_json(to_json(profile));
  EXPECT_EQ(to_json(back), to_json(profile));
  EXPECT_EQ(back.max_loop_trips, 65535u);
  EXPECT_EQ(back.max_buffer_bytes, 1ull << 40);
  EXPECT_EQ(back.int64, false);
  EXPECT_EQ(back.ordered_between_teams, true);
  EXPECT_FALSE(profile_from_json(to_json(Profile{})).subgroup_size);
}

TEST_F(ProfileTest, what_is_no_profile_is_refused) {
  for (const char* text :
       {"", "{", "[]", "7", "{}", R"({"profile": 2})", R"({"profile": 1, "max_loop_trips": -1})",
        R"({"profile": 1, "subgroup_size": 5000000000})", R"({"profile": 1, "float16": "yes"})",
        R"({"profile": 1, "step_ns": 0})", R"({"profile": 1, "memory_gbs": "much"})"})
    EXPECT_THROW(profile_from_json(text), Error) << text;
}

TEST_F(ProfileTest, it_corrects_but_never_grants) {
  Limits limits;
  limits.float64 = true;
  limits.shared_bytes = 1000;
  limits.max_buffer_bytes = 2000;
  limits.fused_fma = true;
  Profile profile;
  profile.float16 = true;  // the driver does not offer it
  profile.float64 = false;
  profile.shared_bytes = 5000;
  profile.max_buffer_bytes = 1500;
  profile.max_loop_trips = 65535;
  profile.ordered_between_teams = true;
  apply(profile, limits);
  EXPECT_FALSE(limits.float16);
  EXPECT_FALSE(limits.float64);
  EXPECT_EQ(limits.shared_bytes, 1000u);
  EXPECT_EQ(limits.max_buffer_bytes, 1500u);
  EXPECT_EQ(limits.max_loop_trips, 65535u);
  EXPECT_TRUE(limits.ordered_between_teams);
  EXPECT_TRUE(limits.fused_fma) << "what was not measured stays";
}

TEST_F(ProfileTest, it_belongs_to_one_driver) {
  save_profile(info_, {.max_loop_trips = 77});
  DeviceInfo moved = info_, newer = info_;
  moved.id = "vulkan:1";
  newer.driver = "maker 1.3";
  EXPECT_EQ(load_profile(moved).value_or(Profile{}).max_loop_trips, 77u);
  EXPECT_FALSE(load_profile(newer));
}

TEST_F(ProfileTest, a_corrupt_one_is_ignored_and_said) {
  save_profile(info_, {.max_loop_trips = 77});
  fs::path file;
  for (const auto& entry : fs::recursive_directory_iterator(root_))
    if (entry.is_regular_file()) file = entry.path();
  const std::string key = info_.name + "\ndiscrete\n" + info_.driver;
  const std::string text = "no profile at all";
  cache::save("profiles", key, std::as_bytes(std::span(text)));
  testing::internal::CaptureStderr();
  Limits limits;
  apply_profile(info_, limits);
  EXPECT_EQ(limits.max_loop_trips, 0u);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("ignored"), std::string::npos);

  fs::resize_file(file, 50);
  apply_profile(info_, limits);
  EXPECT_EQ(limits.max_loop_trips, 0u);
}

TEST_F(ProfileTest, opening_a_device_applies_it) {
  if (!native::available()) GTEST_SKIP() << "this build has no LLVM";
  for (const DeviceInfo& info : Device::list())
    if (info.id == "cpu") save_profile(info, {.max_loop_trips = 4321});
  EXPECT_EQ(Device::open("cpu")->limits().max_loop_trips, 4321u);
}

TEST_F(ProfileTest, the_doctor_does_not_see_its_own_past) {
  if (!native::available()) GTEST_SKIP() << "this build has no LLVM";
  for (const DeviceInfo& info : Device::list())
    if (info.id == "cpu") save_profile(info, {.max_loop_trips = 4321});
  override_profiles({});
  EXPECT_NE(Device::open("cpu")->limits().max_loop_trips, 4321u);
}

class DoctorTest : public testing::TestWithParam<std::string> {};

TEST_P(DoctorTest, examines_the_device) {
  override_profiles({});
  const auto device = Device::open(GetParam());
  const doctor::Report report = doctor::examine(*device, ADIT_PROGRAM);
  EXPECT_EQ(report.findings.size(), 14u);
  for (const auto& finding : report.findings) {
    SCOPED_TRACE(finding.probe + ": " + finding.measured + " " + finding.note);
    EXPECT_FALSE(finding.probe.empty());
    EXPECT_TRUE(finding.verdict != doctor::Verdict::skipped || !finding.note.empty());
    // Order is what the hardware makes of it; and Mesa's own compiler may emit instructions that a virtual
    // machine does not have, which kills the child and is a finding.
    const bool died = device->info().kind == DeviceKind::software && finding.measured == "kills its process";
    const bool may_fail = finding.probe == "order between teams" || died;
    EXPECT_TRUE(may_fail || finding.verdict != doctor::Verdict::broken);
    unsigned long long stale = 0, seen = 0;
    if (std::sscanf(finding.measured.c_str(), "%llu of %llu messages stale", &stale, &seen) == 2) {
      EXPECT_LE(stale, seen);
    }
  }
  ASSERT_TRUE(report.profile.max_loop_trips);
  const bool is_lavapipe = device->info().name.find("llvmpipe") != std::string::npos;
  EXPECT_EQ(*report.profile.max_loop_trips, is_lavapipe ? 65535u : 0u);
  EXPECT_EQ(report.profile.subgroup_size, device->limits().subgroup_size);
  EXPECT_EQ(report.profile.shared_bytes, device->limits().shared_bytes / 4 * 4);
}

INSTANTIATE_TEST_SUITE_P(Devices, DoctorTest, testing::ValuesIn(test::device_ids()), test::test_name);

TEST(DoctorHereTest, without_a_program_the_probes_run_in_this_process) {
  if (!native::available()) GTEST_SKIP() << "this build has no LLVM";
  override_profiles({});
  const auto device = Device::open("cpu");
  const doctor::Report report = doctor::examine(*device, "");
  ASSERT_EQ(report.findings.size(), 14u);
  EXPECT_EQ(report.findings[0].verdict, doctor::Verdict::good) << report.findings[0].note;
  EXPECT_EQ(report.findings[12].verdict, doctor::Verdict::skipped);
}

// A stand-in for the command whose probes die: the doctor lives on and says which.
TEST(DoctorHereTest, a_probe_that_kills_its_process_is_one_row) {
  if (!native::available()) GTEST_SKIP() << "this build has no LLVM";
  std::string script = (fs::temp_directory_path() / "adit-dying-XXXXXX").string();
  ::close(::mkstemp(script.data()));
  std::ofstream(script) << "#!/bin/sh\nkill -ILL $$\n";
  fs::permissions(script, fs::perms(0755));
  const auto device = Device::open("cpu");
  const doctor::Report report = doctor::examine(*device, script);
  fs::remove(script);
  ASSERT_EQ(report.findings.size(), 14u);
  EXPECT_EQ(report.findings[7].verdict, doctor::Verdict::broken);
  EXPECT_NE(report.findings[7].note.find("signal 4"), std::string::npos) << report.findings[7].note;
  EXPECT_EQ(report.profile.int64, false);
  EXPECT_FALSE(report.profile.max_loop_trips) << "not measured, so not known";
}

TEST(ChildTest, gives_back_output_and_status) {
  const auto result = doctor::run_child("/bin/sh", {"-c", "echo words; exit 7"}, 10);
  EXPECT_TRUE(result.started);
  EXPECT_EQ(result.output, "words\n");
  EXPECT_EQ(result.exit_status, 7);
}

TEST(ChildTest, one_that_hangs_is_killed) {
  const auto result = doctor::run_child("/bin/sh", {"-c", "echo before; exec sleep 60"}, 0.3);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.output, "before\n");
  EXPECT_EQ(result.signal, SIGKILL);
}

TEST(ChildTest, one_that_dies_is_told) {
  EXPECT_EQ(doctor::run_child("/bin/sh", {"-c", "kill -SEGV $$"}, 10).signal, SIGSEGV);
  EXPECT_FALSE(doctor::run_child(ADIT_PROGRAM "/program", {}, 10).started);
}

TEST(ChildTest, the_program_knows_where_it_is) { EXPECT_TRUE(fs::exists(doctor::program_path())); }

TEST(SpeedTest, the_median_is_of_the_work) {
  int calls = 0;
  const double seconds = median_seconds([&] { ++calls, ::usleep(2000); }, 5, 0.02);
  EXPECT_GE(seconds, 0.002);
  EXPECT_LT(seconds, 0.2);
  EXPECT_GE(calls, 6);
}

}  // namespace
