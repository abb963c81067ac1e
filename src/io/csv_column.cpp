#include "io/csv_column.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace adit::table {
namespace {

bool same_letters(std::string_view text, std::string_view small) {
  return std::equal(text.begin(), text.end(), small.begin(), small.end(),
                    [](char c, char s) { return c == s || (c >= 'A' && c <= 'Z' && c + ('a' - 'A') == s); });
}

// What programs write where there is no value.
bool marks_missing(std::string_view text) {
  if (text.size() > 4) return false;
  if (text.empty() || text == "." || text == "?") return true;
  return same_letters(text, "na") || same_letters(text, "nan") || same_letters(text, "n/a") ||
         same_letters(text, "null") || same_letters(text, "#n/a");
}

bool is_infinity(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return same_letters(text, "inf") || same_letters(text, "infinity");
}

// "3,5" or "1,000": a number to its writer.
bool has_comma(std::string_view text) {
  const std::string_view of_numbers = "0123456789.,+-eE";
  return text.find(',') != std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos &&
         text.find_first_not_of(of_numbers) == std::string_view::npos;
}

// Enough of a field for a message.
Seen seen(const Field& field) { return {field.line, std::string(field.text.substr(0, 100))}; }

constexpr const char* how_to_get_words = "name the column in as_words to read all of it as words";

}  // namespace

ColumnReader::ColumnReader(const Place& place, std::string_view name, bool as_words)
    : place_(place), name_(name), as_words_(as_words) {
  if (as_words) kind_ = Kind::words;
}

void ColumnReader::fail(int64_t line, const std::string& what) const {
  place_.fail(fmt::format("line {}, column {}: {}", line, shown(name_), what));
}

void ColumnReader::refuse_missing(const Field& field) const {
  const bool is_a_word = as_words_ && field.quoted && !field.text.empty();
  if (is_a_word || !marks_missing(field.text)) return;
  fail(field.line, fmt::format("a missing value ({}); leave out such rows, or put in what you know",
                               field.text.empty() ? "an empty field" : shown(field.text)));
}

void ColumnReader::refuse_infinite(const Field& field) const {
  if (is_infinity(field.text))
    fail(field.line, fmt::format("expected a finite number or a word, got {}", shown(field.text)));
}

void ColumnReader::refuse_comma(const Field& field) const {
  if (has_comma(field.text))
    fail(field.line, fmt::format("expected numbers with a point and without commas, got {}; {}",
                                 shown(field.text), how_to_get_words));
}

void ColumnReader::refuse_number(const Field& field, Number::Form form) const {
  const char* what = form == Number::Form::beyond ? "a number in the range of f64"
                                                  : "a whole number that i64 or f64 holds exactly";
  fail(field.line, fmt::format("expected {}, got {}; {}", what, shown(field.text), how_to_get_words));
}

void ColumnReader::refuse_mixture(const Field& field) const {
  fail(field.line,
       fmt::format("expected {} as in line {} ({}), got {}; {}", kind_ == Kind::words ? "a word" : "a number",
                   first_.line, shown(first_.text), shown(field.text), how_to_get_words));
}

void ColumnReader::add(const Field& field) {
  if (kind_ == Kind::words) return add_word(field);
  const Number number = parse_number(field.text);
  const bool is_first = kind_ == Kind::unknown;
  if (is_first) first_ = seen(field);
  switch (number.form) {
    case Number::Form::whole: return add_whole(field, number.whole);
    case Number::Form::real: return add_real(field, number.real);
    case Number::Form::none: break;
    default: refuse_number(field, number.form);
  }
  refuse_missing(field);
  refuse_infinite(field);
  refuse_comma(field);
  if (!is_first) refuse_mixture(field);
  kind_ = Kind::words;
  add_word(field);
}

void ColumnReader::add_whole(const Field& field, int64_t value) {
  if (!is_exact(value) && inexact_.line == 0) inexact_ = seen(field);
  if (kind_ == Kind::real) return add_real(field, static_cast<double>(value));
  kind_ = Kind::whole;
  column_.whole.push_back(value);
}

void ColumnReader::add_real(const Field& field, double value) {
  if (kind_ != Kind::real) {
    kind_ = Kind::real;
    fraction_ = seen(field);
    column_.real.assign(column_.whole.begin(), column_.whole.end());
    column_.whole = {};
  }
  if (inexact_.line != 0) refuse_inexact();
  column_.real.push_back(value);
}

void ColumnReader::refuse_inexact() const {
  fail(inexact_.line,
       fmt::format("expected whole numbers that f64 holds exactly, since {} in line {} is none that i64 "
                   "holds, got {}; {}",
                   shown(fraction_.text), fraction_.line, shown(inexact_.text), how_to_get_words));
}

void ColumnReader::add_word(const Field& field) {
  refuse_missing(field);
  auto at = codes_.find(field.text);
  if (at == codes_.end()) {
    check_new_word(field);
    at = codes_.emplace(field.text, std::ssize(codes_)).first;
  }
  column_.whole.push_back(at->second);
}

void ColumnReader::check_new_word(const Field& field) const {
  if (!is_utf8(field.text)) fail(field.line, fmt::format("expected UTF-8, got {}", shown(field.text)));
  if (as_words_) return;
  refuse_infinite(field);
  refuse_comma(field);
  if (parse_number(field.text).form != Number::Form::none) refuse_mixture(field);
}

Column ColumnReader::finish() {
  if (kind_ != Kind::words) return std::move(column_);
  std::vector<const std::pair<const std::string, int64_t>*> order;
  for (const auto& entry : codes_) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->first < b->first; });
  std::vector<int64_t> place_of(order.size());
  for (const auto* entry : order) {
    place_of[static_cast<size_t>(entry->second)] = std::ssize(column_.words);
    column_.words.push_back(entry->first);
  }
  for (int64_t& code : column_.whole) code = place_of[static_cast<size_t>(code)];
  return std::move(column_);
}

}  // namespace adit::table
