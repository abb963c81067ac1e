#include "cli/values_file.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include <adit/text.hpp>

#include "cli/usage.hpp"
#include "cli/value_tree.hpp"

namespace adit::cli {
namespace {

// Where in a file something is wrong.
struct ValuePlace {
  const std::string &where, &path;
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::io, fmt::format("{}: {}: {}", where, printable(path), what));
  }
};

bool looks_like_json(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && (text[first] == '{' || text[first] == '[');
}

ValueTree json_in(const ValuePlace& place, const std::string& text) {
  return value_tree(text, [&](const std::string& what) { place.fail(what); });
}

void add_row(const ValuePlace& place, const ValueTree& row, const std::vector<Model::Variable>& variables,
             ValueNames names, NamedValues& values) {
  if (!row.is_object()) place.fail("expected an object of values by variable, got " + brief(row));
  const ValueTree object = without_tuples(row);
  std::vector<std::string> known;
  for (const Model::Variable& variable : variables) {
    known.push_back(variable.name);
    const auto found = object.find(variable.name);
    if (found == object.end()) {
      if (names == ValueNames::all) place.fail(fmt::format("expected values of {}, got none", variable.name));
      continue;
    }
    if (!take_numbers(*found, variable.shape, values[variable.name]))
      place.fail(fmt::format("expected values of shape {} for {}, got {}", to_string(variable.shape),
                             variable.name, brief(*found)));
  }
  if (names == ValueNames::all) return;
  for (const auto& [name, value] : object.items()) choice_of(place.where, name, known);
}

// --- CSV ---------------------------------------------------------------------------------------------------

struct ValueTable {
  std::vector<std::string> columns;
  std::vector<double> numbers;  // [rows, columns]
  int64_t rows() const { return columns.empty() ? 0 : std::ssize(numbers) / std::ssize(columns); }
};

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    const size_t comma = line.find(',');
    std::string_view field = line.substr(0, comma);
    while (!field.empty() && (field.front() == ' ' || field.front() == '"')) field.remove_prefix(1);
    while (!field.empty() && (field.back() == ' ' || field.back() == '\r' || field.back() == '"'))
      field.remove_suffix(1);
    fields.emplace_back(field);
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

ValueTable table_in(const ValuePlace& place, std::string_view text) {
  ValueTable table;
  int64_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos || line.front() == '#') continue;
    const std::vector<std::string> fields = fields_of(line);
    if (table.columns.empty()) {
      table.columns = fields;
      continue;
    }
    if (fields.size() != table.columns.size())
      place.fail(fmt::format("line {}: expected {} numbers as there are columns, got {}", number,
                             table.columns.size(), fields.size()));
    for (const std::string& field : fields) {
      double value = 0;
      const auto [last, error] = std::from_chars(field.data(), field.data() + field.size(), value);
      if (error != std::errc() || last != field.data() + field.size())
        place.fail(fmt::format("line {}: expected a number, got {}", number,
                               field.empty() ? "\"\"" : printable(field)));
      table.numbers.push_back(value);
    }
  }
  if (table.rows() == 0) place.fail("expected names of columns and rows of numbers, got none");
  return table;
}

// "theta[2,1]" as CmdStan calls the column.
std::string column_of(const std::string& name, const Shape& shape, int64_t element) {
  std::string column = element_name("", shape, element);
  for (char& c : column)
    if (c == '[' || c == ',') c = '.';
  if (column.ends_with(']')) column.pop_back();
  return name + column;
}

ValueRows rows_of(const ValuePlace& place, const ValueTable& table,
                  const std::vector<Model::Variable>& variables, ValueNames names) {
  ValueRows found{table.rows(), {}};
  for (const Model::Variable& variable : variables) {
    std::vector<size_t> columns;
    std::string missing;
    for (int64_t i = 0; i < element_count(variable.shape); ++i) {
      const std::string column = column_of(variable.name, variable.shape, i);
      const auto at = std::find(table.columns.begin(), table.columns.end(), column);
      if (at == table.columns.end() && missing.empty()) missing = column;
      columns.push_back(static_cast<size_t>(at - table.columns.begin()));
    }
    if (!missing.empty() && names == ValueNames::some) continue;
    if (!missing.empty()) place.fail(fmt::format("expected a column {}, got none", missing));
    std::vector<double>& values = found.values[variable.name];
    for (int64_t row = 0; row < found.rows; ++row)
      for (const size_t column : columns)
        values.push_back(table.numbers[static_cast<size_t>(row) * table.columns.size() + column]);
  }
  return found;
}

}  // namespace

std::string read_values_text(const std::string& where, const std::string& path) {
  try {
    return read_text(path);
  } catch (const Error&) {
    throw UsageError(fmt::format("{}: expected a file that can be read, got {}", where, printable(path)));
  }
}

ValueRows parse_values(const std::string& where, const std::string& path, const std::string& text,
                       const Model& model, ValueNames names) {
  const ValuePlace place{where, path};
  const std::vector<Model::Variable> variables = model.variables();
  if (!looks_like_json(text)) return rows_of(place, table_in(place, text), variables, names);
  const ValueTree document = json_in(place, text);
  ValueRows found;
  if (document.is_object()) {
    found.rows = 1;
    add_row(place, document, variables, names, found.values);
    return found;
  }
  for (const ValueTree& object : document) add_row(place, object, variables, ValueNames::all, found.values);
  found.rows = std::ssize(document);
  if (found.rows == 0) place.fail("expected values, got an empty list");
  return found;
}

std::vector<double> parse_points(const std::string& where, const std::string& path, const std::string& text,
                                 int64_t size) {
  const ValuePlace place{where, path};
  const auto expect_width = [&](int64_t got) {
    if (got != size)
      place.fail(fmt::format("expected rows of {} numbers, as the model has, got {}", size, got));
  };
  if (!looks_like_json(text)) {
    const ValueTable table = table_in(place, text);
    expect_width(std::ssize(table.columns));
    return table.numbers;
  }
  ValueTree document = json_in(place, text);
  if (document.is_object()) {
    const auto found = document.find("params_r");
    if (found == document.end()) place.fail("expected \"params_r\" with rows of numbers, got none");
    document = ValueTree(*found);
  }
  if (document.is_array() && !document.empty() && !document[0].is_array())
    document = ValueTree::array({document});
  std::vector<double> points;
  if (!document.is_array() || document.empty()) place.fail("expected rows of numbers, got none");
  for (const ValueTree& row : document) {
    if (!row.is_array()) place.fail("expected rows of numbers, got " + brief(row));
    expect_width(std::ssize(row));
    for (const ValueTree& number : row) {
      if (!number.is_number()) place.fail("expected a number, got " + brief(number));
      points.push_back(number.get<double>());
    }
  }
  return points;
}

std::string method_in(const std::string& text) {
  constexpr std::string_view key = "# method = ";
  for (size_t at = 0; at < text.size() && text[at] == '#';) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.starts_with(key)) {
      const std::string_view rest = line.substr(key.size());
      return std::string(rest.substr(0, rest.find_first_of(" \r")));
    }
    at = end + 1;
  }
  return "";
}

}  // namespace adit::cli
