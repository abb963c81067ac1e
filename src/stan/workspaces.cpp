#include "stan/workspaces.hpp"

#include <algorithm>
#include <optional>

#include "stan/uses.hpp"

namespace adit::stan {

namespace {

using Loops = std::vector<const Statement*>;  // around a place, outermost first

bool is_for_loop(const Statement& s) {
  return s.kind == Statement::Kind::for_range || s.kind == Statement::Kind::for_each;
}

bool has_while(const Statement& s) {
  if (s.kind == Statement::Kind::while_loop) return true;
  if (s.body && has_while(*s.body)) return true;
  if (s.otherwise && has_while(*s.otherwise)) return true;
  return std::any_of(s.statements.begin(), s.statements.end(),
                     [](const auto& one) { return has_while(*one); });
}

class Finder {
 public:
  explicit Finder(Workspaces& found) : found_(found) {}

  // Of one frame: the blocks of the program, or a function. Variables at the top of blocks that others read
  // are no scratch paper.
  void visit(const Statement& s, bool is_public) {
    for (const Declaration& declaration : s.declarations)
      if (!is_public && !declaration.value) variables_[declaration.slot].declared = around_;
    if (s.kind == Statement::Kind::assign) write(s.target);
    const auto used = [&](const Expression& e) {
      if (e.kind == Expression::Kind::variable && e.slot >= 0) use(e.slot);
    };
    each_own_expression(s, used);
    if (is_for_loop(s)) around_.push_back(&s);
    if (s.body) visit(*s.body, false);
    if (s.otherwise) visit(*s.otherwise, false);
    for (const auto& inner : s.statements) visit(*inner, false);
    if (is_for_loop(s)) around_.pop_back();
  }

  void finish() {
    for (const auto& [slot, variable] : variables_) {
      if (!variable.declared || !variable.used || !variable.is_indexed) continue;
      for (size_t i = variable.declared->size(); i < variable.used->size(); ++i)
        if (!has_while(*(*variable.used)[i])) found_[(*variable.used)[i]].insert(slot);
    }
  }

 private:
  struct Variable {
    std::optional<Loops> declared{}, used{};  // used: the loops around all uses
    bool is_indexed = false;                  // elements are written
  };

  void use(int slot) {
    std::optional<Loops>& used = variables_[slot].used;
    if (!used) {
      used = around_;
      return;
    }
    const auto [end, _] = std::mismatch(used->begin(), used->end(), around_.begin(), around_.end());
    used->erase(end, used->end());
  }

  void write(const Target& target) {
    for (const Target& part : target.parts) write(part);
    if (target.slot < 0) return;
    use(target.slot);
    Variable& variable = variables_[target.slot];
    variable.is_indexed = variable.is_indexed || !target.steps.empty();
  }

  Workspaces& found_;
  Loops around_{};
  std::map<int, Variable> variables_{};
};

}  // namespace

Workspaces workspaces_of(const Program& program) {
  Workspaces found;
  Finder of_blocks(found);
  for (int kind = 0; kind < block_kinds; ++kind)
    for (const auto& statement : program.blocks[kind].statements)
      of_blocks.visit(*statement, static_cast<BlockKind>(kind) != BlockKind::model);
  of_blocks.finish();
  for (const auto& function : program.functions) {
    if (!function->body) continue;
    Finder of_function(found);
    of_function.visit(*function->body, false);
    of_function.finish();
  }
  return found;
}

}  // namespace adit::stan
