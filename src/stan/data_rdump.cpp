// Data from R's dump: assignments of numbers, c(...), ranges, structure(..., .Dim = ...), and arithmetic with
// them. Texts are passed over: no data are made of them.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "stan/data_text.hpp"

namespace adit::stan {
namespace {

bool is_r_digit(char c) { return c >= '0' && c <= '9'; }
bool is_r_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_r_name_character(char c) { return is_r_letter(c) || is_r_digit(c) || c == '_' || c == '.'; }

struct RNumber {
  double number = 0;
  bool is_integer = false;
};

struct RText {};  // thrown where a text stands

double r_arithmetic(char op, double a, double b) {
  switch (op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/': return a / b;
    default: return std::pow(a, b);
  }
}

// R holds arrays in column-major order.
void to_row_major(DataValue& value) {
  const Shape& shape = value.shape;
  if (shape.size() < 2 || value.numbers.empty()) return;
  const Dims strides = strides_of(shape);
  std::vector<double> rows(value.numbers.size());
  Dims index = Dims::filled(shape.size(), 0);
  int64_t place = 0;
  std::optional<int64_t> real;
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[static_cast<size_t>(place)] = value.numbers[i];
    if (static_cast<int64_t>(i) == value.first_real) real = place;
    for (int axis = 0; axis < shape.size(); ++axis) {
      place += strides[axis];
      if (++index[axis] < shape[axis]) break;
      place -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  value.numbers = std::move(rows);
  if (real) value.first_real = *real;
}

class DataDumpReader {
 public:
  DataDumpReader(std::string_view text, const std::string& name) : text_{text, name} {}

  DataValues read() {
    DataValues values;
    while (next() < text_.text.size()) {
      variable_.clear();
      const size_t at = at_;
      const std::string name = read_name();
      if (values.contains(name)) fail(at, "each name once", quoted_data(name) + " again");
      variable_ = name;
      read_arrow();
      const size_t begin = next();
      try {
        DataValue value = read_sum();
        if (value.shape.size() < 2) known_[name] = value;
        to_row_major(value);
        finish_value(value);
        values.emplace(name, std::move(value));
      } catch (const RText&) {
        at_ = begin;
        pass_value();
      }
      skip(';');
    }
    return values;
  }

 private:
  [[noreturn]] void fail(size_t at, const std::string& expected, const std::string& found) const {
    text_.fail(at, variable_, expected, found);
  }
  bool at_end() const { return at_ == text_.text.size(); }
  char now() const { return at_end() ? '\0' : text_.text[at_]; }

  // Of the next token: blanks and comments are passed.
  size_t next() {
    constexpr std::string_view blanks = " \t\r\n\f\v";
    while (!at_end()) {
      if (now() == '#')
        at_ = std::min(text_.text.find('\n', at_), text_.text.size());
      else if (blanks.find(now()) != std::string_view::npos)
        ++at_;
      else
        break;
    }
    return at_;
  }
  bool skip(char c) {
    const bool is_there = next() < text_.text.size() && now() == c;
    if (is_there) ++at_;
    return is_there;
  }
  void expect(char c, const std::string& what) {
    if (!skip(c)) fail(next(), what, glimpse());
  }
  // The word that follows, which stays.
  std::string_view word() {
    size_t end = next();
    while (end < text_.text.size() && is_r_name_character(text_.text[end])) ++end;
    return text_.text.substr(at_, end - at_);
  }
  std::string glimpse() {
    const std::string_view found = word();
    if (next() == text_.text.size()) return "the end of the text";
    return quoted_data(found.empty() ? text_.text.substr(at_, 1) : found);
  }

  std::string read_name() {
    const char quote = now() == '"' || now() == '\'' || now() == '`' ? now() : '\0';
    if (quote) ++at_;
    const std::string_view name = quote && !is_r_letter(now()) ? "" : word();
    if (name.empty() || !is_r_letter(name.front())) fail(at_, "the name of a variable", glimpse());
    at_ += name.size();
    if (quote && now() != quote) fail(at_, "the quote that closes a name", glimpse());
    if (quote) ++at_;
    return std::string(name);
  }
  void read_arrow() {
    if (skip('=')) return;
    if (next() == text_.text.size() || !text_.text.substr(at_).starts_with("<-"))
      fail(at_, "<- after the name", glimpse());
    at_ += 2;
  }

  // At its first quote; to its last.
  void pass_text(char quote) {
    for (++at_; !at_end() && now() != quote; ++at_)
      if (now() == '\\' && at_ + 1 < text_.text.size()) ++at_;
  }
  // To the end of the line, or of the brackets that it opens.
  void pass_value() {
    int depth = 0;
    for (; !at_end(); ++at_) {
      const char c = now();
      if (c == '"' || c == '\'') {
        pass_text(c);
        if (at_end()) return;
      } else if (c == '#') {
        at_ = std::min(text_.text.find('\n', at_), text_.text.size()) - 1;
      } else if (c == '(') {
        ++depth;
      } else if (c == ')') {
        --depth;
      } else if ((c == '\n' || c == ';') && depth <= 0) {
        return;
      }
    }
  }

  // Sums, products, ranges, signs and powers, the loosest first, as R has them.
  DataValue read_sum() {
    DataValue value = read_product();
    while (true) {
      const size_t at = next();
      const char op = now();
      if (op != '+' && op != '-') return value;
      ++at_;
      value = combined(op, value, read_product(), at);
    }
  }
  DataValue read_product() {
    DataValue value = read_range();
    while (true) {
      const size_t at = next();
      const char op = now();
      if (op != '*' && op != '/') return value;
      ++at_;
      value = combined(op, value, read_range(), at);
    }
  }
  DataValue read_range() {
    const size_t at = next();
    DataValue first = read_signed();
    if (!skip(':')) return first;
    const DataValue last = read_signed();
    constexpr double most = 2147483647;
    const auto fits = [](const DataValue& end) {
      return end.numbers.size() == 1 && end.first_real < 0 && std::fabs(end.numbers[0]) <= most;
    };
    if (!fits(first) || !fits(last))
      fail(at, "a range of integers",
           first.numbers.size() == 1 && last.numbers.size() == 1
               ? fmt::format("{}:{}", first.numbers[0], last.numbers[0])
               : "one of lists");
    DataValue value;
    const auto count = static_cast<int64_t>(std::fabs(last.numbers[0] - first.numbers[0])) + 1;
    reserve(value, count);
    const double step = first.numbers[0] <= last.numbers[0] ? 1 : -1;
    for (int64_t i = 0; i < count; ++i)
      add_number(value, first.numbers[0] + step * static_cast<double>(i), true);
    value.shape = {count};
    return value;
  }
  DataValue read_signed() {
    bool is_negative = false;
    for (next(); now() == '-' || now() == '+'; next()) {
      is_negative = is_negative != (now() == '-');
      ++at_;
    }
    const size_t at = at_;
    DataValue value = read_power();
    return is_negative ? combined('*', one_number(-1, true), value, at) : value;
  }
  DataValue read_power() {
    DataValue value = read_value();
    const size_t at = next();
    return skip('^') ? combined('^', value, read_signed(), at) : value;
  }

  static DataValue one_number(double number, bool is_integer) {
    DataValue value;
    add_number(value, number, is_integer);
    return value;
  }
  // Element by element; one number goes with all.
  DataValue combined(char op, const DataValue& a, const DataValue& b, size_t at) const {
    const size_t many = std::max(a.numbers.size(), b.numbers.size());
    const bool fits = (a.numbers.size() == many || a.numbers.size() == 1) &&
                      (b.numbers.size() == many || b.numbers.size() == 1);
    if (!fits)
      fail(at, "operands of one length",
           fmt::format("{} and {} numbers", a.numbers.size(), b.numbers.size()));
    const bool are_integers = a.first_real < 0 && b.first_real < 0;
    DataValue value;
    value.shape = a.numbers.size() == many && (a.shape.size() >= b.shape.size() || b.numbers.size() != many)
                      ? a.shape
                      : b.shape;
    value.numbers.reserve(many);
    for (size_t i = 0; i < many; ++i) {
      const double number = r_arithmetic(op, a.numbers[a.numbers.size() == 1 ? 0 : i],
                                         b.numbers[b.numbers.size() == 1 ? 0 : i]);
      add_number(value, number, are_integers && number == std::floor(number));
    }
    return value;
  }

  DataValue read_value() {
    const std::string name(word());
    if (name == "c") return read_list();
    if (name == "integer" || name == "double" || name == "numeric") return read_zeros(name == "integer");
    if (name == "structure") return read_structure();
    if (name == "rep") return read_repeated();
    if (const auto known = known_.find(name); known != known_.end()) {
      at_ += name.size();
      return known->second;
    }
    if (now() == '"' || now() == '\'') throw RText();
    if (skip('(')) {
      if (++depth_ > deepest_r) fail(at_, fmt::format("brackets at most {} deep", deepest_r), "more");
      DataValue value = read_sum();
      expect(')', ")");
      --depth_;
      return value;
    }
    const RNumber number = read_number();
    return one_number(number.number, number.is_integer);
  }

  DataValue read_list() {
    at_ += 1;
    expect('(', "( after c");
    if (++depth_ > deepest_r) fail(at_, fmt::format("brackets at most {} deep", deepest_r), "more");
    DataValue value;
    if (!skip(')')) {
      do read_element(value);
      while (skip(','));
      expect(')', "a comma or )");
    }
    --depth_;
    value.shape = {std::ssize(value.numbers)};
    return value;
  }
  // Most are plain numbers.
  void read_element(DataValue& list) {
    const size_t begin = next();
    const size_t digits = begin + (now() == '-' ? 1 : 0);
    if (digits < text_.text.size() && (is_r_digit(text_.text[digits]) || text_.text[digits] == '.')) {
      const RNumber number = read_number();
      if (next() == text_.text.size() || now() == ',' || now() == ')')
        return add_number(list, number.number, number.is_integer);
      at_ = begin;
    }
    const DataValue more = read_sum();
    for (size_t i = 0; i < more.numbers.size(); ++i) add_number(list, more.numbers[i], more.first_real < 0);
  }

  // rep(x, 3)
  DataValue read_repeated() {
    at_ += word().size();
    expect('(', "( after rep");
    const DataValue once = read_sum();
    expect(',', "a comma and how often");
    if (word() == "times") {
      at_ += word().size();
      expect('=', "= after times");
    }
    const int64_t times = read_extent();
    expect(')', ")");
    const auto each = std::ssize(once.numbers);
    DataValue value;
    if (each == 0) return value.shape = {0}, value;
    reserve(value, times > most_data_elements / each ? most_data_elements + 1 : times * each);
    for (int64_t k = 0; k < times; ++k)
      for (const double number : once.numbers) add_number(value, number, once.first_real < 0);
    value.shape = {std::ssize(value.numbers)};
    return value;
  }

  // integer(3): three zeros; integer() and integer(0): none.
  DataValue read_zeros(bool is_integer) {
    at_ += word().size();
    expect('(', "( after the word");
    DataValue value;
    int64_t count = 0;
    if (!skip(')')) {
      count = read_extent();
      expect(')', ")");
    }
    reserve(value, count);
    for (int64_t i = 0; i < count; ++i) add_number(value, 0, is_integer);
    value.shape = {count};
    return value;
  }

  DataValue read_structure() {
    at_ += word().size();
    expect('(', "( after structure");
    const std::string_view inside = word();
    if (inside == "structure" || inside == "list")
      fail(at_, "numbers in structure(...)", quoted_data(inside));
    DataValue value = read_sum();
    bool has_dimensions = false, has_others = false;
    while (skip(',')) {
      const size_t at = next();
      const std::string attribute(word());
      const bool is_dimensions = attribute == ".Dim" || attribute == "dim";
      if (is_dimensions && has_dimensions) fail(at, ".Dim = c(...) once", glimpse());
      at_ += attribute.size();
      expect('=', fmt::format("= after {}", attribute.empty() ? "an attribute" : attribute));
      if (is_dimensions)
        read_dimensions(value, at);
      else
        pass_attribute();
      (is_dimensions ? has_dimensions : has_others) = true;
    }
    if (!has_dimensions && !has_others) fail(next(), ", .Dim = c(...) in structure(...)", glimpse());
    expect(')', ")");
    if (!has_dimensions) value.shape = {std::ssize(value.numbers)};
    return value;
  }
  // Names, levels and the like: to the next comma or bracket.
  void pass_attribute() {
    for (int depth = 0; !at_end(); ++at_) {
      const char c = now();
      if (c == '"' || c == '\'') {
        pass_text(c);
        if (at_end()) return;
      } else if (depth == 0 && (c == ',' || c == ')')) {
        return;
      }
      depth += (c == '(') - (c == ')');
    }
  }

  void read_dimensions(DataValue& value, size_t at) {
    std::vector<int64_t> extents;
    if (word() == "c") {
      at_ += 1;
      expect('(', "( after c");
      do read_extents(extents);
      while (skip(','));
      expect(')', "a comma or )");
    } else {
      read_extents(extents);
    }
    const auto count = std::ssize(value.numbers);
    const bool has_zero = std::find(extents.begin(), extents.end(), 0) != extents.end();
    int64_t product = has_zero ? 0 : 1;
    for (const int64_t extent : extents)  // no more than there are numbers, so that it cannot overflow
      product = product > count ? product : product * std::min(extent, count + 1);
    if (product != count)
      fail(at, fmt::format("extents whose product is {}, the number of elements", count),
           fmt::format("({})", fmt::join(extents, ", ")));
    value.shape = Shape(extents);
  }
  // An extent, or a range of them: 2:4 is 2, 3, 4.
  void read_extents(std::vector<int64_t>& extents) {
    const size_t at = next();
    const int64_t first = read_extent();
    const int64_t last = skip(':') ? read_extent() : first;
    const int64_t step = first <= last ? 1 : -1;
    for (int64_t extent = first;; extent += step) {
      if (extents.size() == max_rank) fail(at, fmt::format("at most {} extents", max_rank), "more");
      extents.push_back(extent);
      if (extent == last) break;
    }
  }
  int64_t read_extent() {
    constexpr double most = 1e15;
    const size_t at = next();
    const RNumber extent = read_number();
    if (!(extent.number >= 0 && extent.number <= most) || extent.number != std::floor(extent.number))
      fail(at, "a whole number that is 0 or more", fmt::format("{}", extent.number));
    return static_cast<int64_t>(extent.number);
  }

  // A few letters must not fill the memory.
  void reserve(DataValue& value, int64_t count) {
    if (count > most_data_elements - asked_)
      fail(at_, fmt::format("at most {} elements of ranges and zeros", most_data_elements), "more");
    asked_ += count;
    const size_t needed = value.numbers.size() + static_cast<size_t>(count);
    if (needed > value.numbers.capacity()) value.numbers.reserve(std::max(needed, 2 * value.numbers.size()));
  }

  RNumber read_number() {
    const size_t begin = next();
    const bool is_negative = now() == '-';
    if (is_negative || now() == '+') ++at_;
    const char c = next() < text_.text.size() ? now() : '\0';
    RNumber result = is_r_letter(c) ? read_word_number(begin) : read_digits(begin);
    if (is_negative) result.number = -result.number;
    return result;
  }
  RNumber read_word_number(size_t begin) {
    const std::string_view found = word();
    const std::optional<double> number = special_number(found == "nan" ? "NaN" : found);
    if (!number) {
      const bool is_truth = found == "TRUE" || found == "FALSE";
      fail(begin, "a number, c(...), structure(...), integer(0) or double(0)",
           found.starts_with("NA") ? fmt::format("the missing value {}", found)
           : is_truth              ? fmt::format("{} (write 1 or 0)", found)
                                   : quoted_data(found));
    }
    at_ += found.size();
    return {*number, false};
  }
  RNumber read_digits(size_t begin) {
    const size_t first = at_;
    const auto pass_digits = [&] {
      const size_t start = at_;
      while (is_r_digit(now())) ++at_;
      return at_ > start;
    };
    bool has_digits = pass_digits(), is_integer = true;
    if (now() == '.') {
      ++at_;
      is_integer = false;
      has_digits = pass_digits() || has_digits;
    }
    if (!has_digits) fail(begin, "a number", (at_ = begin, glimpse()));
    if (now() == 'e' || now() == 'E') {
      ++at_;
      is_integer = false;
      if (now() == '-' || now() == '+') ++at_;
      if (!pass_digits()) fail(begin, "digits after the e of a number", glimpse());
    }
    const std::string_view digits = text_.text.substr(first, at_ - first);
    const std::optional<double> number = decimal_number(digits);
    if (!number) fail(begin, "a number that f64 can hold", quoted_data(digits));
    if (now() == 'L' || now() == 'l') {
      ++at_;
      is_integer = *number == std::floor(*number);
    }
    if (is_r_name_character(now()))
      fail(begin, "a number", quoted_data(text_.text.substr(begin, at_ + 1 - begin)));
    return {*number, is_integer};
  }

  DataText text_;
  std::string variable_;
  size_t at_ = 0;
  static constexpr int deepest_r = 100;
  int depth_ = 0;  // of brackets
  int64_t asked_ = 0;
  std::map<std::string, DataValue> known_;  // numbers and lists, which others may be made of
};

}  // namespace

DataValues data_from_rdump(std::string_view text, const std::string& name) {
  return DataDumpReader(text, name).read();
}

}  // namespace adit::stan
