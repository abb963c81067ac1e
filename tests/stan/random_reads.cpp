// Whole numbers within bounds, and parts of names.
#include <fmt/format.h>
#include <utility>

#include "random_writer.hpp"

namespace adit::test {

// An expression that lies between both, whatever the rounds around it are.
std::string ModelWriter::integer(int64_t low, int64_t high, int depth) {
  for (int attempt = 0; attempt < 12; ++attempt) {
    if (names_.empty()) break;
    const Name& name = names_[pick(names_.size())];
    if (name.kind.form != Form::integer || (sizes_only_ && name.follows)) continue;
    std::string text = name.text;
    if (!name.kind.array.empty()) {
      if (name.kind.array.size() > 1 || depth <= 0 || name.kind.array[0].value == 0) continue;
      text += "[" + integer(1, name.kind.array[0].value, depth - 1) + "]";
    }
    if (name.low >= low && name.high <= high && !chance(6)) return text;
    if (name.high - name.low <= high - low && chance(2)) {
      const int64_t shift = between(low - name.low, high - name.high);
      if (shift > 0) return fmt::format("{} + {}", text, shift);
      if (shift < 0) return fmt::format("{} - {}", text, -shift);
      return text;
    }
    if (name.high - name.low <= high - low) {
      const int64_t from = between(low + name.high, high + name.low);
      return fmt::format("({} - {})", from, text);
    }
    if (name.low >= 0 && chance(2)) return fmt::format("({} + {} % {})", low, text, high - low + 1);
    if (chance(2)) return fmt::format("min({}, max({}, {}))", high, low, text);
  }
  for (const Extent& one : extents_)
    if (one.value >= low && one.value <= high && chance(2)) return one.text;
  return std::to_string(between(low, high));
}

std::string ModelWriter::size_integer(int64_t low, int64_t high) {
  const bool before = std::exchange(sizes_only_, true);
  std::string text = integer(low, high);
  sizes_only_ = before;
  return text;
}

// An array of whole numbers from 1 to high.
std::optional<std::string> ModelWriter::list_of_places(int64_t count, int64_t high) {
  for (int attempt = 0; attempt < 6 && !names_.empty(); ++attempt) {
    const Name& name = names_[pick(names_.size())];
    if (name.kind.form == Form::integer && name.kind.array.size() == 1 && name.kind.array[0].value == count &&
        name.low >= 1 && name.high <= high)
      return name.text;
  }
  if (count == 0 || count > 4) return {};
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += (i ? ", " : "") + integer(1, high);
  return "{" + text + "}";
}

// An index that keeps `count` of an axis.
std::string ModelWriter::places(int64_t size, int64_t count) {
  if (chance(3))
    if (const auto list = list_of_places(count, size)) return *list;
  if (count == size && chance(2)) return any({"", ":"});
  if (count == size) return fmt::format("1:{}", size);
  if (count == 0) return "1:0";
  if (chance(4)) return fmt::format(":{}", count);
  if (chance(4)) return fmt::format("{}:", size - count + 1);
  const std::string first = size_integer(1, size - count + 1);
  return fmt::format("{}:({} + {})", first, first, count - 1);
}

std::string ModelWriter::with_indices(const Name& name, std::vector<At> indices) {
  while (!indices.empty() && indices.back().text.empty()) indices.pop_back();
  if (indices.empty()) return name.text;
  std::string text;
  bool all_single = true;  // x[i][j] is x[i, j] then
  for (size_t i = 0; i < indices.size(); ++i) {
    const std::string own = indices[i].text.empty() ? ":" : indices[i].text;
    if (i > 0) text += all_single && chance(4) ? "][" : ", ";
    text += own;
    all_single = all_single && indices[i].single;
  }
  return name.text + "[" + text + "]";
}

// Some name, or a part of one, of that type.
std::optional<std::string> ModelWriter::read(Form form, const std::vector<int64_t>& array,
                                             const std::vector<int64_t>& own) {
  for (int attempt = 0; attempt < 14 && !names_.empty(); ++attempt) {
    const Name& name = names_[pick(names_.size())];
    if (name.kind.form == Form::integer) continue;
    const size_t arrays = name.kind.array.size();
    if (arrays < array.size()) continue;
    std::vector<const Extent*> axes;
    for (const Extent& one : name.kind.array) axes.push_back(&one);
    for (const Extent& one : name.kind.own) axes.push_back(&one);
    std::vector<int64_t> keeps(axes.size(), -1);
    // Which axes of the array stay: the last ones, or the first.
    const size_t first = chance(2) ? 0 : arrays - array.size();
    for (size_t i = 0; i < array.size(); ++i) keeps[first + i] = array[i];
    if (form == Form::matrix) {
      if (name.kind.form != Form::matrix) continue;
      keeps[arrays] = own[0], keeps[arrays + 1] = own[1];
    } else if (form == Form::vector || form == Form::row_vector) {
      if (name.kind.form == form)
        keeps[arrays] = own[0];
      else if (name.kind.form == Form::matrix)
        keeps[arrays + (form == Form::vector ? 0 : 1)] = own[0];
      else
        continue;
    }
    bool fits = true;
    for (size_t i = 0; i < axes.size(); ++i) fits = fits && axes[i]->value >= std::max<int64_t>(keeps[i], 1);
    if (!fits) continue;
    std::vector<At> indices;
    for (size_t i = 0; i < axes.size(); ++i)
      indices.push_back(keeps[i] < 0 ? At{integer(1, axes[i]->value), true}
                                     : At{places(axes[i]->value, keeps[i]), false});
    return with_indices(name, std::move(indices));
  }
  return {};
}

std::optional<std::string> ModelWriter::positive_read() {
  for (int attempt = 0; attempt < 8 && !names_.empty(); ++attempt) {
    const Name& name = names_[pick(names_.size())];
    if (!name.positive) continue;
    std::vector<At> indices;
    for (const auto* axes : {&name.kind.array, &name.kind.own})
      for (const Extent& one : *axes) indices.push_back({integer(1, one.value), true});
    return with_indices(name, std::move(indices));
  }
  return {};
}

// Where an assignment goes.
ModelWriter::Part ModelWriter::written_part(const Name& name) {
  Part part{.text = {}, .kind = {.form = name.kind.form, .array = {}, .own = {}}};
  std::vector<At> indices;
  const size_t arrays = name.kind.array.size();
  std::vector<Extent> axes = name.kind.array;
  axes.insert(axes.end(), name.kind.own.begin(), name.kind.own.end());
  std::vector<bool> kept;
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool single = !chance(3) && axes[i].value > 0;
    kept.push_back(!single);
    if (single) {
      indices.push_back({integer(1, axes[i].value), true});
      continue;
    }
    const int64_t count = chance(3) && axes[i].value > 1 ? between(1, axes[i].value) : axes[i].value;
    indices.push_back({places(axes[i].value, count), false});
    const Extent own{count == axes[i].value ? axes[i].text : std::to_string(count), count};
    (i < arrays ? part.kind.array : part.kind.own).push_back(own);
  }
  if (name.kind.form == Form::matrix && part.kind.own.size() == 1)
    part.kind.form = kept[arrays] ? Form::vector : Form::row_vector;
  if (name.kind.form >= Form::vector && part.kind.own.empty()) part.kind.form = Form::real;
  part.text = with_indices(name, std::move(indices));
  return part;
}

}  // namespace adit::test
