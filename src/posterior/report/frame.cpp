#include "posterior/report/frame.hpp"

#include <algorithm>

#include <adit/text.hpp>

#include "posterior/report/text.hpp"

namespace adit::report {

namespace {

std::vector<Tick> row_ticks(const std::vector<std::string>& names) {
  std::vector<Tick> ticks;
  for (const auto& name : names) ticks.push_back({static_cast<double>(ticks.size()), name});
  return ticks;
}

}  // namespace

double text_width(std::string_view text) { return 6.7 * static_cast<double>(character_count(text)); }

Frame::Frame(Svg& svg, const Range& x, const Range& y, const FrameOptions& options) {
  top_ = options.top;
  bottom_ = svg.height() - (options.x_label.empty() ? 20 : 34);
  const int most = std::clamp(static_cast<int>((bottom_ - top_) / 26), 2, 8);
  const auto ticks = options.rows      ? row_ticks(*options.rows)
                     : options.y_ticks ? round_ticks(y, most)
                                       : std::vector<Tick>{};
  double left = options.y_label.empty() ? 8 : 22;
  double widest = 0;
  for (const auto& tick : ticks) widest = std::max(widest, text_width(tick.label));
  left += widest > 0 ? widest + 5 : 0;
  x_ = {x, {std::min(left, svg.width() * 0.6), svg.width() - 12}};
  y_ = {y, options.rows ? Range{top_, bottom_} : Range{bottom_, top_}};
  draw_x_axis(svg, options);
  draw_y_axis(svg, options, ticks);
}

void Frame::draw_x_axis(Svg& svg, const FrameOptions& options) {
  // As many ticks as their labels have room for.
  std::vector<Tick> ticks;
  for (int most = 8; most >= 1; --most) {
    ticks = round_ticks(x_.domain, most);
    double needed = 0;
    for (const auto& tick : ticks) needed += text_width(tick.label) + 16;
    if (needed <= right() - left() + 16) break;
  }
  for (const auto& tick : ticks) {
    const double at = x(tick.value);
    const double half = text_width(tick.label) / 2;
    svg.line(at, top_, at, bottom_, "grid");
    svg.text(std::clamp(at, half, std::max(half, svg.width() - half)), bottom_ + 14, Anchor::middle,
             tick.label);
  }
  svg.line(left(), bottom_, right(), bottom_, "axis");
  if (!options.x_label.empty())
    svg.text((left() + right()) / 2, svg.height() - 4, Anchor::middle, options.x_label, "label");
}

void Frame::draw_y_axis(Svg& svg, const FrameOptions& options, const std::vector<Tick>& ticks) {
  for (const auto& tick : ticks) {
    const double at = y(tick.value);
    if (!options.rows) svg.line(left(), at, right(), at, "grid");
    svg.text(left() - 5, at + 4, Anchor::end, tick.label, options.rows ? "name" : "");
  }
  if (!options.y_label.empty()) svg.upright_text(13, (top_ + bottom_) / 2, options.y_label);
}

}  // namespace adit::report
