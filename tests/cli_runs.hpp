// What the tests of `adit sample` and of what reads its draws share: the command in a folder of its own.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "own_folder.hpp"

namespace adit::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Outcome {
  int status = -1;  // minus the signal, where one ended it
  std::string output, errors;
};

inline std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The words with others behind them, whose options take the place of the same ones: one may be said once.
inline std::string with(std::string words, const std::string& others) {
  words = " " + words + " ";
  std::istringstream typed(others);
  for (std::string word; typed >> word;) {
    const size_t at = word.starts_with("--") ? words.find(" " + word + " ") : std::string::npos;
    if (at == std::string::npos) continue;
    const size_t value = at + word.size() + 2, end = words.find(' ', value);
    words.erase(at, end - at);
  }
  return words.substr(1) + others;
}

inline const std::string model = "eight_schools_noncentered";
inline const std::string small = " --device cpu --chains 4 --warmup 200 --draws 200 ";

class CliSampleTest : public adit::test::InOwnFolder {
 protected:
  // In a folder of the test's own; one cache for all tests of this program.
  std::string command(const std::string& words) const {
    return "cd '" + root_.string() + "' && exec env -u ADIT_DEVICE -u ADIT_LOG '" ADIT_PROGRAM "' " + words +
           " >output 2>errors";
  }
  Outcome outcome_of(int status) const {
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), content_of(root_ / "output"),
            content_of(root_ / "errors")};
  }
  Outcome adit(const std::string& words) const { return outcome_of(std::system(command(words).c_str())); }

  // The one document on standard output; parsing refuses anything before or after it.
  Json json_of(const std::string& words) const {
    const Outcome outcome = adit(words);
    EXPECT_EQ(outcome.status, 0) << words << ": " << outcome.errors;
    const Json document = Json::parse(outcome.output, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << words << ": " << outcome.output;
    return document;
  }

  // Whether `words` are on standard error before the child ends; `status` is its own if it does.
  bool waits_for(const std::string& words, pid_t child, int& status) const {
    for (int i = 0; i < 30000; ++i) {
      if (contains(content_of(root_ / "errors"), words)) return true;
      if (::waitpid(child, &status, WNOHANG) == child) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ADD_FAILURE() << "no " << words;
    return true;
  }

  pid_t started(const std::string& words) const {
    fs::remove(root_ / "errors");
    const std::string line = command(words);
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    return child;
  }

  void put(const std::string& name, const std::string& text) const { std::ofstream(root_ / name) << text; }
};

// As CmdStan writes it, shortened: a chain that walks through four values again and again.
inline std::string csv_of_cmdstan(int chain) {
  std::string text =
      "# stan_version_major = 2\n# stan_version_minor = 35\n# model = small_model\n# method = sample "
      "(Default)\n#   sample\n#     num_samples = 400\n#     num_warmup = 1000 (Default)\n#     thin = 1 "
      "(Default)\n#     algorithm = hmc (Default)\n#       hmc\n#         engine = nuts (Default)\n"
      "#           nuts\n#             max_depth = 10 (Default)\n# id = " +
      std::to_string(chain) +
      "\nlp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,mu,theta.1,theta.2\n"
      "# Adaptation terminated\n# Step size = 0.5\n# Diagonal elements of inverse mass matrix:\n# 1, 2, 3\n";
  uint64_t state = static_cast<uint64_t>(chain);
  for (int i = 0; i < 400; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double u = static_cast<double>(state >> 11) / 9007199254740992.0;
    text += "-" + std::to_string(u) + ",0.9,0.5,2,3,0," + std::to_string(1 + u) + "," + std::to_string(u) +
            "," + std::to_string(10 + u) + "," + std::to_string(100 - u) + "\n";
  }
  return text +
         "# \n#  Elapsed Time: 0.1 seconds (Warm-up)\n#                0.2 seconds (Sampling)\n"
         "#                0.3 seconds (Total)\n# \n";
}

}  // namespace adit::test
