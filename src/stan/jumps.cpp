#include "stan/jumps.hpp"

#include "stan/copies.hpp"
#include "stan/uses.hpp"

namespace adit::stan {

namespace {

using StatementKind = Statement::Kind;

constexpr int most_forks = 1;  // in a function that stays as it is

bool is_loop(const Statement& s) {
  return s.kind == StatementKind::for_range || s.kind == StatementKind::for_each ||
         s.kind == StatementKind::while_loop;
}

bool returns_from_a_loop(const Statement& s) {
  if (is_loop(s)) return may_return(s);
  if (s.body && returns_from_a_loop(*s.body)) return true;
  if (s.otherwise && returns_from_a_loop(*s.otherwise)) return true;
  for (const StatementPtr& inner : s.statements)
    if (returns_from_a_loop(*inner)) return true;
  return false;
}

// How a statement returns. A fork is a choice that may return and may go on from either way: on parameters
// both run all that follows, so that time doubles with each.
struct Returns {
  bool may = false, always = false;
  int forks = 0;
};

Returns returns_of(const Statement& s) {
  if (s.kind == StatementKind::give) return {true, true, 0};
  const Returns yes = s.body ? returns_of(*s.body) : Returns(),
                no = s.otherwise ? returns_of(*s.otherwise) : Returns();
  Returns all{yes.may || no.may, yes.always && no.always, yes.forks + no.forks};
  if (s.kind == StatementKind::choice && all.may && !yes.always && !no.always) ++all.forks;
  for (const StatementPtr& inner : s.statements) {
    const Returns own = returns_of(*inner);
    all = {all.may || own.may, all.always || own.always, all.forks + own.forks};
  }
  return all;
}

ExpressionPtr number(int64_t value, const Place& place) {
  auto e = std::make_unique<Expression>();
  e->kind = Expression::Kind::integer;
  e->place = place;
  e->integer = value;
  e->type = scalar_type(Base::integer);
  return e;
}

ExpressionPtr variable(int slot, const Type& type, const Place& place) {
  auto e = std::make_unique<Expression>();
  e->kind = Expression::Kind::variable;
  e->place = place;
  e->slot = slot;
  e->type = type;
  return e;
}

StatementPtr statement(StatementKind kind, const Place& place) {
  auto s = std::make_unique<Statement>();
  s->kind = kind;
  s->place = place;
  return s;
}

StatementPtr assignment(const char* name, int slot, const Type& type, ExpressionPtr value,
                        const Place& place) {
  StatementPtr s = statement(StatementKind::assign, place);
  s->target.name = name;
  s->target.slot = slot;
  s->target.type = s->target.variable_type = type;
  s->target.place = place;
  s->value = std::move(value);
  return s;
}

// int flag = 1;
StatementPtr raised(int slot, const Place& place) {
  StatementPtr s = statement(StatementKind::declare, place);
  Declaration flag;
  flag.type.base = Base::integer;
  flag.type.place = flag.name_place = place;
  flag.value = number(1, place);
  flag.slot = slot;
  s->declarations.push_back(std::move(flag));
  return s;
}

StatementPtr block(const Place& place) { return statement(StatementKind::block, place); }

StatementPtr under(int flag, StatementPtr body, const Place& place) {
  StatementPtr s = statement(StatementKind::choice, place);
  s->value = variable(flag, scalar_type(Base::integer), place);
  s->body = std::move(body);
  return s;
}

class Rewriter {
 public:
  // `slots`: the next one that is free. With a function its returns are jumps too.
  Rewriter(int& slots, const Function* function) : slots_(slots), function_(function) {
    if (!function) return;
    running_ = slots_++;
    if (function->result.base != Base::none) result_ = slots_++;
  }

  int result() const { return result_; }

  StatementPtr whole_function() {
    const Place& place = function_->body->place;
    StatementPtr all = block(place);
    all->statements.push_back(raised(running_, place));
    all->statements.push_back(rewritten(*function_->body));
    StatementPtr end = statement(StatementKind::give, place);
    if (result_ >= 0) end->value = variable(result_, function_->result, place);
    all->statements.push_back(std::move(end));
    return all;
  }

  StatementPtr loop(const Statement& s) {
    const Flags own{slots_, slots_ + 1};
    slots_ += 2;
    StatementPtr all = block(s.place);
    all->statements.push_back(raised(own.going, s.place));
    StatementPtr loop = shell_of(s);
    StatementPtr round = block(s.body->place);
    round->statements.push_back(raised(own.here, s.place));
    loops_.push_back(own);
    round->statements.push_back(rewritten(*s.body));
    loops_.pop_back();
    if (s.kind == StatementKind::while_loop) {
      loop->value = both(variable(own.going, scalar_type(Base::integer), s.place), std::move(loop->value));
      loop->body = std::move(round);
    } else {
      loop->body = under(own.going, std::move(round), s.place);
    }
    all->statements.push_back(std::move(loop));
    return all;
  }

 private:
  struct Flags {
    int going, here;  // the loop goes on, this round does
  };

  // Whether the statement may end without the one after it being next.
  bool leaves(const Statement& s) const {
    const bool by_jump = is_loop(s) ? false : has_break(s);
    return by_jump || (function_ && may_return(s));
  }

  static ExpressionPtr both(ExpressionPtr a, ExpressionPtr b) {
    auto e = std::make_unique<Expression>();
    e->kind = Expression::Kind::binary;
    e->op = Operator::logical_and;
    e->place = b->place;
    e->type = scalar_type(Base::integer);
    e->parts.push_back(std::move(a));
    e->parts.push_back(std::move(b));
    return e;
  }

  static void lower(std::vector<StatementPtr>& list, int flag, const Place& place) {
    list.push_back(
        assignment("whether it goes on", flag, scalar_type(Base::integer), number(0, place), place));
  }

  StatementPtr rewritten(const Statement& s) {
    const bool has_jumps = is_loop(s) ? has_break(*s.body) || leaves(s) : leaves(s);
    if (is_loop(s) && has_jumps) return loop(s);
    if (is_loop(s)) {  // one inside of it may have some
      StatementPtr same = shell_of(s);
      same->body = rewritten(*s.body);
      return same;
    }
    StatementPtr out = shell_of(s);
    switch (s.kind) {
      case StatementKind::break_loop: return jump(s, true);
      case StatementKind::continue_loop: return jump(s, false);
      case StatementKind::give: return function_ ? gives(s) : std::move(out);
      case StatementKind::choice:
        out->body = rewritten(*s.body);
        if (s.otherwise) out->otherwise = rewritten(*s.otherwise);
        return out;
      case StatementKind::block:
      case StatementKind::profile: list(s.statements, 0, out->statements); return out;
      default: return out;
    }
  }

  // What follows a jump stands under the flag of the innermost round, or of the function.
  void list(const std::vector<StatementPtr>& from, size_t first, std::vector<StatementPtr>& to) {
    for (size_t i = first; i < from.size(); ++i) {
      to.push_back(rewritten(*from[i]));
      if (!leaves(*from[i]) || i + 1 == from.size()) continue;
      StatementPtr rest = block(from[i + 1]->place);
      list(from, i + 1, rest->statements);
      const int flag = loops_.empty() ? running_ : loops_.back().here;
      to.push_back(under(flag, std::move(rest), from[i + 1]->place));
      return;
    }
  }

  StatementPtr jump(const Statement& s, bool ends_loop) {
    StatementPtr out = block(s.place);
    if (ends_loop) lower(out->statements, loops_.back().going, s.place);
    lower(out->statements, loops_.back().here, s.place);
    return out;
  }

  StatementPtr gives(const Statement& s) {
    StatementPtr out = block(s.place);
    if (result_ >= 0)
      out->statements.push_back(
          assignment("its result", result_, function_->result, copy_of(*s.value), s.place));
    lower(out->statements, running_, s.place);
    for (const Flags& loop : loops_) {
      lower(out->statements, loop.going, s.place);
      lower(out->statements, loop.here, s.place);
    }
    return out;
  }

  int& slots_;
  const Function* function_;  // none: returns stay
  int running_ = -1, result_ = -1;
  std::vector<Flags> loops_;
};

// Each loop with a jump, also those inside of others: a loop around it may run as it stands.
void find_loops(const Statement& s, int& slots, std::map<const Statement*, StatementPtr>& found) {
  if (is_loop(s) && has_break(*s.body)) found[&s] = Rewriter(slots, nullptr).loop(s);
  if (s.body) find_loops(*s.body, slots, found);
  if (s.otherwise) find_loops(*s.otherwise, slots, found);
  for (const StatementPtr& inner : s.statements) find_loops(*inner, slots, found);
}

}  // namespace

WithoutJumps::WithoutJumps(const Program& program) : slots(program.slots) {
  for (const Block& block : program.blocks)
    for (const StatementPtr& statement : block.statements) find_loops(*statement, slots, loops);
  for (const auto& function : program.functions) {
    FunctionWithoutJumps& own = functions[function.get()];
    own.slots = function->slots;
    if (!function->body) continue;
    find_loops(*function->body, own.slots, loops);
    if (!returns_from_a_loop(*function->body) && returns_of(*function->body).forks <= most_forks) continue;
    Rewriter rewriter(own.slots, function.get());
    own.body = rewriter.whole_function();
    own.result = rewriter.result();
  }
}

}  // namespace adit::stan
