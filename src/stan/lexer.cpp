#include "stan/lexer.hpp"

#include <algorithm>
#include <fmt/format.h>

#include <adit/error.hpp>

#include "stan/lexer_words.hpp"

namespace adit::stan {

namespace {

constexpr size_t longest_text = size_t{8} << 20;  // bytes of the program and all that it includes
constexpr size_t deepest_include = 32, most_includes = 1000;

bool is_digit_byte(char byte) { return byte >= '0' && byte <= '9'; }
bool is_letter_byte(char byte) { return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z'); }
bool is_name_byte(char byte) { return is_letter_byte(byte) || is_digit_byte(byte) || byte == '_'; }
bool is_space_byte(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f' || byte == '\v';
}

std::vector<uint32_t> beginnings_of_lines(std::string_view text) {
  std::vector<uint32_t> lines{0};
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    lines.push_back(static_cast<uint32_t>(at + 1));
  return lines;
}

class Lexer {
 public:
  Lexer(const Include& include, Notes& notes) : include_(include), notes_(notes) {}

  Lexed run(Source source) {
    open(std::move(source));
    const auto size = static_cast<uint32_t>(lexed_.sources[0].text.size());
    lexed_.tokens.push_back({{0, size, size}, TokenKind::end, true});
    return std::move(lexed_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool ahead(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  Place place_from(size_t begin) const {
    return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
  }
  std::string_view text_from(size_t begin) const { return text_.substr(begin, at_ - begin); }
  void note(Message::Kind kind, const Place& place, std::string text) {
    notes_.add(lexed_.tokens.size(), {kind, place, std::move(text)});
  }
  void error(const Place& place, std::string text) { note(Message::Kind::syntax, place, std::move(text)); }
  void push(TokenKind kind, size_t begin) {
    lexed_.tokens.push_back({place_from(begin), kind, begins_line_});
    begins_line_ = false;
  }

  void open(Source source);
  void token();
  void hash();
  void include_file(std::string_view name, const Place& place);
  void line_comment();
  void block_comment();
  void number();
  void integer(size_t begin, TokenKind kind);
  void digits();
  void text();
  void name();
  void mark();
  void no_stan(size_t begin);
  std::string_view included_name();

  const Include& include_;
  Notes& notes_;
  Lexed lexed_;
  std::vector<std::string> open_names_;
  size_t bytes_ = 0;
  std::string_view text_;  // of the file that is read
  uint32_t file_ = 0;
  size_t at_ = 0;
  bool begins_line_ = true;
};

// Reads a whole file; the one that includes it goes on behind its line.
void Lexer::open(Source source) {
  const auto outer_file = file_;
  const size_t outer_at = at_;
  file_ = static_cast<uint32_t>(lexed_.sources.size());
  bytes_ += source.text.size();
  const bool fits = bytes_ <= longest_text;
  lexed_.sources.push_back(std::move(source));
  text_ = lexed_.sources.back().text;
  lexed_.sources.back().lines = beginnings_of_lines(text_);
  at_ = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;  // a mark of UTF-8 that editors leave
  begins_line_ = true;
  if (!fits) {
    at_ = text_.size();
    lexed_.cut = true;
    error({file_, 0, 0}, fmt::format("The program has more than {} bytes.", longest_text));
  }
  while (at_ < text_.size() && !lexed_.cut && !notes_.full()) token();
  file_ = outer_file;
  at_ = outer_at;
  text_ = lexed_.sources[file_].text;
  begins_line_ = true;
}

void Lexer::token() {
  const char byte = peek();
  if (is_space_byte(byte)) {
    if (byte == '\n') begins_line_ = true;
    ++at_;
  } else if (is_letter_byte(byte)) {
    name();
  } else if (is_digit_byte(byte) || (byte == '.' && is_digit_byte(peek(1)))) {
    number();
  } else if (byte == '"') {
    text();
  } else if (byte == '#') {
    hash();
  } else if (ahead("//")) {
    line_comment();
  } else if (ahead("/*")) {
    block_comment();
  } else {
    mark();
  }
}

void Lexer::line_comment() {
  const size_t begin = at_;
  at_ = std::min(text_.find('\n', at_), text_.size());
  const size_t next = at_;
  while (at_ > begin && is_space_byte(text_[at_ - 1])) --at_;
  lexed_.comments.push_back({place_from(begin), std::string(text_from(begin))});
  at_ = next;
}

void Lexer::block_comment() {
  const size_t begin = at_;
  const size_t close = text_.find("*/", at_ + 2);
  at_ = close == std::string_view::npos ? text_.size() : close + 2;
  if (close == std::string_view::npos) {
    lexed_.cut = true;
    error({file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + 2)},
          "This comment is not closed: expected '*/' before the end of the program.");
    return;
  }
  lexed_.comments.push_back({place_from(begin), std::string(text_from(begin))});
  begins_line_ = begins_line_ || text_from(begin).find('\n') != std::string_view::npos;
}

void Lexer::hash() {
  constexpr std::string_view word = "#include";
  const size_t begin = at_;
  if (!ahead(word) || is_name_byte(peek(word.size()))) {
    line_comment();
    note(Message::Kind::warning, lexed_.comments.back().place,
         "Comments that begin with '#' are an old form; write '//' instead.");
    return;
  }
  at_ += word.size();
  const std::string file(included_name());
  include_file(file, place_from(begin));
}

// Behind `#include`, on its line or a later one: "name", <name> or all to the next space. Empty where there
// is none.
std::string_view Lexer::included_name() {
  while (is_space_byte(peek())) ++at_;
  const char open = peek();
  const size_t line_end = std::min(text_.find_first_of("\r\n", at_), text_.size());
  if (open == '"' || open == '<') {
    const size_t begin = at_ + 1, close = text_.find(open == '"' ? '"' : '>', begin);
    if (close >= line_end) {
      at_ = line_end;
      return {};
    }
    at_ = close + 1;
    return text_.substr(begin, close - begin);
  }
  const size_t begin = at_;
  while (at_ < line_end && !is_space_byte(text_[at_])) ++at_;
  return text_from(begin);
}

void Lexer::include_file(std::string_view name, const Place& place) {
  const std::string file(name);
  if (file.empty()) return error(place, "Expected the name of a file behind '#include'.");
  if (std::find(open_names_.begin(), open_names_.end(), file) != open_names_.end())
    return error(place, fmt::format("The file '{}' includes itself.", file));
  if (open_names_.size() >= deepest_include)
    return error(place, fmt::format("Included files are nested more than {} deep.", deepest_include));
  if (lexed_.includes.size() >= most_includes)
    return error(place, fmt::format("The program includes more than {} files.", most_includes));
  std::optional<Source> source;
  try {
    if (include_) source = include_(file);
  } catch (const Error& unreadable) {
    return error(place, unreadable.what());
  }
  if (!source) return error(place, fmt::format("Could not find the included file '{}'.", file));
  const size_t line = lexed_.includes.size();
  lexed_.includes.push_back({place, static_cast<uint32_t>(lexed_.sources.size()), lexed_.tokens.size(), 0});
  open_names_.push_back(file);
  open(std::move(*source));
  open_names_.pop_back();
  lexed_.includes[line].last_token = lexed_.tokens.size();
}

// 12, 1_000; at a digit or not.
void Lexer::digits() {
  while (is_digit_byte(peek()) ||
         (peek() == '_' && at_ > 0 && is_digit_byte(text_[at_ - 1]) && is_digit_byte(peek(1))))
    ++at_;
}

void Lexer::number() {
  const size_t begin = at_;
  TokenKind kind = TokenKind::integer;
  digits();
  if (peek() == '.') {
    kind = at_ == begin ? TokenKind::dot_integer : TokenKind::real;
    ++at_;
    digits();
  }
  const size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
  if ((peek() == 'e' || peek() == 'E') && is_digit_byte(peek(sign))) {
    kind = TokenKind::real;
    at_ += sign;
    digits();
  }
  if (peek() == 'i' && !is_name_byte(peek(1))) {
    kind = TokenKind::imaginary;
    ++at_;
  }
  if (is_name_byte(peek())) {
    while (is_name_byte(peek())) ++at_;
    error(place_from(begin), fmt::format("'{}' is neither a number nor a name: names begin with a letter.",
                                         excerpt(text_from(begin))));
    return push(TokenKind::bad, begin);
  }
  integer(begin, kind);
}

void Lexer::integer(size_t begin, TokenKind kind) {
  push(kind, begin);
  if (kind != TokenKind::integer) return;
  int64_t value = 0;
  for (const char byte : text_from(begin))
    if (byte != '_') value = std::min<int64_t>(value * 10 + (byte - '0'), int64_t{1} << 40);
  if (value > 2147483647)
    error(place_from(begin),
          fmt::format("The integer {} is above the largest, 2147483647; as a real it is {}.0.",
                      excerpt(text_from(begin)), excerpt(text_from(begin))));
}

void Lexer::text() {
  const size_t begin = at_;
  at_ = std::min(text_.find_first_of("\"\n", at_ + 1), text_.size());
  const bool closed = peek() == '"';
  if (closed) ++at_;
  push(TokenKind::text, begin);
  if (!closed) error(place_from(begin), "This text is not closed: expected '\"' before the end of the line.");
}

void Lexer::name() {
  const size_t begin = at_;
  while (is_name_byte(peek())) ++at_;
  push(kind_of_word(text_from(begin)), begin);
}

void Lexer::mark() {
  const size_t begin = at_;
  const Mark mark = mark_at(text_.substr(at_));
  if (mark.length == 0) return no_stan(begin);
  at_ += mark.length;
  push(mark.kind, begin);
}

void Lexer::no_stan(size_t begin) {
  const auto starts_token = [&](char byte) {
    return is_space_byte(byte) || is_name_byte(byte) || byte == '"' || byte == '#' ||
           mark_at(text_.substr(at_)).length > 0;
  };
  do ++at_;
  while (at_ < text_.size() && !starts_token(peek()));
  if (text_[begin] == '_' && is_name_byte(peek()))
    while (is_name_byte(peek())) ++at_;
  const std::string_view found = text_from(begin);
  const bool is_ascii =
      std::all_of(found.begin(), found.end(), [](char byte) { return byte > ' ' && byte < 0x7F; });
  std::string hint;
  if (found == "&") hint = " Write '&&'.";
  if (found == "$" || found == "@" || found == "`") hint = " It has no meaning in Stan.";
  if (found[0] == '_')
    error(place_from(begin), fmt::format("'{}' is no name: names begin with a letter.", excerpt(found)));
  else if (is_ascii)
    error(place_from(begin), fmt::format("'{}' is no part of the language.{}", excerpt(found), hint));
  else
    error(place_from(begin), "Only ASCII characters can stand outside of comments and texts.");
  push(TokenKind::bad, begin);
}

}  // namespace

Lexed lex(std::string name, std::string text, const Include& include, Notes& notes) {
  return Lexer(include, notes).run({std::move(name), std::move(text)});
}

}  // namespace adit::stan
