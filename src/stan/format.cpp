#include "stan/format.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "stan/format_writer.hpp"

namespace adit::stan {

namespace {

// The tokens of a parsed program once more, with the files it included in their order.
Lexed lexed_again(const Program& program) {
  size_t next = 1;
  const Include include = [&](const std::string&) -> std::optional<Source> {
    if (next >= program.sources.size()) return std::nullopt;
    return program.sources[next++];
  };
  Notes notes;
  return lex(program.sources[0].name, program.sources[0].text, include, notes);
}

// Whether what a line of #include brought is a list of statements, functions or blocks.
bool stands_between_statements(const Lexed& lexed, const Included& line) {
  if (line.first_token == line.last_token) return true;
  const auto kind = [&](size_t i) { return lexed.tokens[i].kind; };
  const auto ends = [](TokenKind of) { return of == TokenKind::semicolon || of == TokenKind::brace_close; };
  const TokenKind first = kind(line.first_token);
  if (line.first_token > 0) {
    const TokenKind before = kind(line.first_token - 1);
    if (!ends(before) && before != TokenKind::brace_open) return false;
  }
  if ((first != TokenKind::name && !is_word(first)) || first == TokenKind::else_word) return false;
  if (!ends(kind(line.last_token - 1))) return false;
  int depth = 0, lowest = 0, semicolons = 0;  // an array in braces has none of these
  for (size_t i = line.first_token; i < line.last_token; ++i) {
    depth += (kind(i) == TokenKind::brace_open) - (kind(i) == TokenKind::brace_close);
    lowest = std::min(lowest, depth);
    semicolons += kind(i) == TokenKind::semicolon;
  }
  return depth == 0 && lowest == 0 && semicolons > 0;
}

// A file with the text of those it includes; lines are in the order of the sources.
std::string joined_text(const Lexed& lexed, uint32_t file, size_t& next) {
  const std::string& text = lexed.sources[file].text;
  std::string joined;
  size_t from = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  while (next < lexed.includes.size() && lexed.includes[next].place.file == file) {
    const Included line = lexed.includes[next++];
    joined += text.substr(from, line.place.begin - from) + '\n';
    joined += joined_text(lexed, line.file, next) + '\n';
    from = line.place.end;
  }
  return joined + text.substr(from);
}

std::vector<Comment> own_comments(const Lexed& lexed) {
  std::vector<Comment> comments;
  for (const Comment& comment : lexed.comments)
    if (comment.place.file == 0) comments.push_back(comment);
  for (const Included& line : lexed.includes) {
    if (line.place.file != 0) continue;
    const std::string_view text = text_of(lexed.sources, line.place);
    const size_t name = text.find_first_not_of(" \t", std::string_view("#include").size());
    comments.push_back({line.place, fmt::format("#include {}", text.substr(name))});
  }
  std::sort(comments.begin(), comments.end(),
            [](const Comment& a, const Comment& b) { return a.place.begin < b.place.begin; });
  return comments;
}

}  // namespace

std::string format(const Program& program) {
  if (program.sources.empty()) return {};
  const Lexed lexed = lexed_again(program);
  const bool keeps_lines = std::all_of(
      lexed.includes.begin(), lexed.includes.end(),
      [&](const Included& line) { return line.place.file != 0 || stands_between_statements(lexed, line); });
  if (!keeps_lines) {
    size_t next = 0;
    return format(parse(program.sources[0].name, joined_text(lexed, 0, next)).program);
  }
  std::vector<Token> tokens;
  for (const Token& token : lexed.tokens)
    if (token.place.file == 0) tokens.push_back(token);
  std::string formatted;
  walk_deep(program,
            [&] { formatted = FormatWriter(program, std::move(tokens), own_comments(lexed)).run(); });
  return formatted;
}

std::string FormatWriter::run() && {
  functions();
  for (int kind = 0; kind < block_kinds; ++kind) block(static_cast<BlockKind>(kind));
  leading(source_.size() + 1);
  if (!out_.empty()) out_ += '\n';
  return std::move(out_);
}

void FormatWriter::functions() {
  const size_t begin = token_from(0, TokenKind::functions_word);
  if (!program_.has_functions_block || begin == source_.size()) return;
  const size_t open = token_from(begin, TokenKind::brace_open);
  leading(begin);
  separate(begin);
  hoisted(open);
  start_line();
  out_ += "functions";
  open_brace(open);
  size_t last = open;
  for (const auto& next : program_.functions) {
    if (!is_own(next->place)) continue;
    function(*next);
    last = next->place.end;
  }
  const size_t close = token_from(last, TokenKind::brace_close);
  close_brace(close);
  trailing(close + 1);
}

void FormatWriter::function(const Function& function) {
  leading(function.place.begin);
  separate(function.place.begin);
  hoisted(function.body ? function.body->place.begin : function.place.end);
  start_line();
  Layout layout;
  layout.text(fmt::format("{} {}(", to_text(function.result), function.name));
  layout.open();
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    const Argument& argument = function.arguments[i];
    if (i > 0) layout.text(",");
    if (i > 0) layout.space_or_break();
    layout.text(
        fmt::format("{}{} {}", argument.is_data ? "data " : "", to_text(argument.type), argument.name));
  }
  layout.text(function.body ? ")" : ");");
  layout.close();
  put(layout, function.body ? room_for_brace : 0);
  if (function.body) body(*function.body);
  trailing(function.place.end);
}

void FormatWriter::block(BlockKind kind) {
  const Block& block = program_.block(kind);
  if (!block.present || !is_own(block.place)) return;
  const size_t open = token_from(block.place.begin, TokenKind::brace_open);
  leading(block.place.begin);
  separate(block.place.begin);
  hoisted(open);
  start_line();
  out_ += to_text(kind);
  open_brace(open);
  statements(block.statements);
  close_brace(block.place.end - 1);
  trailing(block.place.end);
}

}  // namespace adit::stan
