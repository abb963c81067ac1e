// The examples as their users run them: on every device, with what they print, and with what goes wrong.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "devices.hpp"

namespace adit::test {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int status = -1;
  std::string output;  // and errors
};

Outcome run_command(const std::string& command) {
  Outcome outcome;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return outcome;
  char block[4096];
  for (size_t done; (done = ::fread(block, 1, sizeof block, pipe)) > 0;) outcome.output.append(block, done);
  outcome.status = WEXITSTATUS(::pclose(pipe));
  return outcome;
}

// As a shell takes it.
std::string program(const std::string& name) { return "'" ADIT_EXAMPLES_FOLDER "/" + name + "'"; }

// All that the build knows of, so that a new example is tested without a word here.
std::vector<std::string> names() {
  std::vector<std::string> all;
  std::istringstream words(ADIT_EXAMPLES);
  for (std::string word; words >> word;) all.push_back(word);
  return all;
}

// How an example is told its device.
std::string on_device(const std::string& name, const std::string& id) {
  if (name == "banana") return program(name) + " --device " + id;
  if (name == "decay") return "ADIT_DEVICE=" + id + " " + program(name);
  return program(name) + " " + id;
}

class Example : public OnDevice {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "adit-example-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_P(Example, Runs) {
  ASSERT_GE(names().size(), 5u);
  for (const std::string& name : names()) {
    const Outcome outcome = run_command(on_device(name, GetParam()));
    EXPECT_EQ(outcome.status, 0) << name << ": " << outcome.output;
    EXPECT_NE(outcome.output.find(GetParam()), std::string::npos) << name << ": " << outcome.output;
  }
}

// Every loss of the training loop beside NumPy's; the script holds the tolerances.
TEST_P(Example, TrainingMatchesNumPy) {
  for (const std::string type : {"f32", "f64"}) {
    if (type == "f64" && !on().limits().float64) continue;
    const std::string file = (folder_ / (type + ".npz")).string();
    const Outcome trained =
        run_command(program("training_step") + " " + GetParam() + " " + type + " '" + file + "'");
    ASSERT_EQ(trained.status, 0) << trained.output;
    const Outcome compared = run_command(ADIT_PYTHON " -B '" ADIT_TRAINING_SCRIPT "' '" + file + "'");
    EXPECT_EQ(compared.status, 0) << type << ": " << compared.output;
    EXPECT_NE(compared.output.find("100 losses in float" + type.substr(1)), std::string::npos)
        << compared.output;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Example, testing::ValuesIn(device_ids()), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Example);

TEST(Examples, SayWhatIsWrong) {
  for (const std::string& name : names()) {
    const Outcome outcome = run_command(on_device(name, "vulkan:99"));
    EXPECT_EQ(outcome.status, 1) << name << ": " << outcome.output;
    EXPECT_EQ(outcome.output.rfind(name + ": ", 0), 0u) << outcome.output;
    EXPECT_NE(outcome.output.find("vulkan:99"), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("cpu"), std::string::npos) << "what exists: " << outcome.output;
  }
}

TEST(Examples, TrainingRefusesOtherTypesAndPlaces) {
  // Nothing can lie below a file.
  const std::string nowhere = "'" ADIT_EXAMPLES_FOLDER "/training_step/run.npz'";
  for (const std::string& words : {std::string("cpu f99"), std::string("cpu i32"), "cpu f32 " + nowhere}) {
    const Outcome outcome = run_command(program("training_step") + " " + words);
    EXPECT_EQ(outcome.status, 1) << words << ": " << outcome.output;
    EXPECT_NE(outcome.output.find("training_step: "), std::string::npos) << outcome.output;
  }
}

}  // namespace
}  // namespace adit::test
