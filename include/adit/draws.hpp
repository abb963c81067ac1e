// Draws of a posterior and what is known about how they were made.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <adit/shape.hpp>

#pragma GCC visibility push(default)
namespace adit {

// One variable's draws: values[((chain * draws) + draw) * size + element], elements in row-major order.
struct DrawsVariable {
  std::string name;
  Shape shape;                    // of one draw
  std::vector<std::string> dims;  // a name an axis; empty strings where there is none
  std::vector<double> values;
  int64_t size() const { return element_count(shape); }
};

// The sampler's own numbers, each [chain * draws + draw].
struct SampleStats {
  std::vector<double> lp, accept_stat, step_size, tree_depth, n_leapfrog, divergent, energy;
};

struct ObservedVariable {
  std::string name;
  Shape shape;
  std::vector<std::string> dims;
  std::vector<double> values;
};

struct Seconds {
  double open = 0, compile = 0, warmup = 0, sampling = 0, total = 0;
};

struct Draws {
  std::string model;
  int64_t chains = 0, draws = 0;  // saved, a chain
  int64_t warmup = 0, thin = 1, max_depth = 10;
  uint64_t seed = 0;
  double adapt_delta = 0.8;
  std::string device, precision = "f64", metric = "diag";
  std::string layout;  // how chains lay on the device, as SampleOptions::layout takes it
  std::string inits = "2";
  std::vector<DrawsVariable>
      variables;  // constrained parameters in the order of declaration, then deterministic ones
  SampleStats stats;
  // Those of warm-up, apart from the draws; empty unless asked for.
  int64_t warmup_draws = 0;
  std::vector<DrawsVariable> warmup_variables;
  SampleStats warmup_stats;
  std::vector<ObservedVariable> observed;
  std::vector<DrawsVariable> log_likelihood;        // by observed variable; empty unless asked for
  std::vector<DrawsVariable> posterior_predictive;  // empty unless asked for
  std::map<std::string, std::vector<std::string>> coordinates;  // by plate
  // Of each chain at the end of warm-up.
  std::vector<double> step_sizes;
  std::vector<std::vector<double>> inverse_metrics;  // diagonal [D], or row-major [D * D]
  Seconds seconds;
  uint64_t leapfrogs = 0, warmup_divergences = 0;
  // Of a run in f32 or mixed, beside f64: how far differences of log densities between its draws are off, and
  // the gradients of its last draws, by their length. Else 0.
  double energy_error = 0, gradient_error = 0;
  // The same in warm-up, before the draws; NaN where nobody looked (a run that went on with another, several
  // data sets, no warm-up, f64).
  double energy_error_before = std::numeric_limits<double>::quiet_NaN();
  double gradient_error_before = std::numeric_limits<double>::quiet_NaN();
  // Where its log densities are off: which precisions of its device hold more of them ("mixed or f64", "f64",
  // "none").
  std::string wider = "f64";
  bool finished = true;            // false: stopped before all draws were made
  std::vector<std::string> notes;  // what the run met that draws do not show, in words; warnings() has them

  uint64_t divergences() const;
  const DrawsVariable& variable(const std::string& name) const;  // throws, naming what there is
};

// "theta[1]", "L[2,1]": the name of one element, counted from 1 as Stan counts.
std::string element_name(const std::string& name, const Shape& shape, int64_t element);
// "theta[north]": the same with the labels of the plates, for people to read.
std::string element_label(const Draws& draws, const DrawsVariable& variable, int64_t element);
// The draws of one element, chain after chain.
std::vector<double> element_draws(const Draws& draws, const DrawsVariable& variable, int64_t element);

// --- Files -------------------------------------------------------------------------------------------------
// A folder of CmdStan's CSV files, one a chain: <stem>_1.csv, <stem>_2.csv, ...
void write_csv(const Draws& draws, const std::string& stem);
// netCDF with the groups posterior, sample_stats, observed_data (and log_likelihood, posterior_predictive),
// as ArviZ opens it.
void write_netcdf(const Draws& draws, const std::string& path);
// CSV files of CmdStan or of ours (one a chain), or one netCDF file.
Draws read_draws(const std::vector<std::string>& paths);

}  // namespace adit
#pragma GCC visibility pop
