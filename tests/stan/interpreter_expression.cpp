#include <functional>

#include "interpreter_builtin.hpp"
#include "interpreter_linear.hpp"
#include "interpreter_machine.hpp"

namespace adit::stan::reference {

Machine::Machine(const Program& program, const Scope* constants) : program_(program), constants_(constants) {
  frames_.push_back({Scope()});
  for (const auto& function : program.functions)
    if (function->body) functions_.emplace(function->name, function.get());
}

Value* Machine::find(const std::string& name) {
  Frame& frame = frames_.back();
  for (size_t i = frame.size(); i-- > 0;)
    if (const auto at = frame[i].find(name); at != frame[i].end()) return &at->second;
  return nullptr;
}

const Value& Machine::lookup(const std::string& name) {
  if (const Value* value = find(name)) return *value;
  if (constants_ && frames_.size() == 1)
    if (const auto at = constants_->find(name); at != constants_->end()) return at->second;
  throw Failure("no variable " + name);
}

void Machine::declare(const std::string& name, Value value) { top()[name] = std::move(value); }

// A variable, or a member or element of one, without a copy.
const Value* Machine::path(const Expression& e) {
  if (e.kind == Expression::Kind::variable) return &lookup(e.name);
  if (e.kind == Expression::Kind::group) return path(*e.parts[0]);
  if (e.kind == Expression::Kind::member) {
    const Value* tuple = path(*e.parts[0]);
    return tuple ? &tuple->parts.at(static_cast<size_t>(e.integer - 1)) : nullptr;
  }
  return nullptr;
}

std::vector<Selector> Machine::selectors(const std::vector<Index>& indices) {
  std::vector<Selector> result;
  for (const Index& index : indices) {
    using Kind = Index::Kind;
    if (index.kind == Kind::single) {
      const Value at = evaluate(*index.low);
      const bool is_single = at.array == 0;
      std::vector<int64_t> positions = is_single ? std::vector{at.whole()} : flat_integers(at);
      result.push_back([is_single, positions](int64_t size) {
        Place1 place{is_single, 0, {}};
        for (const int64_t i : positions) {
          expect(i >= 1 && i <= size,
                 "index " + std::to_string(i) + " outside of 1 to " + std::to_string(size));
          place.positions.push_back(i - 1);
        }
        if (is_single) place.position = place.positions[0];
        return place;
      });
      continue;
    }
    const bool has_low = index.kind == Kind::from || index.kind == Kind::between;
    const bool has_high = index.kind == Kind::to || index.kind == Kind::between;
    const int64_t low = has_low ? evaluate(*index.low).whole() : 1;
    const Expression* high_expression = index.high ? index.high.get() : index.low.get();
    const int64_t high = has_high ? evaluate(*high_expression).whole() : 0;
    result.push_back([low, high, has_high](int64_t size) {
      Place1 place{false, 0, {}};
      const int64_t last = has_high ? high : size;
      expect(last < low || (low >= 1 && last <= size), "a range of places lies outside");
      for (int64_t i = low; i <= last; ++i) place.positions.push_back(i - 1);
      return place;
    });
  }
  return result;
}

Value Machine::evaluate(const Expression& e) { return promoted(evaluate_plain(e), e.type); }

Value Machine::evaluate_plain(const Expression& e) {
  using Kind = Expression::Kind;
  switch (e.kind) {
    case Kind::integer: return integer(e.integer);
    case Kind::real: return real(e.real);
    case Kind::variable: return lookup(e.name);
    case Kind::group: return evaluate(*e.parts[0]);
    case Kind::target: return real(target);
    case Kind::prefix:
    case Kind::postfix: return apply(e.op, evaluate(*e.parts[0]));
    case Kind::ternary: return evaluate(*e.parts[evaluate(*e.parts[0]).number().value != 0 ? 1 : 2]);
    case Kind::binary: {
      const Value a = evaluate(*e.parts[0]);
      if (e.op == Operator::logical_and && a.number().value == 0) return integer(0);
      if (e.op == Operator::logical_or && a.number().value != 0) return integer(1);
      return apply(e.op, a, evaluate(*e.parts[1]));
    }
    case Kind::index: {
      const std::vector<Selector> places = selectors(e.indices);
      const Value* whole = path(*e.parts[0]);
      return whole ? indexed(*whole, places) : indexed(evaluate(*e.parts[0]), places);
    }
    case Kind::member: {
      if (const Value* member = path(e)) return *member;
      return evaluate(*e.parts[0]).parts.at(static_cast<size_t>(e.integer - 1));
    }
    case Kind::tuple: {
      Value result;
      result.base = Base::tuple;
      for (const auto& part : e.parts) result.parts.push_back(evaluate(*part));
      return result;
    }
    case Kind::array: return evaluate_array(e);
    case Kind::row: return evaluate_row(e);
    case Kind::call: return evaluate_call(e);
    default: throw Failure("this expression is not known to the interpreter");
  }
}

Value Machine::evaluate_array(const Expression& e) {
  Values parts;
  bool is_real = false;
  for (const auto& part : e.parts) {
    parts.push_back(evaluate(*part));
    is_real |= parts.back().base == Base::real;
  }
  expect(!parts.empty(), "an array of nothing has no type");
  if (is_real)
    for (Value& part : parts) part = promoted(std::move(part));
  return array_value(parts[0].base, parts[0].array + 1, parts);
}

Value Machine::evaluate_row(const Expression& e) {
  Values parts;
  for (const auto& part : e.parts) parts.push_back(evaluate(*part));
  if (parts.empty() || parts[0].is_scalar()) {
    Numbers numbers;
    for (const Value& part : parts) numbers.push_back(part.number());
    return row_vector(numbers);
  }
  Value result = matrix(static_cast<int64_t>(parts.size()), parts[0].count());
  for (size_t i = 0; i < parts.size(); ++i) {
    expect(parts[i].count() == result.columns, "rows of a matrix differ in size");
    for (int64_t j = 0; j < result.columns; ++j)
      result.at(static_cast<int64_t>(i), j) = parts[i].numbers[static_cast<size_t>(j)];
  }
  return result;
}

namespace {

// foo_lupdf is foo_lpdf: nothing is dropped here.
std::string expression_normalised(const std::string& name) {
  for (const char* ending : {"_lupdf", "_lupmf"})
    if (name.ends_with(ending))
      return name.substr(0, name.size() - 6) + (std::string(ending) == "_lupdf" ? "_lpdf" : "_lpmf");
  return name;
}

bool expression_fits(const Type& wanted, const Type& given) {
  if (wanted.array != given.array) return false;
  if (wanted.base == Base::tuple && given.base == Base::tuple) {
    if (wanted.members.size() != given.members.size()) return given.members.empty();
    for (size_t i = 0; i < wanted.members.size(); ++i)
      if (!expression_fits(wanted.members[i], given.members[i])) return false;
    return true;
  }
  return wanted.base == given.base || (wanted.base == Base::real && given.base == Base::integer);
}

}  // namespace

bool Machine::has_function(const std::string& name) const { return functions_.contains(name); }

// Of several with one name: the one that asks for the fewest ints to become reals.
const Function* Machine::chosen(const std::string& name, const Values& arguments) const {
  const Function* best = nullptr;
  int fewest = 1000;
  const auto [first, last] = functions_.equal_range(name);
  for (auto at = first; at != last; ++at) {
    const Function& function = *at->second;
    if (function.arguments.size() != arguments.size()) continue;
    int changes = 0;
    bool fits = true;
    for (size_t i = 0; i < arguments.size() && fits; ++i) {
      const Type given = type_of(arguments[i]);
      fits = expression_fits(function.arguments[i].type, given);
      changes += function.arguments[i].type.base != given.base;
    }
    if (fits && changes < fewest) {
      best = &function;
      fewest = changes;
    }
  }
  return best;
}

Value Machine::call(const std::string& given, Values arguments) {
  const std::string name = expression_normalised(given);
  if (const Function* function = chosen(name, arguments)) return invoke(*function, std::move(arguments));
  expect(!has_function(name), "no function " + name + " takes these arguments");
  return call_builtin(name, arguments);
}

Value Machine::invoke(const Function& function, Values arguments) {
  expect(frames_.size() < 3000, "functions call one another without end");
  Scope scope;
  for (size_t i = 0; i < arguments.size(); ++i)
    scope[function.arguments[i].name] = promoted(std::move(arguments[i]), function.arguments[i].type);
  Frame frame;
  frame.push_back(std::move(scope));
  frames_.push_back(std::move(frame));
  result_ = Value();
  const Flow flow = run(*function.body);
  frames_.pop_back();
  expect(flow == Flow::returned || function.result.base == Base::none, function.name + " returns nothing");
  Value result = std::move(result_);
  result_ = Value();
  return promoted(std::move(result), function.result);
}

Value Machine::evaluate_call(const Expression& e) {
  if (is_higher_order(e.name)) {
    expect(!e.parts.empty() && e.parts[0]->kind == Expression::Kind::variable,
           e.name + " takes the name of a function first");
    Values arguments;
    for (size_t i = 1; i < e.parts.size(); ++i) arguments.push_back(evaluate(*e.parts[i]));
    return call_higher_order(*this, e.name, expression_normalised(e.parts[0]->name), std::move(arguments));
  }
  Values arguments;
  for (const auto& part : e.parts) arguments.push_back(evaluate(*part));
  return call(e.name, std::move(arguments));
}

}  // namespace adit::stan::reference
