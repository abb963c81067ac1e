// Data from CSV: columns by name.
#include <fmt/format.h>
#include <optional>

#include <adit/error.hpp>
#include <adit/text.hpp>

#include "io/csv_number.hpp"
#include "io/csv_records.hpp"
#include "stan/data_text.hpp"

namespace adit::stan {
namespace {

using CsvForm = table::Number::Form;

struct CsvColumn {
  std::string name;
  DataValue value;
};

void refuse_csv(const std::string& file, int64_t line, const std::string& column, const std::string& expected,
                const std::string& found) {
  throw Error(ErrorKind::io, fmt::format("[data] {}, line {}, column {}: expected {}, found {}",
                                         printable(file), line, quoted_data(column), expected, found));
}

std::vector<CsvColumn> csv_columns(const std::string& file, const table::Records& records) {
  std::vector<CsvColumn> columns;
  std::map<std::string, size_t> seen;
  for (const table::Field& field : records.fields()) {
    const std::string name(field.text);
    const std::string place = std::to_string(columns.size() + 1);
    if (name.empty()) refuse_csv(file, field.line, place, "a name", "an empty one");
    if (!field.quoted && table::parse_number(name).form != CsvForm::none)
      refuse_csv(file, field.line, place, "a name", "the number " + quoted_data(name));
    if (!field.quoted && records.fields().size() == 1 && name.find_first_of(";\t|") != std::string::npos)
      refuse_csv(file, field.line, place, "names with commas between them", quoted_data(name));
    if (!seen.emplace(name, columns.size()).second)
      refuse_csv(file, field.line, place, "each name once", quoted_data(name) + " again");
    columns.push_back({name, {}});
  }
  return columns;
}

void add_csv_field(const std::string& file, CsvColumn& column, const table::Field& field) {
  const table::Number number = table::parse_number(field.text);
  const auto refuse = [&](const std::string& expected, const std::string& found) {
    refuse_csv(file, field.line, column.name, expected, found);
  };
  switch (number.form) {
    case CsvForm::whole: {
      const bool is_negative_zero = number.whole == 0 && field.text.find('-') != std::string::npos;
      return add_number(column.value, is_negative_zero ? -0.0 : static_cast<double>(number.whole), true);
    }
    case CsvForm::real:
    case CsvForm::inexact: return add_number(column.value, number.real, false);
    case CsvForm::beyond: return refuse("a number that f64 can hold", quoted_data(field.text));
    case CsvForm::none: break;
  }
  const std::optional<double> special = special_number(field.text);
  if (special) return add_number(column.value, *special, false);
  if (field.text.empty() || field.text == "NA") refuse("a number", "a missing value");
  refuse("numbers alone, as Stan has no texts", "the text " + quoted_data(field.text));
}

void add_csv_row(const std::string& file, const table::Records& records, std::vector<CsvColumn>& columns) {
  const std::vector<table::Field>& fields = records.fields();
  if (fields.size() != columns.size())
    throw Error(ErrorKind::io,
                fmt::format("[data] {}, line {}: expected {} fields as there are names, found {}",
                            printable(file), records.line(), columns.size(), fields.size()));
  for (size_t i = 0; i < fields.size(); ++i) add_csv_field(file, columns[i], fields[i]);
}

}  // namespace

DataValues data_from_csv(std::string_view text, const std::string& name) {
  const adit::Place place{"data", printable(name)};
  table::Records records(place, text, ',', 0);
  if (!records.next()) place.fail("expected a table, found no line of it");
  std::vector<CsvColumn> columns = csv_columns(name, records);
  int64_t rows = 0;
  for (; records.next(); ++rows) add_csv_row(name, records, columns);
  DataValues values;
  for (CsvColumn& column : columns) {
    column.value.shape = {rows};
    finish_value(column.value);
    values.emplace(column.name, std::move(column.value));
  }
  if (!values.contains("N")) {
    DataValue count;
    add_number(count, static_cast<double>(rows), true);
    finish_value(count);
    values.emplace("N", std::move(count));
  }
  return values;
}

}  // namespace adit::stan
