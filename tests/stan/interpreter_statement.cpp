#include <functional>

#include "interpreter_builtin.hpp"
#include "interpreter_machine.hpp"

namespace adit::stan::reference {

void Machine::run(const Block& block) {
  for (const auto& statement : block.statements) run(*statement);
}

Machine::Flow Machine::run_all(const std::vector<StatementPtr>& statements) {
  for (const auto& statement : statements)
    if (const Flow flow = run(*statement); flow != Flow::next) return flow;
  return Flow::next;
}

Machine::Flow Machine::run_scoped(const Statement& statement) {
  frames_.back().emplace_back();
  const Flow flow = run(statement);
  frames_.back().pop_back();
  return flow;
}

Machine::Flow Machine::run(const Statement& s) {
  using Kind = Statement::Kind;
  switch (s.kind) {
    case Kind::declare: run_declare(s); break;
    case Kind::assign: run_assign(s); break;
    case Kind::increment:
    case Kind::jacobian:
      for (const Number& x : flat(evaluate(*s.value))) target += x;
      break;
    case Kind::tilde: run_tilde(s); break;
    case Kind::call: evaluate(*s.value); break;
    case Kind::for_range:
    case Kind::for_each:
    case Kind::while_loop: return run_loop(s);
    case Kind::choice:
      if (evaluate(*s.value).number().value != 0) return run_scoped(*s.body);
      return s.otherwise ? run_scoped(*s.otherwise) : Flow::next;
    case Kind::block:
    case Kind::profile: {
      frames_.back().emplace_back();
      Flow flow = run_all(s.statements);
      if (flow == Flow::next && s.body) flow = run(*s.body);
      frames_.back().pop_back();
      return flow;
    }
    case Kind::break_loop: return Flow::broken;
    case Kind::continue_loop: return Flow::continued;
    case Kind::give: result_ = s.value ? evaluate(*s.value) : Value(); return Flow::returned;
    case Kind::reject: throw Rejected("reject");
    case Kind::fatal_error: throw Failure("fatal_error");
    case Kind::print:
      for (const auto& piece : s.pieces)
        if (piece.value) evaluate(*piece.value);
      break;
    case Kind::nothing: break;
  }
  return Flow::next;
}

namespace {

// What a loop over a value gives in turn; a matrix gives its numbers, column by column.
Values statement_elements(const Value& value) {
  if (value.array > 0) return value.parts;
  Values result;
  for (const Number& x : value.numbers) result.push_back(real(x));
  return result;
}

}  // namespace

Machine::Flow Machine::run_loop(const Statement& s) {
  const auto round = [&](const Value* element) {
    frames_.back().emplace_back();
    if (element) declare(s.name, *element);
    const Flow flow = run_scoped(*s.body);
    frames_.back().pop_back();
    return flow;
  };
  if (s.kind == Statement::Kind::while_loop) {
    for (int64_t rounds = 0; evaluate(*s.value).number().value != 0; ++rounds) {
      expect(rounds < 10'000'000, "a while loop does not end");
      const Flow flow = round(nullptr);
      if (flow == Flow::returned) return flow;
      if (flow == Flow::broken) break;
    }
    return Flow::next;
  }
  if (s.kind == Statement::Kind::for_each) {
    for (const Value& element : statement_elements(evaluate(*s.value))) {
      const Flow flow = round(&element);
      if (flow == Flow::returned) return flow;
      if (flow == Flow::broken) break;
    }
    return Flow::next;
  }
  const int64_t low = evaluate(*s.low).whole(), high = evaluate(*s.high).whole();
  for (int64_t i = low; i <= high; ++i) {
    const Value element = integer(i);
    const Flow flow = round(&element);
    if (flow == Flow::returned) return flow;
    if (flow == Flow::broken) break;
  }
  return Flow::next;
}

Value Machine::fresh(const SizedType& type) {
  std::vector<int64_t> sizes;
  for (const auto& size : type.sizes) sizes.push_back(evaluate(*size).whole());
  for (const int64_t size : sizes) expect(size >= 0, "a size is negative");
  Value element;
  const Number unset = not_a_number;
  switch (type.base) {
    case Base::integer: element = integer(std::numeric_limits<int64_t>::min()); break;
    case Base::real: element = real(unset); break;
    case Base::vector: element = vector(Numbers(static_cast<size_t>(sizes.at(0)), unset)); break;
    case Base::row_vector: element = row_vector(Numbers(static_cast<size_t>(sizes.at(0)), unset)); break;
    case Base::matrix:
      element = matrix(sizes.at(0), sizes.back());  // cov_matrix[K] is square
      for (Number& x : element.numbers) x = unset;
      break;
    case Base::tuple:
      element.base = Base::tuple;
      for (const SizedType& member : type.members) element.parts.push_back(fresh(member));
      break;
    default: throw Failure("this type is not known to the interpreter");
  }
  for (size_t i = type.array_sizes.size(); i-- > 0;) {
    const int64_t size = evaluate(*type.array_sizes[i]).whole();
    expect(size >= 0, "a size is negative");
    const Base base = element.base;
    const int axes = element.array + 1;
    element = array_value(base, axes, Values(static_cast<size_t>(size), element));
  }
  return element;
}

void Machine::run_declare(const Statement& s) {
  for (const Declaration& declaration : s.declarations) {
    Value value = fresh(declaration.type);
    if (declaration.value) {
      Value given = evaluate(*declaration.value);
      if (given.array > 0 && given.parts.empty() && value.parts.empty()) given = value;
      store(value, std::move(given));
    }
    declare(declaration.name, std::move(value));
  }
}

void Machine::run_assign(const Statement& s) { assign(s.target, s.compound, evaluate(*s.value)); }

void Machine::assign(const Target& to, const std::optional<Operator>& compound, Value value) {
  if (!to.parts.empty()) {
    expect(value.is(Base::tuple) && value.parts.size() == to.parts.size(),
           "a tuple of another size is assigned");
    for (size_t i = 0; i < to.parts.size(); ++i) assign(to.parts[i], compound, value.parts[i]);
    return;
  }
  Value* place = find(to.name);
  expect(place != nullptr, "no variable " + to.name + " to assign to");
  for (size_t k = 0; k < to.steps.size(); ++k) {
    const Target::Step& step = to.steps[k];
    if (step.indices.empty()) {
      place = &place->parts.at(static_cast<size_t>(step.member - 1));
      continue;
    }
    const std::vector<Selector> places = selectors(step.indices);
    if (k + 1 < to.steps.size()) {
      // What follows is inside of one element: a member of a tuple in an array, or x[i][j].
      size_t used = 0;
      for (; used < places.size() && place->array > 0; ++used) {
        const Place1 at = places[used](place->count());
        expect(at.is_single, "one element was expected before the next bracket");
        place = &place->parts[static_cast<size_t>(at.position)];
      }
      if (used < places.size()) {  // x[i] of a matrix and then a place of that row
        std::vector<Selector> all(places.begin() + static_cast<std::ptrdiff_t>(used), places.end());
        for (size_t r = k + 1; r < to.steps.size(); ++r)
          for (Selector& more : selectors(to.steps[r].indices)) all.push_back(std::move(more));
        if (compound) value = apply(*compound, indexed(*place, all), value);
        return assign_indexed(*place, all, 0, value);
      }
      continue;
    }
    if (compound) value = apply(*compound, indexed(*place, places), value);
    return assign_indexed(*place, places, 0, value);
  }
  if (compound) value = apply(*compound, *place, value);
  store(*place, std::move(value));
}

void Machine::run_tilde(const Statement& s) {
  Values arguments{evaluate(*s.value)};
  for (const auto& argument : s.arguments) arguments.push_back(evaluate(*argument));
  const Values parameters(arguments.begin() + 1, arguments.end());
  const Value y = arguments[0];
  const Univariate* known = univariate(s.name);
  const char* suffix = has_function(s.name + "_lpmf") ? "_lpmf" : "_lpdf";
  if (has_function(s.name + suffix))
    target += call(s.name + suffix, arguments).number();
  else
    target += call_builtin(s.name + (known && known->is_discrete ? "_lpmf" : "_lpdf"), arguments).number();
  if (s.truncation.present) target -= truncation(s, y, parameters);
}

// The logarithm of the probability between the bounds, once for each number.
Number Machine::truncation(const Statement& s, const Value& y, const Values& parameters) {
  const bool has_low = s.truncation.low != nullptr, has_high = s.truncation.high != nullptr;
  if (!has_low && !has_high) return 0;
  const Value low = has_low ? evaluate(*s.truncation.low) : real(0);
  const Value high = has_high ? evaluate(*s.truncation.high) : real(0);
  Values all{y, low, high};
  all.insert(all.end(), parameters.begin(), parameters.end());
  const size_t rows = common_size(all);
  std::vector<Numbers> columns;
  for (const Value& value : all) columns.push_back(flat(value));
  const auto pick = [&](size_t column, size_t row) {
    return columns[column].size() == 1 ? columns[column][0] : columns[column][row];
  };
  Number sum = 0;
  const Univariate* known = univariate(s.name);
  for (size_t row = 0; row < rows; ++row) {
    const Number x = pick(0, row), from = pick(1, row), to = pick(2, row);
    if ((has_low && x.value < from.value) || (has_high && x.value > to.value)) return infinity;
    if (known && !has_function(s.name + "_lpdf") && !has_function(s.name + "_lpmf")) {
      Numbers p;
      for (size_t k = 3; k < columns.size(); ++k) p.push_back(pick(k, row));
      sum += log_between(*known, has_low ? &from : nullptr, has_high ? &to : nullptr, p.data());
      continue;
    }
    expect(rows == 1, "truncation of the program's own distributions takes one number");
    const bool is_discrete = has_function(s.name + "_lpmf");
    const auto at = [&](const char* suffix, Value bound, bool is_low) {
      if (is_discrete && is_low) bound = integer(bound.whole() - 1);
      Values arguments{bound};
      arguments.insert(arguments.end(), parameters.begin(), parameters.end());
      return call(s.name + suffix, arguments).number();
    };
    if (has_low && has_high)
      sum += log_diff_exp(at("_lcdf", high, false), at("_lcdf", low, true));
    else
      sum += has_low ? at("_lccdf", low, true) : at("_lcdf", high, false);
  }
  return sum;
}

}  // namespace adit::stan::reference
