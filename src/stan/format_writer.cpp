#include "stan/format_writer.hpp"

#include <algorithm>

namespace adit::stan {

namespace {

bool is_blank_byte(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

// With the marks of today and the line ends of today.
std::string comment_today(const std::string& text) {
  std::string result = text.starts_with('#') && !text.starts_with("#include ") ? "//" + text.substr(1) : text;
  std::erase(result, '\r');
  return result;
}

}  // namespace

size_t FormatWriter::column() const {
  const size_t newline = out_.rfind('\n');
  return newline == std::string::npos ? out_.size() : out_.size() - newline - 1;
}

void FormatWriter::start_line() {
  if (!out_.empty()) out_ += '\n';
  out_.append(indent(), ' ');
}

// An empty line of the source stays one.
void FormatWriter::separate(size_t begin) {
  size_t newlines = 0;
  for (size_t i = begin; i-- > 0 && is_blank_byte(source_[i]);) newlines += source_[i] == '\n';
  if (newlines > 1 && !fresh_) out_ += '\n';
  fresh_ = false;
}

void FormatWriter::put_comment() { out_ += comment_today(comments_[next_++].text); }

// Comments before the byte, on lines of their own.
void FormatWriter::leading(size_t begin) {
  while (comment_before(begin)) {
    separate(comments_[next_].place.begin);
    start_line();
    put_comment();
  }
}

// Comments inside of what is to be written: they go before it.
void FormatWriter::hoisted(size_t end) {
  while (comment_before(end)) {
    start_line();
    put_comment();
  }
}

// Comments on the line whose last byte of code is before `end`.
void FormatWriter::trailing(size_t end) {
  while (next_ < comments_.size()) {
    const Place& place = comments_[next_].place;
    if (place.begin < end || comments_[next_].text.starts_with("#include ")) return;
    const std::string_view between = source_.substr(end, place.begin - end);
    if (!std::all_of(between.begin(), between.end(), [](char byte) { return byte == ' ' || byte == '\t'; }))
      return;
    out_ += ' ';
    end = place.end;
    put_comment();
  }
}

void FormatWriter::open_brace(size_t brace) {
  out_ += " {";
  ++depth_;
  trailing(brace + 1);
  fresh_ = true;
}

void FormatWriter::close_brace(size_t brace) {
  leading(brace);
  --depth_;
  fresh_ = false;
  start_line();
  out_ += '}';
}

// Where the first such token begins at or behind the byte; the end of the text where there is none.
size_t FormatWriter::token_from(size_t begin, TokenKind kind) const {
  auto at = std::lower_bound(tokens_.begin(), tokens_.end(), begin,
                             [](const Token& token, size_t byte) { return token.place.begin < byte; });
  while (at != tokens_.end() && at->kind != kind) ++at;
  return at == tokens_.end() ? source_.size() : at->place.begin;
}

}  // namespace adit::stan
