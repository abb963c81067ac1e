// The parser: recursive descent over the tokens; what is wrong is noted and the parser goes on behind it. It
// goes down as deep as the text nests: parse() gives it a stack for that.
#pragma once

#include "stan/nesting.hpp"

namespace adit::stan {

class Parser {
 public:
  Parser(const Lexed& lexed, const Nesting& nesting, Program& program, Notes& notes)
      : lexed_(lexed), brackets_(nesting), program_(program), notes_(notes) {}
  void run();

 private:
  static constexpr size_t most_copies = 300000;
  static constexpr size_t most_axes = 100;
  static constexpr int deepest_tuple = 100;  // types are values that are copied

  struct Failure {};  // thrown behind a note, caught where parsing can go on

  // Tokens and messages: parser.cpp.
  const Token& token(size_t ahead = 0) const;
  const Token& previous() const { return lexed_.tokens[position_ == 0 ? 0 : position_ - 1]; }
  bool at(TokenKind kind, size_t ahead = 0) const { return token(ahead).kind == kind; }
  std::string_view text(const Token& of) const { return text_of(lexed_.sources, of.place); }
  Token take();
  bool take_if(TokenKind kind);
  Token expect(TokenKind kind, const std::string& what);
  std::string found() const;
  void note(Message::Kind kind, const Place& place, std::string text);
  void complain(const Place& place, std::string text) { note(Message::Kind::syntax, place, std::move(text)); }
  [[noreturn]] void fail(const Place& place, std::string text);
  [[noreturn]] void fail_expected(const std::string& what);
  [[noreturn]] void stop(std::string text);
  void semicolon(const char* after);
  Place since(const Place& first) const;
  Token declared_name(const char* what);

  // Expressions: parse_expression.cpp, parse_primary.cpp.
  ExpressionPtr expression();
  ExpressionPtr bound();
  ExpressionPtr condition();
  ExpressionPtr binary(int lowest);
  ExpressionPtr prefix();
  ExpressionPtr power();
  ExpressionPtr postfix();
  ExpressionPtr primary();
  ExpressionPtr number();
  ExpressionPtr named();
  ExpressionPtr parenthesised();
  ExpressionPtr listed(Expression::Kind kind, TokenKind close, const char* what);
  ExpressionPtr leaf(Expression::Kind kind);
  static ExpressionPtr make(Expression::Kind kind, const Place& place);
  Index index();
  void indices(Expression& whole);
  void call_arguments(Expression& call);

  // Types: parse_type.cpp, parse_constraint.cpp.
  bool at_type() const;
  SizedType sized_type();
  void expect_axes(const Place& place, int of_array, int of_element);
  SizedType sized_basic_type();
  SizedType sized_tuple();
  void sizes(SizedType& type, const std::string& word, size_t least, size_t most);
  void constraint(SizedType& type, bool is_integer);
  void constraint_part(SizedType& type, bool is_integer, unsigned& seen);
  void check_transform(const SizedType& type, const Place& place);
  std::vector<ExpressionPtr> size_list(const char* what);
  template <class Member>
  void tuple_members(const Member& member);
  Type unsized_type();
  Type unsized_basic_type();
  int unsized_axes();
  void refuse_complex(const Token& word);
  ExpressionPtr copy(const Expression& expression);
  SizedType copy(const SizedType& type);

  // Statements: parse_statement.cpp, parse_control.cpp.
  StatementPtr statement();
  StatementPtr start(Statement::Kind kind) const;
  StatementPtr finish(StatementPtr statement) const;
  StatementPtr declaration();
  Declaration declarator(const SizedType& type);
  std::vector<ExpressionPtr> old_array(const SizedType& type, const Token& name);
  StatementPtr expression_statement();
  StatementPtr assignment(ExpressionPtr left);
  StatementPtr tilde(ExpressionPtr left);
  StatementPtr call_statement(ExpressionPtr left);
  StatementPtr increment();
  StatementPtr keyword_statement(Statement::Kind kind);
  StatementPtr printing(Statement::Kind kind);
  StatementPtr give();
  void truncation(Truncation& truncation);
  bool to_target(Expression& from, Target& to, int depth = 0);
  StatementPtr block();
  StatementPtr for_loop();
  void for_header(Statement& loop);
  StatementPtr while_loop();
  StatementPtr choice();
  StatementPtr profile();
  StatementPtr body(const char* of);
  // A header; where it fails but a body in braces follows, that is parsed all the same.
  template <class Header>
  void header(const Header& parse) {
    try {
      parse();
    } catch (const Failure&) {
      if (!skip_to_body()) throw;
    }
  }
  bool skip_to_body();
  std::vector<StatementPtr> statements();
  void close(const Token& open);
  void recover(size_t before);
  bool begins_statement() const;
  bool begins_array() const;

  // Blocks and functions: parse_block.cpp.
  bool at_block() const;
  void next_block();
  void program_block(BlockKind kind, const Place& place);
  void functions_block();
  void function();
  void function_header(Function& function);
  void argument(Function& function);
  bool refuses_statement();

  const Lexed& lexed_;
  const Nesting& brackets_;
  Program& program_;
  Notes& notes_;
  size_t position_ = 0;
  size_t last_complaint_ = SIZE_MAX;  // the token of the last error: one is enough
  bool stopped_ = false;
  size_t copies_ = 0;
  int tuples_ = 0;                  // around the type at hand
  std::optional<BlockKind> block_;  // none: in a function
  int nesting_ = 0;                 // of statements in it
  int last_block_ = -1;             // functions are 0
};

}  // namespace adit::stan
