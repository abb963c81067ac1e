#include "cli/value_tree.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include <adit/text.hpp>

namespace adit::cli {
namespace {

bool is_tuple(const ValueTree& value) {
  if (!value.is_object() || value.empty()) return false;
  for (size_t i = 1; i <= value.size(); ++i)
    if (!value.contains(std::to_string(i))) return false;
  return true;
}

// The value of a variable, or those of the parts of a tuple, or of a list of tuples.
void add_parts(const std::string& name, const ValueTree& value, ValueTree& to) {
  const auto holds_tuples = [](const ValueTree& list) {
    const ValueTree* first = &list;
    while (first->is_array() && !first->empty()) first = &first->front();
    return first->is_object();
  };
  if (is_tuple(value)) {
    for (const auto& [number, part] : value.items()) add_parts(name + ":" + number, part, to);
  } else if (value.is_array() && holds_tuples(value)) {
    for (size_t i = 0; i < value.size(); ++i) {
      const std::string element = fmt::format("{}.{}", name, i + 1);
      add_parts(element, value[i], to);
    }
  } else {
    to[name] = value;
  }
}

bool take_lists(const ValueTree& value, const Shape& shape, int axis, std::vector<double>& to) {
  if (axis == shape.size()) {
    if (value.is_number()) to.push_back(value.get<double>());
    return value.is_number();
  }
  if (!value.is_array() || static_cast<int64_t>(value.size()) != shape[axis]) return false;
  return std::all_of(value.begin(), value.end(),
                     [&](const ValueTree& part) { return take_lists(part, shape, axis + 1, to); });
}

}  // namespace

std::string with_signed_zeros(const std::string& json) {
  constexpr std::string_view goes_on = "0123456789.eE";
  std::string text;
  bool in_word = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i], before = i > 0 ? json[i - 1] : ' ',
               after = i + 2 < json.size() ? json[i + 2] : ' ';
    text += c;
    if (in_word && c == '\\' && i + 1 < json.size())
      text += json[++i];
    else if (c == '"')
      in_word = !in_word;
    else if (!in_word && json.compare(i, 2, "-0") == 0 && before != 'e' && before != 'E' &&
             goes_on.find(after) == std::string_view::npos)
      text += "0.0", ++i;
  }
  return text;
}

ValueTree value_tree(const std::string& text, const std::function<void(const std::string& what)>& refuse) {
  if (nests_too_deep(text)) refuse(fmt::format("expected JSON, at most {} lists deep", deepest_json));
  std::vector<std::set<std::string>> names;  // of the objects that are open
  std::string twice;
  const auto on_event = [&](int, ValueTree::parse_event_t event, ValueTree& value) {
    if (event == ValueTree::parse_event_t::object_start) names.emplace_back();
    if (event == ValueTree::parse_event_t::object_end) names.pop_back();
    if (event == ValueTree::parse_event_t::key && !names.back().insert(value.get<std::string>()).second)
      twice = value.get<std::string>();
    return true;
  };
  ValueTree tree;
  try {
    tree = ValueTree::parse(with_signed_zeros(text), on_event);
  } catch (const ValueTree::exception& error) {
    const std::string said = error.what();
    const size_t end = said.find("] ");
    refuse("expected JSON, got " + printable(end == std::string::npos ? said : said.substr(end + 2)));
  }
  if (!twice.empty()) refuse(fmt::format("expected each name once, got {} again", printable(twice)));
  return tree;
}

ValueTree without_tuples(const ValueTree& object) {
  ValueTree parts = ValueTree::object();
  for (const auto& [name, value] : object.items()) add_parts(name, value, parts);
  return parts;
}

bool take_numbers(const ValueTree& value, const Shape& shape, std::vector<double>& to) {
  const bool is_alone = shape.size() == 0 && value.is_array() && value.size() == 1;
  return take_lists(is_alone ? value[0] : value, shape, 0, to);
}

std::string brief(const ValueTree& value) {
  constexpr size_t most = 80;
  const std::string text = value.dump(-1, ' ', true, ValueTree::error_handler_t::replace);
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

}  // namespace adit::cli
