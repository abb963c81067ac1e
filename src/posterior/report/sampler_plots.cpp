// How the sampler fared: energies, tree depths, acceptance.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "posterior/report/frame.hpp"
#include "posterior/report/plots.hpp"
#include "posterior/report/text.hpp"

namespace adit::report {

namespace {

struct Energies {
  std::vector<double> marginal, transition;  // sorted; about each chain's mean, and from draw to draw
};

Energies energies(const Draws& draws) {
  Energies out;
  for (int64_t c = 0; c < draws.chains; ++c) {
    const auto chain = std::span(draws.stats.energy)
                           .subspan(static_cast<size_t>(c * draws.draws), static_cast<size_t>(draws.draws));
    double sum = 0, finite = 0;
    for (const double value : chain)
      if (drawable(value)) sum += value, ++finite;
    for (size_t i = 0; i < chain.size(); ++i) {
      if (drawable(chain[i])) out.marginal.push_back(chain[i] - sum / finite);
      if (i > 0 && drawable(chain[i] - chain[i - 1])) out.transition.push_back(chain[i] - chain[i - 1]);
    }
  }
  std::sort(out.marginal.begin(), out.marginal.end());
  std::sort(out.transition.begin(), out.transition.end());
  return out;
}

// "E-BFMI 0.91, 0.88, ..." or the range of many.
std::string bfmi_words(const Draws& draws) {
  const auto values = e_bfmi(draws);
  if (values.empty()) return {};
  std::string out = "E-BFMI ";
  if (values.size() <= 8) {
    for (size_t c = 0; c < values.size(); ++c) out += (c ? ", " : "") + number(values[c], 2);
    return out;
  }
  std::vector<double> sorted;
  std::copy_if(values.begin(), values.end(), std::back_inserter(sorted),
               [](double v) { return drawable(v); });
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty()) return {};
  const auto low = std::count_if(values.begin(), values.end(), [](double v) { return v < 0.3; });
  return out + fmt::format("{} to {}, median {}; {} of {} chains below 0.3", number(sorted.front(), 2),
                           number(sorted.back(), 2), number(sorted_quantile(sorted, 0.5), 2),
                           count(static_cast<double>(low)), count(static_cast<double>(values.size())));
}

void draw_area(Svg& svg, const Frame& frame, const Range& range, const std::vector<double>& heights,
               const std::string& style) {
  Path path;
  path.line(frame.x(range.low), frame.y(0));
  for (size_t i = 0; i < heights.size(); ++i)
    path.line(
        frame.x(range.low + range.width() * static_cast<double>(i) / static_cast<double>(heights.size() - 1)),
        frame.y(heights[i]));
  path.line(frame.x(range.high), frame.y(0));
  path.close();
  svg.path(path, style);
}

std::string energy_plot(const Draws& draws) {
  const Energies all = energies(draws);
  if (all.marginal.size() < 10 || !(all.marginal.front() < all.marginal.back())) return {};
  Range range = display_range(all.marginal);
  if (!all.transition.empty()) {
    const Range other = display_range(all.transition);
    range.include(other.low), range.include(other.high);
  }
  const auto marginal = smooth_density(all.marginal, range, 120);
  const auto transition = smooth_density(all.transition, range, 120);
  Range heights{0, 0};
  for (const auto* curve : {&marginal, &transition})
    for (const double height : *curve) heights.include(height);
  heights.high *= 1.05;
  Svg svg(300, 180, "Energy: marginal and transition");
  const Frame frame(svg, range, heights, {.x_label = "energy about its mean", .y_ticks = false});
  draw_area(svg, frame, range, marginal, "area one");
  draw_area(svg, frame, range, transition, "area two");
  return figure(fmt::format("Energy <small><span class=\"t0\">marginal</span>, <span "
                            "class=\"t1\">transition</span>; {}</small>",
                            bfmi_words(draws)),
                svg.finish());
}

std::string depth_plot(const Draws& draws) {
  std::map<int64_t, double> counts;
  for (const double depth : draws.stats.tree_depth)
    if (drawable(depth) && depth >= 0 && depth < 64) counts[std::llround(depth)] += 1;
  if (counts.empty()) return {};
  double most = 0;
  for (const auto& [depth, times] : counts) most = std::max(most, times);
  const double total = static_cast<double>(draws.stats.tree_depth.size());
  const auto first = static_cast<double>(counts.begin()->first),
             last = static_cast<double>(counts.rbegin()->first);
  const Range range{std::min(first, last - 3) - 0.6, last + 0.6};
  Svg svg(300, 180, "Tree depths");
  const Frame frame(svg, range, {0, 1.05 * most / total}, {.x_label = "tree depth"});
  for (const auto& [depth, times] : counts) {
    const auto at = static_cast<double>(depth);
    const double top = frame.y(times / total);
    const bool capped = depth >= draws.max_depth;
    svg.rectangle(frame.x(at - 0.4), top, frame.x(at + 0.4) - frame.x(at - 0.4), frame.bottom() - top,
                  capped ? "bar bad" : "bar pale");
  }
  const double capped = counts.contains(draws.max_depth) ? counts[draws.max_depth] : 0;
  return figure(fmt::format("Tree depth <small>{} of the draws at the limit of {}</small>",
                            percent(capped / total), draws.max_depth),
                svg.finish());
}

std::string acceptance_plot(const Draws& draws) {
  std::vector<double> values;
  double mean = 0;
  for (const double value : draws.stats.accept_stat)
    if (drawable(value)) values.push_back(value), mean += value;
  if (values.empty()) return {};
  mean /= static_cast<double>(values.size());
  std::sort(values.begin(), values.end());
  const Histogram bars = histogram(values, {0, 1}, 40);
  const double most = *std::max_element(bars.density.begin(), bars.density.end());
  Svg svg(300, 180, "Acceptance statistic");
  const Frame frame(svg, {0, 1}, {0, 1.05 * std::max(most, 1e-9)},
                    {.x_label = "acceptance statistic", .y_ticks = false});
  Path boxes;
  for (size_t b = 0; b < bars.density.size(); ++b) {
    const double from = frame.x(static_cast<double>(b) / 40), to = frame.x(static_cast<double>(b + 1) / 40);
    const double top = frame.y(bars.density[b]);
    if (bars.density[b] > 0) boxes.box(from, top, to - from - 0.6, frame.bottom() - top);
  }
  svg.path(boxes, "bar pale");
  svg.line(frame.x(draws.adapt_delta), frame.top(), frame.x(draws.adapt_delta), frame.bottom(), "expected");
  return figure(fmt::format("Acceptance <small>mean {}, asked for {} (dashed)</small>", number(mean),
                            number(draws.adapt_delta)),
                svg.finish());
}

}  // namespace

std::string sampler_plots(const Material& material) {
  const Draws& draws = *material.draws;
  const auto total = static_cast<size_t>(draws.chains * draws.draws);
  std::string out;
  if (draws.stats.energy.size() == total && draws.draws > 1) out += energy_plot(draws);
  if (draws.stats.tree_depth.size() == total) out += depth_plot(draws);
  if (draws.stats.accept_stat.size() == total) out += acceptance_plot(draws);
  return out.empty() ? out : "<div class=\"panels\">" + out + "</div>";
}

}  // namespace adit::report
