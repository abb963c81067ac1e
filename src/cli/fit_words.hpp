// The words of the commands that work with a model's log density: optimize, laplace, log-prob, generate,
// check-gradient and explain.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace adit::cli {

struct FitWords {
  std::string model, data;  // a name, or the path of a Stan program and of its data
  std::vector<std::string> include_paths;
  std::string device, init = "2", output;
  bool json = false, quiet = false;
  uint64_t seed = 1;
  // optimize
  std::string algorithm = "lbfgs";
  int64_t iterations = 2000, history_size = 5;
  bool jacobian = false, save_iterations = false;
  double init_alpha = 1e-3, tol_obj = 1e-12, tol_rel_obj = 1e4, tol_grad = 1e-8, tol_rel_grad = 1e7,
         tol_param = 1e-8;
  // laplace
  std::string mode;
  int64_t draws = 1000;
  bool no_jacobian = false;  // of log-prob too
  // log-prob
  std::string constrained, unconstrained;
  // generate
  std::vector<std::string> fitted;
  std::string format;
  std::string cmdstan_file;  // where CmdStan puts its chains, too
  // check-gradient
  double epsilon = 1e-6, error = 1e-6;
  // explain: as `sample` has them
  std::string precision = "auto", layout = "auto", metric = "auto", adapt = "chain";
  int64_t chains = 4, warmup = 1000, max_depth = 10;
};

// The callback of the command that was called leaves its work in `action`.
void declare_fitting(CLI::App& app, FitWords& words, std::function<int()>& action);

}  // namespace adit::cli
