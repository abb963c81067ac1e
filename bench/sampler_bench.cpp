// Effective draws a second of the sampler, by model and number of chains.
//
//   sampler_bench [device] [model:chains[:draws[:warmup]]]...
//
// METRIC (dense, unit), PLACE (lane, team), PRECISION (f32, f64), LANES, STATE (buffer, array, shared,
// split), SLOTS, BEAT, DEPTH (the most) and POOLED=1 in the environment change the run. One line of JSON
// each: what a user waits for, the sampling alone, leapfrogs, and how much of what was executed was of use.
// The effective sample size is the smallest bulk one of all unconstrained numbers; past 64 chains it is that
// of the first 64, scaled.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <string>

#include <adit/diagnostics.hpp>

#include "cli/models/models.hpp"
#include "sample/options.hpp"
#include "sample/run.hpp"

namespace {

using namespace adit;
using namespace adit::sampling;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

struct Work {
  std::string model;
  int64_t chains = 4, draws = 1000, warmup = 500;
};

Work parse(const std::string& text) {
  Work work;
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  work.model = parts[0];
  if (parts.size() > 1) work.chains = std::stol(parts[1]);
  if (parts.size() > 2) work.draws = std::stol(parts[2]);
  if (parts.size() > 3) work.warmup = std::stol(parts[3]);
  return work;
}

double smallest_ess(const std::vector<double>& rows, int64_t chains, int64_t draws, int64_t size) {
  const int64_t used = std::min<int64_t>(chains, 64), width = stats_count + size;
  double least = 1e300;
  for (int64_t i = 0; i < size; ++i) {
    std::vector<double> column(static_cast<size_t>(used * draws));
    for (int64_t r = 0; r < used * draws; ++r)
      column[static_cast<size_t>(r)] = rows[static_cast<size_t>(r * width + stats_count + i)];
    least = std::min(least, ess_bulk({column, used}));
  }
  return least * static_cast<double>(chains) / static_cast<double>(used);
}

void measure(const std::string& id, const Work& work) {
  const auto begin = Clock::now();
  const Model model = example_model(work.model);
  const double modelled = since(begin);
  const auto device = Device::open(id);
  const double opened = since(begin) - modelled;
  SampleOptions options;
  options.chains = work.chains;
  options.draws = work.draws;
  options.warmup = work.warmup;
  if (const char* metric = std::getenv("METRIC"))
    options.metric = metric[0] == 'd' ? Metric::dense : Metric::unit;
  if (const char* place = std::getenv("PLACE"))
    options.placement = place[0] == 't' ? Placement::team : Placement::lane;
  if (const char* kind = std::getenv("PRECISION"))
    options.precision = std::string(kind) == "f32" ? Precision::f32 : Precision::f64;
  if (const char* depth = std::getenv("DEPTH")) options.max_depth = std::stoi(depth);
  if (std::getenv("POOLED")) options.adapt = Adapt::pooled;
  Forced forced;
  if (const char* lanes = std::getenv("LANES")) forced.lanes = static_cast<uint32_t>(std::stoul(lanes));
  if (const char* beat = std::getenv("BEAT")) forced.beat = static_cast<uint32_t>(std::stoul(beat));
  if (const char* slots = std::getenv("SLOTS")) forced.slots = std::stol(slots);
  if (const char* home = std::getenv("STATE"))
    forced.home = home[0] == 'b'   ? Home::buffer
                  : home[0] == 'a' ? Home::array
                  : home[1] == 'p' ? Home::split
                                   : Home::shared;
  const auto compiling = Clock::now();
  const Choice choice = choose(stats::state_of(model), options, options.chains, *device);
  Run run(stats::state_of(model), options, choice, {DataSet{}}, device, forced);
  const double compiled = since(compiling);
  run.advance(1);
  const double first = since(begin);
  const auto warming = Clock::now();
  run.advance(work.warmup);
  const double warmed = since(warming);
  const uint64_t leapfrogs = run.leapfrogs(), executed = run.executed();
  const auto sampling = Clock::now();
  run.advance(work.warmup + work.draws);
  const double sampled = since(sampling);
  const int64_t rows = std::min(work.draws, run.ring());
  const double ess = smallest_ess(run.rows(work.draws - rows, rows), work.chains, rows, model.size()) *
                     static_cast<double>(work.draws) / static_cast<double>(rows);
  const auto useful = static_cast<double>(run.leapfrogs() - leapfrogs);
  fmt::print(
      "{{\"model\": \"{}\", \"device\": \"{}\", \"chains\": {}, \"draws\": {}, \"warmup\": {}, "
      "\"placement\": \"{}\", "
      "\"precision\": \"{}\", \"model_s\": {:.3f}, \"open_s\": {:.3f}, \"compile_s\": {:.3f}, "
      "\"first_draw_s\": {:.3f}, "
      "\"warmup_s\": {:.4f}, \"sampling_s\": {:.4f}, \"ess\": {:.0f}, \"ess_per_s\": {:.0f}, "
      "\"leapfrogs_per_s\": {:.0f}, "
      "\"leapfrogs_per_draw\": {:.1f}, \"executed_over_useful\": {:.3f}, \"divergences\": {}}}\n",
      work.model, device->info().id, work.chains, work.draws, work.warmup, choice.by_team ? "team" : "lane",
      name_of(choice.type), modelled, opened, compiled, first, warmed, sampled, ess, ess / sampled,
      useful / sampled, useful / static_cast<double>(work.chains * work.draws),
      static_cast<double>(run.executed() - executed) / useful, run.divergences());
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string device = count > 1 ? arguments[1] : "";
  std::vector<std::string> list(arguments + std::min(count, 2), arguments + count);
  if (list.empty())
    list = {"eight_schools_noncentered:4", "eight_schools_noncentered:256", "radon:4", "logistic_large:4"};
  int status = 0;
  for (const std::string& text : list) try {
      measure(device, parse(text));
    } catch (const std::exception& error) {
      fmt::print(stderr, "sampler_bench {}: {}\n", text, error.what());
      status = 1;
    }
  return status;
}
