#include "posterior/report/material.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <adit/error.hpp>

namespace adit::report {

namespace {

constexpr int64_t coloured_chains = 8;
constexpr int64_t enough_values = 200000;

bool has_two_values(const std::vector<double>& values) {
  Range seen = Range::none();
  for (const double value : values) seen.include(value);
  return !seen.empty() && seen.low < seen.high;
}

bool varies(const Draws& draws, const Element& element) {
  const double sd = element.row->sd;
  // Sums of equal numbers round: a constant's deviation need not be 0.
  if (drawable(sd) && drawable(element.row->mean)) return sd > 1e-13 * std::fabs(element.row->mean);
  return has_two_values(element_draws(draws, draws.variables[element.variable], element.index));
}

double badness(const SummaryRow& row) {
  if (!std::isfinite(row.r_hat) || !std::isfinite(row.ess_bulk) || !std::isfinite(row.ess_tail))
    return std::numeric_limits<double>::infinity();
  const double ess = std::max(1.0, std::min(row.ess_bulk, row.ess_tail));
  return std::max((row.r_hat - 1) / 0.01, 400 / ess);
}

void check(const Draws& draws) {
  const auto total = static_cast<size_t>(draws.chains * draws.draws);
  for (const auto& variable : draws.variables)
    if (variable.values.size() != total * static_cast<size_t>(variable.size()))
      throw Error(ErrorKind::bad_argument, "[write_report] draws: expected " +
                                               std::to_string(total * static_cast<size_t>(variable.size())) +
                                               " values of " + variable.name + ", got " +
                                               std::to_string(variable.values.size()));
}

}  // namespace

bool Material::many_chains() const { return draws->chains > coloured_chains; }

Material collect(const Draws& draws) {
  check(draws);
  Material material;
  material.draws = &draws;
  const auto total = static_cast<size_t>(draws.chains * draws.draws);
  if (total == 0) return material;
  material.summary = summary(draws);
  const auto& rows = material.summary.parameters;
  for (size_t v = 0; v < draws.variables.size(); ++v)
    for (int64_t i = 0; i < draws.variables[v].size(); ++i) {
      if (material.elements.size() == rows.size())
        throw Error(ErrorKind::internal, "[write_report] summary: expected a row for every element");
      Element element{v, i, &rows[material.elements.size()]};
      element.varies = varies(draws, element);
      element.badness = element.varies ? badness(*element.row) : 0;
      material.elements.push_back(element);
    }
  if (draws.stats.divergent.size() == total)
    for (size_t i = 0; i < total; ++i)
      if (draws.stats.divergent[i] != 0) material.divergent.push_back(static_cast<int64_t>(i));
  return material;
}

Selection select(const Material& material, size_t most) {
  std::vector<const Element*> varying;
  for (const auto& element : material.elements)
    if (element.varies) varying.push_back(&element);
  Selection selection;
  selection.varying = varying.size();
  if (varying.size() > most) {
    // Half of the places for the worst, the rest for the first of every variable, then the next ones.
    auto order = varying;
    std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->badness > b->badness; });
    std::vector<const Element*> chosen(order.begin(), order.begin() + static_cast<int64_t>(most / 2));
    auto by_index = varying;
    std::stable_sort(by_index.begin(), by_index.end(), [](auto* a, auto* b) { return a->index < b->index; });
    for (auto* element : by_index)
      if (chosen.size() < most && std::find(chosen.begin(), chosen.end(), element) == chosen.end())
        chosen.push_back(element);
    const std::vector<const Element*> worst(chosen.begin(), chosen.begin() + static_cast<int64_t>(most / 2));
    std::sort(chosen.begin(), chosen.end());  // the order of the summary: they lie in one array
    varying = chosen;
    for (auto* element : chosen)
      selection.worst.push_back(element->badness > 1 &&
                                std::find(worst.begin(), worst.end(), element) != worst.end());
  } else {
    selection.worst.assign(varying.size(), false);
  }
  selection.elements = varying;
  return selection;
}

Series series(const Material& material, const Element& element) {
  const Draws& draws = *material.draws;
  Series out;
  out.values = element_draws(draws, draws.variables[element.variable], element.index);
  out.chains = draws.chains;
  out.length = draws.draws;
  const auto total = static_cast<int64_t>(out.values.size());
  for (const int64_t i : evenly(total, enough_values))
    if (drawable(out.values[static_cast<size_t>(i)]))
      out.sorted.push_back(out.values[static_cast<size_t>(i)]);
  std::sort(out.sorted.begin(), out.sorted.end());
  return out;
}

std::vector<int64_t> evenly(int64_t size, int64_t count) {
  count = std::min(size, count);
  std::vector<int64_t> places(static_cast<size_t>(std::max<int64_t>(0, count)));
  for (int64_t i = 0; i < count; ++i)
    places[static_cast<size_t>(i)] = static_cast<int64_t>(
        (static_cast<double>(i) + 0.5) * static_cast<double>(size) / static_cast<double>(count));
  return places;
}

}  // namespace adit::report
