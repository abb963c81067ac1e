#include "stan/copies.hpp"

namespace adit::stan {

namespace {

ExpressionPtr maybe_copy(const ExpressionPtr& from) { return from ? copy_of(*from) : nullptr; }

std::vector<Index> copies_of(const std::vector<Index>& from) {
  std::vector<Index> to;
  for (const Index& index : from)
    to.push_back({index.kind, maybe_copy(index.low), maybe_copy(index.high), index.place});
  return to;
}

std::vector<ExpressionPtr> copies_of(const std::vector<ExpressionPtr>& from) {
  std::vector<ExpressionPtr> to;
  for (const ExpressionPtr& expression : from) to.push_back(maybe_copy(expression));
  return to;
}

// But for its parts.
ExpressionPtr bare_copy(const Expression& from) {
  auto to = std::make_unique<Expression>();
  to->kind = from.kind;
  to->place = from.place;
  to->name = from.name;
  to->name_place = from.name_place;
  to->integer = from.integer;
  to->real = from.real;
  to->op = from.op;
  to->with_bar = from.with_bar;
  to->indices = copies_of(from.indices);
  to->type = from.type;
  to->slot = from.slot;
  to->function = from.function;
  return to;
}

SizedType copy_of(const SizedType& from) {
  SizedType to;
  to.base = from.base;
  to.array_sizes = copies_of(from.array_sizes);
  to.sizes = copies_of(from.sizes);
  to.transform = {from.transform.kind, maybe_copy(from.transform.first), maybe_copy(from.transform.second)};
  for (const SizedType& member : from.members) to.members.push_back(copy_of(member));
  to.place = from.place;
  return to;
}

Target copy_of(const Target& from) {
  Target to;
  to.name = from.name;
  to.place = from.place;
  for (const Target::Step& step : from.steps) to.steps.push_back({copies_of(step.indices), step.member});
  for (const Target& part : from.parts) to.parts.push_back(copy_of(part));
  to.slot = from.slot;
  to.type = from.type;
  to.variable_type = from.variable_type;
  return to;
}

}  // namespace

ExpressionPtr copy_of(const Expression& expression) {
  // Down the left spine without recursion: a sum may have thousands of terms.
  ExpressionPtr first;
  ExpressionPtr* to = &first;
  for (const Expression* from = &expression; from;) {
    *to = bare_copy(*from);
    std::vector<ExpressionPtr>& parts = (*to)->parts;
    parts.resize(from->parts.size());
    for (size_t i = 1; i < parts.size(); ++i) parts[i] = maybe_copy(from->parts[i]);
    if (parts.empty()) break;
    to = &parts[0];
    from = from->parts[0].get();
  }
  return first;
}

StatementPtr shell_of(const Statement& from) {
  auto to = std::make_unique<Statement>();
  to->kind = from.kind;
  to->place = from.place;
  for (const Declaration& declaration : from.declarations)
    to->declarations.push_back({copy_of(declaration.type), declaration.name, declaration.name_place,
                                maybe_copy(declaration.value), declaration.slot});
  to->target = copy_of(from.target);
  to->compound = from.compound;
  to->name = from.name;
  to->name_place = from.name_place;
  to->slot = from.slot;
  to->value = maybe_copy(from.value);
  to->low = maybe_copy(from.low);
  to->high = maybe_copy(from.high);
  to->arguments = copies_of(from.arguments);
  to->truncation = {from.truncation.present, maybe_copy(from.truncation.low),
                    maybe_copy(from.truncation.high)};
  for (const Statement::Piece& piece : from.pieces)
    to->pieces.push_back({piece.text, maybe_copy(piece.value)});
  to->function = from.function;
  return to;
}

StatementPtr copy_of(const Statement& from) {
  StatementPtr to = shell_of(from);
  if (from.body) to->body = copy_of(*from.body);
  if (from.otherwise) to->otherwise = copy_of(*from.otherwise);
  for (const StatementPtr& inner : from.statements) to->statements.push_back(copy_of(*inner));
  return to;
}

}  // namespace adit::stan
