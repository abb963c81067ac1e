#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <adit/diagnostics.hpp>
#include <adit/text.hpp>

#include "posterior/diagnostics/checks.hpp"
#include "posterior/diagnostics/format.hpp"
#include "posterior/precision.hpp"

namespace adit {
namespace diagnostics {
namespace {

using Rows = std::vector<const SummaryRow*>;

// Rows for which `is_bad` holds, the worst (largest badness) first.
template <class Badness>
Rows worst_first(const Summary& summary, double threshold, Badness badness) {
  Rows rows;
  for (const SummaryRow& row : summary.parameters)
    if (badness(row) > threshold) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const SummaryRow* a, const SummaryRow* b) { return badness(*a) > badness(*b); });
  return rows;
}

template <class Value>
std::string list_rows(const Rows& rows, Value value) {
  std::vector<std::string> names;
  for (const SummaryRow* row : rows) names.push_back(printable(row->shown()) + " (" + value(*row) + ")");
  return list_some(names);
}

Check check_finished(const Draws& draws) {
  Check check{"The run", "finished", ""};
  if (draws.finished) return check;
  check.finding = "stopped before all draws were made";
  check.warning = "The run was stopped before all draws were made; what is told here is of the " +
                  show_count(draws.chains * draws.draws) + " draws there are. Resume it, or sample again.";
  return check;
}

Check check_divergences(const Draws& draws) {
  const uint64_t count = draws.divergences(), total = draws.stats.divergent.size();
  Check check{"Divergences", total ? "none" : "not recorded", ""};
  if (count == 0) return check;
  check.finding = fmt::format("{} of {} transitions ({})", show_count(count), show_count(total),
                              show_share(count, total));
  check.warning = fmt::format(
      "{} ended with a divergence: the sampler met curvature that its step size is too large for, and "
      "estimates may "
      "be biased. Raise adapt_delta above {}, or rewrite the model so that scales do not depend on other "
      "parameters (a non-centred form).",
      check.finding, show(draws.adapt_delta, 2));
  return check;
}

// What the run itself met, which no number of the draws tells.
Check check_notes(const Draws& draws) {
  Check check{"What the run met", fmt::format("{} to be told", show_count(draws.notes.size())), ""};
  for (const std::string& note : draws.notes) check.warning += (check.warning.empty() ? "" : " ") + note;
  return check;
}

// "dense", or "dense_e" of CmdStan: no use to ask for it.
bool is_dense(const Draws& draws) { return draws.metric.starts_with("dense"); }

Check check_depth(const Draws& draws) {
  uint64_t count = 0;
  const auto limit = static_cast<double>(draws.max_depth);
  for (const double depth : draws.stats.tree_depth) count += depth >= limit;
  const uint64_t total = draws.stats.tree_depth.size();
  Check check{"Tree depth", total ? fmt::format("below {} throughout", draws.max_depth) : "not recorded", ""};
  if (count == 0) return check;
  check.finding = fmt::format("{} of {} transitions ({}) reached the limit of {}", show_count(count),
                              show_count(total), show_share(count, total), draws.max_depth);
  check.warning = fmt::format(
      "{}: trajectories were cut short, which costs time, not correctness. {} parameters to similar scales, "
      "or set max_depth above {}.",
      check.finding, is_dense(draws) ? "Bring" : "Use a dense metric where parameters are correlated, bring",
      draws.max_depth);
  return check;
}

Check check_energy(const Draws& draws) {
  const std::vector<double> values = e_bfmi(draws);
  std::vector<std::string> low;
  double least = HUGE_VAL;
  for (size_t chain = 0; chain < values.size(); ++chain) {
    if (values[chain] < least) least = values[chain];
    if (values[chain] < least_e_bfmi)
      low.push_back(fmt::format("chain {} ({})", chain + 1, show(values[chain], 2)));
  }
  Check check{"Energy (E-BFMI)", std::isinf(least) ? "cannot be told" : "at least " + show(least, 2), ""};
  if (low.empty()) return check;
  check.finding = fmt::format("below {} in {} of {} chains", least_e_bfmi, show_count(low.size()),
                              show_count(values.size()));
  check.warning = fmt::format(
      "E-BFMI is below {} in {}: energy moves slowly from draw to draw, so the tails are explored badly. "
      "Look for "
      "heavy tails or a funnel, and rewrite the model (a non-centred form, tighter priors); longer warmup "
      "may help.",
      least_e_bfmi, list_some(low));
  return check;
}

Check check_values(const Summary& summary) {
  const Rows rows =
      worst_first(summary, 0, [](const SummaryRow& row) { return std::isfinite(row.mean) ? 0 : 1; });
  Check check{"Values", "all finite", ""};
  if (rows.empty()) return check;
  check.finding = fmt::format("not finite in {} of {} numbers", show_count(rows.size()),
                              show_count(summary.parameters.size()));
  check.warning = "Draws that are not finite: " +
                  list_rows(rows, [](const SummaryRow& row) { return "mean " + show(row.mean, 2); }) +
                  ". Look for overflow, a division by zero or a logarithm of zero in the model.";
  return check;
}

// Parts of a variable may be constant by nature (a Cholesky factor's upper triangle); a whole one should not
// be.
Check check_constant(const Draws& draws, const Summary& summary) {
  Check check{"Constant parameters", "none", ""};
  std::vector<std::string> whole;
  uint64_t elements = 0;
  size_t at = 0;
  for (const DrawsVariable& variable : draws.variables) {
    int64_t constant = 0;
    for (int64_t e = 0; e < variable.size() && at < summary.parameters.size(); ++e, ++at)
      constant += summary.parameters[at].sd == 0;
    elements += constant;
    if (constant > 0 && constant == variable.size()) whole.push_back(printable(variable.name));
  }
  if (elements)
    check.finding = fmt::format("{} of {} numbers never change", show_count(elements), show_count(at));
  if (!whole.empty())
    check.warning =
        list_some(whole) +
        (whole.size() == 1 ? " is the same in every draw" : " are the same in every draw") +
        ". If that is not meant, look for a chain that accepts nothing (step size, initial values) or a "
        "parameter that the density does not contain.";
  return check;
}

Check check_length(const Draws& draws) {
  Check check{"Draws",
              fmt::format("{} in each of {} chains", show_count(draws.draws), show_count(draws.chains)), ""};
  if (draws.draws < 6)
    check.warning = fmt::format(
        "{} too few to tell effective sample sizes (6 are needed) or R-hat (4). Draw more.",
        draws.draws == 1 ? "One draw a chain is" : show_count(draws.draws) + " draws a chain are");
  return check;
}

Check check_r_hat(const Draws& draws, const Summary& summary) {
  double most = -1;
  for (const SummaryRow& row : summary.parameters)
    if (row.r_hat > most) most = row.r_hat;
  Check check{"R-hat", most < 0 ? "cannot be told" : "at most " + show(most, 4), ""};
  if (draws.chains == 1) check.finding += " (one chain: only its halves are compared)";
  const Rows rows = worst_first(summary, largest_r_hat, [](const SummaryRow& row) { return row.r_hat; });
  if (rows.empty()) return check;
  check.finding = fmt::format("above {} for {} of {} numbers", largest_r_hat, show_count(rows.size()),
                              show_count(summary.parameters.size()));
  // Halves of n draws differ by chance: R-hat is near sqrt(1 + (t - 1) / n) for draws with autocorrelation
  // time t.
  const bool short_chains = draws.chains > 4 * static_cast<int64_t>(least_size / least_size_a_chain) &&
                            std::all_of(rows.begin(), rows.end(), [](const SummaryRow* row) {
                              return std::fmin(row->ess_bulk, row->ess_tail) >= least_size;
                            });
  const std::string names = list_rows(rows, [](const SummaryRow& row) { return show(row.r_hat, 3); });
  if (short_chains)
    check.warning = fmt::format(
        "R-hat is above {} for {}, though the effective sample sizes are large: each chain is short next to "
        "its "
        "autocorrelation. Estimates are good if every chain has forgotten its start, which draws this few "
        "cannot "
        "show: warm up longer or draw more, and see that the estimates stay.",
        largest_r_hat, names);
  else
    check.warning = fmt::format(
        "R-hat is above {} for {}: the chains have not mixed, and estimates cannot be trusted. Run longer "
        "(warmup "
        "and draws); if that does not help, look for several modes, weakly identified parameters, or a "
        "better form "
        "of the model.",
        largest_r_hat, names);
  return check;
}

Check check_size(const Draws& draws, const Summary& summary) {
  const double needed = std::min(least_size, least_size_a_chain * static_cast<double>(draws.chains));
  const auto least_of = [](const SummaryRow& row) { return std::fmin(row.ess_bulk, row.ess_tail); };
  double least = HUGE_VAL;
  for (const SummaryRow& row : summary.parameters)
    if (least_of(row) < least) least = least_of(row);
  Check check{"Effective sample size", std::isinf(least) ? "cannot be told" : "at least " + show(least, 2),
              ""};
  const Rows rows = worst_first(summary, -needed, [&](const SummaryRow& row) { return -least_of(row); });
  if (rows.empty()) return check;
  check.finding = fmt::format("below {} for {} of {} numbers", needed, show_count(rows.size()),
                              show_count(summary.parameters.size()));
  check.warning = fmt::format(
      "The effective sample size (the smaller of bulk and tail) is below {} for {}. Wanted are 100 a chain, "
      "or 400 "
      "in all where there are more than four chains. Draw more, or help the sampler ({}a better form of the "
      "model).",
      needed, list_rows(rows, [&](const SummaryRow& row) { return show(least_of(row), 2); }),
      is_dense(draws) ? "" : "a dense metric, ");
  return check;
}

}  // namespace

std::string list_some(const std::vector<std::string>& names, size_t most) {
  std::string text;
  const size_t shown = names.size() <= most + 1 ? names.size() : most;
  for (size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return shown < names.size() ? text + " and " + show_count(names.size() - shown) + " more" : text;
}

static std::string wider_run(const Draws& draws, const std::string& precisions) {
  return draws.wider == "none"
             ? fmt::format("{} has no f64: run on another device (--device cpu).", draws.device)
             : fmt::format("Run in double precision (--precision {}).", precisions);
}

// What single precision does to energies; the sampler compared some draws with double precision, and mostly
// where its chains were in warm-up.
Check check_precision(const Draws& draws) {
  const auto before = [](double error, const char* words) {
    return std::isnan(error) ? "" : fmt::format(" ({}{})", show(error, 2), words);
  };
  Check check{
      "Single precision",
      fmt::format("in {} log densities of draws are right to {} next to each other{}, gradients to {} "
                  "of their length{}",
                  draws.precision, show(draws.energy_error, 2),
                  before(draws.energy_error_before, " in warm-up"), show(draws.gradient_error, 2),
                  before(draws.gradient_error_before, "")),
      ""};
  if (draws.energy_error > most_energy_error)
    check.warning = fmt::format(
        "In single precision the log densities of draws are off by up to {} next to each other: draws are of "
        "another distribution. {}",
        show(draws.energy_error, 2), wider_run(draws, draws.wider));
  else if (draws.gradient_error > most_gradient_error)
    check.warning = fmt::format(
        "In single precision gradients are off by up to {} of their length: steps are shorter than they need "
        "be. {}",
        show(draws.gradient_error, 2), wider_run(draws, "f64"));  // mixed precision has them in f32 too
  return check;
}

std::vector<Check> run_checks(const Draws& draws, const Summary& summary) {
  std::vector<Check> checks{check_finished(draws),    check_length(draws),
                            check_values(summary),    check_constant(draws, summary),
                            check_divergences(draws), check_depth(draws),
                            check_energy(draws),      check_r_hat(draws, summary),
                            check_outliers(draws),    check_size(draws, summary)};
  if (is_single(draws.precision) && (draws.energy_error > 0 || draws.gradient_error > 0))
    checks.push_back(check_precision(draws));
  if (!draws.notes.empty()) checks.push_back(check_notes(draws));
  return checks;
}

}  // namespace diagnostics

std::vector<std::string> warnings(const Draws& draws, const Summary& summary) {
  std::vector<std::string> result;
  for (diagnostics::Check& check : diagnostics::run_checks(draws, summary))
    if (!check.warning.empty()) result.push_back(std::move(check.warning));
  return result;
}

}  // namespace adit
