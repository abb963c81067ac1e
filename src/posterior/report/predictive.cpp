// Predictive checks: the data beside data that the fitted model would make.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "posterior/element_labels.hpp"
#include "posterior/report/frame.hpp"
#include "posterior/report/plots.hpp"
#include "posterior/report/text.hpp"

namespace adit::report {

namespace {

constexpr int64_t curves_shown = 40, sets_for_statistics = 1000, most_rows = 40;
constexpr size_t points_a_curve = 120;

struct Check {
  const DrawsVariable* replicated;
  std::vector<double> observed;           // finite ones
  std::vector<int64_t> kept;              // their elements
  std::vector<std::vector<double>> sets;  // replicated sets, each sorted
  std::vector<double> data;               // observed, sorted
};

std::vector<double> replicated_set(const Check& check, int64_t place) {
  std::vector<double> values;
  for (const int64_t element : check.kept) {
    const double value =
        check.replicated->values[static_cast<size_t>(place * check.replicated->size() + element)];
    if (drawable(value)) values.push_back(value);
  }
  return values;
}

Check prepare(const Material& material, const DrawsVariable& replicated, const ObservedVariable& observed) {
  Check check{&replicated, {}, {}, {}, {}};
  for (size_t i = 0; i < observed.values.size(); ++i)
    if (drawable(observed.values[i])) {
      check.observed.push_back(observed.values[i]);
      check.kept.push_back(static_cast<int64_t>(i));
    }
  check.data = check.observed;
  std::sort(check.data.begin(), check.data.end());
  const int64_t total = material.draws->chains * material.draws->draws;
  // Large sets: fewer of them, for the same work.
  const auto size = static_cast<int64_t>(check.kept.size());
  const int64_t sets =
      std::clamp<int64_t>(20000000 / std::max<int64_t>(1, size), curves_shown, sets_for_statistics);
  for (const int64_t place : evenly(total, sets)) {
    check.sets.push_back(replicated_set(check, place));
    std::sort(check.sets.back().begin(), check.sets.back().end());
  }
  std::erase_if(check.sets, [](const auto& set) { return set.empty(); });
  return check;
}

// The range of the data and of most that is replicated.
Range common_range(const Check& check) {
  std::vector<double> pooled;
  for (const int64_t i : evenly(static_cast<int64_t>(check.sets.size()), curves_shown))
    for (const int64_t j : evenly(static_cast<int64_t>(check.sets[static_cast<size_t>(i)].size()), 2000))
      pooled.push_back(check.sets[static_cast<size_t>(i)][static_cast<size_t>(j)]);
  std::sort(pooled.begin(), pooled.end());
  Range range = display_range(pooled);
  range.include(check.data.front()), range.include(check.data.back());
  return range.padded(0.02);
}

void draw_steps(Svg& svg, const Frame& frame, const std::vector<double>& sorted, const std::string& style) {
  Path path;
  path.move(frame.left(), frame.y(0));
  double before = 0;
  const auto size = static_cast<double>(sorted.size());
  for (const int64_t i : evenly(static_cast<int64_t>(sorted.size()), static_cast<int64_t>(points_a_curve))) {
    const double x = frame.x(sorted[static_cast<size_t>(i)]), share = static_cast<double>(i + 1) / size;
    path.line(x, frame.y(before));
    path.line(x, frame.y(share));
    before = share;
  }
  path.line(frame.right(), frame.y(before));
  svg.path(path, style);
}

std::string distribution_plot(const Check& check, const std::string& name, const Range& range) {
  Svg svg(300, 180, "Cumulative shares of " + name + ", observed and replicated");
  const Frame frame(svg, range, {0, 1.02}, {.x_label = name});
  for (const int64_t i : evenly(static_cast<int64_t>(check.sets.size()), curves_shown))
    draw_steps(svg, frame, check.sets[static_cast<size_t>(i)], "replicated");
  draw_steps(svg, frame, check.data, "observed");
  return figure("Cumulative share <small>of the values up to each</small>", svg.finish());
}

std::string density_overlay(const Check& check, const std::string& name, const Range& range) {
  std::vector<std::vector<double>> curves;
  for (const int64_t i : evenly(static_cast<int64_t>(check.sets.size()), curves_shown))
    curves.push_back(smooth_density(check.sets[static_cast<size_t>(i)], range, 90));
  curves.push_back(smooth_density(check.data, range, 90));
  Range heights{0, 0};
  for (const auto& curve : curves)
    for (const double height : curve) heights.include(height);
  if (!(heights.high > 0)) return {};
  Svg svg(300, 180, "Densities of " + name + ", observed and replicated");
  const Frame frame(svg, range, {0, heights.high * 1.04}, {.x_label = name, .y_ticks = false});
  for (size_t c = 0; c < curves.size(); ++c) {
    Path path;
    for (size_t i = 0; i < curves[c].size(); ++i)
      path.line(frame.x(range.low +
                        range.width() * static_cast<double>(i) / static_cast<double>(curves[c].size() - 1)),
                frame.y(curves[c][i]));
    svg.path(path, c + 1 == curves.size() ? "observed" : "replicated");
  }
  return figure("Density <small>smoothed</small>", svg.finish());
}

// Of whole numbers: how often each occurs, with the replicated sets' spread.
std::string count_plot(const Check& check, const std::string& name) {
  const auto low = static_cast<int64_t>(check.data.front()), high = static_cast<int64_t>(check.data.back());
  const auto bins = static_cast<size_t>(high - low + 1);
  const auto counts = [&](const std::vector<double>& sorted) {
    std::vector<double> out(bins, 0.0);
    for (const double value : sorted)
      if (value >= static_cast<double>(low) && value <= static_cast<double>(high))
        out[static_cast<size_t>(static_cast<int64_t>(value) - low)] += 1;
    return out;
  };
  const auto observed = counts(check.data);
  std::vector<std::vector<double>> by_bin(bins);
  for (const auto& set : check.sets) {
    const auto found = counts(set);
    for (size_t b = 0; b < bins; ++b) by_bin[b].push_back(found[b]);
  }
  Range heights{0, 1};
  for (size_t b = 0; b < bins; ++b) {
    std::sort(by_bin[b].begin(), by_bin[b].end());
    heights.include(observed[b]), heights.include(sorted_quantile(by_bin[b], 0.97));
  }
  heights.high *= 1.05;
  Svg svg(300, 180, "Counts of " + name + ", observed and replicated");
  const Range range{static_cast<double>(low) - 0.6, static_cast<double>(high) + 0.6};
  const Frame frame(svg, range, heights, {.x_label = name});
  for (size_t b = 0; b < bins; ++b) {
    const double at = static_cast<double>(low) + static_cast<double>(b), x = frame.x(at);
    const double width = frame.x(at + 0.4) - frame.x(at - 0.4), top = frame.y(observed[b]);
    svg.rectangle(x - width / 2, top, width, frame.bottom() - top, "bar seen");
    svg.line(x, frame.y(sorted_quantile(by_bin[b], 0.03)), x, frame.y(sorted_quantile(by_bin[b], 0.97)),
             "interval");
    svg.circle(x, frame.y(sorted_quantile(by_bin[b], 0.5)), 2.6, "mean");
  }
  return figure("Counts <small>bars: observed; lines: 94 % of the replicated</small>", svg.finish());
}

std::string interval_plot(const Material& material, const Check& check) {
  const Draws& draws = *material.draws;
  const auto shown = std::min<int64_t>(most_rows, static_cast<int64_t>(check.kept.size()));
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;
  Range range = Range::none();
  const ElementLabels labels(draws, *check.replicated);
  for (int64_t i = 0; i < shown; ++i) {
    const int64_t element = check.kept[static_cast<size_t>(i)];
    names.push_back(shorten(labels.of(element), 22));
    std::vector<double> column;
    for (const int64_t place : evenly(draws.chains * draws.draws, 2000))
      if (const double value =
              check.replicated->values[static_cast<size_t>(place * check.replicated->size() + element)];
          drawable(value))
        column.push_back(value);
    std::sort(column.begin(), column.end());
    if (column.empty()) column.push_back(check.observed[static_cast<size_t>(i)]);
    range.include(sorted_quantile(column, 0.03)), range.include(sorted_quantile(column, 0.97));
    range.include(check.observed[static_cast<size_t>(i)]);
    values.push_back(std::move(column));
  }
  Svg svg(300, std::max(180.0, 15 * static_cast<double>(shown) + 30),
          "Observed values within replicated intervals");
  const Frame frame(svg, range.padded(0.03), {-0.7, static_cast<double>(shown) - 0.3}, {.rows = &names});
  for (size_t i = 0; i < values.size(); ++i) {
    const double y = frame.y(static_cast<double>(i));
    const auto x = [&](double p) { return frame.x(sorted_quantile(values[i], p)); };
    svg.line(x(0.03), y, x(0.97), y, "whisker");
    svg.line(x(0.25), y, x(0.75), y, "interval");
    svg.circle(frame.x(check.observed[i]), y, 3.6, "seen");
  }
  const bool all = shown == static_cast<int64_t>(check.kept.size());
  return figure(
      all ? "Each observation <small>dot: observed; lines: 50 and 94 % of the replicated</small>"
          : fmt::format("The first {} observations <small>dot: observed; lines: 50 and 94 %</small>", shown),
      svg.finish());
}

double mean_of(const std::vector<double>& sorted) {
  double sum = 0;
  for (const double value : sorted) sum += value;
  return sum / static_cast<double>(sorted.size());
}

double deviation_of(const std::vector<double>& sorted) {
  if (sorted.size() < 2) return 0;
  const double mean = mean_of(sorted);
  double square = 0;
  for (const double value : sorted) square += (value - mean) * (value - mean);
  return std::sqrt(square / static_cast<double>(sorted.size() - 1));
}

// Shares of replicated sets above the data, by four statistics.
std::string statistics_table(const Check& check) {
  struct Statistic {
    const char* name;
    double (*of)(const std::vector<double>&);
  };
  static constexpr Statistic statistics[] = {
      {"mean", mean_of},
      {"standard deviation", deviation_of},
      {"smallest", [](const std::vector<double>& sorted) { return sorted.front(); }},
      {"largest", [](const std::vector<double>& sorted) { return sorted.back(); }}};
  std::string out =
      "<div class=\"wide\"><table><thead><tr><th>statistic</th><th>observed</th><th>replicated, 94 %</th>"
      "<th>share above</th></tr></thead><tbody>";
  for (const auto& statistic : statistics) {
    const double observed = statistic.of(check.data);
    std::vector<double> values;
    double above = 0;
    for (const auto& set : check.sets) {
      values.push_back(statistic.of(set));
      above += values.back() > observed ? 1 : values.back() == observed ? 0.5 : 0;
    }
    std::sort(values.begin(), values.end());
    const double share = above / static_cast<double>(values.size());
    out += fmt::format("<tr><th>{}</th><td>{}</td><td>{} to {}</td><td{}>{}</td></tr>", statistic.name,
                       number(observed), number(sorted_quantile(values, 0.03)),
                       number(sorted_quantile(values, 0.97)),
                       share < 0.025 || share > 0.975 ? " class=\"warn\"" : "", percent(share));
  }
  return out + "</tbody></table></div>";
}

}  // namespace

std::string predictive_plots(const Material& material) {
  const Draws& draws = *material.draws;
  const auto total = static_cast<size_t>(draws.chains * draws.draws);
  std::string out;
  for (const auto& replicated : draws.posterior_predictive) {
    const auto observed =
        std::find_if(draws.observed.begin(), draws.observed.end(),
                     [&](const auto& variable) { return variable.name == replicated.name; });
    const auto size = static_cast<size_t>(replicated.size());
    if (observed == draws.observed.end() || observed->values.size() != size ||
        replicated.values.size() != total * size)
      continue;
    const Check check = prepare(material, replicated, *observed);
    if (check.data.empty() || check.sets.empty()) continue;
    const std::string name = shorten(replicated.name, 30);
    const Range range = common_range(check);
    out += "<h3>" + escape(replicated.name) + "</h3><div class=\"panels\">";
    if (check.observed.size() <= static_cast<size_t>(2 * most_rows)) out += interval_plot(material, check);
    if (is_discrete(check.data) && is_discrete(check.sets.front()))
      out += count_plot(check, name);
    else if (check.data.size() >= 15)
      out += density_overlay(check, name, range);
    out += distribution_plot(check, name, range) + "</div>" + statistics_table(check);
  }
  if (out.empty()) return out;
  return "<p><span class=\"t-seen\">Observed data</span> over <span class=\"t0\">sets replicated by the "
         "model</span>; where "
         "they part, the model misses something. A share near 0 or 100 % says the same.</p>" +
         out;
}

}  // namespace adit::report
