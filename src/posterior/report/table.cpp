// The summary in stansummary's columns.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "posterior/report/plots.hpp"
#include "posterior/report/text.hpp"

namespace adit::report {

namespace {

constexpr size_t most_shown = 2000;

// Hints, where a number is worse than the usual limits.
std::string_view r_hat_class(double value) {
  return !(value <= 1.05) ? "bad" : !(value <= 1.01) ? "warn" : "";
}
std::string_view ess_class(double value) { return !(value >= 100) ? "bad" : !(value >= 400) ? "warn" : ""; }

std::string cell(const std::string& text, std::string_view style = "") {
  return style.empty() ? "<td>" + text + "</td>" : fmt::format("<td class=\"{}\">{}</td>", style, text);
}

std::string row_of(const SummaryRow& row, double seconds, bool judged) {
  std::string out = "<tr><th>" + escape(row.shown()) + "</th>";
  const auto place = [&](double value) { return cell(number_beside(value, row.sd)); };
  out += place(row.mean);
  for (const double value : {row.mcse, row.sd, row.mad}) out += cell(number(value));
  for (const double value : {row.q5, row.q50, row.q95}) out += place(value);
  out += cell(count(row.ess_bulk), judged ? ess_class(row.ess_bulk) : "");
  out += cell(count(row.ess_tail), judged ? ess_class(row.ess_tail) : "");
  if (seconds > 0) out += cell(count(row.ess_bulk / seconds));
  out += cell(number(row.r_hat, 4), judged ? r_hat_class(row.r_hat) : "");
  return out + "</tr>\n";
}

}  // namespace

std::string summary_table(const Material& material) {
  const auto& rows = material.elements;
  const double seconds = material.draws->seconds.sampling;
  std::string out;
  if (rows.size() > most_shown)
    out += fmt::format("<p>The first {} of {} elements are shown.</p>",
                       count(static_cast<double>(most_shown)), count(static_cast<double>(rows.size())));
  out +=
      "<p class=\"filter\" hidden><label>Show names with <input type=\"search\" id=\"filter\"></label></p>"
      "<div class=\"wide tall\"><table "
      "id=\"table\"><thead><tr><th>Name</th><th>Mean</th><th>MCSE</th><th>StdDev</th>"
      "<th>MAD</th><th>5%</th><th>50%</th><th>95%</th><th>ESS_bulk</th><th>ESS_tail</th>";
  if (seconds > 0) out += "<th>ESS_bulk/s</th>";
  out += "<th>R_hat</th></tr></thead>\n<tbody class=\"stats\">";
  // Step sizes do not vary, and of counts nobody asks the effective size: only lp__ is judged.
  for (const auto& row : material.summary.stats) out += row_of(row, seconds, row.name == "lp__");
  out += "</tbody>\n<tbody>";
  for (size_t i = 0; i < std::min(rows.size(), most_shown); ++i) {
    const bool all_missing = std::isnan(rows[i].row->mean) && std::isnan(rows[i].row->q50);
    out += row_of(*rows[i].row, seconds, rows[i].varies || all_missing);
  }
  return out + "</tbody></table></div>";
}

}  // namespace adit::report
