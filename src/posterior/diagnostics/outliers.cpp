// Which chains sit elsewhere: R-hat tells that chains disagree, this tells who.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <mutex>

#include <adit/text.hpp>

#include "posterior/diagnostics/chains.hpp"
#include "posterior/diagnostics/checks.hpp"
#include "posterior/diagnostics/format.hpp"
#include "posterior/diagnostics/parallel.hpp"

namespace adit::diagnostics {
namespace {

// The worst number of a chain.
struct Outlier {
  double distance = 0;  // in standard deviations of a usual chain
  double here = 0, elsewhere = 0;
  const DrawsVariable* variable = nullptr;
  int64_t element = 0;
  bool moved = false;  // in any number
  bool stuck = false;  // in all of them, while most chains move
};

// Far on the scale of the posterior, and far from how chains scatter.
constexpr double far_in_spreads = 2, far_in_scatters = 6;

std::vector<double> distances(const std::vector<double>& centres, const std::vector<double>& spreads) {
  const double middle = quantile(centres, 0.5), spread = quantile(spreads, 0.5);
  const double scatter = median_absolute_deviation(centres);
  std::vector<double> result(centres.size());
  if (!(spread > 0)) return result;
  for (size_t c = 0; c < centres.size(); ++c) {
    const double away = std::fabs(centres[c] - middle);
    if (away > far_in_spreads * spread && away > far_in_scatters * scatter) result[c] = away / spread;
  }
  return result;
}

bool any_far(const std::vector<double>& distances) {
  return std::any_of(distances.begin(), distances.end(), [](double d) { return d > 0; });
}

// First by means, which is quick; what is found must hold for medians too, which heavy tails do not fool.
void judge(const std::vector<double>& values, const Draws& draws, const DrawsVariable& variable,
           int64_t element, std::vector<Outlier>& worst, std::mutex& mutex) {
  const int64_t length = draws.draws;
  std::vector<double> centres, spreads;
  for (int64_t c = 0; c < draws.chains; ++c) {
    const double* chain = values.data() + c * length;
    centres.push_back(mean_of(chain, length));
    spreads.push_back(std::sqrt(variance_of(chain, length, centres.back())));
  }
  if (!(quantile(spreads, 0.5) > 0)) return;
  {
    std::lock_guard lock(mutex);
    for (int64_t c = 0; c < draws.chains; ++c) worst[c].moved = worst[c].moved || spreads[c] > 0;
  }
  if (!any_far(distances(centres, spreads))) return;
  std::vector<double> medians, widths;
  for (int64_t c = 0; c < draws.chains; ++c) {
    const std::span<const double> chain(values.data() + c * length, static_cast<size_t>(length));
    medians.push_back(quantile(chain, 0.5));
    widths.push_back(median_absolute_deviation(chain));
  }
  const std::vector<double> far = distances(medians, widths);
  const double middle = quantile(medians, 0.5);
  std::lock_guard lock(mutex);
  for (int64_t c = 0; c < draws.chains; ++c) {
    if (far[c] > worst[c].distance) {
      worst[c].distance = far[c];
      worst[c].here = medians[c];
      worst[c].elsewhere = middle;
      worst[c].variable = &variable;
      worst[c].element = element;
    }
  }
}

std::vector<Outlier> find(const Draws& draws) {
  std::vector<Outlier> worst(static_cast<size_t>(draws.chains));
  struct Piece {
    const DrawsVariable* variable;
    int64_t first, count;
  };
  constexpr int64_t together = 8;  // elements of one cache line
  std::vector<Piece> pieces;
  for (const DrawsVariable& variable : draws.variables)
    for (int64_t first = 0; first < variable.size(); first += together)
      pieces.push_back({&variable, first, std::min(together, variable.size() - first)});
  const int64_t total = draws.chains * draws.draws;
  std::mutex mutex;
  for_each_piece(static_cast<int64_t>(pieces.size()), total > 20'000, [&](int64_t i) {
    const auto [variable, first, count] = pieces[i];
    std::vector<std::vector<double>> columns(static_cast<size_t>(count),
                                             std::vector<double>(static_cast<size_t>(total)));
    for (int64_t d = 0; d < total; ++d)
      for (int64_t e = 0; e < count; ++e) columns[e][d] = variable->values[d * variable->size() + first + e];
    for (int64_t e = 0; e < count; ++e)
      if (all_finite(columns[e])) judge(columns[e], draws, *variable, first + e, worst, mutex);
  });
  const bool moves = std::any_of(worst.begin(), worst.end(), [](const Outlier& o) { return o.moved; });
  for (Outlier& outlier : worst) outlier.stuck = moves && !outlier.moved;
  return worst;
}

// " (lp__ averages -55 there, -12 elsewhere)"
std::string compare_densities(const Draws& draws, int64_t chain) {
  if (static_cast<int64_t>(draws.stats.lp.size()) != draws.chains * draws.draws) return "";
  std::vector<double> means;
  for (int64_t c = 0; c < draws.chains; ++c)
    means.push_back(mean_of(draws.stats.lp.data() + c * draws.draws, draws.draws));
  const double here = means[chain];
  return fmt::format(" (lp__ averages {} there, {} elsewhere)", show(here, 3), show(quantile(means, 0.5), 3));
}

std::string describe(const Draws& draws, int64_t chain, const Outlier& outlier) {
  std::string text = "chain " + std::to_string(chain + 1);
  if (outlier.stuck) text += " never moved";
  if (!outlier.variable) return text;
  return text + fmt::format("{} has {} around {} instead of {}{}", outlier.stuck ? " and" : "",
                            printable(element_label(draws, *outlier.variable, outlier.element)),
                            show(outlier.here, 3), show(outlier.elsewhere, 3),
                            compare_densities(draws, chain));
}

}  // namespace

Check check_outliers(const Draws& draws) {
  Check check{"Chains", "none sits elsewhere", ""};
  if (draws.chains < 3 || draws.draws < 4) {
    check.finding = "too few to tell which one is right";
    return check;
  }
  const std::vector<Outlier> worst = find(draws);
  std::vector<int64_t> chains;
  for (int64_t c = 0; c < draws.chains; ++c)
    if (worst[c].stuck || worst[c].variable) chains.push_back(c);
  if (chains.empty()) return check;
  std::stable_sort(chains.begin(), chains.end(), [&](int64_t a, int64_t b) {
    return std::pair(worst[a].stuck, worst[a].distance) > std::pair(worst[b].stuck, worst[b].distance);
  });
  // Only those that are named are described: of a million chains thousands may sit elsewhere.
  constexpr size_t named = 3;
  std::vector<std::string> descriptions(chains.size());
  for (size_t i = 0; i < std::min(named, chains.size()); ++i)
    descriptions[i] = describe(draws, chains[i], worst[chains[i]]);
  check.finding = fmt::format("{} of {} sit elsewhere or never moved", show_count(chains.size()),
                              show_count(draws.chains));
  check.warning = fmt::format(
      "{} of {} chains {} elsewhere than the rest or never moved: {}. Look at their traces: the posterior "
      "may have "
      "several modes, or a start was bad. Start elsewhere or warm up longer; do not just drop them.",
      show_count(chains.size()), show_count(draws.chains), chains.size() == 1 ? "sits" : "sit",
      list_some(descriptions, named));
  return check;
}

}  // namespace adit::diagnostics
