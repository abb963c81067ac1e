// adit explain: what is made of a model, before it is sampled.
#include <fmt/format.h>

#include <adit/sample_plan.hpp>
#include <adit/text.hpp>

#include "cli/command.hpp"
#include "cli/fit_model.hpp"
#include "cli/metric_choice.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace {

SampleOptions options_of(const FitWords& words) {
  const auto expect = [](bool good, const char* option, const char* expected, int64_t got) {
    if (!good)
      throw UsageError(fmt::format("[explain] {}: expected a number {}, got {}", option, expected, got));
  };
  expect(words.chains >= 1 && words.chains <= int64_t{1} << 24, "--chains", "from 1 to 16777216",
         words.chains);
  expect(words.warmup >= 0, "--warmup", "of at least 0", words.warmup);
  expect(words.max_depth >= 1 && words.max_depth <= 12, "--max-depth", "from 1 to 12", words.max_depth);
  SampleOptions options;
  options.chains = words.chains;
  options.warmup = words.warmup;
  options.device = words.device;
  options.layout = words.layout;
  options.max_depth = static_cast<int>(words.max_depth);
  options.precision = std::vector{
      Precision::automatic, Precision::f32, Precision::mixed,
      Precision::f64}[choice_of("[explain] --precision", words.precision, {"auto", "f32", "mixed", "f64"})];
  options.adapt = std::vector{
      Adapt::chain, Adapt::pooled}[choice_of("[explain] --adapt", words.adapt, {"chain", "pooled"})];
  return options;
}

Json model_json(const SamplePlan& plan) {
  Json variables = Json::array(), terms = Json::array();
  for (const SamplePlan::Variable& one : plan.variables)
    variables.push_back({{"name", one.name},
                         {"shape", std::vector<int64_t>(one.shape.begin(), one.shape.end())},
                         {"unconstrained", one.size}});
  for (const SamplePlan::Term& one : plan.terms)
    terms.push_back({{"name", one.name}, {"stated", one.stated}, {"elements", one.elements}});
  return {{"model", plan.model},
          {"unconstrained", plan.size},
          {"variables", variables},
          {"lowering", plan.lowering},
          {"terms", terms}};
}

void print_as_json(const SamplePlan& plan) {
  Json document = model_json(plan);
  document["device"] = {{"id", plan.device}, {"name", plan.device_name}};
  document["precision"] = plan.precision;
  document["metric"] = plan.metric;
  document["layout"] = plan.layout;
  document["timed"] = plan.was_timed;
  document["estimates_us"] = Json::object();
  for (const SamplePlan::Way& way : plan.ways) document["estimates_us"][way.name] = way.microseconds;
  document["chains"] = plan.chains;
  document["teams"] = plan.teams;
  document["density"] = {{"computed", plan.density},
                         {"passes", plan.passes},
                         {"work", plan.work},
                         {"serial", plan.serial},
                         {"schedule", plan.schedule}};
  document["memory"] = {{"state_numbers", plan.state_numbers},
                        {"scratch_numbers", plan.scratch_numbers},
                        {"near_numbers", plan.near_numbers},
                        {"state_bytes", plan.state_bytes},
                        {"shared_bytes", plan.shared_bytes}};
  document["kernel"] = {
      {"instructions", plan.instructions}, {"parameters", plan.parameters}, {"loop_trips", plan.loop_trips}};
  document["data"] = {
      {"tensors", plan.leaves}, {"numbers", plan.reals}, {"places", plan.places}, {"bytes", plan.data_bytes}};
  print_json(document);
}

}  // namespace

int explain(FitWords words) {
  SampleOptions options = options_of(words);
  const std::optional<Metric> metric = metric_named("[explain] --metric", words.metric);
  const bool json = words.json;
  // What loops became stands in the plan itself.
  words.quiet = true;
  const FitModel source("explain", words);
  const Model model = source.make();
  if (model.size() == 0)
    throw UsageError(fmt::format("[explain] model: expected at least one variable, got none in {}",
                                 printable(source.name())));
  options.metric = metric ? *metric : automatic_metric(model, options.warmup, *Device::open(words.device));
  const SamplePlan plan = sample_plan(model, options);
  if (json)
    print_as_json(plan);
  else
    write_out(printable_lines(to_text(plan)));
  return 0;
}

}  // namespace adit::cli
