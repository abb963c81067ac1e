// Runs of the sampler on threads of their own.
#include <cmath>
#include <fmt/format.h>
#include <thread>

#include <adit/sample.hpp>
#include <adit/sample_plan.hpp>

#include "door/call.hpp"
#include "door/draws.hpp"
#include "door/init.hpp"
#include "stats/model_state.hpp"

using namespace adit;
using door::expect;
using door::guarded;

struct adit_run {
  mutable std::mutex mutex;
  std::condition_variable news;
  Progress progress;
  std::atomic<bool> stops{false};
  bool finished = false;
  std::shared_ptr<const Draws> draws;
  std::exception_ptr error;
  std::thread thread;
};

namespace adit::door {

namespace {

template <class E>
E named(const Call& c, const char* option, std::initializer_list<std::pair<const char*, E>> names,
        E otherwise) {
  if (!c.has(option)) return otherwise;
  const std::string word = c.text(option, "");
  std::string all;
  for (const auto& [name, value] : names) {
    if (word == name) return value;
    all += fmt::format("{}{}", all.empty() ? "" : ", ", name);
  }
  fail(c.name(), option, fmt::format("expected one of {}, got {}", all, word));
}

SampleOptions options_of(const Call& c) {
  SampleOptions o;
  o.chains = c.integer("chains", o.chains);
  o.first_chain = c.integer("first_chain", o.first_chain);
  o.warmup = c.integer("warmup", o.warmup);
  o.draws = c.integer("draws", o.draws);
  o.thin = c.integer("thin", o.thin);
  o.seed = static_cast<uint64_t>(c.integer("seed", static_cast<int64_t>(o.seed)));
  o.device = c.text("device", "");
  o.layout = c.text("layout", "");
  o.precision = named<Precision>(c, "precision",
                                 {{"automatic", Precision::automatic},
                                  {"f32", Precision::f32},
                                  {"mixed", Precision::mixed},
                                  {"f64", Precision::f64}},
                                 o.precision);
  o.placement = named<Placement>(c, "placement",
                                 {{"automatic", Placement::automatic},
                                  {"lane", Placement::lane},
                                  {"team", Placement::team},
                                  {"device", Placement::device}},
                                 o.placement);
  o.metric = named<Metric>(c, "metric",
                           {{"diagonal", Metric::diagonal}, {"dense", Metric::dense}, {"unit", Metric::unit}},
                           o.metric);
  o.adapt = named<Adapt>(c, "adapt", {{"chain", Adapt::chain}, {"pooled", Adapt::pooled}}, o.adapt);
  o.adapt_delta = c.real("adapt_delta", o.adapt_delta);
  o.step_size = c.real("step_size", o.step_size);
  o.gamma = c.real("gamma", o.gamma);
  o.kappa = c.real("kappa", o.kappa);
  o.t0 = c.real("t0", o.t0);
  o.max_depth = c.small("max_depth", o.max_depth);
  o.init_buffer = c.small("init_buffer", o.init_buffer);
  o.term_buffer = c.small("term_buffer", o.term_buffer);
  o.window = c.small("window", o.window);
  o.init_radius = c.real("init_radius", o.init_radius);
  o.restart_stuck = c.flag("restart_stuck", o.restart_stuck);
  o.save_warmup = c.flag("save_warmup", o.save_warmup);
  o.log_likelihood = c.flag("log_likelihood", o.log_likelihood);
  o.posterior_predictive = c.flag("posterior_predictive", o.posterior_predictive);
  o.checkpoint = c.text("checkpoint", "");
  o.resume = c.flag("resume", o.resume);
  return o;
}

enum class Way : uint8_t { posterior, prior, fixed };

Way way_of(const Call& c) {
  const bool prior = c.flag("prior", false), fixed = c.flag("fixed", false);
  if (prior && fixed) fail(c.name(), "prior", "expected prior or fixed, got both");
  return prior ? Way::prior : fixed ? Way::fixed : Way::posterior;
}

// A model of its own: the caller may go on to change his.
Model copy_of(const adit_model& model) {
  const std::lock_guard lock(model.mutex);
  Model copy(model.model.name());
  stats::state_of(copy) = stats::state_of(model.model);
  return copy;
}

Draws sampled(const Model& model, const SampleOptions& options, Way way) {
  switch (way) {
    case Way::prior: return sample_prior(model, options.draws, options.seed, options.device);
    case Way::fixed: return sample_fixed(model, options);
    case Way::posterior: break;
  }
  return sample(model, options);
}

void work(adit_run& run, const Model& model, SampleOptions options, Way way) {
  options.should_stop = [&run] { return run.stops.load(); };
  options.on_progress = [&run](const Progress& progress) {
    const std::lock_guard lock(run.mutex);
    run.progress = progress;
  };
  std::shared_ptr<const Draws> draws;
  std::exception_ptr error;
  try {
    draws = std::make_shared<const Draws>(sampled(model, options, way));
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(run.mutex);
  run.draws = std::move(draws);
  run.error = error;
  run.finished = true;
  run.news.notify_all();
}

constexpr const char* option_words =
    "chains, first_chain, warmup, draws, thin, seed, device, precision, placement, layout, metric, adapt, "
    "adapt_delta, step_size, gamma, kappa, t0, max_depth, init_buffer, term_buffer, window, init_radius, "
    "init, restart_stuck, save_warmup, log_likelihood, posterior_predictive, checkpoint, resume, prior, "
    "fixed";

// What a run is to do, all of it checked.
struct Asked {
  Model model;
  SampleOptions options;
  Way way;
};

Asked asked(const char* name, const adit_model* model, const adit_attribute* options, size_t count) {
  const Call call(name, {}, expect_list(name, "options", options, count));
  Asked all{copy_of(expect(name, "model", model)), options_of(call), way_of(call)};
  all.options.init = starts_of(name, call.text("init", ""), all.model);
  call.expect_all_used(option_words);
  return all;
}

}  // namespace

}  // namespace adit::door

adit_status adit_run_start(const adit_model* model, size_t option_count, const adit_attribute* options,
                           adit_run** run, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "run_start";
    auto& place = expect(name, "run", run);
    auto made = std::make_unique<adit_run>();
    made->thread = std::thread([run = made.get(), all = door::asked(name, model, options, option_count)] {
      door::work(*run, all.model, all.options, all.way);
    });
    place = made.release();
  });
}

adit_status adit_model_layout(const adit_model* model, size_t option_count, const adit_attribute* options,
                              char** layout, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "model_layout";
    auto& place = expect(name, "layout", layout);
    const door::Asked all = door::asked(name, model, options, option_count);
    place = door::text_of(sample_plan(all.model, all.options).layout);
  });
}

void adit_run_progress(const adit_run* run, adit_progress* progress) {
  if (!run || !progress) return;
  const std::lock_guard lock(run->mutex);
  const Progress& p = run->progress;
  *progress = {p.iteration, p.iterations, p.warmup, p.leapfrogs, p.divergences, p.seconds, run->finished};
}

void adit_run_stop(adit_run* run) {
  if (run) run->stops = true;
}

int adit_run_wait(adit_run* run, double seconds) {
  if (!run) return 1;
  std::unique_lock lock(run->mutex);
  const auto over = [&] { return run->finished; };
  if (!(seconds >= 0) || seconds > 1e9)
    run->news.wait(lock, over);
  else
    run->news.wait_for(lock, std::chrono::duration<double>(seconds), over);
  return run->finished;
}

void adit_run_free(adit_run* run) {
  if (!run) return;
  run->stops = true;
  if (run->thread.joinable()) run->thread.join();
  delete run;
}

adit_status adit_run_draws(const adit_run* run, adit_draws** draws, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "run_draws";
    const adit_run& r = expect(name, "run", run);
    auto& place = expect(name, "draws", draws);
    const std::lock_guard lock(r.mutex);
    if (!r.finished) door::fail(name, "run", "expected one that has ended, got one that is under way");
    if (r.error) std::rethrow_exception(r.error);
    place = door::draws_of(r.draws).release();
  });
}
