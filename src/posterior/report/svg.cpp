#include "posterior/report/svg.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "posterior/report/text.hpp"

namespace adit::report {

namespace {

int64_t tenths(double value) {
  return std::isfinite(value) ? std::llround(std::clamp(value, -1e6, 1e6) * 10) : 0;
}

std::string written(int64_t value) {
  const int64_t size = value < 0 ? -value : value;
  std::string out = value < 0 ? "-" : "";
  if (size >= 10 || size == 0) out += std::to_string(size / 10);
  if (size % 10) out += "." + std::to_string(size % 10);
  return out;
}

std::string place(double value) { return written(tenths(value)); }

}  // namespace

bool drawable(double value) { return std::fabs(value) < 1e150; }

void Range::include(double value) {
  if (!drawable(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

Range Range::none() {
  return {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
}

Range Range::padded(double share) const {
  if (empty()) return {0, 1};
  // What doubles can tell apart at this magnitude bounds how narrow a range may be.
  const double size = std::max(std::fabs(low), std::fabs(high));
  const double least = size > 0 ? size * 1e-9 : 1e-9;
  if (width() < least) {
    const double half = size > 0 ? size * 0.05 : 0.5;
    return {low - half, high + half};
  }
  return {low - share * width(), high + share * width()};
}

double Scale::operator()(double value) const {
  const double share = std::clamp((value - domain.low) / domain.width(), 0.0, 1.0);
  return pixels.low + share * pixels.width();
}

std::vector<Tick> round_ticks(const Range& range, int most) {
  const double rough = range.width() / std::max(1, most);
  if (!(rough > 0) || !std::isfinite(rough)) return {};
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  const double size = std::max(std::fabs(range.low), std::fabs(range.high));
  const int step_power = static_cast<int>(std::floor(std::log10(step) + 1e-9));
  const bool scientific = size >= 1e6 || size < 1e-3;
  const int digits = std::clamp(static_cast<int>(std::floor(std::log10(size) + 1e-9)) - step_power, 0, 15);
  std::vector<Tick> ticks;
  for (double i = std::ceil(range.low / step - 1e-9); i * step <= range.high + 1e-9 * step; ++i) {
    const double value = i == 0 ? 0 : i * step;
    std::string label = value == 0   ? "0"
                        : scientific ? fmt::format("{:.{}e}", value, digits)
                                     : fmt::format("{:.{}f}", value, std::max(0, -step_power));
    if (const auto at = label.find("e+0"); at != std::string::npos) label.erase(at + 1, 2);
    if (const auto at = label.find("e-0"); at != std::string::npos) label.erase(at + 2, 1);
    if (label[0] == '-') label.replace(0, 1, "−");
    ticks.push_back({value, label});
    if (ticks.size() > 50) break;
  }
  return ticks;
}

void Path::step(char command, double x, double y) {
  const int64_t to_x = tenths(x), to_y = tenths(y);
  const std::string across = written(to_x - x_), along = written(to_y - y_);
  data_ += command;
  data_ += across;
  if (along[0] != '-') data_ += ' ';
  data_ += along;
  x_ = to_x, y_ = to_y;
}

void Path::move(double x, double y) {
  // After `z` the pen is back at the start of what was closed.
  if (!data_.empty() && data_.back() == 'z') x_ = start_x_, y_ = start_y_;
  step('m', x, y);
  start_x_ = x_, start_y_ = y_;
  down_ = true;
}

void Path::line(double x, double y) {
  if (!down_) return move(x, y);
  step('l', x, y);
}

void Path::dot(double x, double y) {
  move(x, y);
  data_ += "h0";
  down_ = false;
}

void Path::box(double x, double y, double width, double height) {
  const double right = x + width, bottom = y + height;
  move(x, y);
  data_ += 'h' + written(tenths(right) - tenths(x)) + 'v' + written(tenths(bottom) - tenths(y)) + 'h' +
           written(tenths(x) - tenths(right));
  close();
}

Svg::Svg(double width, double height, const std::string& label) : width_(width), height_(height) {
  out_ = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", place(width),
                     place(height), escape(label));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style) {
  out_ += fmt::format("<path class=\"{}\" d=\"M{} {}L{} {}\"/>", style, place(x1), place(y1), place(x2),
                      place(y2));
}

void Svg::rectangle(double x, double y, double width, double height, std::string_view style) {
  out_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>", style, place(x),
                      place(y), place(std::max(0.0, width)), place(std::max(0.0, height)));
}

void Svg::circle(double x, double y, double radius, std::string_view style) {
  out_ += fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", style, place(x), place(y),
                      place(radius));
}

void Svg::path(const Path& path, std::string_view style) {
  if (!path.empty()) out_ += fmt::format("<path class=\"{}\" d=\"{}\"/>", style, path.data());
}

void Svg::text(double x, double y, Anchor anchor, std::string_view text, std::string_view style) {
  static constexpr std::string_view names[] = {"", "mid", "end"};
  std::string classes{names[static_cast<int>(anchor)]};
  if (!style.empty()) classes += (classes.empty() ? "" : " ") + std::string(style);
  out_ += fmt::format("<text{} x=\"{}\" y=\"{}\">{}</text>",
                      classes.empty() ? "" : fmt::format(" class=\"{}\"", classes), place(x), place(y),
                      escape(text));
}

void Svg::upright_text(double x, double y, std::string_view text) {
  out_ += fmt::format("<text class=\"mid label\" transform=\"translate({} {})rotate(-90)\">{}</text>",
                      place(x), place(y), escape(text));
}

std::string Svg::finish() { return std::move(out_) + "</svg>"; }

}  // namespace adit::report
