// Writes a program of one file; what other files brought is left out.
#pragma once

#include <string_view>

#include "stan/format_layout.hpp"
#include "stan/lexer.hpp"

namespace adit::stan {

class FormatWriter {
 public:
  // Tokens of the program's own file, in order; comments are those of the file and its lines of #include.
  FormatWriter(const Program& program, std::vector<Token> tokens, std::vector<Comment> comments)
      : program_(program),
        source_(program.sources[0].text),
        tokens_(std::move(tokens)),
        comments_(std::move(comments)) {}
  std::string run() &&;

 private:
  static constexpr size_t deepest_indent = 40;  // levels; those below stay there
  static constexpr size_t room_for_brace = 2;

  // Lines and comments: format_writer.cpp.
  size_t indent() const { return 2 * std::min(depth_, deepest_indent); }
  size_t column() const;
  void start_line();
  void put(const Layout& layout, size_t behind = 0) { out_ += layout.lines(column(), indent(), behind); }
  void separate(size_t begin);
  bool comment_before(size_t end) const {
    return next_ < comments_.size() && comments_[next_].place.begin < end;
  }
  void put_comment();
  void leading(size_t begin);
  void hoisted(size_t end);
  void trailing(size_t end);
  void open_brace(size_t brace);
  void close_brace(size_t brace);
  size_t token_from(size_t begin, TokenKind kind) const;
  bool is_own(const Place& place) const { return place.file == 0; }

  // Blocks: format.cpp.
  void functions();
  void function(const Function& function);
  void block(BlockKind kind);

  // Statements: format_statement.cpp.
  void statements(const std::vector<StatementPtr>& list);
  void statement(const Statement& statement);
  void written(const Statement& statement);
  void simple(const Statement& statement);
  void declare(const Statement& statement);
  void printing(const Statement& statement, const char* word);
  void tilde(const Statement& statement);
  void assign(const Statement& statement);
  void for_header(const Statement& loop);
  void conditional(const char* word, const Expression* condition);
  void choice(const Statement& statement);
  void body(const Statement& body);
  void with_value(std::string front, const Expression* value);
  size_t header_end(const Statement& statement) const;

  const Program& program_;
  std::string_view source_;
  std::vector<Token> tokens_;
  std::vector<Comment> comments_;
  size_t next_ = 0;  // the comment to come
  std::string out_;
  size_t depth_ = 0;
  bool fresh_ = true;  // nothing stands before in this block
};

}  // namespace adit::stan
