#include "cli/starting.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include <adit/text.hpp>

#include "cli/saved_draws.hpp"
#include "cli/usage.hpp"
#include "cli/value_tree.hpp"

namespace adit::cli {
namespace {

using Values = std::map<std::string, std::vector<double>>;

[[noreturn]] void refuse_init(const std::string& expected, const std::string& got) {
  throw UsageError(fmt::format("[sample] --init: expected {}, got {}", expected, got));
}

Values values_of(const ValueTree& given, const Model& model) {
  if (!given.is_object()) refuse_init("an object of values by variable", brief(given));
  const ValueTree object = without_tuples(given);
  const std::vector<Model::Variable> variables = model.variables();
  std::vector<std::string> names;
  for (const auto& variable : variables) names.push_back(variable.name);
  Values values;
  for (const auto& [name, value] : object.items()) {
    const auto& variable = variables[choice_of("[sample] --init", name, names)];
    if (!take_numbers(value, variable.shape, values[name]))
      refuse_init(fmt::format("values of shape {} for {}", to_string(variable.shape), name), brief(value));
  }
  return values;
}

// Nothing where it is no number, and so a file.
std::optional<double> radius_of(const std::string& init) {
  double radius = 0;
  const auto [end, error] = std::from_chars(init.data(), init.data() + init.size(), radius);
  if (end != init.data() + init.size()) return {};
  if (error == std::errc::result_out_of_range) real_number("[sample] --init", init);  // says which way
  if (error != std::errc()) return {};
  if (!std::isfinite(radius) || radius < 0) refuse_init("a number that is 0 or more, or a JSON file", init);
  return radius;
}

ValueTree read_json(const std::string& path) {
  std::string text;
  try {
    text = read_text(path);
  } catch (const Error&) {
    refuse_init("a number, or a JSON file that can be read", printable(path));
  }
  return value_tree(text, [&](const std::string& what) {
    throw UsageError(fmt::format("[sample] --init: {}: {}", printable(path), what));
  });
}

double mean_of(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total / static_cast<double>(values.size());
}

std::vector<double> mean_of(const std::vector<std::vector<double>>& lists) {
  std::vector<double> total(lists.front().size());
  for (const auto& list : lists)
    for (size_t i = 0; i < total.size(); ++i) total[i] += list[i] / static_cast<double>(lists.size());
  return total;
}

}  // namespace

Start::Start(const std::string& init, std::vector<std::string> warm_start, bool takes_metric)
    : radius_(radius_of(init)), warm_start_(std::move(warm_start)), takes_metric_(takes_metric) {
  if (!radius_) inits_ = read_json(init);
  for (const std::string& file : warm_start_) require_exists("sample", "--warm-start", file);
}

void Start::apply(SampleOptions& options, const Model& model) const {
  set_inits(options, model);
  if (!warm_start_.empty()) set_warm_start(options, model);
}

void Start::set_inits(SampleOptions& options, const Model& model) const {
  if (radius_) {
    options.init_radius = *radius_;
    return;
  }
  if (!inits_.is_array()) {
    options.init = {values_of(inits_, model)};
    return;
  }
  if (static_cast<int64_t>(inits_.size()) != options.chains)
    refuse_init(fmt::format("a list of {} objects, one a chain", options.chains),
                std::to_string(inits_.size()));
  for (const ValueTree& object : inits_) options.init.push_back(values_of(object, model));
}

void Start::set_warm_start(SampleOptions& options, const Model& model) const {
  const auto refuse = [&](const std::string& expected, const std::string& got) {
    throw UsageError(fmt::format("[sample] --warm-start: expected {}, got {}", expected, got));
  };
  const Draws saved = read_saved("sample", "--warm-start", warm_start_);
  if (saved.step_sizes.empty())
    refuse("draws with a step size and a mass matrix", warm_start_.front() + ", which has none");
  const int64_t d = model.size();
  if (takes_metric_) options.metric = saved.metric == "dense" ? Metric::dense : Metric::diagonal;
  const size_t numbers = static_cast<size_t>(options.metric == Metric::dense ? d * d : d);
  const bool needs_metric = options.metric != Metric::unit;
  if (needs_metric && saved.inverse_metrics.empty())
    refuse("draws with a mass matrix", warm_start_.front() + ", which has none");
  for (const auto& metric : saved.inverse_metrics)
    if (needs_metric && metric.size() != numbers)
      refuse(fmt::format("a mass matrix of {} numbers, as {} with --metric {} has", numbers, model.name(),
                         options.metric == Metric::dense ? "dense" : "diag"),
             fmt::format("one of {}", metric.size()));
  const bool same_chains = static_cast<int64_t>(saved.step_sizes.size()) == options.chains;
  options.warm_start.step_sizes = same_chains ? saved.step_sizes : std::vector{mean_of(saved.step_sizes)};
  if (needs_metric)
    options.warm_start.inverse_metrics =
        same_chains ? saved.inverse_metrics
                    : std::vector<std::vector<double>>{mean_of(saved.inverse_metrics)};
}

}  // namespace adit::cli
