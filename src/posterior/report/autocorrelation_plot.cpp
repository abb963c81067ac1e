#include <algorithm>
#include <cmath>

#include "posterior/report/frame.hpp"
#include "posterior/report/plots.hpp"

namespace adit::report {

namespace {

constexpr int64_t most_lags = 60;
constexpr int64_t most_chains = 128;

std::vector<std::vector<double>> correlations(const Series& series, int64_t lags) {
  std::vector<std::vector<double>> out;
  for (const int64_t c : evenly(series.chains, most_chains)) {
    auto values = autocorrelation(series.chain(c), lags);
    values.resize(std::min(values.size(), static_cast<size_t>(lags + 1)));
    // A chain that never moved, or has values that are not finite, has none.
    const bool usable = std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
    out.push_back(usable ? values : std::vector<double>{});
  }
  return out;
}

void draw_line(Svg& svg, const Frame& frame, const std::vector<double>& values, const std::string& style) {
  Path path;
  for (size_t lag = 0; lag < values.size(); ++lag)
    path.line(frame.x(static_cast<double>(lag)), frame.y(values[lag]));
  svg.path(path, style);
}

// The spread of many chains' correlations at each lag.
void draw_spread(Svg& svg, const Frame& frame, const std::vector<std::vector<double>>& chains, int64_t lags) {
  std::vector<double> low, middle, high;
  for (size_t lag = 0; lag <= static_cast<size_t>(lags); ++lag) {
    std::vector<double> values;
    for (const auto& chain : chains)
      if (lag < chain.size()) values.push_back(chain[lag]);
    if (values.empty()) return;
    std::sort(values.begin(), values.end());
    low.push_back(sorted_quantile(values, 0.05));
    middle.push_back(sorted_quantile(values, 0.5));
    high.push_back(sorted_quantile(values, 0.95));
  }
  Path band;
  for (size_t lag = 0; lag < low.size(); ++lag)
    band.line(frame.x(static_cast<double>(lag)), frame.y(low[lag]));
  for (size_t lag = high.size(); lag-- > 0;) band.line(frame.x(static_cast<double>(lag)), frame.y(high[lag]));
  band.close();
  svg.path(band, "band inner");
  draw_line(svg, frame, middle, "curve");
}

}  // namespace

std::string autocorrelation_plot(const Material& material, const std::string& name, const Series& series) {
  const int64_t lags = std::min(most_lags, series.length / 2);
  if (lags < 2)
    return figure("Autocorrelation <small>by lag</small>", "<p class=\"none\">Too few draws a chain.</p>");
  const auto chains = correlations(series, lags);
  Range range{-0.2, 1};
  for (const auto& chain : chains)
    for (const double value : chain) range.include(value);
  Svg svg(300, 180, "Autocorrelation of " + name);
  const Frame frame(svg, {0, static_cast<double>(lags)}, range, {.x_label = "lag"});
  const double noise = 1.96 / std::sqrt(static_cast<double>(series.length));
  svg.rectangle(frame.left(), frame.y(noise), frame.right() - frame.left(), frame.y(-noise) - frame.y(noise),
                "noise");
  svg.line(frame.left(), frame.y(0), frame.right(), frame.y(0), "axis");
  if (material.many_chains())
    draw_spread(svg, frame, chains, lags);
  else
    for (size_t c = 0; c < chains.size(); ++c)
      draw_line(svg, frame, chains[c], "curve " + chain_class(static_cast<int64_t>(c)));
  return figure("Autocorrelation <small>grey: as of independent draws</small>", svg.finish());
}

}  // namespace adit::report
