// A plot's area with its axes.
#pragma once

#include <optional>

#include "posterior/report/svg.hpp"

namespace adit::report {

struct FrameOptions {
  std::string x_label = {}, y_label = {};
  bool y_ticks = true;
  // Names in place of numbers, at 0, 1, 2, ... of the y axis, which then runs downwards.
  const std::vector<std::string>* rows = nullptr;
  double top = 6;
};

class Frame {
 public:
  // Draws the grid and the axes; what comes later lies on top.
  Frame(Svg& svg, const Range& x, const Range& y, const FrameOptions& options);
  double x(double value) const { return x_(value); }
  double y(double value) const { return y_(value); }
  double left() const { return x_.pixels.low; }
  double right() const { return x_.pixels.high; }
  double top() const { return top_; }
  double bottom() const { return bottom_; }

 private:
  void draw_x_axis(Svg& svg, const FrameOptions& options);
  void draw_y_axis(Svg& svg, const FrameOptions& options, const std::vector<Tick>& ticks);
  Scale x_, y_;
  double top_ = 0, bottom_ = 0;
};

// About how wide a text is in a plot.
double text_width(std::string_view text);

}  // namespace adit::report
