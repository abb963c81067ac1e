// CSV files, one a chain, as the draws of one run.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include <adit/text.hpp>

#include "posterior/files/csv.hpp"

namespace adit::csv {
namespace {

void same_columns(const Place& place, const File& file, const std::string& first_path, const File& first) {
  const auto [here, there] =
      std::mismatch(file.columns.begin(), file.columns.end(), first.columns.begin(), first.columns.end());
  if (here == file.columns.end() && there == first.columns.end()) return;
  const auto shown = [](auto at, auto end) { return at == end ? "no more columns" : in_quotes(*at); };
  place.fail(fmt::format("expected the columns of {}: at column {} {}, got {}", printable(first_path),
                         here - file.columns.begin() + 1, shown(there, first.columns.end()),
                         shown(here, file.columns.end())));
}

// Chains of two runs, or one chain twice, where the files tell: ours do.
void expect_one_run(const std::vector<std::string>& paths, const std::vector<File>& files) {
  const std::string run = files.front().config.text("adit_run");
  std::map<std::string, size_t> seen;  // by the number of the chain
  for (size_t i = 0; i < files.size(); i++) {
    const Place place{"read_draws", paths[i]};
    const Config& config = files[i].config;
    if (config.text("adit_run") != run)
      place.fail(fmt::format("expected a chain of the run of {}, got one of another run", paths.front()));
    const auto [other, is_new] = seen.emplace(config.text("id"), i);
    if (!run.empty() && !is_new)
      place.fail(fmt::format("expected another chain than {} has, got the same", paths[other->second]));
  }
}

void read_config(Draws& draws, const Config& config) {
  draws.model = config.text("model");
  draws.warmup = config.integer("num_warmup", 0);
  draws.thin = config.integer("thin", 1);
  draws.max_depth = config.integer("max_depth", draws.max_depth);
  draws.adapt_delta = config.number("delta", draws.adapt_delta);
  const std::string seed = config.text("seed");
  std::from_chars(seed.data(), seed.data() + seed.size(), draws.seed);
  draws.metric = config.text("metric", "diag_e");
  if (draws.metric.ends_with("_e")) draws.metric.resize(draws.metric.size() - 2);
  draws.inits = config.text("init", draws.inits);
  draws.device = config.text("device");
  draws.precision = config.text("precision", draws.precision);
  draws.layout = config.text("layout");
  draws.energy_error = config.number("energy_error", 0);
  draws.gradient_error = config.number("gradient_error", 0);
  draws.energy_error_before = config.number("energy_error_before", NAN);
  draws.gradient_error_before = config.number("gradient_error_before", NAN);
  draws.wider = config.text("wider", draws.wider);
  for (size_t i = 1; !config.text(fmt::format("note_{}", i)).empty(); ++i)
    draws.notes.push_back(config.text(fmt::format("note_{}", i)));
}

// Of the whole run: its chains ran side by side.
void read_ends(Draws& draws, const std::vector<File>& files) {
  bool every_step_size = true, every_metric = true;
  for (const File& file : files) {
    draws.seconds.warmup = std::max(draws.seconds.warmup, file.warmup_seconds);
    draws.seconds.sampling = std::max(draws.seconds.sampling, file.sampling_seconds);
    draws.seconds.total = std::max(draws.seconds.total, file.total_seconds);
    draws.finished = draws.finished && file.finished && file.rows == files.front().rows;
    every_step_size &= file.step_size.has_value();
    every_metric &=
        !file.inverse_metric.empty() && file.inverse_metric.size() == files.front().inverse_metric.size();
  }
  for (const File& file : files) {
    if (every_step_size) draws.step_sizes.push_back(*file.step_size);
    if (every_metric) draws.inverse_metrics.push_back(file.inverse_metric);
  }
}

std::vector<double> column_values(const std::vector<File>& files, int64_t rows,
                                  const std::vector<size_t>& columns) {
  std::vector<double> values;
  values.reserve(files.size() * static_cast<size_t>(rows) * columns.size());
  for (const File& file : files)
    for (int64_t row = 0; row < rows; row++) {
      const double* numbers = file.values.data() + row * std::ssize(file.columns);
      for (const size_t column : columns) values.push_back(numbers[column]);
    }
  return values;
}

void read_stats(Draws& draws, const std::vector<File>& files) {
  const std::vector<std::string>& columns = files.front().columns;
  for (const StatColumn& stat : stat_columns()) {
    const auto at = std::find(columns.begin(), columns.end(), stat.name);
    if (at == columns.end()) continue;
    draws.stats.*stat.member = column_values(files, draws.draws, {static_cast<size_t>(at - columns.begin())});
  }
  const Config& config = files.front().config;
  double leapfrogs = 0;
  for (const double count : draws.stats.n_leapfrog) leapfrogs += count;
  const auto fallback = static_cast<int64_t>(std::clamp(leapfrogs, 0.0, 1e18));
  draws.leapfrogs = static_cast<uint64_t>(config.integer("leapfrogs", fallback));
  draws.warmup_divergences = static_cast<uint64_t>(config.integer("warmup_divergences", 0));
}

// Our files tell in "log_likelihood = y,z" which of the columns are no parameters; see csv_write.cpp.
std::vector<std::string> listed(const Config& config, const std::string& key) {
  std::vector<std::string> names;
  std::string rest = config.text(key);
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    names.push_back(rest.substr(0, comma));
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
  }
  return names;
}

void move_listed(std::vector<DrawsVariable>& from, std::vector<DrawsVariable>& to,
                 const std::vector<std::string>& names, const std::string& head, const std::string& tail) {
  for (const std::string& name : names) {
    const std::string column = fmt::format("{}{}{}", head, name, tail);
    const auto at = std::find_if(from.begin(), from.end(),
                                 [&](const DrawsVariable& variable) { return variable.name == column; });
    if (at == from.end()) continue;
    to.push_back(std::move(*at));
    to.back().name = name;
    from.erase(at);
  }
}

}  // namespace

Draws read(const std::vector<std::string>& paths, const std::vector<Bytes>& contents) {
  std::vector<File> files;
  for (size_t i = 0; i < paths.size(); i++) {
    const Place place{"read_draws", printable(paths[i])};
    const auto* text = reinterpret_cast<const char*>(contents[i].data());
    files.push_back(parse(place, {text, contents[i].size()}));
    same_columns(place, files.back(), paths.front(), files.front());
  }
  expect_one_run(paths, files);
  Draws draws;
  draws.chains = std::ssize(files);
  draws.draws = files.front().rows;
  for (const File& file : files) draws.draws = std::min(draws.draws, file.rows);
  const Config& config = files.front().config;
  read_config(draws, config);
  read_ends(draws, files);
  read_stats(draws, files);
  for (const Group& group : group_columns({"read_draws", printable(paths.front())}, files.front().columns))
    draws.variables.push_back({group.name, group.shape,
                               std::vector<std::string>(static_cast<size_t>(group.shape.size())),
                               column_values(files, draws.draws, group.columns)});
  move_listed(draws.variables, draws.log_likelihood, listed(config, "log_likelihood"), "log_lik_", "");
  move_listed(draws.variables, draws.posterior_predictive, listed(config, "posterior_predictive"), "",
              "_rep");
  return draws;
}

}  // namespace adit::csv
