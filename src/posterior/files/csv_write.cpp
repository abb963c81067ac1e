// Draws as CmdStan writes them: <stem>_1.csv, <stem>_2.csv, ... Comments that CmdStan does not know are ours;
// its readers skip them.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <adit/draws_origin.hpp>

#include "posterior/check.hpp"
#include "posterior/files/csv.hpp"
#include "posterior/precision.hpp"

namespace adit {
namespace {

using Buffer = fmt::memory_buffer;

template <class... Values>
void add(Buffer& to, fmt::format_string<Values...> form, Values&&... values) {
  fmt::format_to(std::back_inserter(to), form, std::forward<Values>(values)...);
}

// What a column is made of.
struct Column {
  std::string name;
  const std::vector<double>* values = nullptr;  // nullptr: zeros
  int64_t width = 1, element = 0;
};

void check_name(const std::string& name) {
  const auto bad = [](char c) { return c == ',' || c == '"' || static_cast<unsigned char>(c) < 32; };
  if (name.empty() || name.front() == '#' || name.ends_with("__") ||
      std::any_of(name.begin(), name.end(), bad))
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("[write_csv] name: expected one without commas, quotes, control characters, '#' in "
                    "front or '__' at its end, got {}",
                    in_quotes(name)));
}

void add_variables(std::vector<Column>& columns, const std::vector<DrawsVariable>& variables,
                   const std::string& head, const std::string& tail) {
  for (const DrawsVariable& variable : variables) {
    const std::string name = fmt::format("{}{}{}", head, variable.name, tail);
    check_name(name);
    for (const int64_t element : csv::column_order(variable.shape))
      columns.push_back(
          {csv::column_name(name, variable.shape, element), &variable.values, variable.size(), element});
  }
}

std::vector<Column> columns_of(const Draws& draws, const SampleStats& stats,
                               const std::vector<DrawsVariable>& variables) {
  std::vector<Column> columns;
  for (const csv::StatColumn& stat : csv::stat_columns()) {
    const std::vector<double>& values = stats.*stat.member;
    // A run without a sampler has these two as zeros, as CmdStan's fixed_param has.
    if (!values.empty())
      columns.push_back({stat.name, &values});
    else if (columns.size() < 2)
      columns.push_back({stat.name});
  }
  add_variables(columns, variables, "", "");
  add_variables(columns, draws.log_likelihood, "log_lik_", "");
  add_variables(columns, draws.posterior_predictive, "", "_rep");
  return columns;
}

// Rows of warm-up fill the same columns; what was not computed there is NaN.
std::vector<Column> warmup_columns_of(const Draws& draws, const std::vector<double>& absent) {
  std::vector<Column> columns = columns_of(draws, draws.warmup_stats, draws.warmup_variables);
  for (Column& column : columns)
    for (const auto* variables : {&draws.log_likelihood, &draws.posterior_predictive})
      for (const DrawsVariable& variable : *variables)
        if (column.values == &variable.values) column = {column.name, &absent};
  return columns;
}

// On one line, whatever the text holds.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }, ' ');
  return text;
}

std::string names_of(const std::vector<DrawsVariable>& variables) {
  std::string names;
  for (const DrawsVariable& variable : variables) names += (names.empty() ? "" : ",") + variable.name;
  return names;
}

void add_settings(Buffer& to, const Draws& draws) {
  add(to, "# method = sample\n#   sample\n#     num_samples = {}\n#     num_warmup = {}\n",
      draws.draws * draws.thin, draws.warmup);
  add(to, "#     save_warmup = {}\n#     thin = {}\n", draws.warmup_draws > 0 ? 1 : 0, draws.thin);
  add(to, "#     adapt\n#       engaged = {}\n#       delta = {}\n", draws.warmup > 0 ? 1 : 0,
      draws.adapt_delta);
  if (draws.stats.lp.empty())
    add(to, "#     algorithm = fixed_param\n");
  else
    add(to,
        "#     algorithm = hmc\n#       hmc\n#         engine = nuts\n#           nuts\n"
        "#             max_depth = {}\n#         metric = {}_e\n",
        draws.max_depth, draws.metric);
  add(to, "#     num_chains = {}\n", draws.chains);
}

void add_header(Buffer& to, const Draws& draws, const std::string& run, int64_t chain) {
  add(to, "# adit_version = {}\n# adit_run = {}\n# model = {}\n", ADIT_VERSION, run, one_line(draws.model));
  add_settings(to, draws);
  add(to, "# id = {}\n# init = {}\n# random\n#   seed = {}\n", chain + 1, one_line(draws.inits), draws.seed);
  add(to, "# device = {}\n# precision = {}\n# layout = {}\n", one_line(draws.device), draws.precision,
      one_line(draws.layout));
  add(to, "# leapfrogs = {}\n# warmup_divergences = {}\n# energy_error = {}\n", draws.leapfrogs,
      draws.warmup_divergences, draws.energy_error);
  add(to, "# gradient_error = {}\n# wider = {}\n", draws.gradient_error, one_line(draws.wider));
  const auto add_known = [&](const char* name, double number) {
    if (!std::isnan(number)) add(to, "# {} = {}\n", name, number);
  };
  add_known("energy_error_before", draws.energy_error_before);
  add_known("gradient_error_before", draws.gradient_error_before);
  for (size_t i = 0; i < draws.notes.size(); ++i)
    add(to, "# note_{} = {}\n", i + 1, one_line(draws.notes[i]));
  if (!draws.log_likelihood.empty()) add(to, "# log_likelihood = {}\n", names_of(draws.log_likelihood));
  if (!draws.posterior_predictive.empty())
    add(to, "# posterior_predictive = {}\n", names_of(draws.posterior_predictive));
  add(to, "# finished = {}\n", draws.finished ? 1 : 0);
}

void add_adaptation(Buffer& to, const Draws& draws, size_t chain) {
  if (draws.step_sizes.empty()) return;
  add(to, "# Adaptation terminated\n# Step size = {:.17g}\n", draws.step_sizes[chain]);
  if (draws.inverse_metrics.empty()) return;
  const std::vector<double>& metric = draws.inverse_metrics[chain];
  const bool dense = draws.metric == "dense";
  const auto side = static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(metric.size()))));
  const size_t width = dense ? side : metric.size();
  add(to, "# {} of inverse mass matrix:\n", dense ? "Elements" : "Diagonal elements");
  for (size_t i = 0; i < metric.size(); i++)
    add(to, "{}{:.17g}{}", i % width == 0 ? "# " : ", ", metric[i], i % width == width - 1 ? "\n" : "");
}

void add_rows(Buffer& to, const Draws& draws, const std::vector<Column>& columns, int64_t chain,
              int64_t rows) {
  const bool is_short = is_single(draws.precision);
  // Log densities and energies of chains in f32 may be wider than those: they are sums with what the data
  // add.
  const auto digits_of = [&](const Column& column, double value) {
    const bool may_be_wide = column.name == "lp__" || column.name == "energy__";
    return is_short && (!may_be_wide || value == static_cast<float>(value)) ? 9 : 17;
  };
  for (int64_t row = chain * rows; row < (chain + 1) * rows; row++) {
    for (const Column& column : columns) {
      const size_t at = static_cast<size_t>(row * column.width + column.element);
      const double value = column.values ? (*column.values)[at] : 0.0;
      add(to, "{:.{}g},", std::isnan(value) ? std::abs(value) : value,
          digits_of(column, value));  // nan alone
    }
    to.data()[to.size() - 1] = '\n';  // there are two columns at least
  }
}

void add_times(Buffer& to, const Seconds& seconds) {
  add(to, "# \n#  Elapsed Time: {} seconds (Warm-up)\n", seconds.warmup);
  add(to, "#                {} seconds (Sampling)\n", seconds.sampling);
  add(to, "#                {} seconds (Total)\n# \n", seconds.total);
}

}  // namespace

void write_csv(const Draws& draws, const std::string& stem) {
  check_draws("write_csv", draws);
  const std::vector<Column> columns = columns_of(draws, draws.stats, draws.variables);
  const std::vector<double> absent(static_cast<size_t>(draws.chains * draws.warmup_draws), std::nan(""));
  const std::vector<Column> warmup =
      draws.warmup_draws > 0 ? warmup_columns_of(draws, absent) : std::vector<Column>{};
  const std::string run = run_name(draws);
  NewFiles files(Links::replaced);
  for (int64_t chain = 0; chain < draws.chains; chain++) {
    Buffer text;
    add_header(text, draws, run, chain);
    for (const Column& column : columns) add(text, "{},", column.name);
    text.data()[text.size() - 1] = '\n';
    add_rows(text, draws, warmup, chain, draws.warmup_draws);
    add_adaptation(text, draws, static_cast<size_t>(chain));
    add_rows(text, draws, columns, chain, draws.draws);
    add_times(text, draws.seconds);
    const std::string path = fmt::format("{}_{}.csv", stem, chain + 1);
    files.add({"write_csv", path}, path, std::as_bytes(std::span(text.data(), text.size())));
  }
  files.commit();
}

}  // namespace adit
