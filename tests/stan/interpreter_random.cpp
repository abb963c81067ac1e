// Which generated quantities depend on random numbers, by the text alone.
#include <algorithm>
#include <set>

#include "interpreter.hpp"

namespace adit::stan::reference {

namespace {

// Names that a statement reads and writes, and whether it draws.
struct RandomUse {
  std::set<std::string> reads, writes;
  bool draws = false;

  void visit(const Expression& e) {
    if (e.kind == Expression::Kind::variable) reads.insert(e.name);
    if (e.kind == Expression::Kind::call && e.name.ends_with("_rng")) draws = true;
    for (const auto& part : e.parts) visit(*part);
    for (const Index& index : e.indices) visit(index);
  }
  void visit(const Index& index) {
    if (index.low) visit(*index.low);
    if (index.high) visit(*index.high);
  }
  void visit(const SizedType& type) {
    for (const auto& size : type.array_sizes) visit(*size);
    for (const auto& size : type.sizes) visit(*size);
    for (const SizedType& member : type.members) visit(member);
  }
  void visit(const Target& target) {
    if (!target.name.empty()) writes.insert(target.name);
    for (const Target& part : target.parts) visit(part);
    for (const Target::Step& step : target.steps)
      for (const Index& index : step.indices) visit(index);
  }
  void visit(const Statement& s) {
    for (const Declaration& declaration : s.declarations) {
      visit(declaration.type);
      writes.insert(declaration.name);
      if (declaration.value) visit(*declaration.value);
    }
    if (s.kind == Statement::Kind::assign) {
      visit(s.target);
      if (s.compound) reads.insert(s.target.name);
    }
    for (const Expression* e : {s.value.get(), s.low.get(), s.high.get()})
      if (e) visit(*e);
    for (const auto& argument : s.arguments) visit(*argument);
    for (const Statement::Piece& piece : s.pieces)
      if (piece.value) visit(*piece.value);
    for (const Statement* inner : {s.body.get(), s.otherwise.get()})
      if (inner) visit(*inner);
    for (const auto& inner : s.statements) visit(*inner);
  }
};

}  // namespace

Determined determined(const Program& program) {
  Determined result;
  std::set<std::string> random;
  for (const auto& statement : program.block(BlockKind::generated_quantities).statements) {
    RandomUse use;
    use.visit(*statement);
    const bool reads_random = std::any_of(use.reads.begin(), use.reads.end(),
                                          [&](const std::string& name) { return random.contains(name); });
    if (use.draws || reads_random)
      random.insert(use.writes.begin(), use.writes.end());
    else
      result.statements.push_back(statement.get());
  }
  result.random.assign(random.begin(), random.end());
  return result;
}

}  // namespace adit::stan::reference
