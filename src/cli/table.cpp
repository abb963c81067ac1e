#include "cli/table.hpp"

#include <algorithm>
#include <fmt/format.h>

#include <adit/text.hpp>

namespace adit::cli {

std::string table(std::vector<std::vector<std::string>> rows) {
  std::vector<size_t> widths;
  for (auto& row : rows)
    for (std::string& cell : row) cell = printable(cell);
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], character_count(row[column]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column) {
      line += row[column];
      if (column + 1 < row.size()) line.append(widths[column] - character_count(row[column]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string size_in_words(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const char* units[] = {"KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; size >= 1024 && unit < 3; ++unit) size /= 1024;
  return size < 10 ? fmt::format("{:.1f} {}", size, units[unit])
                   : fmt::format("{:.0f} {}", size, units[unit]);
}

}  // namespace adit::cli
