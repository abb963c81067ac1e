#include "stan/check.hpp"

#include <algorithm>
#include <tuple>

#include "stan/checker.hpp"

namespace adit::stan {

void Checker::error(const Place& place, std::string text) {
  if (++errors_ <= most_errors) messages_.push_back({Message::Kind::semantic, place, std::move(text)});
}

void Checker::warn(const Place& place, std::string text) {
  if (++warnings_ <= most_warnings) messages_.push_back({Message::Kind::warning, place, std::move(text)});
}

void Checker::check_block(BlockKind kind) {
  Block& block = program_.blocks[static_cast<int>(kind)];
  block_ = kind;
  loops_ = 0;
  const bool has_locals = kind == BlockKind::model;
  if (has_locals) open_scope();
  for (StatementPtr& statement : block.statements) {
    const bool declares = statement->kind == Statement::Kind::declare;
    if ((kind == BlockKind::data || kind == BlockKind::parameters) && !declares &&
        statement->kind != Statement::Kind::nothing) {
      error(statement->place, std::string("Only declarations may stand in the ") + to_text(kind) + " block.");
      continue;
    }
    if (!declares) {
      check_statement(*statement);
      continue;
    }
    for (Declaration& declaration : statement->declarations) check_declaration(declaration, has_locals);
  }
  if (has_locals) close_scope();
  block_.reset();
}

std::vector<Message> Checker::sorted_messages() {
  std::stable_sort(messages_.begin(), messages_.end(), [](const Message& a, const Message& b) {
    return std::tie(a.place.file, a.place.begin) < std::tie(b.place.file, b.place.begin);
  });
  return std::move(messages_);
}

std::vector<Message> Checker::run() {
  declare_functions();
  for (const auto& function : program_.functions)
    if (function->body) check_function(*function);
  next_slot_ = 0;
  for (int kind = 0; kind < block_kinds; ++kind) check_block(static_cast<BlockKind>(kind));
  program_.slots = next_slot_;
  warn_unused();
  return sorted_messages();
}

std::vector<Message> check(Program& program, bool allow_undefined) {
  std::vector<Message> messages;
  walk_deep(program, [&] { messages = Checker(program, allow_undefined).run(); });
  return messages;
}

}  // namespace adit::stan
