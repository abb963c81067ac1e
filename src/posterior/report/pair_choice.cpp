// Which elements to plot against each other: those with bad diagnostics, those where divergences gather, and
// those that belong together, as the scale and the member of a funnel do.
#include <algorithm>
#include <cmath>

#include "posterior/report/plots.hpp"

namespace adit::report {

namespace {

constexpr size_t most_candidates = 160;
constexpr int64_t sample_size = 400;

// Ranks from -1 to 1 with variance 1/3; equal values get their mean rank.
std::vector<double> centred_ranks(const std::vector<double>& values) {
  const size_t size = values.size();
  std::vector<size_t> order(size);
  for (size_t i = 0; i < size; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(size);
  for (size_t from = 0, to = 0; from < size; from = to) {
    while (to < size && values[order[to]] == values[order[from]]) ++to;
    const double rank = static_cast<double>(from + to) / static_cast<double>(size) - 1;
    for (size_t i = from; i < to; ++i) ranks[order[i]] = rank;
  }
  return ranks;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return 3 * sum / static_cast<double>(a.size());
}

struct Candidate {
  const Element* element;
  std::vector<double> ranks, distances;  // of the value, and of how far it lies from its median
  double score = 0;
};

// How telling two are together: the spread of one follows the other, or they are correlated.
double funnel(const Candidate& a, const Candidate& b) {
  const double spread =
      std::max(std::fabs(correlation(a.ranks, b.distances)), std::fabs(correlation(b.ranks, a.distances)));
  return std::max(spread, 0.7 * std::fabs(correlation(a.ranks, b.ranks)));
}

// From 0 to 1: how far from the middle the divergent draws lie.
double displacement(const Candidate& candidate, const std::vector<bool>& divergent) {
  double sum = 0, square = 0, count = 0;
  for (size_t i = 0; i < divergent.size(); ++i)
    if (divergent[i]) sum += candidate.ranks[i], square += std::pow(candidate.ranks[i], 2), ++count;
  return count < 3 ? 0 : std::max(std::fabs(sum / count), std::fabs(square / count - 1.0 / 3));
}

std::vector<Candidate> candidates(const Material& material) {
  const Draws& draws = *material.draws;
  const Selection selection = select(material, most_candidates);
  // Divergent draws are few among many: they are always in.
  std::vector<int64_t> places = evenly(draws.chains * draws.draws, sample_size);
  for (const int64_t i : evenly(static_cast<int64_t>(material.divergent.size()), 100))
    places.push_back(material.divergent[static_cast<size_t>(i)]);
  std::vector<bool> divergent(places.size());
  for (size_t i = 0; i < places.size(); ++i)
    divergent[i] = std::binary_search(material.divergent.begin(), material.divergent.end(), places[i]);
  std::vector<Candidate> out;
  for (const Element* element : selection.elements) {
    const auto& variable = draws.variables[element->variable];
    std::vector<double> values, distances;
    for (const int64_t place : places)
      values.push_back(variable.values[static_cast<size_t>(place * variable.size() + element->index)]);
    if (!std::all_of(values.begin(), values.end(), [](double v) { return drawable(v); })) continue;
    const double median = quantile(values, 0.5);
    for (const double value : values) distances.push_back(std::fabs(value - median));
    Candidate candidate{element, centred_ranks(values), centred_ranks(distances)};
    candidate.score = std::min(2.0, 0.3 * element->badness) + displacement(candidate, divergent);
    out.push_back(std::move(candidate));
  }
  return out;
}

}  // namespace

std::vector<const Element*> telling_elements(const Material& material, size_t most) {
  const auto all = candidates(material);
  std::vector<double> links(all.size() * all.size(), 0.0);
  std::vector<double> best(all.size(), 0.0);
  for (size_t a = 0; a < all.size(); ++a)
    for (size_t b = a + 1; b < all.size(); ++b) {
      const double link = funnel(all[a], all[b]);
      links[a * all.size() + b] = links[b * all.size() + a] = link;
      best[a] = std::max(best[a], link), best[b] = std::max(best[b], link);
    }
  std::vector<size_t> chosen;
  std::vector<bool> out_of_play(all.size(), false);
  while (chosen.size() < most) {
    size_t next = all.size();
    double highest = -1;
    for (size_t i = 0; i < all.size(); ++i) {
      if (out_of_play[i]) continue;
      double score = all[i].score + best[i];
      for (const size_t c : chosen) {
        score = std::max(score, all[i].score + 1.5 * links[c * all.size() + i]);
      }
      // Elements of one variable tell the same story.
      for (const size_t c : chosen) score *= all[c].element->variable == all[i].element->variable ? 0.6 : 1.0;
      if (score > highest) highest = score, next = i;
    }
    if (next == all.size()) break;
    chosen.push_back(next);
    // One a monotone function of the other, as log(x) is of x, is not shown twice.
    for (size_t i = 0; i < all.size(); ++i)
      out_of_play[i] =
          out_of_play[i] || i == next || std::fabs(correlation(all[i].ranks, all[next].ranks)) > 0.999;
  }
  std::sort(chosen.begin(), chosen.end());
  std::vector<const Element*> elements;
  for (const size_t c : chosen) elements.push_back(all[c].element);
  return elements;
}

}  // namespace adit::report
