// A table from a text: its options, its names, its rows.
#include <fmt/format.h>
#include <new>
#include <set>

#include <adit/text.hpp>

#include "io/csv_table.hpp"

namespace adit {
namespace {

using table::ColumnReader;
using table::Field;
using table::Records;
using table::shown;
using table::State;

constexpr std::string_view separators = ",;|\t";

void check_options(const Place& place, const CsvOptions& options) {
  const auto refuse = [&](const char* option, const char* wanted, char got) {
    throw Error(ErrorKind::bad_argument, fmt::format("[{}] {}: expected {}, got {}", place.function, option,
                                                     wanted, shown({&got, 1})));
  };
  if (separators.find(options.separator) == std::string_view::npos)
    refuse("separator", "a comma, a semicolon, a bar or a tab", options.separator);
  const char comment = options.comment;
  if (comment != 0 && (comment <= ' ' || comment > '~' || comment == '"' || comment == options.separator))
    refuse("comment", "a visible ASCII character other than the separator and quotes", comment);
}

// A file with another separator would be one column of odd words.
void expect_separator(const Place& place, const Records& records, char separator) {
  const Field& only = records.fields().front();
  if (records.fields().size() > 1 || only.quoted) return;
  const size_t at = only.text.find_first_of(separators);
  if (at != std::string_view::npos)
    place.fail(fmt::format(
        "line {}: expected fields between {}, got one with {} in it ({}); is that the "
        "separator? If not, put the field in quotes",
        records.line(), shown({&separator, 1}), shown(only.text.substr(at, 1)), shown(only.text)));
}

// Names that are all numbers are a first row in a file without names, which must not be lost.
void expect_names(const Place& place, const Records& records) {
  for (const Field& field : records.fields())
    if (field.quoted || table::parse_number(field.text).form == table::Number::Form::none) return;
  place.fail(
      fmt::format("line {}: expected names, got numbers alone; set has_names to false where the file "
                  "has no names, or put them in quotes",
                  records.line()));
}

void add_name(const Place& place, State& state, const Field& field) {
  const size_t number = state.names.size();
  const auto fail = [&](const std::string& what) {
    place.fail(fmt::format("line {}, column {}: {}", field.line, number + 1, what));
  };
  if (field.text.empty())
    fail(
        "expected a name, got an empty one; if these are the numbers of the rows, write the file without "
        "them");
  const bool one_line = field.text.find_first_of("\r\n") == std::string_view::npos;
  if (!one_line || !table::is_utf8(field.text))
    fail(fmt::format("expected a name in UTF-8 on one line, got {}", shown(field.text)));
  const auto [other, is_new] = state.places.emplace(field.text, number);
  if (!is_new)
    fail(fmt::format("expected each name once, got {} in column {} too", shown(field.text),
                     other->second + 1));
  state.names.emplace_back(field.text);
}

// From the first record, which is there.
void read_names(const Place& place, State& state, const Records& records, const CsvOptions& options) {
  expect_separator(place, records, options.separator);
  if (options.has_names) {
    expect_names(place, records);
    for (const Field& field : records.fields()) add_name(place, state, field);
    return;
  }
  for (size_t i = 0; i < records.fields().size(); i++) {
    state.names.push_back(std::to_string(i + 1));
    state.places.emplace(state.names.back(), i);
  }
}

std::vector<ColumnReader> make_readers(const Place& place, const State& state, const CsvOptions& options) {
  for (const std::string& name : options.as_words)
    if (!state.places.contains(name)) table::refuse_name(place.inside("as_words"), name, state.names);
  const std::set<std::string_view> as_words(options.as_words.begin(), options.as_words.end());
  std::vector<ColumnReader> readers;
  readers.reserve(state.names.size());
  for (const std::string& name : state.names) readers.emplace_back(place, name, as_words.contains(name));
  return readers;
}

void read_row(const Place& place, const Records& records, std::vector<ColumnReader>& readers, int64_t first) {
  const std::vector<Field>& fields = records.fields();
  if (fields.size() != readers.size())
    place.fail(fmt::format("line {}: expected {} fields as line {} has, got {}", records.line(),
                           readers.size(), first, fields.size()));
  for (size_t i = 0; i < fields.size(); i++) readers[i].add(fields[i]);
}

std::shared_ptr<const State> read(const Place& place, std::string_view text, const CsvOptions& options) {
  const auto state = std::make_shared<State>();
  state->file = place.file;
  state->device = options.device;
  Records records(place, text, options.separator, options.comment);
  bool has_row = records.next();
  if (!has_row) place.fail("expected a table, got no line of it");
  const int64_t first = records.line();
  read_names(place, *state, records, options);
  std::vector<ColumnReader> readers = make_readers(place, *state, options);
  if (options.has_names) has_row = records.next();
  for (; has_row; has_row = records.next(), ++state->rows) read_row(place, records, readers, first);
  if (state->rows == 0) place.fail("expected rows, got a line of names alone");
  for (ColumnReader& reader : readers) state->columns.push_back(reader.finish());
  return state;
}

Table decode(const Place& place, std::string_view text, const CsvOptions& options) {
  try {
    return Table(read(place, text, options));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_memory,
                fmt::format("[{}] {}: expected memory for a table of {} bytes of text, got none",
                            place.function, place.file, text.size()));
  }
}

std::string_view text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Table load_csv(const std::filesystem::path& path, const CsvOptions& options) {
  const Place place{"load_csv", printable(path.string())};
  check_options(place, options);
  return decode(place, text_of(read_file(place, path)), options);
}

Table load_csv(std::istream& in, const CsvOptions& options) {
  const Place place{"load_csv", "stream"};
  check_options(place, options);
  return decode(place, text_of(read_stream(place, in)), options);
}

Table decode_csv(std::string_view text, const CsvOptions& options) {
  const Place place{"decode_csv", "text"};
  check_options(place, options);
  return decode(place, text, options);
}

}  // namespace adit
