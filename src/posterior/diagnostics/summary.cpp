#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include <adit/diagnostics.hpp>
#include <adit/error.hpp>

#include "posterior/diagnostics/chains.hpp"
#include "posterior/diagnostics/measures.hpp"
#include "posterior/diagnostics/parallel.hpp"
#include "posterior/element_labels.hpp"

namespace adit {

using namespace diagnostics;

namespace {

// Moments and quantiles only, for draws without variance or with values that are not finite.
SummaryRow plain_row(const std::string& name, std::span<const double> values) {
  SummaryRow row{.name = name};
  row.mean = mean_of(values);
  row.mcse = row.ess_bulk = row.ess_tail = row.r_hat = not_a_number;
  row.sd = std::sqrt(variance_of(values));
  row.mad = median_absolute_deviation(values);
  row.q5 = quantile(values, 0.05);
  row.q50 = quantile(values, 0.5);
  row.q95 = quantile(values, 0.95);
  return row;
}

// Everything that needs the draws in order shares one sort.
SummaryRow row_of(const std::string& name, ChainsView x, const NormalScores& table) {
  if (!varies(x.values)) return plain_row(name, x.values);
  const Ranked ranked = rank(x, table);
  SummaryRow row{.name = name};
  row.mean = mean_of(x.values);
  const double variance = variance_of(x.values);
  row.sd = std::sqrt(variance);
  row.mcse = std::sqrt(variance / effective_size(x));
  row.mad = 1.4826 * ranked.median_distance;
  row.q5 = sorted_quantile(ranked.sorted.values, 0.05);
  row.q50 = ranked.median;
  row.q95 = sorted_quantile(ranked.sorted.values, 0.95);
  row.ess_bulk = effective_size({ranked.bulk, x.chains});
  row.ess_tail = smaller(effective_size_below(x, row.q5), effective_size_above(x, row.q95));
  row.r_hat = larger(split_r_hat({ranked.bulk, x.chains}), split_r_hat({ranked.folded, x.chains}));
  return row;
}

// Neighbouring elements of one variable, or one column of the sampler's own: what a thread takes at once.
struct Piece {
  const std::vector<double>* values;
  const DrawsVariable* variable;  // none for the sampler's own
  const ElementLabels* labels;
  int64_t size, first, count;  // elements
  SummaryRow* rows;
};

// Elements lie side by side in memory: several are picked out of each cache line, as far as memory allows.
int64_t elements_at_once(int64_t draws) {
  return std::clamp<int64_t>((int64_t{64} << 20) / (8 * std::max<int64_t>(draws, 1)), 1, 8);
}

void summarise_piece(const Piece& piece, const Draws& draws, const NormalScores& table) {
  const int64_t total = draws.chains * draws.draws;
  std::vector<double> columns(static_cast<size_t>(total * piece.count));
  for (int64_t i = 0; i < total; ++i)
    for (int64_t e = 0; e < piece.count; ++e)
      columns[e * total + i] = (*piece.values)[i * piece.size + piece.first + e];
  for (int64_t e = 0; e < piece.count; ++e) {
    const std::span<const double> column(columns.data() + e * total, static_cast<size_t>(total));
    SummaryRow& row = piece.rows[e];
    const std::string name = piece.variable
                                 ? element_name(piece.variable->name, piece.variable->shape, piece.first + e)
                                 : std::move(row.name);
    row = row_of(name, {column, draws.chains}, table);
    if (piece.labels && piece.labels->any()) row.label = piece.labels->of(piece.first + e);
  }
}

std::vector<std::pair<const char*, const std::vector<double>*>> sampler_columns(const SampleStats& stats) {
  return {{"lp__", &stats.lp},
          {"accept_stat__", &stats.accept_stat},
          {"stepsize__", &stats.step_size},
          {"treedepth__", &stats.tree_depth},
          {"n_leapfrog__", &stats.n_leapfrog},
          {"divergent__", &stats.divergent},
          {"energy__", &stats.energy}};
}

void check_size(const std::string& name, size_t got, int64_t expected) {
  if (static_cast<int64_t>(got) == expected) return;
  throw Error(ErrorKind::bad_argument, "[summary] " + name + ": expected " + std::to_string(expected) +
                                           " values, got " + std::to_string(got));
}

}  // namespace

SummaryRow summarise(const std::string& name, ChainsView x) {
  check_chains("summarise", x);
  return row_of(name, x, NormalScores(split_count(x)));
}

Summary summary(const Draws& draws) {
  const int64_t total = draws.chains * draws.draws;
  Summary result;
  std::vector<Piece> pieces;
  for (const auto& [name, values] : sampler_columns(draws.stats)) {
    if (values->empty()) continue;  // files need not have them all
    check_size(name, values->size(), total);
    result.stats.push_back({.name = name});
    pieces.push_back({values, nullptr, nullptr, 1, 0, 1, nullptr});
  }
  for (size_t i = 0; i < pieces.size(); ++i) pieces[i].rows = &result.stats[i];

  int64_t elements = 0;
  for (const DrawsVariable& variable : draws.variables) {
    check_size(variable.name, variable.values.size(), total * variable.size());
    elements += variable.size();
  }
  result.parameters.resize(static_cast<size_t>(elements));
  const int64_t together = elements_at_once(total);
  SummaryRow* rows = result.parameters.data();
  std::deque<ElementLabels> labels;
  for (const DrawsVariable& variable : draws.variables) {
    labels.emplace_back(draws, variable);
    for (int64_t first = 0; first < variable.size(); first += together)
      pieces.push_back({&variable.values, &variable, &labels.back(), variable.size(), first,
                        std::min(together, variable.size() - first), rows + first});
    rows += variable.size();
  }

  const NormalScores table(draws.chains * (draws.draws / 2) * 2);  // of the split chains
  const bool large = total * (elements + static_cast<int64_t>(result.stats.size())) > 200'000;
  for_each_piece(static_cast<int64_t>(pieces.size()), large,
                 [&](int64_t i) { summarise_piece(pieces[i], draws, table); });
  return result;
}

}  // namespace adit
