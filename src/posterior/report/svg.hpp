// A small writer of SVG. Colours and fonts are the page's: everything drawn has a class.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adit::report {

// Finite, and not so large that squares and widths overflow.
bool drawable(double value);

struct Range {
  double low = 0, high = 1;
  double width() const { return high - low; }
  void include(double value);  // ignores what is not drawable
  // A share of its width more on both sides; a range of one point becomes a wide one.
  Range padded(double share) const;
  static Range none();  // holds nothing until something is included
  bool empty() const { return !(low <= high); }
};

// Numbers on a line.
struct Scale {
  Range domain, pixels;
  // Values outside lie on the edge.
  double operator()(double value) const;
};

struct Tick {
  double value;
  std::string label;
};
// At most about `most` round numbers within the range, all with the same number of places.
std::vector<Tick> round_ticks(const Range& range, int most);

// The points of a path, in tenths of a pixel and relative to each other, which keeps files small.
class Path {
 public:
  void move(double x, double y);
  void line(double x, double y);  // the first point of a path moves
  void dot(double x, double y);   // a point, drawn by a round line cap
  void box(double x, double y, double width, double height);
  void lift() { down_ = false; }  // the next line() moves
  void close() { data_ += 'z', down_ = false; }
  bool empty() const { return data_.empty(); }
  const std::string& data() const { return data_; }

 private:
  void step(char command, double x, double y);
  std::string data_;
  int64_t x_ = 0, y_ = 0;
  int64_t start_x_ = 0, start_y_ = 0;
  bool down_ = false;
};

enum class Anchor { start, middle, end };

class Svg {
 public:
  // `label` is what a screen reader says.
  Svg(double width, double height, const std::string& label);
  void line(double x1, double y1, double x2, double y2, std::string_view style);
  void rectangle(double x, double y, double width, double height, std::string_view style);
  void circle(double x, double y, double radius, std::string_view style);
  void path(const Path& path, std::string_view style);
  void text(double x, double y, Anchor anchor, std::string_view text, std::string_view style = "");
  // Around (x, y), read from below.
  void upright_text(double x, double y, std::string_view text);
  std::string finish();
  double width() const { return width_; }
  double height() const { return height_; }

 private:
  double width_, height_;
  std::string out_;
};

}  // namespace adit::report
