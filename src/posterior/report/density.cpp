// The marginal posterior: histogram of all chains, smoothed densities of each, mean and interval.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "posterior/report/frame.hpp"
#include "posterior/report/plots.hpp"
#include "posterior/report/text.hpp"

namespace adit::report {

namespace {

struct Curve {
  std::vector<double> heights;
  std::string style;
};

std::vector<Curve> chain_curves(const Series& series, const Range& range) {
  std::vector<Curve> curves;
  for (int64_t c = 0; c < series.chains; ++c) {
    std::vector<double> values;
    for (const double value : series.chain(c))
      if (drawable(value)) values.push_back(value);
    if (values.size() < 20) continue;
    std::sort(values.begin(), values.end());
    curves.push_back({smooth_density(values, range, 100), "curve " + chain_class(c)});
  }
  return curves;
}

}  // namespace

std::string density_plot(const Material& material, const std::string& name, const Series& series) {
  if (series.sorted.empty()) return {};
  Svg svg(300, 180, "Histogram of " + name);
  const Histogram bars = histogram(series.sorted);
  std::vector<Curve> curves;
  if (!is_discrete(series.sorted)) {
    if (!material.many_chains()) curves = chain_curves(series, bars.range);
    if (curves.empty() && series.sorted.size() >= 20)
      curves.push_back({smooth_density(series.sorted, bars.range, 100), "curve"});
  }
  Range heights{0, 0};
  for (const double height : bars.density) heights.include(height);
  for (const auto& curve : curves)
    for (const double height : curve.heights) heights.include(height);
  heights.high *= 1.06;
  heights.low = -0.09 * heights.high;  // the interval lies below the bars
  const Frame frame(svg, bars.range.padded(0.02), heights, {.x_label = shorten(name, 40), .y_ticks = false});
  Path boxes;
  for (size_t b = 0; b < bars.density.size(); ++b) {
    const double from = frame.x(bars.range.low + static_cast<double>(b) * bars.bin_width());
    const double to = frame.x(bars.range.low + static_cast<double>(b + 1) * bars.bin_width());
    const double top = frame.y(bars.density[b]);
    if (bars.density[b] > 0) boxes.box(from, top, std::max(0.5, to - from - 0.6), frame.y(0) - top);
  }
  svg.path(boxes, "bar pale");
  for (const auto& curve : curves) {
    Path path;
    for (size_t i = 0; i < curve.heights.size(); ++i)
      path.line(frame.x(bars.range.low + bars.range.width() * static_cast<double>(i) /
                                             static_cast<double>(curve.heights.size() - 1)),
                frame.y(curve.heights[i]));
    svg.path(path, curve.style);
  }
  const auto outside = std::count_if(series.sorted.begin(), series.sorted.end(), [&](double value) {
    return value < bars.range.low || value > bars.range.high;
  });
  if (outside)
    svg.text(frame.right(), frame.top() + 10, Anchor::end,
             percent(static_cast<double>(outside) / static_cast<double>(series.sorted.size())) + " beyond");
  const auto [low, high] = highest_density_interval(series.sorted, 0.94);
  double mean = 0;
  for (const double value : series.sorted) mean += value / static_cast<double>(series.sorted.size());
  const double below = frame.y(heights.low / 2);
  svg.line(frame.x(low), below, frame.x(high), below, "interval");
  svg.circle(frame.x(mean), below, 4, "mean");
  return figure(fmt::format("Density <small>mean {}, 94 % HDI {} to {}</small>", number(mean), number(low),
                            number(high)),
                svg.finish());
}

}  // namespace adit::report
