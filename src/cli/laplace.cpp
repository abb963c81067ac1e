// adit laplace: draws of a normal approximation at a mode.
#include <cmath>
#include <fmt/format.h>

#include <adit/diagnostics.hpp>

#include "cli/command.hpp"
#include "cli/fit_file.hpp"
#include "cli/fit_search.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/saved_draws.hpp"
#include "cli/table.hpp"
#include "cli/usage.hpp"
#include "cli/values_file.hpp"

namespace adit::cli {
namespace {

// Far from a mode the normal distribution is that of another place: sigmas to the mode that curvature and
// gradient tell of.
constexpr double far_from_mode = 0.1;

constexpr const char* mode_option = "[laplace] --mode";

// The last row of a file: that of an optimum, after those of its iterations.
Optimum mode_in(const FitWords& words, const std::string& text, const Model& model) {
  const ValueRows found = parse_values(mode_option, words.mode, text, model, ValueNames::all);
  NamedValues last;
  for (const auto& [name, values] : found.values)
    last[name].assign(values.end() - std::ssize(values) / found.rows, values.end());
  try {
    return optimum_at(model, unconstrain(model, last, 1, words.device), !words.no_jacobian, words.device);
  } catch (const Error& error) {
    const std::string what = error.what();
    throw Error(error.kind(), mode_option + what.substr(std::min(what.find(": "), what.size())));
  }
}

void tell_distance(const Optimum& mode, const Laplace& found, bool jacobian) {
  // The gradient over the root of the diagonal: steps of one sigma, where directions are apart.
  const size_t d = mode.point.size();
  double most = 0;
  for (size_t i = 0; i < d; ++i)
    most = std::max(most, std::abs(mode.gradient[i]) / std::sqrt(found.hessian[i * d + i]));
  if (most > far_from_mode)
    print_err(
        "Warning: the gradient at the mode is not zero ({:.2g} of a sigma); was it found {} --jacobian?\n",
        most, jacobian ? "without" : "with");
}

}  // namespace

int laplace(FitWords words) {
  words.jacobian = !words.no_jacobian;
  const OptimizeOptions search = search_options("laplace", words);
  constexpr int64_t most_draws = int64_t{1} << 30;
  if (words.draws < 1 || words.draws > most_draws)
    throw UsageError(
        fmt::format("[laplace] --draws: expected a number from 1 to {}, got {}", most_draws, words.draws));
  const FitModel source("laplace", words);
  const FitStart start("laplace", words.init);
  const std::string text = words.mode.empty() ? "" : read_values_text(mode_option, words.mode);
  FitFile file("laplace", words, source);
  const Model model = source.make();
  const Optimum mode =
      words.mode.empty() ? searched("laplace", model, search, start) : mode_in(words, text, model);
  if (!mode.converged) print_err("Warning: the search for the mode did not converge: {}\n", mode.why);
  const Laplace found = laplace_draws(
      model, mode,
      {.draws = words.draws, .seed = words.seed, .jacobian = words.jacobian, .device = words.device});
  tell_distance(mode, found, words.jacobian);
  file.head(
      words, found.draws.model,
      {"method = laplace", "  laplace", "    mode = " + words.mode,
       fmt::format("    jacobian = {}", words.jacobian ? 1 : 0), fmt::format("    draws = {}", words.draws)},
      found.draws.device);
  file.column("log_p__", found.draws.stats.lp);
  file.column("log_q__", found.log_q);
  file.columns(found.draws.variables);
  file.write();
  const Summary table_of_draws = adit::summary(found.draws);
  if (words.json) {
    print_json(Json{{"model", found.draws.model},
                    {"device", found.draws.device},
                    {"seed", words.seed},
                    {"jacobian", words.jacobian},
                    {"draws", words.draws},
                    {"log_density", mode.log_density},
                    {"file", file.path()},
                    {"parameters", to_json(table_of_draws.parameters)}});
  } else {
    write_out(format_summary(found.draws, table_of_draws));
    print_out("\n");
    write_out(table({{"Draws", file.path()}, {"Device", found.draws.device + ", f64"}}));
  }
  return 0;
}

}  // namespace adit::cli
