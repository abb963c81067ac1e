// Rank histograms: where chains agree, each chain's share of the pooled ranks is even.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "posterior/report/frame.hpp"
#include "posterior/report/plots.hpp"

namespace adit::report {

namespace {

struct RankCounts {
  size_t bins = 0;
  std::vector<std::vector<double>> chains;  // counts by bin, as shares of what is expected
  double expected = 0;                      // draws of one chain in one bin
};

RankCounts count_ranks(const Series& series) {
  // Every chain is thinned alike where there are very many draws, and some chains stand for very many.
  constexpr int64_t enough = 400000, fewest = 20;
  const auto chains = evenly(series.chains, enough / fewest);
  const auto kept =
      evenly(series.length, std::max(fewest, enough / std::max<int64_t>(1, std::ssize(chains))));
  std::vector<std::pair<double, int64_t>> all;
  for (int64_t c = 0; c < std::ssize(chains); ++c)
    for (const int64_t i : kept) {
      const double value = series.chain(chains[static_cast<size_t>(c)])[static_cast<size_t>(i)];
      if (drawable(value)) all.emplace_back(value, c);
    }
  std::sort(all.begin(), all.end());
  RankCounts out;
  out.bins = static_cast<size_t>(std::clamp<int64_t>(static_cast<int64_t>(kept.size()) / 10, 4, 20));
  const auto bins = static_cast<double>(out.bins);
  out.expected = static_cast<double>(kept.size()) / bins;
  out.chains.assign(chains.size(), std::vector<double>(out.bins, 0.0));
  // Equal values share their ranks evenly, so that discrete numbers look even too.
  for (size_t from = 0, to = 0; from < all.size(); from = to) {
    while (to < all.size() && all[to].first == all[from].first) ++to;
    const double low = static_cast<double>(from) / static_cast<double>(all.size()) * bins;
    const double high = static_cast<double>(to) / static_cast<double>(all.size()) * bins;
    for (auto bin = static_cast<size_t>(low); bin < out.bins && static_cast<double>(bin) < high; ++bin) {
      const double start = std::max(low, static_cast<double>(bin));
      const double share =
          (std::min(high, static_cast<double>(bin + 1)) - start) / (high - low) / out.expected;
      for (size_t i = from; i < to; ++i) out.chains[static_cast<size_t>(all[i].second)][bin] += share;
    }
  }
  return out;
}

std::string strips(const std::string& name, const RankCounts& counts) {
  Svg svg(300, 180, "Rank histograms of " + name + ", one a chain");
  const auto chains = static_cast<double>(counts.chains.size());
  const double left = 8, right = 290, top = 6, bottom = 160, strip = (bottom - top) / chains;
  double most = 1.5;
  for (const auto& chain : counts.chains)
    for (const double share : chain) most = std::max(most, share);
  const double width = (right - left) / static_cast<double>(counts.bins);
  for (size_t c = 0; c < counts.chains.size(); ++c) {
    const double base = top + strip * static_cast<double>(c + 1) - 3, unit = (strip - 6) / most;
    Path bars;
    for (size_t b = 0; b < counts.bins; ++b) {
      const double height = counts.chains[c][b] * unit;
      if (height > 0) bars.box(left + width * static_cast<double>(b), base - height, width - 1, height);
    }
    svg.path(bars, "bar f" + std::to_string(c % 8));
    svg.line(left, base - unit, right, base - unit, "expected");
    svg.line(left, base, right, base, "axis");
  }
  svg.text((left + right) / 2, 176, Anchor::middle, "rank, low to high", "label");
  return figure("Ranks <small>a row a chain; even is good</small>", svg.finish());
}

std::string spread(const std::string& name, const RankCounts& counts, int64_t chains) {
  Svg svg(300, 180, "Ranks of " + name + ": the spread of the chains' rank histograms");
  Range range{0, 2};
  // What independent draws would give: nine of ten chains within the lines.
  const double deviation = 1.645 * std::sqrt((1 - 1 / static_cast<double>(counts.bins)) / counts.expected);
  range.include(1 + 1.1 * deviation);
  std::vector<std::vector<double>> by_bin(counts.bins);
  for (size_t b = 0; b < counts.bins; ++b) {
    for (const auto& chain : counts.chains) by_bin[b].push_back(chain[b]);
    std::sort(by_bin[b].begin(), by_bin[b].end());
    range.include(1.05 * sorted_quantile(by_bin[b], 0.95));
  }
  const auto bins = static_cast<double>(counts.bins);
  const Frame frame(svg, {0, 1}, range, {.x_label = "rank, low to high"});
  for (size_t b = 0; b < counts.bins; ++b) {
    const double from = frame.x(static_cast<double>(b) / bins),
                 to = frame.x(static_cast<double>(b + 1) / bins);
    const auto y = [&](double p) { return frame.y(sorted_quantile(by_bin[b], p)); };
    svg.rectangle(from + 0.5, y(0.95), to - from - 1, y(0.05) - y(0.95), "band");
    svg.rectangle(from + 0.5, y(0.75), to - from - 1, y(0.25) - y(0.75), "band inner");
    svg.line(from + 0.5, y(0.5), to - 0.5, y(0.5), "curve");
  }
  for (const double edge : {std::max(0.0, 1 - deviation), 1.0, 1 + deviation})
    svg.line(frame.left(), frame.y(edge), frame.right(), frame.y(edge), "expected");
  const bool all = std::ssize(counts.chains) == chains;
  const std::string of = all ? "all chains" : fmt::format("{} of {} chains", counts.chains.size(), chains);
  return figure(fmt::format("Ranks <small>over {}; 1 is even</small>", of), svg.finish());
}

}  // namespace

std::string rank_plot(const Material& material, const std::string& name, const Series& series) {
  if (series.chains < 2)
    return figure("Ranks <small>of all chains' draws</small>",
                  "<p class=\"none\">They compare chains, and there is one.</p>");
  const RankCounts counts = count_ranks(series);
  return material.many_chains() ? spread(name, counts, series.chains) : strips(name, counts);
}

}  // namespace adit::report
