// adit optimize: the highest point of a model's density.
#include <fmt/format.h>

#include <adit/optimize.hpp>
#include <adit/text.hpp>

#include "cli/command.hpp"
#include "cli/fit_file.hpp"
#include "cli/fit_model.hpp"
#include "cli/fit_search.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/table.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace {

constexpr size_t most_optimum_rows = 60;
constexpr int64_t steps_a_line = 100;

// As CmdStan's file tells of them.
std::vector<std::string> method_of(const FitWords& words) {
  std::vector<std::string> lines{"method = optimize", "  optimize", "    algorithm = " + words.algorithm,
                                 "      " + words.algorithm};
  if (words.algorithm != "newton") {
    lines.push_back(fmt::format("        init_alpha = {}", words.init_alpha));
    lines.push_back(fmt::format("        tol_obj = {}", words.tol_obj));
    lines.push_back(fmt::format("        tol_rel_obj = {}", words.tol_rel_obj));
    lines.push_back(fmt::format("        tol_grad = {}", words.tol_grad));
    lines.push_back(fmt::format("        tol_rel_grad = {}", words.tol_rel_grad));
    lines.push_back(fmt::format("        tol_param = {}", words.tol_param));
  }
  if (words.algorithm == "lbfgs")
    lines.push_back(fmt::format("        history_size = {}", words.history_size));
  lines.push_back(fmt::format("    jacobian = {}", words.jacobian ? 1 : 0));
  lines.push_back(fmt::format("    iter = {}", words.iterations));
  lines.push_back(fmt::format("    save_iterations = {}", words.save_iterations ? 1 : 0));
  return lines;
}

void save_optimum(const Model& model, const FitWords& words, const Optimum& found, FitFile& file) {
  file.head(words, found.model, method_of(words), found.device);
  file.say(fmt::format("converged = {}", found.converged ? 1 : 0));
  file.say("end = " + found.why);
  std::vector<double> heights{found.log_density};
  if (words.save_iterations) {
    heights.clear();
    for (const OptimizeStep& step : found.steps) heights.push_back(step.log_density);
  }
  file.column("lp__", heights);
  file.columns(words.save_iterations ? constrain(model, found.trace, 1, words.seed, words.device)
                                     : found.variables);
  file.write();
}

std::vector<std::pair<std::string, double>> elements_of(const std::vector<DrawsVariable>& variables) {
  std::vector<std::pair<std::string, double>> found;
  for (const DrawsVariable& variable : variables)
    for (int64_t i = 0; i < variable.size(); ++i)
      found.emplace_back(element_name(variable.name, variable.shape, i),
                         variable.values[static_cast<size_t>(i)]);
  return found;
}

void print_optimum_as_json(const FitWords& words, const Optimum& found, const FitFile& file) {
  Json parameters = Json::array();
  for (const auto& [name, value] : elements_of(found.variables))
    parameters.push_back({{"name", printable(name)}, {"value", value}});
  print_json(Json{{"model", found.model},
                  {"device", found.device},
                  {"seed", found.seed},
                  {"algorithm", words.algorithm},
                  {"jacobian", found.jacobian},
                  {"converged", found.converged},
                  {"why", found.why},
                  {"log_density", found.log_density},
                  {"iterations", found.iterations},
                  {"evaluations", found.evaluations},
                  {"seconds", found.seconds},
                  {"file", file.path()},
                  {"parameters", parameters}});
}

void print_optimum(const Optimum& found, const FitFile& file) {
  const auto elements = elements_of(found.variables);
  std::vector<std::vector<std::string>> rows{{"", "value"}};
  for (size_t i = 0; i < elements.size() && i < most_optimum_rows; ++i)
    rows.push_back({elements[i].first, fmt::format("{:.6g}", elements[i].second)});
  write_out(table(rows));
  if (elements.size() > most_optimum_rows)
    print_out("\n{} more are in {}\n", elements.size() - most_optimum_rows, printable(file.path()));
  print_out("\n");
  write_out(table({{"Log density", fmt::format("{:.8g}, {} Jacobians of constraints", found.log_density,
                                               found.jacobian ? "with" : "without")},
                   {"End", found.why},
                   {"File", file.path()},
                   {"Device", found.device + ", f64"},
                   {"Seconds", fmt::format("{:.2f} ({} iterations, {} evaluations)", found.seconds,
                                           found.iterations, found.evaluations)}}));
}

}  // namespace

OptimizeOptions search_options(const char* command, const FitWords& words) {
  const auto require_positive = [&](const char* option, double number) {
    if (!(number > 0) || !(number < INFINITY))
      throw UsageError(
          fmt::format("[{}] {}: expected a number that is more than 0, got {}", command, option, number));
  };
  const auto require_count = [&](const char* option, int64_t number) {
    if (number < 1)
      throw UsageError(
          fmt::format("[{}] {}: expected a number that is 1 or more, got {}", command, option, number));
  };
  OptimizeOptions options;
  options.algorithm =
      std::vector{OptimizeAlgorithm::lbfgs, OptimizeAlgorithm::bfgs, OptimizeAlgorithm::newton}[choice_of(
          fmt::format("[{}] --algorithm", command), words.algorithm, {"lbfgs", "bfgs", "newton"})];
  require_count("--iterations", words.iterations);
  require_count("--history-size", words.history_size);
  require_positive("--init-alpha", words.init_alpha);
  require_positive("--tol-obj", words.tol_obj);
  require_positive("--tol-rel-obj", words.tol_rel_obj);
  require_positive("--tol-grad", words.tol_grad);
  require_positive("--tol-rel-grad", words.tol_rel_grad);
  require_positive("--tol-param", words.tol_param);
  options.jacobian = words.jacobian;
  options.iterations = words.iterations;
  options.init_alpha = words.init_alpha;
  options.tol_obj = words.tol_obj;
  options.tol_rel_obj = words.tol_rel_obj;
  options.tol_grad = words.tol_grad;
  options.tol_rel_grad = words.tol_rel_grad;
  options.tol_param = words.tol_param;
  options.history_size = words.history_size;
  options.seed = words.seed;
  options.device = words.device;
  options.trace = words.save_iterations;
  options.should_stop = [] { return Interrupt::came(); };
  if (!words.quiet && !words.json)
    options.on_step = [](const OptimizeStep& now) {
      if (now.iteration > 0 && now.iteration % steps_a_line == 0)
        print_err("Iteration {}: log density {:.8g}, gradient {:.2g}\n", now.iteration, now.log_density,
                  now.gradient);
    };
  return options;
}

Optimum searched(const char* command, const Model& model, OptimizeOptions options, const FitStart& start) {
  options.init_radius = start.radius;
  options.init = start.values(model);
  const Interrupt interrupt(true);
  Optimum found = adit::optimize(model, options);
  if (found.unbounded)
    throw Error(ErrorKind::bad_argument, fmt::format("[{}] {}: {}", command, found.model, found.why));
  return found;
}

int optimize(FitWords words) {
  const OptimizeOptions options = search_options("optimize", words);
  const FitModel source("optimize", words);
  const FitStart start("optimize", words.init);
  FitFile file("optimize", words, source);
  if (words.json) words.quiet = true;
  const Model model = source.make();
  const Optimum found = searched("optimize", model, options, start);
  save_optimum(model, words, found, file);
  if (words.json)
    print_optimum_as_json(words, found, file);
  else
    print_optimum(found, file);
  if (found.converged) return 0;
  print_err("Warning: the search did not converge: {}\n", found.why);
  if (Interrupt::came()) return 130;
  return found.iterations >= words.iterations ? 0 : 1;
}

}  // namespace adit::cli
