// adit log-prob: the log density and its gradient at points.
#include <algorithm>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/fit_file.hpp"
#include "cli/fit_model.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/table.hpp"
#include "cli/usage.hpp"
#include "cli/values_file.hpp"

namespace adit::cli {
namespace {

constexpr size_t most_points_shown = 20;
constexpr const char *constrained_option = "[log-prob] --constrained-params",
                     *unconstrained_option = "[log-prob] --unconstrained-params";

std::vector<double> points_of(const FitWords& words, const std::string& text, const Model& model) {
  if (!words.unconstrained.empty())
    return parse_points(unconstrained_option, words.unconstrained, text, model.size());
  const ValueRows found = parse_values(constrained_option, words.constrained, text, model, ValueNames::all);
  try {
    return unconstrain(model, found.values, found.rows, words.device);
  } catch (const Error& error) {
    const std::string what = error.what();
    throw Error(error.kind(), constrained_option + what.substr(std::min(what.find(": "), what.size())));
  }
}

}  // namespace

int log_prob(FitWords words) {
  if (words.constrained.empty() == words.unconstrained.empty())
    throw UsageError(fmt::format("[log-prob] expected --constrained-params or --unconstrained-params, got {}",
                                 words.constrained.empty() ? "none" : "both"));
  const FitModel source("log-prob", words);
  const std::string text = words.constrained.empty()
                               ? read_values_text(unconstrained_option, words.unconstrained)
                               : read_values_text(constrained_option, words.constrained);
  FitFile file("log-prob", words, source);
  const Model model = source.make();
  if (model.size() == 0)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("[log-prob] model: expected at least one parameter, got none in {}", model.name()));
  const auto d = static_cast<size_t>(model.size());
  const LogDensities found =
      log_densities(model, points_of(words, text, model), !words.no_jacobian, words.device);
  file.head(words, model.name(),
            {"method = log_prob", "  log_prob", "    unconstrained_params = " + words.unconstrained,
             "    constrained_params = " + words.constrained,
             fmt::format("    jacobian = {}", words.no_jacobian ? 0 : 1)},
            words.device);
  const std::vector<std::string> names = unconstrained_names(model);
  file.column("lp__", found.values);
  Json gradients = Json::array();
  for (size_t k = 0; k < d; ++k) {
    std::vector<double> slopes;
    for (size_t i = 0; i < found.values.size(); ++i) slopes.push_back(found.gradients[i * d + k]);
    file.column("g_" + names[k], slopes);
  }
  file.write();
  for (size_t i = 0; words.json && i < found.values.size(); ++i)
    gradients.push_back(std::vector<double>(found.gradients.begin() + static_cast<int64_t>(i * d),
                                            found.gradients.begin() + static_cast<int64_t>((i + 1) * d)));
  if (words.json) {
    print_json(Json{{"model", model.name()},
                    {"jacobian", !words.no_jacobian},
                    {"log_density", found.values},
                    {"names", names},
                    {"gradient", gradients},
                    {"file", file.path()}});
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"point", "log density"}};
  for (size_t i = 0; i < found.values.size() && i < most_points_shown; ++i)
    rows.push_back({std::to_string(i + 1), fmt::format("{:.12g}", found.values[i])});
  write_out(table(rows));
  print_out("\n");
  write_out(table({{"File", file.path()}}));
  return 0;
}

}  // namespace adit::cli
