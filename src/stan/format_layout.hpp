// Breaks a sequence of words into lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace adit::stan {

class Layout {
 public:
  static constexpr size_t width = 80;

  void text(std::string words);
  void space_or_break() { items_.push_back({Kind::gap, {}}); }
  // Lines that break inside begin where the group does, unless that is far to the right.
  void open() { items_.push_back({Kind::open, {}}); }
  void close() { items_.push_back({Kind::close, {}}); }

  // As it is behind `column` columns of a line that is indented by `indent`; `behind` more follow on the
  // last.
  std::string lines(size_t column, size_t indent, size_t behind = 0) const;

 private:
  enum class Kind : uint8_t { text, gap, open, close };
  struct Item {
    Kind kind;
    std::string words;
  };
  struct Measures {
    std::vector<size_t> before;   // the width of all that is before it, unbroken
    std::vector<size_t> to_gap;   // from it to the next gap of its group or of one around it
    std::vector<size_t> partner;  // of an open: its close
  };
  Measures measured(size_t behind) const;
  std::vector<Item> items_;
};

}  // namespace adit::stan
