#include "stan/format_layout.hpp"

#include <algorithm>

namespace adit::stan {

void Layout::text(std::string words) {
  if (!items_.empty() && items_.back().kind == Kind::text)
    items_.back().words += words;
  else
    items_.push_back({Kind::text, std::move(words)});
}

Layout::Measures Layout::measured(size_t behind) const {
  const size_t count = items_.size();
  Measures all{std::vector<size_t>(count + 1), std::vector<size_t>(count + 1),
               std::vector<size_t>(count + 1)};
  std::vector<size_t> opened;
  for (size_t i = 0; i < count; ++i) {
    const size_t own = items_[i].kind == Kind::gap ? 1 : items_[i].words.size();
    all.before[i + 1] = all.before[i] + own;
    if (items_[i].kind == Kind::open) opened.push_back(i);
    if (items_[i].kind != Kind::close) continue;
    all.partner[opened.back()] = i;
    opened.pop_back();
  }
  all.to_gap[count] = behind;
  for (size_t i = count; i-- > 0;) {
    const size_t last = all.partner[i];
    switch (items_[i].kind) {
      case Kind::text: all.to_gap[i] = items_[i].words.size() + all.to_gap[i + 1]; break;
      case Kind::gap: all.to_gap[i] = 0; break;
      case Kind::open: all.to_gap[i] = all.before[last] - all.before[i] + all.to_gap[last + 1]; break;
      case Kind::close: all.to_gap[i] = all.to_gap[i + 1]; break;
    }
  }
  return all;
}

std::string Layout::lines(size_t column, size_t indent, size_t behind) const {
  const Measures all = measured(behind);
  const size_t rightmost = std::max(width / 2, indent + 4);
  struct Group {
    size_t indent;
    bool fits;
  };
  std::vector<Group> groups = {{indent + 4, false}};
  std::string out;
  for (size_t i = 0; i < items_.size(); ++i) {
    switch (items_[i].kind) {
      case Kind::text:
        out += items_[i].words;
        column += items_[i].words.size();
        break;
      case Kind::open: {
        const bool fits = groups.back().fits || column + all.to_gap[i] <= width;
        groups.push_back({column <= rightmost ? column : indent + 4, fits});
        break;
      }
      case Kind::close: groups.pop_back(); break;
      case Kind::gap:
        if (groups.back().fits || column + 1 + all.to_gap[i + 1] <= width) {
          out += ' ';
          ++column;
        } else {
          column = groups.back().indent;
          out += '\n' + std::string(column, ' ');
        }
        break;
    }
  }
  return out;
}

}  // namespace adit::stan
