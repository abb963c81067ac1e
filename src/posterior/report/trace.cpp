// Traces: a line a chain, or bands where there are many.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "posterior/report/frame.hpp"
#include "posterior/report/plots.hpp"
#include "posterior/report/text.hpp"

namespace adit::report {

namespace {

constexpr int64_t points_a_plot = 2400;
constexpr int64_t bands_across = 120;

// The smallest and the largest of every few draws, in their order: thinning must not hide spikes.
Path chain_line(const Frame& frame, std::span<const double> values, int64_t points) {
  const auto length = static_cast<int64_t>(values.size());
  const int64_t few = length <= points ? 1 : (2 * length + points - 1) / points;
  Path path;
  const auto draw = [&](int64_t at) {
    const double value = values[static_cast<size_t>(at)];
    if (drawable(value))
      path.line(frame.x(static_cast<double>(at + 1)), frame.y(value));
    else
      path.lift();
  };
  for (int64_t from = 0; from < length; from += few) {
    int64_t low = from, high = from;
    for (int64_t at = from; at < std::min(length, from + few); ++at) {
      const double value = values[static_cast<size_t>(at)];
      // What cannot be drawn must not hide its neighbours.
      if (!drawable(value)) continue;
      if (!drawable(values[static_cast<size_t>(low)])) low = high = at;
      if (value < values[static_cast<size_t>(low)]) low = at;
      if (value > values[static_cast<size_t>(high)]) high = at;
    }
    draw(std::min(low, high));
    if (low != high) draw(std::max(low, high));
  }
  return path;
}

void draw_chains(Svg& svg, const Frame& frame, const Series& series) {
  for (int64_t c = 0; c < series.chains; ++c)
    svg.path(chain_line(frame, series.chain(c), points_a_plot / series.chains), "trace " + chain_class(c));
}

// Chains whose means lie farthest from the median of all.
std::vector<int64_t> outlying_chains(const Series& series, size_t count) {
  std::vector<std::pair<double, int64_t>> distances;
  const double middle = sorted_quantile(series.sorted, 0.5);
  for (int64_t c = 0; c < series.chains; ++c) {
    double sum = 0;
    int64_t finite = 0;
    for (const double value : series.chain(c))
      if (drawable(value)) sum += value, ++finite;
    if (finite) distances.emplace_back(-std::fabs(sum / static_cast<double>(finite) - middle), c);
  }
  std::sort(distances.begin(), distances.end());
  std::vector<int64_t> chains;
  for (size_t i = 0; i < std::min(count, distances.size()); ++i) chains.push_back(distances[i].second);
  return chains;
}

// Where the chains lie over time: two bands and the median.
void draw_bands(Svg& svg, const Frame& frame, const Series& series) {
  constexpr double shares[] = {0.05, 0.95, 0.25, 0.75, 0.5};
  const int64_t steps = std::min(series.length, bands_across);
  std::vector<std::vector<double>> lines(5);
  std::vector<double> places;
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t from = step * series.length / steps, to = (step + 1) * series.length / steps;
    std::vector<double> values;
    for (const int64_t i : evenly((to - from) * series.chains, 4000)) {
      const double value =
          series.values[static_cast<size_t>(i % series.chains * series.length + from + i / series.chains)];
      if (drawable(value)) values.push_back(value);
    }
    if (values.empty()) continue;
    std::sort(values.begin(), values.end());
    places.push_back(static_cast<double>(from + to + 1) / 2);
    for (size_t q = 0; q < 5; ++q) lines[q].push_back(sorted_quantile(values, shares[q]));
  }
  for (size_t band = 0; band < 2; ++band) {
    Path path;
    for (size_t i = 0; i < places.size(); ++i) path.line(frame.x(places[i]), frame.y(lines[2 * band][i]));
    for (size_t i = places.size(); i-- > 0;) path.line(frame.x(places[i]), frame.y(lines[2 * band + 1][i]));
    if (!path.empty()) path.close();
    svg.path(path, band == 0 ? "band" : "band inner");
  }
  Path median;
  for (size_t i = 0; i < places.size(); ++i) median.line(frame.x(places[i]), frame.y(lines[4][i]));
  svg.path(median, "curve");
}

void draw_divergences(Svg& svg, const Frame& frame, const Material& material) {
  Path marks;
  std::vector<bool> taken(static_cast<size_t>(frame.right()) + 2, false);
  for (const int64_t place : material.divergent) {
    const double x = frame.x(static_cast<double>(place % material.draws->draws + 1));
    if (taken[static_cast<size_t>(x)]) continue;  // one a pixel
    taken[static_cast<size_t>(x)] = true;
    marks.move(x, frame.bottom());
    marks.line(x, frame.bottom() - 7);
  }
  svg.path(marks, "divergence");
}

}  // namespace

std::string trace_plot(const Material& material, const std::string& name, const Series& series) {
  Svg svg(300, 180, "Trace of " + name);
  Range range = Range::none();
  for (const double value : series.values) range.include(value);
  Range inner = range.padded(0.03);
  if (!material.divergent.empty()) inner.low -= 0.05 * inner.width();  // room for the marks
  const Range draws{1, static_cast<double>(std::max<int64_t>(2, series.length))};
  const Frame frame(svg, draws, inner, {.x_label = "draw"});
  std::string caption = "Trace";
  if (material.many_chains()) {
    draw_bands(svg, frame, series);
    const auto outliers = outlying_chains(series, 3);
    std::string names;
    for (size_t i = 0; i < outliers.size(); ++i) {
      svg.path(chain_line(frame, series.chain(outliers[i]), 300),
               "trace " + chain_class(static_cast<int64_t>(i) + 1));
      names += fmt::format("{}<span class=\"t{}\">{}</span>", i ? ", " : "", i + 1, outliers[i] + 1);
    }
    caption += fmt::format(" <small>and the outermost chains: {}</small>", names);
  } else {
    draw_chains(svg, frame, series);
    caption += series.chains == 1 ? " <small>one chain</small>" : " <small>a line a chain</small>";
  }
  draw_divergences(svg, frame, material);
  return figure(caption, svg.finish());
}

}  // namespace adit::report
