// The pair plot: scatters below the diagonal, histograms on it.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "posterior/report/frame.hpp"
#include "posterior/report/plots.hpp"
#include "posterior/report/text.hpp"

namespace adit::report {

namespace {

constexpr size_t most_elements = 6;
constexpr int64_t most_points = 500, most_divergences = 250;

struct Column {
  std::string label;
  std::vector<double> plain, divergent, sorted;
  Range range;
};

// A positive number that spans orders of magnitude shows its shape by its logarithm.
bool wants_logarithm(const std::vector<double>& sorted) {
  return sorted.front() > 0 && sorted_quantile(sorted, 0.975) > 12 * sorted_quantile(sorted, 0.025);
}

Column column(const Material& material, const Element& element, const std::vector<int64_t>& plain,
              const std::vector<int64_t>& divergent) {
  const auto& variable = material.draws->variables[element.variable];
  const auto values_at = [&](const std::vector<int64_t>& places) {
    std::vector<double> values;
    for (const int64_t place : places)
      values.push_back(variable.values[static_cast<size_t>(place * variable.size() + element.index)]);
    return values;
  };
  Column out{element.name(), values_at(plain), values_at(divergent), series(material, element).sorted, {}};
  if (wants_logarithm(out.sorted)) {
    out.label = "log " + out.label;
    for (auto* values : {&out.plain, &out.divergent, &out.sorted})
      for (double& value : *values) value = std::log(value);
  }
  out.range = display_range(out.sorted);
  for (const double value : out.divergent)
    if (value > out.range.low - out.range.width() && value < out.range.high + out.range.width())
      out.range.include(value);
  out.range = out.range.padded(0.04);
  return out;
}

Path cloud(const Scale& x, const Scale& y, const std::vector<double>& across,
           const std::vector<double>& along) {
  Path path;
  for (size_t i = 0; i < across.size(); ++i)
    if (drawable(across[i]) && drawable(along[i])) path.dot(x(across[i]), y(along[i]));
  return path;
}

void draw_cell(Svg& svg, const Column& across, const Column& along, const Range& x_pixels,
               const Range& y_pixels) {
  svg.rectangle(x_pixels.low, y_pixels.low, x_pixels.width(), y_pixels.width(), "cell");
  const Scale x{across.range, {x_pixels.low + 2, x_pixels.high - 2}};
  const Scale y{along.range, {y_pixels.high - 2, y_pixels.low + 2}};
  svg.path(cloud(x, y, across.plain, along.plain), "points");
  svg.path(cloud(x, y, across.divergent, along.divergent), "points bad");
}

void draw_diagonal(Svg& svg, const Column& column, const Range& x_pixels, const Range& y_pixels) {
  const Histogram bars = histogram(column.sorted, column.range, 24);
  const double most = *std::max_element(bars.density.begin(), bars.density.end());
  Path path;
  const double width = x_pixels.width() / static_cast<double>(bars.density.size());
  for (size_t b = 0; b < bars.density.size() && most > 0; ++b) {
    const double height = bars.density[b] / most * (y_pixels.width() - 6);
    if (height > 0)
      path.box(x_pixels.low + width * static_cast<double>(b), y_pixels.high - height, width - 0.5, height);
  }
  svg.rectangle(x_pixels.low, y_pixels.low, x_pixels.width(), y_pixels.width(), "cell");
  svg.path(path, "bar pale");
}

std::string draw(const std::vector<Column>& columns) {
  const double cell = 116, gap = 6, left = 58, bottom_margin = 36;
  const auto count_of = static_cast<double>(columns.size());
  const double size = count_of * (cell + gap);
  Svg svg(left + size, size + bottom_margin, "Pair plot");
  const auto span_of = [&](size_t i, double start) {
    const double from = start + static_cast<double>(i) * (cell + gap);
    return Range{from, from + cell};
  };
  for (size_t r = 0; r < columns.size(); ++r) {
    const Range y = span_of(r, 2);
    for (size_t c = 0; c < r; ++c) draw_cell(svg, columns[c], columns[r], span_of(c, left), y);
    draw_diagonal(svg, columns[r], span_of(r, left), y);
    svg.upright_text(12, (y.low + y.high) / 2, shorten(columns[r].label, 18));
    if (r > 0)
      for (const auto& tick : round_ticks(columns[r].range, 4)) {
        const double at = Scale{columns[r].range, {y.high - 2, y.low + 2}}(tick.value);
        svg.text(left - 4, std::clamp(at, y.low + 5, y.high - 5) + 4, Anchor::end, tick.label);
      }
    const Range x = span_of(r, left);
    for (const auto& tick : round_ticks(columns[r].range, 4)) {
      const double at = Scale{columns[r].range, {x.low + 2, x.high - 2}}(tick.value);
      const double half = text_width(tick.label) / 2;
      svg.text(std::clamp(at, x.low + half, std::max(x.low + half, x.high - half)), size + 12, Anchor::middle,
               tick.label);
    }
    svg.text((x.low + x.high) / 2, size + 30, Anchor::middle, shorten(columns[r].label, 18), "label");
  }
  return svg.finish();
}

}  // namespace

std::string pair_plots(const Material& material) {
  const auto elements = telling_elements(material, most_elements);
  if (elements.size() < 2) return {};
  const Draws& draws = *material.draws;
  std::vector<int64_t> plain, divergent;
  for (const int64_t place : evenly(draws.chains * draws.draws, most_points))
    if (!std::binary_search(material.divergent.begin(), material.divergent.end(), place))
      plain.push_back(place);
  for (const int64_t i : evenly(static_cast<int64_t>(material.divergent.size()), most_divergences))
    divergent.push_back(material.divergent[static_cast<size_t>(i)]);
  std::vector<Column> columns;
  for (const Element* element : elements) columns.push_back(column(material, *element, plain, divergent));
  std::string words = fmt::format("{} draws of {}", count(static_cast<double>(plain.size())),
                                  count(static_cast<double>(draws.chains * draws.draws)));
  if (!divergent.empty())
    words += fmt::format(
        ", and <span class=\"diverging\">{} divergent ones in red</span>: where they gather, the "
        "sampler could not follow the posterior",
        count(static_cast<double>(divergent.size())));
  size_t varying = 0;
  for (const auto& element : material.elements) varying += element.varies;
  if (varying > elements.size())
    words +=
        ". Chosen for their diagnostics, for where divergences lie, and for how they depend on each other";
  return "<p>" + words + ".</p><div class=\"wide\">" +
         figure("", draw(columns), "pairs k" + std::to_string(columns.size())) + "</div>";
}

}  // namespace adit::report
