#include "stan/uses.hpp"

namespace adit::stan {

namespace {

using OnExpression = std::function<void(const Expression&)>;
using OnStatement = std::function<void(const Statement&)>;

void walk(const Expression& e, const OnExpression& on) {
  // Down the left spine without recursion.
  for (const Expression* at = &e; at;) {
    on(*at);
    for (const Index& index : at->indices) {
      if (index.low) walk(*index.low, on);
      if (index.high) walk(*index.high, on);
    }
    for (size_t i = 1; i < at->parts.size(); ++i) walk(*at->parts[i], on);
    at = at->parts.empty() ? nullptr : at->parts[0].get();
  }
}

void walk_target(const Target& target, const OnExpression& on) {
  for (const Target& part : target.parts) walk_target(part, on);
  for (const Target::Step& step : target.steps)
    for (const Index& index : step.indices) {
      if (index.low) walk(*index.low, on);
      if (index.high) walk(*index.high, on);
    }
}

void walk_sizes(const SizedType& type, const OnExpression& on) {
  for (const auto* list : {&type.array_sizes, &type.sizes})
    for (const auto& size : *list) walk(*size, on);
  for (const SizedType& member : type.members) walk_sizes(member, on);
}

}  // namespace

void each_own_expression(const Statement& s, const std::function<void(const Expression&)>& on) {
  for (const Declaration& declaration : s.declarations) {
    walk_sizes(declaration.type, on);
    if (declaration.value) walk(*declaration.value, on);
  }
  walk_target(s.target, on);
  for (const auto* e : {&s.value, &s.low, &s.high, &s.truncation.low, &s.truncation.high})
    if (*e) walk(**e, on);
  for (const auto& argument : s.arguments) walk(*argument, on);
  for (const Statement::Piece& piece : s.pieces)
    if (piece.value) walk(*piece.value, on);
}

namespace {

void walk(const Statement& s, const OnStatement& on) {
  on(s);
  if (s.body) walk(*s.body, on);
  if (s.otherwise) walk(*s.otherwise, on);
  for (const auto& inner : s.statements) walk(*inner, on);
}

bool is_same_place(const Target& target, const Expression& e);

bool is_same(const Expression& a, const Expression& b) {
  if (a.kind != b.kind || a.slot != b.slot || a.integer != b.integer || a.op != b.op || a.name != b.name ||
      a.parts.size() != b.parts.size() || a.indices.size() != b.indices.size() || a.real != b.real)
    return false;
  for (size_t i = 0; i < a.parts.size(); ++i)
    if (!is_same(*a.parts[i], *b.parts[i])) return false;
  for (size_t i = 0; i < a.indices.size(); ++i) {
    const Index &x = a.indices[i], &y = b.indices[i];
    if (x.kind != y.kind || !x.low != !y.low || !x.high != !y.high) return false;
    if ((x.low && !is_same(*x.low, *y.low)) || (x.high && !is_same(*x.high, *y.high))) return false;
  }
  return true;
}

bool is_same_place(const Target& target, const Expression& e) {
  if (target.steps.empty()) return e.kind == Expression::Kind::variable && e.slot == target.slot;
  if (e.kind != Expression::Kind::index || e.parts[0]->kind != Expression::Kind::variable ||
      e.parts[0]->slot != target.slot || target.steps.size() != 1)
    return false;
  const std::vector<Index>& indices = target.steps[0].indices;
  if (indices.size() != e.indices.size()) return false;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Index &x = indices[i], &y = e.indices[i];
    if (x.kind != Index::Kind::single || y.kind != Index::Kind::single || !is_same(*x.low, *y.low))
      return false;
  }
  return true;
}

void count_targets(const Target& target, Uses& uses, bool is_sum) {
  for (const Target& part : target.parts) count_targets(part, uses, false);
  if (target.slot < 0) return;
  Use& use = uses[target.slot];
  ++use.writes;
  use.sums += is_sum;
  use.indexed += !target.steps.empty();
}

}  // namespace

std::optional<Sum> sum_of(const Statement& s) {
  if (s.target.slot < 0 || s.target.steps.size() > 1 || s.target.type.base == Base::integer) return {};
  if (!s.target.steps.empty())
    for (const Index& index : s.target.steps[0].indices)
      if (index.kind != Index::Kind::single || index.low->type.array > 0) return {};
  if (s.compound) {
    if (*s.compound == Operator::add) return Sum{.whole = true};
    if (*s.compound == Operator::subtract) return Sum{.whole = true, .negative = true};
    return {};
  }
  const Expression* e = s.value.get();
  while (e->kind == Expression::Kind::group) e = e->parts[0].get();
  if (e->kind != Expression::Kind::binary) return {};
  if (e->op != Operator::add && e->op != Operator::subtract) return {};
  if (is_same_place(s.target, *e->parts[0]))
    return Sum{.part = e->parts[1].get(), .negative = e->op == Operator::subtract};
  if (e->op == Operator::add && is_same_place(s.target, *e->parts[1])) return Sum{.part = e->parts[0].get()};
  return {};
}

Uses uses_of(const Statement& statement) {
  Uses uses;
  walk(statement, [&](const Statement& s) {
    const std::optional<Sum> sum = s.kind == Statement::Kind::assign ? sum_of(s) : std::nullopt;
    if (s.kind == Statement::Kind::assign) {
      count_targets(s.target, uses, sum.has_value());
      if (s.compound && !sum && s.target.slot >= 0) ++uses[s.target.slot].reads;
    }
    int own = 0;  // the read that makes it a sum
    each_own_expression(s, [&](const Expression& e) {
      if (e.kind != Expression::Kind::variable || e.slot < 0) return;
      if (sum && !sum->whole && e.slot == s.target.slot && own == 0) {
        ++own;
        return;
      }
      ++uses[e.slot].reads;
    });
  });
  return uses;
}

std::set<int> written_slots(const Statement& statement, std::span<const StatementPtr> more) {
  std::set<int> slots;
  const auto add = [&](const Statement& s) {
    for (const auto& [slot, use] : uses_of(s))
      if (use.writes > 0) slots.insert(slot);
  };
  add(statement);
  for (const auto& s : more) add(*s);
  return slots;
}

std::set<int> declared_slots(const Statement& statement) {
  std::set<int> slots;
  walk(statement, [&](const Statement& s) {
    for (const Declaration& declaration : s.declarations) slots.insert(declaration.slot);
    if (s.slot >= 0) slots.insert(s.slot);
  });
  return slots;
}

bool may_return(const Statement& statement) {
  bool found = false;
  walk(statement, [&](const Statement& s) { found = found || s.kind == Statement::Kind::give; });
  return found;
}

bool has_break(const Statement& body) {
  using Kind = Statement::Kind;
  if (body.kind == Kind::break_loop || body.kind == Kind::continue_loop) return true;
  if (body.kind == Kind::for_range || body.kind == Kind::for_each || body.kind == Kind::while_loop)
    return false;
  if (body.body && has_break(*body.body)) return true;
  if (body.otherwise && has_break(*body.otherwise)) return true;
  for (const auto& inner : body.statements)
    if (has_break(*inner)) return true;
  return false;
}

namespace {

// A function's name ends in what it may do.
bool calls_one_of(const Statement& statement, const char* ending) {
  bool found = false;
  walk(statement, [&](const Statement& s) {
    each_own_expression(s, [&](const Expression& e) {
      found = found || (e.kind == Expression::Kind::call && e.name.ends_with(ending));
    });
  });
  return found;
}

}  // namespace

bool adds_terms(const Statement& statement) {
  return adds_jacobians(statement) || adds_other_terms(statement);
}

bool adds_jacobians(const Statement& statement) {
  bool found = calls_one_of(statement, "_jacobian");
  walk(statement, [&](const Statement& s) { found = found || s.kind == Statement::Kind::jacobian; });
  return found;
}

bool adds_other_terms(const Statement& statement) {
  bool found = calls_one_of(statement, "_lp");
  walk(statement, [&](const Statement& s) {
    using Kind = Statement::Kind;
    found = found || s.kind == Kind::tilde || s.kind == Kind::increment || s.kind == Kind::reject;
  });
  return found;
}

bool draws_numbers(const Statement& statement) { return calls_one_of(statement, "_rng"); }

namespace {

bool solves(const Statement& statement, std::set<const Function*>& seen) {
  bool found = false;
  walk(statement, [&](const Statement& s) {
    each_own_expression(s, [&](const Expression& e) {
      if (found || e.kind != Expression::Kind::call) return;
      found = e.name.starts_with("ode_") || e.name.starts_with("integrate_ode_");
      if (!found && e.function && e.function->body && seen.insert(e.function).second)
        found = solves(*e.function->body, seen);
    });
  });
  return found;
}

}  // namespace

bool has_solver(const Statement& statement) {
  std::set<const Function*> seen;
  return solves(statement, seen);
}

std::set<int> read_slots(const Statement& statement) {
  std::set<int> slots;
  for (const auto& [slot, use] : uses_of(statement))
    if (use.reads > 0 || use.sums > 0) slots.insert(slot);
  return slots;
}

}  // namespace adit::stan
