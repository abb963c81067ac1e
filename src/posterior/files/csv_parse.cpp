// One CSV file of CmdStan or of ours. Errors name the line.
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <locale.h>
#include <set>
#if __has_include(<xlocale.h>)
#include <xlocale.h>
#endif

#include "posterior/files/csv.hpp"

namespace adit::csv {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

// Names may stand in quotes, with commas inside: "L[2,1]".
std::vector<std::string_view> split_names(std::string_view line) {
  std::vector<std::string_view> names;
  while (true) {
    const size_t first = line.find_first_not_of(" \t");
    const bool quoted = first != std::string_view::npos && line[first] == '"';
    const size_t closing = quoted ? line.find('"', first + 1) : std::string_view::npos;
    const size_t comma = line.find(',', closing == std::string_view::npos ? 0 : closing);
    std::string_view name = trimmed(line.substr(0, comma));
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    names.push_back(name);
    if (comma == std::string_view::npos) return names;
    line.remove_prefix(comma + 1);
  }
}

class Parser {
 public:
  Parser(const Place& place, std::string_view text) : place_(place), text_(text) {}
  File parse();

 private:
  [[noreturn]] void fail(const std::string& what) const {
    place_.fail(fmt::format("line {}: {}", line_number_, what));
  }
  void line(std::string_view line, bool whole);
  void comment(std::string_view line);
  void metric_line(std::string_view line);
  void elapsed(std::string_view line);
  void column_line(std::string_view line, bool whole);
  void row(std::string_view line);
  void unended_row(std::string_view line);
  bool is_row(std::string_view line) const;
  int64_t kept(int64_t iterations) const;
  int64_t warmup_rows() const;
  void finish();
  void drop_warmup();

  const Place& place_;
  std::string_view text_;
  File file_;
  int64_t line_number_ = 0;
  int64_t rows_before_end_of_warmup_ = -1;  // none until it is seen
  bool in_metric_ = false, torn_ = false;
};

File Parser::parse() {
  constexpr std::string_view mark = "\xEF\xBB\xBF";  // of UTF-8; editors put it first
  if (text_.starts_with(mark)) text_.remove_prefix(mark.size());
  while (!text_.empty() && !torn_) {
    const size_t end = text_.find('\n');
    const bool whole = end != std::string_view::npos;
    ++line_number_;
    line(text_.substr(0, end), whole);
    text_.remove_prefix(whole ? end + 1 : text_.size());
  }
  finish();
  return std::move(file_);
}

void Parser::line(std::string_view line, bool whole) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return;
  if (line.front() == '#')
    comment(trimmed(line.substr(1)));
  else if (file_.columns.empty())
    column_line(line, whole);
  else if (!whole)
    unended_row(line);
  else
    row(line);
}

void Parser::comment(std::string_view line) {
  if (in_metric_) return metric_line(line);
  if (line == "Adaptation terminated") {
    rows_before_end_of_warmup_ = file_.rows;
  } else if (line.ends_with(
                 "lements of inverse mass matrix:")) {  // "Diagonal elements ..." or "Elements ..."
    in_metric_ = true;
    file_.inverse_metric.clear();
  } else if (line.ends_with("(Warm-up)") || line.ends_with("(Sampling)") || line.ends_with("(Total)")) {
    elapsed(line);
  } else if (const size_t equals = line.find('='); equals != std::string_view::npos) {
    const std::string_view key = trimmed(line.substr(0, equals));
    std::string_view value = trimmed(line.substr(equals + 1));
    if (value.ends_with("(Default)")) value = trimmed(value.substr(0, value.size() - 9));
    if (key == "Step size")
      file_.step_size = parse_number(value);
    else if (file_.columns.empty())
      file_.config.entries.emplace(key, value);  // the first of a name: ids of later blocks are others
  }
}

// One line of a diagonal, or one of several of a matrix.
void Parser::metric_line(std::string_view line) {
  std::vector<double> numbers;
  for (const std::string_view field : split(line)) {
    const auto number = parse_number(field);
    if (!number) {
      in_metric_ = false;
      return comment(line);
    }
    numbers.push_back(*number);
  }
  file_.inverse_metric.insert(file_.inverse_metric.end(), numbers.begin(), numbers.end());
}

void Parser::elapsed(std::string_view line) {
  const std::string_view head = "Elapsed Time:";
  if (line.starts_with(head)) line = trimmed(line.substr(head.size()));
  const double seconds = parse_number(line.substr(0, line.find(' '))).value_or(0);
  if (line.ends_with("(Warm-up)"))
    file_.warmup_seconds = seconds;
  else if (line.ends_with("(Sampling)"))
    file_.sampling_seconds = seconds;
  else
    file_.total_seconds = seconds;
}

void Parser::column_line(std::string_view line, bool whole) {
  bool has_density = false;
  std::set<std::string_view> seen;
  const std::vector<std::string_view> names = split_names(line);
  for (const std::string_view name : names) {
    has_density |= name == "lp__";
    if (!seen.insert(name).second)
      fail(fmt::format("expected each column once, got {} twice", in_quotes(name)));
    file_.columns.emplace_back(name);
  }
  const std::string method = file_.config.text("method", "sample");
  if (method != "sample") fail(fmt::format("expected draws of the method sample, got {}", in_quotes(method)));
  if (!has_density)
    fail(fmt::format("expected CmdStan's line of column names, lp__ among them, got {}", in_quotes(line)));
  torn_ = !whole;
}

void Parser::row(std::string_view line) {
  in_metric_ = false;
  const size_t start = file_.values.size();
  while (true) {
    const size_t comma = line.find(',');
    const auto number = parse_number(trimmed(line.substr(0, comma)));
    if (!number) fail(fmt::format("expected a number, got {}", in_quotes(line.substr(0, comma))));
    file_.values.push_back(*number);
    if (comma == std::string_view::npos) break;
    line.remove_prefix(comma + 1);
  }
  const size_t count = file_.values.size() - start;
  if (count != file_.columns.size())
    fail(fmt::format("expected {} numbers as there are columns, got {}", file_.columns.size(), count));
  ++file_.rows;
}

bool Parser::is_row(std::string_view line) const {
  const auto fields = split(line);
  return fields.size() == file_.columns.size() && std::all_of(fields.begin(), fields.end(), [](auto field) {
           return parse_number(field).has_value();
         });
}

// The last line, without its end. That of a killed run may lack digits even where it has all columns: it is
// taken if it is the last one that the run was asked for, and the run does not count as finished.
void Parser::unended_row(std::string_view line) {
  const int64_t asked = file_.config.integer("num_samples", 0);
  torn_ = asked > 0 || !is_row(line);
  if (is_row(line) && (asked <= 0 || file_.rows + 1 - warmup_rows() >= kept(asked))) row(line);
}

int64_t Parser::kept(int64_t iterations) const {
  const int64_t thin = std::max<int64_t>(1, file_.config.integer("thin", 1));
  return iterations <= 0 ? 0 : (iterations - 1) / thin + 1;
}

int64_t Parser::warmup_rows() const {
  if (rows_before_end_of_warmup_ >= 0) return rows_before_end_of_warmup_;
  // Without adaptation, or killed before its end.
  const Config& config = file_.config;
  return config.flag("save_warmup", false) ? kept(config.integer("num_warmup", 0)) : 0;
}

void Parser::drop_warmup() {
  const Config& config = file_.config;
  const int64_t saved = std::min(warmup_rows(), file_.rows);
  file_.values.erase(file_.values.begin(), file_.values.begin() + saved * std::ssize(file_.columns));
  file_.rows -= saved;
  file_.finished =
      !torn_ && file_.rows >= kept(config.integer("num_samples", 0)) && config.flag("finished", true);
  if (file_.rows == 0 && saved > 0)
    place_.fail(fmt::format("expected draws, got {} rows of saved warm-up alone", saved));
}

void Parser::finish() {
  if (file_.columns.empty())
    place_.fail(line_number_ == 0 ? "expected draws, got an empty file"
                                  : "expected CmdStan's line of column names, got comments alone");
  drop_warmup();
  if (file_.rows == 0) place_.fail("expected draws, got none after the column names");
}

// In the way of the C locale: a user's may write decimals with a comma.
locale_t c_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", locale_t{});
  return locale;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  char copy[64];  // strtod wants an end; no number that is written has more digits
  if (text.empty() || text.size() >= sizeof copy) return std::nullopt;
  text.copy(copy, text.size());
  copy[text.size()] = 0;
  char* end = nullptr;
  const double number = strtod_l(copy, &end, c_locale());
  if (end != copy + text.size()) return std::nullopt;
  return number;
}

std::string Config::text(const std::string& key, const std::string& otherwise) const {
  const auto at = entries.find(key);
  return at == entries.end() || at->second.empty() ? otherwise : at->second;
}

bool Config::flag(const std::string& key, bool otherwise) const {
  const std::string value = text(key);
  return value.empty() ? otherwise : value == "1" || value == "true";
}

double Config::number(const std::string& key, double otherwise) const {
  return parse_number(text(key)).value_or(otherwise);
}

int64_t Config::integer(const std::string& key, int64_t otherwise) const {
  const std::string value = text(key);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && !value.empty() ? number : otherwise;
}

File parse(const Place& place, std::string_view text) { return Parser(place, text).parse(); }

}  // namespace adit::csv
