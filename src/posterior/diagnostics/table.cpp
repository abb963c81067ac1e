// The summary as a table.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include <adit/diagnostics.hpp>
#include <adit/text.hpp>

#include "posterior/diagnostics/format.hpp"

namespace adit {

using namespace diagnostics;

namespace {

constexpr std::array<const char*, 11> headings = {"",    "Mean", "MCSE",     "StdDev",   "MAD",  "5%",
                                                  "50%", "95%",  "ESS_bulk", "ESS_tail", "R_hat"};
using Cells = std::array<std::string, 11>;

// Whole numbers where there are enough of them.
std::string show_size(double size, int significant) {
  return size >= 100 && size < 1e15 ? fmt::format("{:.0f}", size) : show(size, significant);
}

Cells cells_of(const SummaryRow& row, int significant) {
  Cells cells{printable(row.shown())};
  size_t at = 1;
  const auto place = [&](double value) { return show(value, digits_beside(value, row.sd, significant)); };
  cells[at++] = place(row.mean);
  for (const double value : {row.mcse, row.sd, row.mad}) cells[at++] = show(value, significant);
  for (const double value : {row.q5, row.q50, row.q95}) cells[at++] = place(value);
  cells[at++] = show_size(row.ess_bulk, significant);
  cells[at++] = show_size(row.ess_tail, significant);
  cells[at] = show(row.r_hat, std::max(significant, 3));  // 1.0 would hide what matters
  return cells;
}

std::string header(const Draws& draws) {
  const auto number = [](int64_t n) { return std::to_string(n); };
  std::string text = "Posterior of " + (draws.model.empty() ? "a model" : printable(draws.model)) + "\n" +
                     number(draws.chains) + (draws.chains == 1 ? " chain" : " chains") +
                     ": each with iter=" + number(draws.warmup + draws.draws * draws.thin) +
                     "; warmup=" + number(draws.warmup) + "; thin=" + number(draws.thin) + "; " +
                     number(draws.draws) + " iterations saved.\n";
  if (!draws.device.empty())
    text += "On " + printable(draws.device) + " in " + printable(draws.precision) + ".\n";
  // A run that was cut short does not tell its times.
  if (draws.seconds.total > 0 || draws.seconds.sampling > 0)
    text += "\nWarmup took " + show(draws.seconds.warmup, 2) + " seconds, sampling " +
            show(draws.seconds.sampling, 2) + " seconds, all of it " + show(draws.seconds.total, 2) +
            " seconds.\n";
  if (!draws.finished) text += "The run was stopped before all draws were made.\n";
  return text;
}

}  // namespace

std::string format_summary(const Draws& draws, const Summary& summary, int significant) {
  std::vector<Cells> rows(1);
  std::copy(headings.begin(), headings.end(), rows[0].begin());
  for (const SummaryRow& row : summary.stats) rows.push_back(cells_of(row, significant));
  for (const SummaryRow& row : summary.parameters) rows.push_back(cells_of(row, significant));
  std::array<size_t, 11> widths{};
  for (const Cells& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], character_count(row[i]));

  std::string text = header(draws) + "\n";
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line = rows[r][0] + std::string(widths[0] - character_count(rows[r][0]), ' ');
    for (size_t i = 1; i < rows[r].size(); ++i) line += fmt::format("  {:>{}}", rows[r][i], widths[i]);
    text += line + "\n";
    const bool ends_group = r == 0 || (r == summary.stats.size() && !summary.stats.empty());
    if (ends_group && r + 1 < rows.size()) text += "\n";
  }
  return text +
         "\nMCSE is the standard error of the mean, from its effective sample size. ESS_bulk and ESS_tail "
         "tell how\n"
         "many independent draws the centre and the tails are worth; R_hat compares chains and comes close "
         "to 1\n"
         "when they agree (at most 1.01 is good).\n";
}

}  // namespace adit
