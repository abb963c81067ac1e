// The words of `adit sample`: as they were typed, and as the sampler takes them.
#pragma once

#include <string>
#include <vector>

#include <adit/sample.hpp>

namespace CLI {
class App;
}

namespace adit::cli {

struct SampleWords {
  std::string model, data;  // a name, or the path of a Stan program and of its data
  bool list = false, json = false, quiet = false;
  int64_t chains = 4, warmup = 1000, draws = 1000, thin = 1;
  uint64_t seed = 1;
  std::string device, precision = "auto", layout = "auto", metric = "auto", adapt = "chain",
                      stuck = "restart", init = "2";
  double adapt_delta = 0.8, step_size = 1, gamma = 0.05, kappa = 0.75, t0 = 10;
  int64_t init_buffer = 75, term_buffer = 50, window = 25;
  int64_t max_depth = 10;
  bool save_warmup = false, resume = false, overwrite = false, log_likelihood = false, predictive = false,
       stan_compat = false, fixed_param = false;
  std::vector<std::string> warm_start, include_paths;
  std::string output, format;
  std::string cmdstan_file;        // where CmdStan puts its chains, too
  int report = 0;                  // 1: asked for, -1: refused
  std::vector<std::string> typed;  // the whole command, for the line that says how to go on
};

void declare_sample(CLI::App& command, SampleWords& words);

// What the sampler is asked for, but for where it starts (starting.hpp); throws UsageError, naming the word.
// Opens no device.
SampleOptions checked(const SampleWords& words);

}  // namespace adit::cli
