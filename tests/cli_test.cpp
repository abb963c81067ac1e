// The command as its users meet it: what it prints, where, and with which exit status.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <adit/system.hpp>

#include "graph/row.hpp"
#include "native/compile.hpp"
#include "ops/blas.hpp"
#include "own_folder.hpp"
#include "seeds.hpp"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using namespace adit;

struct Outcome {
  int status = -1;
  std::string output, errors;
};

class CliTest : public adit::test::InOwnFolder {
 protected:
  // `environment` is what a shell takes before a command: "ADIT_DEVICE=cpu".
  Outcome adit(const std::string& words, const std::string& environment = "") const {
    const std::string errors = (root_ / "errors").string();
    const std::string command = "env -u ADIT_DEVICE -u ADIT_LOG ADIT_CACHE='" + (root_ / "cache").string() +
                                "' " + environment + " '" ADIT_PROGRAM "' " + words + " 2>'" + errors + "'";
    Outcome outcome;
    FILE* pipe = ::popen(command.c_str(), "r");
    if (!pipe) return outcome;
    char block[4096];
    for (size_t done; (done = ::fread(block, 1, sizeof block, pipe)) > 0;) outcome.output.append(block, done);
    outcome.status = WEXITSTATUS(::pclose(pipe));
    std::ifstream file(errors);
    outcome.errors.assign(std::istreambuf_iterator<char>(file), {});
    return outcome;
  }

  // The one document on standard output; parsing refuses anything before or after it.
  Json json_of(const std::string& words, const std::string& environment = "") const {
    const Outcome outcome = adit(words, environment);
    EXPECT_EQ(outcome.status, 0) << words << ": " << outcome.errors;
    const Json document = Json::parse(outcome.output, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << words << ": " << outcome.output;
    return document;
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(CliTest, devices_as_json) {
  const Json devices = json_of("devices --json");
  ASSERT_TRUE(devices.is_array());
  int chosen = 0, cpus = 0;
  for (const Json& device : devices) {
    EXPECT_TRUE(device.at("name").is_string());
    EXPECT_FALSE(device.at("reason").get<std::string>().empty());
    EXPECT_TRUE(device.at("memory_bytes").is_number_unsigned());
    EXPECT_TRUE(device.at("limits").is_object() || device.contains("error"));
    const std::string kind = device.at("kind"), id = device.at("id");
    EXPECT_TRUE(contains(" discrete integrated virtual software cpu ", " " + kind + " ")) << kind;
    EXPECT_TRUE(id == "cpu" || id.starts_with("vulkan:")) << id;
    cpus += id == "cpu";
    if (!device.at("chosen").get<bool>()) continue;
    ++chosen;
    EXPECT_NE(kind, "software") << "software Vulkan is never chosen unless it is named";
  }
  EXPECT_TRUE(chosen == 1 || (chosen == 0 && !native::available())) << chosen;
  EXPECT_EQ(cpus, 1);
}

TEST_F(CliTest, a_named_device_is_the_chosen_one) {
  int named = 0;
  for (const Json& device : json_of("devices --json")) {
    if (device.contains("error")) continue;
    ++named;
    const std::string id = device.at("id");
    for (const Json& other : json_of("devices --json", "ADIT_DEVICE=" + id))
      EXPECT_EQ(other.at("chosen").get<bool>(), other.at("id") == id);
  }
  if (named == 0) GTEST_SKIP() << "no device can be opened";
}

TEST_F(CliTest, devices_as_a_table) {
  const Outcome outcome = adit("devices");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_TRUE(contains(outcome.output, "cpu")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "* ") || contains(outcome.output, "None is chosen")) << outcome.output;
  const std::string limits = adit("devices --limits").output;
  EXPECT_TRUE(contains(limits, "max_loop_trips") || contains(limits, "cannot be opened")) << limits;
}

TEST_F(CliTest, a_device_that_does_not_exist) {
  for (const std::string words : {"doctor --device vulkan:99", "bench device --device vulkan:99"}) {
    const Outcome outcome = adit(words);
    EXPECT_EQ(outcome.status, 2) << words;
    EXPECT_TRUE(outcome.output.empty()) << outcome.output;
    EXPECT_TRUE(outcome.errors.starts_with("adit: ")) << outcome.errors;
    EXPECT_TRUE(contains(outcome.errors, "--device: unknown vulkan:99; ")) << outcome.errors;
  }
  const Outcome outcome = adit("devices", "ADIT_DEVICE=gpu7");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.output, "cpu")) << "the list is still shown";
  EXPECT_TRUE(contains(outcome.errors, "gpu7")) << outcome.errors;
}

TEST_F(CliTest, a_typo_suggests_the_near_word) {
  const std::pair<const char*, const char*> typos[] = {
      {"devcies", "did you mean devices?"},
      {"doc", "did you mean doctor?"},
      {"bench devic", "did you mean device?"},
      {"cache claer", "did you mean clear?"},
      {"devices --jsno", "did you mean --json?"},
      {"doctor --devic=cpu", "did you mean --device?"},
      {"sing",
       "expected sample, optimize, laplace, log-prob, generate, check-gradient, explain, check, format, "
       "summary, "
       "diagnose, "
       "loo, report, devices, doctor, bench, cache, ops, version"}};
  for (const auto& [words, expected] : typos) {
    const Outcome outcome = adit(words);
    EXPECT_EQ(outcome.status, 2) << words;
    EXPECT_TRUE(outcome.output.empty()) << outcome.output;
    EXPECT_TRUE(outcome.errors.starts_with("adit: ")) << outcome.errors;
    EXPECT_TRUE(contains(outcome.errors, expected)) << outcome.errors;
  }
}

TEST_F(CliTest, words_that_make_no_sense) {
  for (const std::string words : {"", "bench", "doctor --device", "version extra", "probe"}) {
    const Outcome outcome = adit(words);
    EXPECT_EQ(outcome.status, 2) << words;
    EXPECT_TRUE(outcome.output.empty()) << words << outcome.output;
    EXPECT_FALSE(outcome.errors.empty()) << words;
  }
}

TEST_F(CliTest, help_is_everywhere) {
  for (const std::string words : {"", "sample", "summary", "diagnose", "report", "devices", "doctor", "bench",
                                  "bench device", "cache", "cache show", "cache clear", "ops", "version"}) {
    const Outcome outcome = adit(words + " --help");
    EXPECT_EQ(outcome.status, 0) << words;
    EXPECT_TRUE(contains(outcome.output, "Usage: adit" + (words.empty() ? "" : " " + words)))
        << outcome.output;
    EXPECT_TRUE(outcome.errors.empty()) << outcome.errors;
  }
  EXPECT_FALSE(contains(adit("--help").output, "probe")) << "the doctor's own subcommand stays hidden";
}

TEST_F(CliTest, version_tells_what_the_build_is) {
  const Json version = json_of("version --json");
  const std::string text = adit("version").output;
  for (const char* key : {"version", "build", "compiler", "native", "vulkan_headers", "vulkan"}) {
    EXPECT_FALSE(version.at(key).get<std::string>().empty()) << key;
    EXPECT_TRUE(contains(text, version.at(key).get<std::string>())) << key << text;
  }
  EXPECT_EQ(version.at("native_available"), native::available());
  EXPECT_EQ(version.at("host"), native::host().triple);
  EXPECT_EQ(version.at("vector_bits"), native::available() ? native::host().vector_bits : 0);
  // What a build may lack is null, and "none" to people.
  const std::pair<const char*, bool> parts[] = {{"blas", ops::has_blas()},
                                                {"netcdf", !netcdf_name().empty()}};
  for (const auto& [key, built_in] : parts) {
    const Json& part = version.at(key);
    EXPECT_EQ(part.is_string(), built_in) << key;
    const std::regex line("\\n  " + std::string(key) + " +(none\\n)?");
    std::smatch match;
    ASSERT_TRUE(std::regex_search(text, match, line)) << key << text;
    EXPECT_EQ(match[1].matched, !built_in) << key << text;
    EXPECT_TRUE(!built_in || contains(text, part.get<std::string>())) << key << text;
  }
  ASSERT_TRUE(version.at("sanitizers").is_array());
  for (const Json& name : version.at("sanitizers")) EXPECT_TRUE(contains(text, name.get<std::string>()));
  const std::string line = "adit " + version.at("version").get<std::string>();
  EXPECT_TRUE(contains(adit("version").output, line));
  EXPECT_EQ(adit("--version").output, line + "\n");
}

TEST_F(CliTest, ops_are_the_rows_of_the_table) {
  const Json ops = json_of("ops --json");
  ASSERT_EQ(ops.size(), graph::table().size());
  const std::string text = adit("ops").output;
  for (size_t i = 0; i < ops.size(); ++i) {
    const graph::Row& row = graph::table()[i];
    EXPECT_EQ(ops[i].at("name"), row.name);
    EXPECT_EQ(ops[i].at("kind"), graph::name_of(row.kind));
    EXPECT_EQ(ops[i].at("types"), row.types);
    EXPECT_EQ(ops[i].at("doc"), row.doc);
    EXPECT_EQ(ops[i].at("differentiable"), row.vjp || row.jvp || row.several_vjp) << row.name;
    EXPECT_TRUE(contains(text, "\n" + std::string(row.name) + " ")) << row.name;
  }
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<long>(ops.size()) + 1);
}

TEST_F(CliTest, without_a_vulkan_loader_it_says_so) {
  const std::string loader = ADIT_PROGRAM "/loader.so";  // nothing can lie below a file
  const Outcome outcome = adit("devices", "ADIT_VULKAN_LOADER='" + loader + "'");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_TRUE(contains(outcome.output, loader)) << outcome.output;
}

TEST_F(CliTest, output_that_cannot_be_written_is_an_error) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(adit("version >/dev/full").status, 1);
}

TEST_F(CliTest, cache_shows_and_clears) {
  if (!native::available()) GTEST_SKIP() << "this build has no LLVM";
  EXPECT_EQ(json_of("cache --json").at("files"), 0);
  EXPECT_TRUE(json_of("cache --json").at("unusable").is_null());
  json_of("doctor --device cpu --json");
  const Json filled = json_of("cache show --json");
  EXPECT_EQ(filled.at("directory"), (root_ / "cache").string());
  const uint64_t files = filled.at("files");
  EXPECT_GT(files, 1u) << "kernels and a profile";
  EXPECT_TRUE(contains(adit("cache").output, "profiles"));
  EXPECT_EQ(json_of("cache clear --json").at("removed"), files);
  EXPECT_EQ(json_of("cache --json").at("files"), 0);
  EXPECT_TRUE(json_of("cache --json", "ADIT_CACHE=").at("directory").is_null());
  EXPECT_FALSE(json_of("doctor --device cpu --json", "ADIT_CACHE=").at("saved").get<bool>());
}

// Said without being asked, in one line a process; the doctor's children do not repeat it.
TEST_F(CliTest, an_unusable_cache_is_said_once) {
  if (!native::available()) GTEST_SKIP() << "this build has no LLVM";
  const fs::path open_to_all = root_ / "open";
  fs::create_directory(open_to_all);
  fs::permissions(open_to_all, fs::perms(0777));
  const std::string environment = "ADIT_CACHE=" + open_to_all.string();
  const Outcome outcome = adit("doctor --device cpu --json", environment);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_FALSE(Json::parse(outcome.output).at("saved").get<bool>());
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  EXPECT_TRUE(outcome.errors.starts_with("adit: [cache] " + open_to_all.string() + ": expected "));
  EXPECT_TRUE(fs::is_empty(open_to_all));
  EXPECT_TRUE(contains(json_of("cache --json", environment).at("unusable").get<std::string>(), "mode 0777"));
  EXPECT_TRUE(contains(adit("cache", environment).output, "not used"));
  const Outcome clear = adit("cache clear", environment);
  EXPECT_EQ(clear.status, 1);
  EXPECT_TRUE(clear.errors.starts_with("adit: [cache clear] " + open_to_all.string())) << clear.errors;
  EXPECT_EQ(adit("doctor --device cpu --json", environment + " ADIT_LOG=silent").errors, "");
}

TEST_F(CliTest, doctor_saves_what_it_measured_and_the_next_process_uses_it) {
  if (!native::available()) GTEST_SKIP() << "this build has no LLVM";
  EXPECT_FALSE(json_of("doctor --device cpu --no-save --json").at("saved").get<bool>());
  EXPECT_EQ(json_of("cache --json").at("kinds").size(), 1u) << "machine code, and no profile";
  const Json seen = json_of("doctor --device cpu --json");
  EXPECT_TRUE(seen.at("saved").get<bool>());
  const Json profile = seen.at("profile");
  for (const Json& device : json_of("devices --json")) {
    if (device.at("id") != "cpu") continue;
    for (const char* key : {"keeps_denormals", "max_loop_trips", "fused_fma"})
      EXPECT_EQ(device.at("limits").at(key), profile.at(key)) << key;
    // A machine that others keep busy may pass too few messages; that is told, and nothing is kept of it.
    const char* order = "ordered_between_teams";
    EXPECT_EQ(device.at("limits").at(order), profile.value(order, false));
    for (const Json& finding : seen.at("findings")) {
      if (finding.at("probe") != "order between teams") continue;
      EXPECT_EQ(profile.contains(order), finding.at("verdict") != "limited") << finding;
    }
  }
}

// Every software Vulkan device that Mesa makes stops loops after 65,535 rounds; the doctor has to find that.
// What doctor_test sees of the library, through the command.
TEST_F(CliTest, doctor_examines_a_software_device) {
  if (!adit::test::has_turn(3)) GTEST_SKIP() << adit::test::other_turn;
  std::string id;
  for (const Json& device : json_of("devices --json"))
    if (device.at("kind") == "software" && contains(device.at("name"), "llvmpipe")) id = device.at("id");
  if (id.empty()) GTEST_SKIP() << "no software Vulkan here";
  const Json report = json_of("doctor --json --device " + id);
  EXPECT_EQ(report.at("profile").at("max_loop_trips"), 65535);
  EXPECT_GE(report.at("findings").size(), 10u);
  for (const Json& finding : report.at("findings")) {
    const std::string probe = finding.at("probe"), verdict = finding.at("verdict");
    const bool must_be_good = probe == "watchdog" || probe == "shared memory" || probe == "f64 arithmetic";
    EXPECT_TRUE(!must_be_good || verdict == "good") << finding;
    EXPECT_TRUE(probe != "loop limit" || verdict == "limited") << finding;
  }
}

TEST_F(CliTest, bench_measures_the_cpu) {
  if (!native::available()) GTEST_SKIP() << "this build has no LLVM";
  const Json report = json_of("bench device --device cpu --json");
  EXPECT_EQ(report.at("device").at("id"), "cpu");
  std::vector<std::string> keys;
  for (const Json& result : report.at("results")) {
    keys.push_back(result.at("key"));
    EXPECT_GT(result.at("value").get<double>(), 0) << result;
  }
  for (const char* key :
       {"launch", "dependent", "add_1024", "add_16m", "sum_16m", "spirv", "first_result_warm"})
    EXPECT_NE(std::find(keys.begin(), keys.end(), key), keys.end()) << key;
}

}  // namespace
