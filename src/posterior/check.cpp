#include "posterior/check.hpp"

#include <fmt/format.h>

#include <adit/error.hpp>

#include "posterior/files/csv.hpp"

namespace adit {
namespace {

void check_count(const char* function, const std::string& what, size_t got, int64_t expected) {
  if (static_cast<int64_t>(got) == expected) return;
  throw Error(ErrorKind::bad_argument,
              fmt::format("[{}] {}: expected {} values, got {}", function, what, expected, got));
}

void check_variables(const char* function, int64_t rows, const std::vector<DrawsVariable>& variables) {
  for (const DrawsVariable& variable : variables)
    check_count(function, variable.name, variable.values.size(), rows * variable.size());
}

void check_stats(const char* function, int64_t rows, const SampleStats& stats) {
  for (const csv::StatColumn& stat : csv::stat_columns())
    if (const auto& values = stats.*stat.member; !values.empty())
      check_count(function, stat.name, values.size(), rows);
}

}  // namespace

void check_draws(const char* function, const Draws& draws) {
  if (draws.chains <= 0 || draws.draws <= 0)
    throw Error(ErrorKind::bad_argument, fmt::format("[{}] draws: expected some, got {} chains of {} draws",
                                                     function, draws.chains, draws.draws));
  for (const auto* variables : {&draws.variables, &draws.log_likelihood, &draws.posterior_predictive})
    check_variables(function, draws.chains * draws.draws, *variables);
  for (const ObservedVariable& observed : draws.observed)
    check_count(function, observed.name, observed.values.size(), element_count(observed.shape));
  check_stats(function, draws.chains * draws.draws, draws.stats);
  check_variables(function, draws.chains * draws.warmup_draws, draws.warmup_variables);
  check_stats(function, draws.chains * draws.warmup_draws, draws.warmup_stats);
  if (!draws.step_sizes.empty()) check_count(function, "step_sizes", draws.step_sizes.size(), draws.chains);
  if (!draws.inverse_metrics.empty())
    check_count(function, "inverse_metrics", draws.inverse_metrics.size(), draws.chains);
  for (const auto& metric : draws.inverse_metrics)
    check_count(function, "inverse_metrics", metric.size(), std::ssize(draws.inverse_metrics.front()));
}

}  // namespace adit
