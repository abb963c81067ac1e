#include <fmt/format.h>

#include "stan/format_expression.hpp"
#include "stan/format_writer.hpp"

namespace adit::stan {

// The end of what is written before any statement inside: comments up to there go before the statement.
size_t FormatWriter::header_end(const Statement& statement) const {
  switch (statement.kind) {
    case Statement::Kind::block: return statement.place.begin;
    case Statement::Kind::profile: return token_from(statement.place.begin, TokenKind::brace_open);
    case Statement::Kind::for_range:
    case Statement::Kind::for_each:
    case Statement::Kind::while_loop:
    case Statement::Kind::choice: return statement.body ? header_end(*statement.body) : statement.place.end;
    default: return statement.place.end;
  }
}

void FormatWriter::statements(const std::vector<StatementPtr>& list) {
  for (const StatementPtr& next : list)
    if (next && is_own(next->place)) statement(*next);
}

void FormatWriter::statement(const Statement& statement) {
  leading(statement.place.begin);
  separate(statement.place.begin);
  hoisted(header_end(statement));
  start_line();
  written(statement);
  trailing(statement.place.end);
}

// At the place where it begins on a line.
void FormatWriter::written(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::for_range:
    case Statement::Kind::for_each:
      for_header(statement);
      if (statement.body) body(*statement.body);
      return;
    case Statement::Kind::while_loop:
      conditional("while", statement.value.get());
      if (statement.body) body(*statement.body);
      return;
    case Statement::Kind::choice: return choice(statement);
    case Statement::Kind::block:
      out_ += '{';
      ++depth_;
      trailing(statement.place.begin + 1);
      fresh_ = true;
      statements(statement.statements);
      return close_brace(statement.place.end - 1);
    case Statement::Kind::profile:
      out_ += fmt::format("profile(\"{}\")", statement.name);
      open_brace(token_from(statement.place.begin, TokenKind::brace_open));
      statements(statement.statements);
      return close_brace(statement.place.end - 1);
    default: return simple(statement);
  }
}

void FormatWriter::simple(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::declare: return declare(statement);
    case Statement::Kind::assign: return assign(statement);
    case Statement::Kind::increment: return with_value("target += ", statement.value.get());
    case Statement::Kind::jacobian: return with_value("jacobian += ", statement.value.get());
    case Statement::Kind::tilde: return tilde(statement);
    case Statement::Kind::call: return with_value("", statement.value.get());
    case Statement::Kind::break_loop: out_ += "break;"; return;
    case Statement::Kind::continue_loop: out_ += "continue;"; return;
    case Statement::Kind::give:
      return with_value(statement.value ? "return " : "return", statement.value.get());
    case Statement::Kind::print: return printing(statement, "print");
    case Statement::Kind::reject: return printing(statement, "reject");
    case Statement::Kind::fatal_error: return printing(statement, "fatal_error");
    default: out_ += ';'; return;
  }
}

void FormatWriter::with_value(std::string front, const Expression* value) {
  Layout layout;
  layout.text(std::move(front));
  layout.open();
  write(layout, value);
  layout.text(";");
  layout.close();
  put(layout);
}

// Variables of one type stay together; arrays of the old form may each have their own.
void FormatWriter::declare(const Statement& statement) {
  Layout layout;
  std::string type_before;
  for (const Declaration& declaration : statement.declarations) {
    Layout type;
    write(type, declaration.type);
    std::string type_now = type.lines(0, 0);
    if (type_before != type_now) {
      if (!type_before.empty()) {
        layout.text(";");
        put(layout);
        start_line();
        layout = Layout();
      }
      write(layout, declaration.type);
      layout.text(" ");
    } else {
      layout.text(",");
      layout.space_or_break();
    }
    layout.text(declaration.name);
    if (declaration.value) {
      layout.text(" = ");
      layout.open();
      write(layout, declaration.value.get());
      layout.close();
    }
    type_before = std::move(type_now);
  }
  layout.text(";");
  put(layout);
}

void FormatWriter::assign(const Statement& statement) {
  Layout layout;
  write(layout, statement.target);
  layout.text(fmt::format(" {}= ", statement.compound ? to_text(*statement.compound) : ""));
  layout.open();
  write(layout, statement.value.get());
  layout.text(";");
  layout.close();
  put(layout);
}

void FormatWriter::tilde(const Statement& statement) {
  Layout layout;
  write(layout, statement.value.get());
  layout.text(fmt::format(" ~ {}(", statement.name));
  layout.open();
  write_list(layout, statement.arguments);
  layout.text(")");
  layout.close();
  if (statement.truncation.present) {
    layout.space_or_break();
    layout.text("T[");
    write(layout, statement.truncation.low.get());
    layout.text(statement.truncation.high ? ", " : ",");
    write(layout, statement.truncation.high.get());
    layout.text("]");
  }
  layout.text(";");
  put(layout);
}

void FormatWriter::printing(const Statement& statement, const char* word) {
  Layout layout;
  layout.text(fmt::format("{}(", word));
  layout.open();
  for (size_t i = 0; i < statement.pieces.size(); ++i) {
    const Statement::Piece& piece = statement.pieces[i];
    if (i > 0) layout.text(",");
    if (i > 0) layout.space_or_break();
    if (piece.value)
      write(layout, piece.value.get());
    else
      layout.text('"' + piece.text + '"');
  }
  layout.text(");");
  layout.close();
  put(layout);
}

void FormatWriter::for_header(const Statement& loop) {
  Layout layout;
  layout.text(fmt::format("for ({} in ", loop.name));
  layout.open();
  write(layout, loop.kind == Statement::Kind::for_each ? loop.value.get() : loop.low.get());
  if (loop.kind == Statement::Kind::for_range) {
    layout.text(":");
    write(layout, loop.high.get());
  }
  layout.text(")");
  layout.close();
  put(layout, room_for_brace);
}

void FormatWriter::conditional(const char* word, const Expression* condition) {
  Layout layout;
  layout.text(fmt::format("{} (", word));
  layout.open();
  write(layout, condition);
  layout.text(")");
  layout.close();
  put(layout, room_for_brace);
}

// Behind a header: braces on its line, anything else on the next.
void FormatWriter::body(const Statement& body) {
  if (body.kind == Statement::Kind::block) {
    open_brace(body.place.begin);
    statements(body.statements);
    return close_brace(body.place.end - 1);
  }
  ++depth_;
  start_line();
  written(body);
  trailing(body.place.end);
  --depth_;
}

void FormatWriter::choice(const Statement& statement) {
  conditional("if", statement.value.get());
  if (!statement.body) return;
  body(*statement.body);
  if (!statement.otherwise) return;
  const Statement& otherwise = *statement.otherwise;
  const size_t end = header_end(otherwise);
  const bool has_comments = comment_before(end);
  if (has_comments) {
    trailing(statement.body->place.end);
    hoisted(end);
  }
  if (has_comments || statement.body->kind != Statement::Kind::block)
    start_line();
  else
    out_ += ' ';
  out_ += "else";
  if (otherwise.kind != Statement::Kind::choice) return body(otherwise);
  out_ += ' ';
  written(otherwise);
}

}  // namespace adit::stan
