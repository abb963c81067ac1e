// Tensors as NumPy writes arrays: tensor([[1., 2.],
//                                         [3., 4.]], f32)
#include <algorithm>
#include <ostream>

#include <adit/tensor.hpp>

#include "io/number_format.hpp"
#include "io/print_layout.hpp"

namespace adit {
namespace {

constexpr int64_t threshold = 1000;  // more elements than these are summarised
constexpr int64_t edge = 3;          // elements shown at either end then
constexpr size_t line_width = 75;
constexpr std::string_view opening = "tensor(", dots = "...";

// The elements that are shown, row by row.
void gather_shown(const HostView& array, bool summary, int axis, int64_t row, std::vector<std::byte>& shown) {
  const size_t width = size_of(array.type);
  if (axis == array.shape.size()) {
    const auto first = array.bytes.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(row) * width);
    shown.insert(shown.end(), first, first + static_cast<std::ptrdiff_t>(width));
    return;
  }
  const int64_t length = array.shape[axis];
  for (int64_t i = 0; i < length; i++) {
    if (summary && length > 2 * edge && i == edge) i = length - edge;
    gather_shown(array, summary, axis + 1, row * length + i, shown);
  }
}

// Puts brackets, commas and line ends between elements that are already text.
class Layout {
 public:
  Layout(const Shape& shape, bool summary, std::vector<std::string> elements)
      : shape_(shape), summary_(summary), elements_(std::move(elements)) {}

  // What follows the indent on the first line; `room` is the width that is left for a line.
  std::string block(int axis, size_t indent, size_t room) {
    if (axis == shape_.size()) return elements_[next_++];
    return axis + 1 == shape_.size() ? row(axis, indent, room) : rows(axis, indent, room);
  }

 private:
  // Calls f(i) for what is shown of an axis; -1 stands for the dots.
  template <class F>
  void each_shown(int axis, F f) const {
    const int64_t length = shape_[axis];
    const bool cut = summary_ && length > 2 * edge;
    for (int64_t i = 0; i < length; i++) {
      if (cut && i == edge) {
        f(-1);
        i = length - edge;
      }
      f(i);
    }
  }

  std::string row(int axis, size_t indent, size_t room) {
    std::string text, line(indent, ' ');
    each_shown(axis, [&](int64_t i) {
      const std::string word = i < 0 ? std::string(dots) : elements_[next_++];
      if (line.size() > indent && line.size() + word.size() > room - 1) {
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
        line.assign(indent, ' ');
      }
      line += word;
      if (i != shape_[axis] - 1) line += ", ";
    });
    return "[" + (text + line).substr(indent) + "]";
  }

  std::string rows(int axis, size_t indent, size_t room) {
    const std::string between = "," + std::string(static_cast<size_t>(shape_.size() - axis - 1), '\n');
    std::string text;
    each_shown(axis, [&](int64_t i) {
      text += std::string(indent, ' ');
      text += i < 0 ? std::string(dots) : block(axis + 1, indent + 1, room - 1);
      if (i != shape_[axis] - 1) text += between;
    });
    return "[" + text.substr(indent) + "]";
  }

  const Shape& shape_;
  bool summary_;
  std::vector<std::string> elements_;
  size_t next_ = 0;
};

}  // namespace

std::string print(const HostView& array) {
  std::string text(opening);
  const int64_t count = element_count(array.shape);
  if (count == 0) {
    text += array.shape == Shape{0} ? "[]" : "[], shape=" + to_string(array.shape);
  } else {
    const bool summary = count > threshold;
    std::vector<std::byte> shown;
    gather_shown(array, summary, 0, 0, shown);
    Layout layout(array.shape, summary, text::format_elements(array.type, shown));
    text += layout.block(0, opening.size() + 1, line_width - 1);
  }
  text += ',';
  const std::string ending = std::string(name_of(array.type)) + ")";
  const size_t last_line = text.size() - (text.rfind('\n') + 1);
  text += last_line + ending.size() + 1 > line_width ? "\n" + std::string(opening.size(), ' ') : " ";
  return text + ending;
}

std::string Tensor::to_string() const {
  if (!*this) return "tensor()";
  return print({dtype(), shape(), to_bytes()});
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.to_string(); }

}  // namespace adit
