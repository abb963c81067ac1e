// Sampling a model: NUTS with Stan's adaptation, every chain's whole transitions in one kernel.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <adit/draws.hpp>
#include <adit/model.hpp>

#pragma GCC visibility push(default)
namespace adit {

enum class Metric : uint8_t { diagonal, dense, unit };
enum class Adapt : uint8_t { chain, pooled };
// Of a chain's numbers and of its log density.
enum class Precision : uint8_t {
  automatic,  // f64 on a CPU; on a GPU f32, or f64 where energies in f32 are off
  f32,        // on a CPU with sums of many rows, and so energies, in f64
  f64,
  // f32 with the log density in f64, but for terms of many rows, loops and choices; its gradient stays f32
  mixed
};
// How chains lie on the device. automatic: from the model and the device.
// lane, team: whole chains in one kernel, each in a lane or on the lanes of a team. device: the density of
// all chains is computed between dispatches by the engine of tensors, on all of the device: for large data,
// and for every operation that there is.
enum class Placement : uint8_t { automatic, lane, team, device };

struct Progress {
  int64_t iteration = 0, iterations = 0;  // of the slowest chain; warm-up and draws
  int64_t warmup = 0;
  uint64_t leapfrogs = 0, divergences = 0;
  double seconds = 0;
};

// Where the chains start to sample: an earlier run's.
struct WarmStart {
  std::vector<double> step_sizes;                    // one, or one a chain
  std::vector<std::vector<double>> inverse_metrics;  // one, or one a chain
};

struct SampleOptions {
  int64_t chains = 4, warmup = 1000, draws = 1000, thin = 1;
  // The first chain's number: chain c draws the random numbers of chain first_chain + c of a run of more, so
  // that several machines share one run. The same layout gives the same bits.
  int64_t first_chain = 0;
  uint64_t seed = 1;
  std::string device{};  // "": the best
  Precision precision = Precision::automatic;
  Placement placement = Placement::automatic;
  // As Draws::layout tells it: the same seed, device, build and layout give the same bits. "": by placement.
  std::string layout{};
  Metric metric = Metric::diagonal;
  Adapt adapt = Adapt::chain;
  double adapt_delta = 0.8, step_size = 1, gamma = 0.05, kappa = 0.75, t0 = 10;
  int max_depth = 10;
  int init_buffer = 75, term_buffer = 50, window = 25;
  // A chain that sits where the posterior has next to nothing when the metric is settled takes over the state
  // of another chain, and Draws::notes tells. false: it stays there, and only the note is made.
  bool restart_stuck = true;
  double init_radius = 2;  // 0: all chains start at zero
  std::vector<std::map<std::string, std::vector<double>>>
      init{};  // constrained values, one map for all chains or one a chain
  WarmStart warm_start{};
  bool save_warmup = false;
  bool log_likelihood = false, posterior_predictive = false;
  // Draws go to this file while they are made, about each second, with all that a run needs to go on; "":
  // they stay in memory alone.
  std::string checkpoint{};
  // Go on from the checkpoint, to the draws of a run that was never stopped. Model, data, device and options
  // must be the same; `draws` may differ.
  bool resume = false;
  // Kept with the checkpoint and never compared: where the model comes from, for who looks at it later
  // (origin_of_checkpoint). UTF-8.
  std::string origin{};
  std::function<void(const Progress&)> on_progress{};
  std::function<bool()> should_stop{};  // asked now and then; true: the run ends with the draws so far
};

Draws sample(const Model& model, const SampleOptions& options = {});

// Without a sampler: parameters (of a model that has any) stay where their chain starts, and what the model
// generates is drawn anew for each draw. CmdStan calls it fixed_param.
Draws sample_fixed(const Model& model, const SampleOptions& options = {});

// Many data sets of one model in one run: `stacked` names the data that differ, one set after the other along
// a new first axis. Random numbers go by the chain's number in the whole run: the first set's draws are those
// of a run of its own, and chain c of set s is chain s * chains + c of one with more chains.
std::vector<Draws> sample_many(const Model& model, const std::map<std::string, Tensor>& stacked,
                               const SampleOptions& options = {});

// Draws from the prior, with the observed variables drawn too (posterior_predictive of the result).
Draws sample_prior(const Model& model, int64_t draws, uint64_t seed = 1, const std::string& device = {});

// K leapfrog steps from (q, p), q and p [n, D] or [D]: what lies after each of them, [K, ...].
struct LeapfrogChain {
  Tensor positions, momenta, gradients;  // [K, n, D] (or [K, D])
  Tensor log_densities;                  // [K, n] (or [K])
};
LeapfrogChain leapfrog_chain(const Model& model, const Tensor& q, const Tensor& p, double step_size,
                             int64_t steps, const std::vector<double>& inverse_metric = {},
                             const std::string& device = {});

struct LeapfrogOptions {
  DType type = DType::f64;               // of q and p: f32 or f64
  std::vector<double> inverse_metric{};  // none: all 1; D: the diagonal; D * D: row-major
  std::string device{};                  // "": the best
  Placement placement = Placement::automatic;
  uint32_t lanes = 0;  // that share a workgroup; 0: from the model and the device
  // Numbers of a point that a loop may keep for its gradient; a loop with more keeps some of its states, and
  // computes the others again. 0: as many as it likes.
  int64_t loop_numbers = 0;
};
// The same for many calls: the kernel and the data, as they are now, are made ready once. A call is one
// dispatch, which is queued, not waited for. Any thread may call.
class LeapfrogKernel {
 public:
  explicit LeapfrogKernel(const Model& model, const LeapfrogOptions& options = {});
  LeapfrogChain operator()(const Tensor& q, const Tensor& p, double step_size, int64_t steps) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Ready models of one family each, for leapfrog_chain: d variables of one distribution.
Model family_model(
    const std::string& family,
    int64_t d);  // normal, exponential, student_t, cauchy, half_normal, weibull, beta, gamma, lognormal

}  // namespace adit
#pragma GCC visibility pop
