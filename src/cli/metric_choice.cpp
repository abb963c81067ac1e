#include "cli/metric_choice.hpp"

#include <array>

#include "cli/usage.hpp"

namespace adit::cli {

namespace {

// Over posteriordb's posteriors with references (docs/sampling.md).
constexpr int64_t most_numbers = 32, warmup_a_number = 30;

}  // namespace

std::optional<Metric> metric_named(const std::string& where, const std::string& word) {
  constexpr std::array metrics{Metric::diagonal, Metric::dense, Metric::unit};
  const size_t chosen = choice_of(where, word, {"auto", "diag", "dense", "unit"});
  return chosen == 0 ? std::nullopt : std::optional(metrics[chosen - 1]);
}

Metric automatic_metric(const Model& model, int64_t warmup, const Device& device) {
  const bool is_small = model.size() <= most_numbers && warmup >= warmup_a_number * model.size();
  return is_small && device.info().kind == DeviceKind::cpu ? Metric::dense : Metric::diagonal;
}

}  // namespace adit::cli
