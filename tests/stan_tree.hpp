// The tree of a Stan program as text: every operation in parentheses, every
// part named, no places.
#pragma once

#include <fmt/format.h>
#include <string>

#include "stan/parse.hpp"

namespace adit::test {

using namespace adit::stan;

inline std::string tree(const Expression* e);
inline std::string tree(const ExpressionPtr& e) { return tree(e.get()); }
inline std::string tree(const SizedType& type);
inline std::string tree(const Target& target);

inline std::string tree(const Index& index) {
  const char* kinds[] = {"all", "", "from ", "to ", "between "};
  return kinds[static_cast<int>(index.kind)] + tree(index.low.get()) + (index.low && index.high ? " " : "") +
         tree(index.high.get());
}

template <class List>
std::string tree_list(const List& list) {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) text += (i == 0 ? "" : ", ") + tree(list[i]);
  return text;
}

inline std::string tree(const Expression* e) {
  if (e == nullptr) return "";
  const auto part = [&](size_t i) { return tree(e->parts[i].get()); };
  switch (e->kind) {
    case Expression::Kind::integer: return e->name;
    case Expression::Kind::real: return "r" + e->name;
    case Expression::Kind::imaginary: return "im" + e->name;
    case Expression::Kind::variable: return e->name;
    case Expression::Kind::call: return e->name + (e->with_bar ? "|" : "") + "<" + tree_list(e->parts) + ">";
    case Expression::Kind::binary: return "(" + part(0) + " " + to_text(e->op) + " " + part(1) + ")";
    case Expression::Kind::prefix: return std::string("(") + to_text(e->op) + part(0) + ")";
    case Expression::Kind::postfix: return "(" + part(0) + "')";
    case Expression::Kind::ternary: return "(" + part(0) + " ? " + part(1) + " : " + part(2) + ")";
    case Expression::Kind::index: return "(" + part(0) + "[" + tree_list(e->indices) + "])";
    case Expression::Kind::array: return "{" + tree_list(e->parts) + "}";
    case Expression::Kind::row: return "[" + tree_list(e->parts) + "]";
    case Expression::Kind::tuple: return "tuple(" + tree_list(e->parts) + ")";
    case Expression::Kind::member: return "(" + part(0) + "." + std::to_string(e->integer) + ")";
    case Expression::Kind::group: return "group" + std::string("(") + part(0) + ")";
    case Expression::Kind::target: return "target()";
  }
  return "?";
}

inline std::string tree(const SizedType& type) {
  std::string text =
      fmt::format("{}:{}", to_text(scalar_type(type.base)), static_cast<int>(type.transform.kind));
  text += "<" + tree(type.transform.first) + ";" + tree(type.transform.second) + ">";
  return fmt::format("{}[{}][{}]({})", text, tree_list(type.array_sizes), tree_list(type.sizes),
                     tree_list(type.members));
}

inline std::string tree(const Target& target) {
  std::string text = target.name;
  for (const Target::Step& step : target.steps)
    text += step.indices.empty() ? fmt::format(".{}", step.member) : "[" + tree_list(step.indices) + "]";
  return text + (target.parts.empty() ? "" : "(" + tree_list(target.parts) + ")");
}

inline std::string tree(const StatementPtr& statement);

// Declarations of one statement and of several are the same.
inline std::string tree(const std::vector<StatementPtr>& list) {
  std::string text;
  for (const StatementPtr& statement : list) text += tree(statement) + "\n";
  return text;
}

inline std::string tree(const StatementPtr& pointer) {
  if (!pointer) return "none";
  const Statement& s = *pointer;
  if (s.kind == Statement::Kind::declare) {
    std::string text;
    for (const Declaration& d : s.declarations)
      text +=
          fmt::format("{}declare {} {} = {}", text.empty() ? "" : "\n", d.name, tree(d.type), tree(d.value));
    return text;
  }
  std::string text = fmt::format("#{} {} {}", static_cast<int>(s.kind), s.name, tree(s.target));
  if (s.compound) text += fmt::format(" compound {}", to_text(*s.compound));
  text +=
      fmt::format(" v={} l={} h={} a={}", tree(s.value), tree(s.low), tree(s.high), tree_list(s.arguments));
  if (s.truncation.present) text += fmt::format(" T[{};{}]", tree(s.truncation.low), tree(s.truncation.high));
  for (const Statement::Piece& piece : s.pieces)
    text += fmt::format(" '{}'{}", piece.text, tree(piece.value));
  if (s.body) text += "\nbody {" + tree(s.body) + "}";
  if (s.otherwise) text += "\nelse {" + tree(s.otherwise) + "}";
  if (s.kind == Statement::Kind::block || s.kind == Statement::Kind::profile)
    text += "{\n" + tree(s.statements) + "}";
  return text;
}

inline std::string tree(const Program& program) {
  std::string text = program.has_functions_block ? "functions\n" : "";
  for (const auto& function : program.functions) {
    text += fmt::format("{} {}(", to_text(function->result), function->name);
    for (const Argument& argument : function->arguments)
      text += fmt::format("{}{} {},", argument.is_data ? "data " : "", to_text(argument.type), argument.name);
    text += ") " + tree(function->body) + "\n";
  }
  for (int kind = 0; kind < block_kinds; ++kind)
    if (program.blocks[kind].present)
      text +=
          fmt::format("{}\n{}", to_text(static_cast<BlockKind>(kind)), tree(program.blocks[kind].statements));
  return text;
}

}  // namespace adit::test
