// adit check-gradient: the gradient at a start beside differences of the log density.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "cli/command.hpp"
#include "cli/fit_file.hpp"
#include "cli/fit_model.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/table.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace {

struct GradientCheck {
  std::vector<std::string> names;
  std::vector<double> point, slopes, differences;
  std::vector<bool> is_off;
  double log_density = 0;
  int64_t count_off() const { return std::count(is_off.begin(), is_off.end(), true); }
};

GradientCheck compared(const Model& model, const FitWords& words, const FitStart& start) {
  GradientCheck check;
  check.point = start_point(
      model,
      {.seed = words.seed, .init_radius = start.radius, .init = start.values(model), .device = words.device});
  check.names = unconstrained_names(model);
  const size_t d = check.point.size();
  std::vector<double> points = check.point;
  for (size_t i = 0; i < d; ++i)
    for (const double sign : {1.0, -1.0}) {
      points.insert(points.end(), check.point.begin(), check.point.end());
      points[points.size() - d + i] += sign * words.epsilon;
    }
  const LogDensities found = log_densities(model, points, true, words.device);
  check.log_density = found.values[0];
  check.slopes.assign(found.gradients.begin(), found.gradients.begin() + static_cast<int64_t>(d));
  // What f64 leaves of a difference counts as its error, not as the gradient's.
  const double rounding =
      8 * std::numeric_limits<double>::epsilon() * std::abs(check.log_density) / words.epsilon;
  for (size_t i = 0; i < d; ++i) {
    const double difference = (found.values[1 + 2 * i] - found.values[2 + 2 * i]) / (2 * words.epsilon);
    const double off = std::abs(difference - check.slopes[i]);
    check.differences.push_back(difference);
    check.is_off.push_back(!(off <= words.error * std::max(1.0, std::abs(check.slopes[i])) + rounding));
  }
  return check;
}

void print_check_as_json(const Model& model, const GradientCheck& check) {
  Json rows = Json::array();
  for (size_t i = 0; i < check.point.size(); ++i)
    rows.push_back({{"name", check.names[i]},
                    {"value", check.point[i]},
                    {"gradient", check.slopes[i]},
                    {"difference", check.differences[i]},
                    {"is_off", static_cast<bool>(check.is_off[i])}});
  print_json(Json{{"model", model.name()},
                  {"log_density", check.log_density},
                  {"off", check.count_off()},
                  {"parameters", rows}});
}

void print_check(const GradientCheck& check) {
  print_out("Log density {:.8g}\n\n", check.log_density);
  std::vector<std::vector<std::string>> rows{{"", "value", "gradient", "difference", "error", ""}};
  for (size_t i = 0; i < check.point.size(); ++i)
    rows.push_back({check.names[i], fmt::format("{:.6g}", check.point[i]),
                    fmt::format("{:.8g}", check.slopes[i]), fmt::format("{:.8g}", check.differences[i]),
                    fmt::format("{:.2g}", check.slopes[i] - check.differences[i]),
                    check.is_off[i] ? "off" : ""});
  write_out(table(rows));
}

}  // namespace

int check_gradient(FitWords words) {
  for (const auto& [option, number] :
       {std::pair{"--epsilon", words.epsilon}, std::pair{"--error", words.error}})
    if (!(number > 0) || !std::isfinite(number))
      throw UsageError(
          fmt::format("[check-gradient] {}: expected a number that is more than 0, got {}", option, number));
  const FitModel source("check-gradient", words);
  const FitStart start("check-gradient", words.init);
  std::optional<FitFile> file;
  if (!words.output.empty()) file.emplace("check-gradient", words, source);
  const Model model = source.make();
  const GradientCheck check = compared(model, words, start);
  if (file) {
    file->head(
        words, model.name(),
        {"method = diagnose", "  diagnose", "    test = gradient", "      gradient",
         fmt::format("        epsilon = {}", words.epsilon), fmt::format("        error = {}", words.error)},
        words.device);
    file->column("value", check.point);
    file->column("gradient", check.slopes);
    file->column("difference", check.differences);
    file->write();
  }
  if (words.json)
    print_check_as_json(model, check);
  else
    print_check(check);
  if (check.count_off() == 0) return 0;
  print_err("[check-gradient] {} of {} slopes differ from differences of the log density\n",
            check.count_off(), check.point.size());
  return 1;
}

}  // namespace adit::cli
