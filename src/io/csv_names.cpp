// A column that is not there: which one may have been meant.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "io/csv_table.hpp"

namespace adit::table {
namespace {

char small_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

// Letters to put in, take out or exchange, whether small or capital.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (size_t i = 0; i < a.size(); i++) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); j++) {
      const size_t exchanged = diagonal + (small_letter(a[i]) == small_letter(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

std::vector<std::string> nearest(std::string_view name, const std::vector<std::string>& names) {
  constexpr size_t longest = 100, most_names = 1000;  // a table of odd names must not take long
  const size_t far = 1 + name.size() / 3;
  std::vector<std::pair<size_t, std::string>> found;
  for (const std::string& known : names) {
    if (name.size() > longest || known.size() > longest || names.size() > most_names) continue;
    const size_t away = distance(name, known);
    if (away <= far) found.emplace_back(away, known);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> result;
  for (const auto& entry : found)
    if (result.size() < 3) result.push_back(entry.second);
  return result;
}

std::string list(const std::vector<std::string>& names) {
  constexpr size_t most = 20;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), most); i++) text += (i ? ", " : "") + shown(names[i]);
  return names.size() > most ? fmt::format("{} and {} more", text, names.size() - most) : text;
}

}  // namespace

void refuse_name(const Place& place, std::string_view name, const std::vector<std::string>& names) {
  const std::vector<std::string> near = nearest(name, names);
  const std::string hint = !near.empty()   ? "near it: " + list(near)
                           : names.empty() ? "the table is empty"
                                           : "there are: " + list(names);
  throw Error(ErrorKind::not_found, fmt::format("[{}] {}: expected the name of a column, got {}; {}",
                                                place.function, place.file, shown(name), hint));
}

}  // namespace adit::table
