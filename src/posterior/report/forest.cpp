// Forest plots: intervals of every element, side by side with those of like size.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "posterior/report/frame.hpp"
#include "posterior/report/plots.hpp"
#include "posterior/report/text.hpp"

namespace adit::report {

namespace {

constexpr size_t most_listed = 300;
constexpr size_t rows_a_plot = 40;

struct Row {
  const Element* element;
  Range wide, narrow;  // 94 % and 50 %
  double mean;
};

struct Group {
  std::vector<Row> rows;
  Range range = Range::none();
  double narrowest = std::numeric_limits<double>::infinity();  // interval of a row
};

Row row_of(const Material& material, const Element& element) {
  const Series values = series(material, element);
  const auto [low, high] = highest_density_interval(values.sorted, 0.94);
  const auto [inner_low, inner_high] = highest_density_interval(values.sorted, 0.5);
  // The summary's mean is NaN where one draw is.
  double mean = 0;
  for (const double value : values.sorted) mean += value / static_cast<double>(values.sorted.size());
  return {&element, {low, high}, {inner_low, inner_high}, mean};
}

// Whether one axis can show both: the narrowest interval must stay visible.
bool fits(const Group& a, const Group& b) {
  Range both = a.range;
  both.include(b.range.low);
  both.include(b.range.high);
  return both.width() <= 30 * std::min(a.narrowest, b.narrowest);
}

void append(Group& group, const Group& more) {
  group.rows.insert(group.rows.end(), more.rows.begin(), more.rows.end());
  group.range.include(more.range.low);
  group.range.include(more.range.high);
  group.narrowest = std::min(group.narrowest, more.narrowest);
}

// Variables in their order, those that can share an axis together.
std::vector<Group> groups_of(const Material& material, size_t& shown) {
  std::vector<Group> by_variable;
  size_t last = std::numeric_limits<size_t>::max();
  for (const auto& element : material.elements) {
    if (!element.varies || shown == most_listed) continue;
    if (element.variable != last) by_variable.emplace_back();
    last = element.variable;
    ++shown;
    Group& group = by_variable.back();
    group.rows.push_back(row_of(material, element));
    const Row& row = group.rows.back();
    for (const double value : {row.wide.low, row.wide.high, row.mean}) group.range.include(value);
    if (row.wide.width() > 0) group.narrowest = std::min(group.narrowest, row.wide.width());
  }
  std::vector<Group> groups;
  for (const auto& group : by_variable)
    if (!groups.empty() && fits(groups.back(), group))
      append(groups.back(), group);
    else
      groups.push_back(group);
  return groups;
}

std::string plot(std::span<const Row> rows, const Range& range) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(shorten(row.element->name(), 26));
  const double height = 17 * static_cast<double>(rows.size()) + 30;
  Svg svg(380, height, "Intervals of " + rows.front().element->name() + " to " + rows.back().element->name());
  const Frame frame(svg, range, {-0.7, static_cast<double>(rows.size()) - 0.3}, {.rows = &names});
  for (size_t i = 0; i < rows.size(); ++i) {
    const double y = frame.y(static_cast<double>(i));
    svg.line(frame.x(rows[i].wide.low), y, frame.x(rows[i].wide.high), y, "whisker");
    svg.line(frame.x(rows[i].narrow.low), y, frame.x(rows[i].narrow.high), y, "interval");
    if (drawable(rows[i].mean)) svg.circle(frame.x(rows[i].mean), y, 3.2, "mean");
  }
  if (range.low < 0 && range.high > 0)
    svg.line(frame.x(0), frame.top(), frame.x(0), frame.bottom(), "expected");
  return figure("", svg.finish());
}

}  // namespace

std::string forest_plots(const Material& material) {
  size_t shown = 0;
  const auto groups = groups_of(material, shown);
  if (groups.empty()) return {};
  const auto varying = static_cast<size_t>(std::count_if(material.elements.begin(), material.elements.end(),
                                                         [](const auto& e) { return e.varies; }));
  std::string out = "<p>Mean (dot), 50 % (thick) and 94 % (thin) highest-density intervals.";
  if (groups.size() > 1) out += " Variables of very different size have axes of their own.";
  if (shown < varying)
    out += fmt::format(" The first {} of {} elements are shown.", count(static_cast<double>(shown)),
                       count(static_cast<double>(varying)));
  out += "</p><div class=\"forest\">";
  for (const auto& group : groups) {
    const size_t pieces = (group.rows.size() + rows_a_plot - 1) / rows_a_plot;
    for (size_t piece = 0; piece < pieces; ++piece) {
      const size_t from = piece * group.rows.size() / pieces, to = (piece + 1) * group.rows.size() / pieces;
      out += plot(std::span(group.rows).subspan(from, to - from), group.range.padded(0.03));
    }
  }
  return out + "</div>";
}

}  // namespace adit::report
