// Calls of the program's functions with lists whose size differs from round to round: f(segment(y, at, n)).
// Rounds that are run together need one size for all, so the function is written anew with what it takes in
// place of its arguments: y[i] is y[at + i - 1] then, and size(y) is n.
#include <algorithm>

#include "stan/copies.hpp"
#include "stan/evaluator.hpp"
#include "stan/uses.hpp"

namespace adit::stan {

namespace {

constexpr int place_of_element = -100;  // the slot of no variable: where the index goes

// A list that is passed, in the words of who calls.
struct PassedList {
  ExpressionPtr whole, element, length;
};

template <class F>
void each_part(Expression& e, const F& on) {
  for (Index& index : e.indices) {
    if (index.low) on(index.low);
    if (index.high) on(index.high);
  }
  for (ExpressionPtr& part : e.parts) on(part);
}

template <class F>
void each_root(SizedType& type, const F& on) {
  for (auto* list : {&type.array_sizes, &type.sizes})
    for (ExpressionPtr& size : *list) on(size);
  for (SizedType& member : type.members) each_root(member, on);
}

template <class F>
void each_root(Target& target, const F& on) {
  for (Target& part : target.parts) each_root(part, on);
  for (Target::Step& step : target.steps)
    for (Index& index : step.indices) {
      if (index.low) on(index.low);
      if (index.high) on(index.high);
    }
}

// Expressions of a statement and of those inside of it, from outside.
template <class F>
void each_root(Statement& s, const F& on) {
  for (Declaration& declaration : s.declarations) {
    each_root(declaration.type, on);
    if (declaration.value) on(declaration.value);
  }
  each_root(s.target, on);
  for (ExpressionPtr* e : {&s.value, &s.low, &s.high, &s.truncation.low, &s.truncation.high})
    if (*e) on(*e);
  for (ExpressionPtr& argument : s.arguments) on(argument);
  for (Statement::Piece& piece : s.pieces)
    if (piece.value) on(piece.value);
  if (s.body) each_root(*s.body, on);
  if (s.otherwise) each_root(*s.otherwise, on);
  for (StatementPtr& inner : s.statements) each_root(*inner, on);
}

// Variables get the slots of the function's new arguments.
void rename(ExpressionPtr& e, std::map<int, int>& slots, std::vector<const Expression*>& variables,
            const Expression& from, int first_free) {
  if (e->kind == Expression::Kind::variable && e->slot >= 0) {
    const auto [at, is_new] = slots.try_emplace(e->slot, first_free + static_cast<int>(slots.size()));
    if (is_new) variables.push_back(&from);
    e->slot = at->second;
  }
  for (size_t i = 0; i < e->indices.size(); ++i) {
    Index& index = e->indices[i];
    const Index& old = from.indices[i];
    if (index.low) rename(index.low, slots, variables, *old.low, first_free);
    if (index.high) rename(index.high, slots, variables, *old.high, first_free);
  }
  for (size_t i = 0; i < e->parts.size(); ++i)
    rename(e->parts[i], slots, variables, *from.parts[i], first_free);
}

void put_index(ExpressionPtr& e, const Expression& index) {
  if (e->kind == Expression::Kind::variable && e->slot == place_of_element) {
    e = copy_of(index);
    return;
  }
  each_part(*e, [&](ExpressionPtr& part) { put_index(part, index); });
}

bool is_size(const Expression& e) {
  return e.kind == Expression::Kind::call && !e.function && e.parts.size() == 1 &&
         (e.name == "size" || e.name == "num_elements");
}

// Arguments of the function become what is passed.
void substitute(ExpressionPtr& e, const std::map<int, PassedList>& lists) {
  const Expression* of = e->kind == Expression::Kind::index || is_size(*e) ? e->parts[0].get() : e.get();
  const auto found = of->kind == Expression::Kind::variable ? lists.find(of->slot) : lists.end();
  if (found == lists.end()) return each_part(*e, [&](ExpressionPtr& part) { substitute(part, lists); });
  const PassedList& list = found->second;
  if (e->kind == Expression::Kind::call) {
    e = copy_of(*list.length);
  } else if (e->kind == Expression::Kind::index && e->indices.size() == 1 &&
             e->indices[0].kind == Index::Kind::single && e->indices[0].low->type.array == 0) {
    ExpressionPtr index = std::move(e->indices[0].low);
    substitute(index, lists);
    e = copy_of(*list.element);
    put_index(e, *index);
  } else if (e->kind == Expression::Kind::index) {
    each_part(*e, [&](ExpressionPtr& part) { substitute(part, lists); });
  } else {
    e = copy_of(*list.whole);
  }
}

bool leaves_early(const Statement& s) {
  if (s.kind == Statement::Kind::break_loop || s.kind == Statement::Kind::continue_loop) return true;
  if (s.body && leaves_early(*s.body)) return true;
  if (s.otherwise && leaves_early(*s.otherwise)) return true;
  return std::any_of(s.statements.begin(), s.statements.end(),
                     [](const StatementPtr& inner) { return leaves_early(*inner); });
}

}  // namespace

// The function with lists of different sizes element by element; none where that cannot be. What it takes
// goes to `passed`.
const Function* Evaluator::by_elements(const Function& function, std::span<const Expression* const> arguments,
                                       std::vector<const Expression*>& passed) {
  const auto known = without_jumps_.functions.find(&function);
  if (!function.body || known == without_jumps_.functions.end() || known->second.body) return nullptr;
  if (leaves_early(*function.body)) return nullptr;
  const int first_free = known->second.slots;
  auto own = std::make_unique<Function>();
  own->result = function.result, own->name = function.name, own->place = function.place;
  own->name_place = function.name_place;
  std::map<int, int> slots;
  std::map<int, PassedList> lists;
  std::vector<const Expression*> variables;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Expression& argument = *arguments[i];
    try {
      evaluate(argument);
      own->arguments.push_back(function.arguments[i]);
      passed.push_back(&argument);
      continue;
    } catch (const Differs&) {
    }
    if (argument.type.rank() != 1 || argument.type.base == Base::tuple) return nullptr;
    Expression index;
    index.kind = Expression::Kind::variable, index.slot = place_of_element,
    index.type = scalar_type(Base::integer);
    PassedList list{copy_of(argument), element_of(argument, index), length_of(argument)};
    if (!list.element || !list.length) return nullptr;
    for (ExpressionPtr* e : {&list.whole, &list.element, &list.length}) {
      element_arguments_.push_back(copy_of(**e));
      rename(*e, slots, variables, *element_arguments_.back(), first_free);
    }
    lists.emplace(function.arguments[i].slot, std::move(list));
  }
  for (const Expression* variable : variables) {
    Argument more;
    more.type = variable->type, more.name = variable->name, more.slot = slots.at(variable->slot);
    own->arguments.push_back(std::move(more));
    passed.push_back(variable);
  }
  own->body = copy_of(*function.body);
  each_root(*own->body, [&](ExpressionPtr& e) { substitute(e, lists); });
  own->slots = first_free + static_cast<int>(slots.size());
  without_jumps_.functions[own.get()].slots = own->slots;
  element_functions_.push_back(std::move(own));
  return element_functions_.back().get();
}

Value Evaluator::call_own(const Function& function, std::span<const Expression* const> arguments,
                          const Place& place) {
  const auto values_of = [&](std::span<const Expression* const> list) {
    std::vector<Value> values;
    for (const Expression* argument : list) values.push_back(evaluate(*argument));
    return values;
  };
  std::vector<Value> values;
  try {
    values = values_of(arguments);
  } catch (const Differs&) {
    std::vector<const Expression*> passed;
    const Function* own = by_elements(function, arguments, passed);
    if (!own) throw;
    return call_function(*own, values_of(passed), place);
  }
  return call_function(function, std::move(values), place);
}

}  // namespace adit::stan
