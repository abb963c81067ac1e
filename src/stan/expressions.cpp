// What expressions are worth.
#include <cmath>
#include <fmt/format.h>

#include "stan/evaluator.hpp"
#include "stan/update_choice.hpp"

namespace adit::stan {

namespace {

bool is_inner_product(const Expression& e) {
  return e.op == Operator::multiply && e.parts[0]->type.is(Base::row_vector) &&
         e.parts[1]->type.is(Base::vector);
}

}  // namespace

void Evaluator::fail(const Place& place, const std::string& text) const { throw RunError{place, text}; }

Value Evaluator::value_of(const Expression& expression) { return evaluate(expression); }

Value Evaluator::evaluate(const Expression& e) {
  using Kind = Expression::Kind;
  switch (e.kind) {
    case Kind::integer: return known_integer(e.integer);
    case Kind::real: return known_real(e.real);
    case Kind::imaginary: fail(e.place, "complex numbers are not supported");
    case Kind::variable: return variable(e);
    case Kind::call: return call(e);
    case Kind::binary:
      if (levels_.top() > 0 && is_inner_product(e)) return sum_of_parts(e, [&] { return binary(e); });
      return binary(e);
    case Kind::prefix: return prefix(e);
    case Kind::postfix: return transposed(evaluate(*e.parts[0]));
    case Kind::ternary: return ternary(e);
    case Kind::index: return read(e);
    case Kind::array:
    case Kind::row: return literal_array(e);
    case Kind::tuple: {
      Value value;
      value.kind = Value::Kind::tuple;
      value.type = e.type;
      for (const auto& part : e.parts) value.pieces.push_back(evaluate(*part));
      return value;
    }
    case Kind::member: {
      const Value tuple = evaluate(*e.parts[0]);
      return tuple.pieces.at(static_cast<size_t>(e.integer - 1));
    }
    case Kind::group: return evaluate(*e.parts[0]);
    case Kind::target: {
      Tensor total = full({}, 0.0, DType::f64);
      if (levels_.top() > 0) throw NotTogether{"target() in a loop"};
      if (jacobian) total = total + jacobian;
      for (const Term& term : terms) total = total + sum(term.value);
      return traced_value(scalar_type(Base::real), {}, total);
    }
  }
  fail(e.place, "an expression of no kind");
}

// Down the left spine without recursion: a sum may have thousands of terms.
Value Evaluator::binary(const Expression& expression) {
  std::vector<const Expression*> spine;
  const Expression* left = &expression;
  while (left->kind == Expression::Kind::binary && (left == &expression || !is_inner_product(*left))) {
    spine.push_back(left);
    left = left->parts[0].get();
  }
  Value value = evaluate(*left);
  for (auto at = spine.rbegin(); at != spine.rend(); ++at) {
    const Expression& e = **at;
    if ((e.op == Operator::logical_and || e.op == Operator::logical_or) && value.is_known() &&
        value.level == 0) {
      const bool first = value.known->numbers[0] != 0;
      if (first == (e.op == Operator::logical_or)) {
        value = known_integer(first);
        continue;
      }
    }
    // What the first part decides alone the second one has no say in: an index may be outside there.
    const bool decides = e.op == Operator::logical_and || e.op == Operator::logical_or;
    const bool is_sure = value.is_known() && value.level == 0;
    if (decides && !is_sure)
      masks_.push_back({e.op == Operator::logical_and
                            ? value
                            : operate(Operator::equal, value, known_integer(0), e.place)});
    const Value other = evaluate(*e.parts[1]);
    if (decides && !is_sure) masks_.pop_back();
    // The second part may be enough as well: a call that calls itself ends so.
    const bool second = decides && other.is_known() && other.level == 0 && other.known->numbers[0] != 0;
    const bool is_or = e.op == Operator::logical_or;
    if (decides && other.is_known() && other.level == 0 && second == is_or)
      value = known_integer(is_or);
    else
      value = operate(e.op, value, other, e.place);
  }
  return value;
}

Value Evaluator::prefix(const Expression& e) {
  const Value value = evaluate(*e.parts[0]);
  if (e.op == Operator::plus) return value;
  const Value operands[] = {value};
  if (e.op == Operator::minus && value.type.is_integer())  // which have no -0
    return operate(Operator::subtract, known_integer(0), value, e.place);
  if (e.op == Operator::minus)
    return elementwise(
        value.type, operands, e.place, [](const double* x) { return -x[0]; },
        [](const Tensor* x) { return negate(x[0]); });
  return elementwise(
      scalar_type(Base::integer), operands, e.place, [](const double* x) { return x[0] == 0 ? 1.0 : 0.0; },
      [](const Tensor* x) { return as_type(x[0] == 0.0, DType::f64); });
}

Value Evaluator::ternary(const Expression& e) {
  const Value condition = evaluate(*e.parts[0]);
  if (condition.is_known() && condition.level == 0)
    return promoted(evaluate(*e.parts[condition.known->numbers[0] != 0 ? 1 : 2]), e.type);
  const auto under = [&](const Value& mask, const Expression& part) {
    masks_.push_back({mask});
    const Value value = promoted(evaluate(part), e.type);
    masks_.pop_back();
    return value;
  };
  const Value other = operate(Operator::equal, condition, known_integer(0), e.place);
  const Value yes = under(condition, *e.parts[1]);
  return chosen(condition, yes, under(other, *e.parts[2]));
}

// One of two values of a type by a condition that is not the same everywhere.
Value Evaluator::chosen(const Value& condition, const Value& yes, const Value& no) {
  if (yes.type.base == Base::tuple && yes.pieces.size() == no.pieces.size()) {
    Value value = yes;
    for (size_t i = 0; i < value.pieces.size(); ++i)
      value.pieces[i] = chosen(condition, yes.pieces[i], no.pieces[i]);
    return value;
  }
  if (!(yes.shape == no.shape)) throw NotTogether{"a choice between values of different sizes"};
  const Value operands[] = {condition, yes, no};
  return elementwise(
      yes.type, operands, {}, [](const double* x) { return x[0] != 0 ? x[1] : x[2]; },
      [](const Tensor* x) { return chosen_elements(x[0] != 0.0, x[1], x[2]); });
}

// {a, b}, [a, b]: pieces, which are put together where they are read as a whole.
Value Evaluator::literal_array(const Expression& e) {
  Value value;
  value.kind = Value::Kind::pieces;
  value.type = e.type;
  const Type element = type_of_element(e.type);
  for (const auto& part : e.parts) value.pieces.push_back(promoted(evaluate(*part), element));
  value.shape = value.pieces.empty() ? Shape{} : value.pieces[0].shape;
  for (const Value& piece : value.pieces)
    if (!(piece.shape == value.shape))
      fail(e.place, fmt::format("expected elements of one size, got {} and {}", to_string(value.shape),
                                to_string(piece.shape)));
  value.shape.insert(0, std::ssize(value.pieces));
  if (value.pieces.empty())
    for (int i = 1; i < e.type.rank(); ++i) value.shape.push_back(0);
  bool known = true;
  for (const Value& piece : value.pieces) known = known && piece.is_known();
  return known && element.base != Base::tuple ? whole(value) : value;
}

Value Evaluator::variable(const Expression& e) {
  Stored& variable = (*frame_)[static_cast<size_t>(e.slot)];
  const Value value = read_variable(variable, e.slot, nullptr, e.type, e.place);
  if (witnesses_) witness(e, value);
  return value;
}

// x[i][j] is x[i, j] where each index leaves one element.
Value Evaluator::read(const Expression& e) {
  const Expression& of = *e.parts[0];
  if (of.kind == Expression::Kind::variable) {
    Stored& variable = (*frame_)[static_cast<size_t>(of.slot)];
    const Spots spots = spots_of(e.indices, variable.value, e.place);
    const Value value = read_variable(variable, of.slot, &spots, e.type, e.place);
    if (witnesses_) witness(e, value);
    return value;
  }
  const Value value = evaluate(of);
  return at(value, spots_of(e.indices, value, e.place), e.type, e.place);
}

double Evaluator::number_of(const Value& value, const Place& place) {
  if (!value.is_known())
    throw DrawnSize{{place, "expected a value that follows from data alone, got one of parameters"}};
  if (value.level > 0) {
    const Value here = levels_.lifted(value, levels_.top());
    for (const double number : here.known->numbers)
      if (number != here.known->numbers[0]) throw Differs{levels_.top(), here.known->numbers};
    return here.known->numbers.at(0);
  }
  return value.known->numbers.at(0);
}

int64_t Evaluator::integer_of(const Expression& expression) {
  const double number = number_of(evaluate(expression), expression.place);
  if (std::isnan(number))
    fail(expression.place, "expected a whole number, got a variable that has no value yet");
  return static_cast<int64_t>(number);
}

std::vector<Value> Evaluator::arguments_of(const Expression& e) {
  std::vector<Value> arguments;
  for (const auto& part : e.parts) arguments.push_back(evaluate(*part));
  return arguments;
}

Value Evaluator::call(const Expression& e) {
  if (e.function) {
    std::vector<const Expression*> arguments;
    for (const auto& part : e.parts) arguments.push_back(part.get());
    return call_own(*e.function, arguments, e.place);
  }
  if (!e.parts.empty() && e.parts[0]->function && e.parts[0]->slot < 0 &&
      e.parts[0]->kind == Expression::Kind::variable)
    return call_with_function(e);
  if (levels_.top() > 0)
    if (const ExpressionPtr index = cut_as_index(e)) return read(*index);
  const auto value = [&] {
    std::vector<Value> arguments = arguments_of(e);
    return call_builtin(e.name, arguments, e.type, e.place);
  };
  const bool adds_up = e.name == "dot_product" || e.name == "dot_self" || e.name == "sum" ||
                       e.name.ends_with("_lpdf") || e.name.ends_with("_lpmf") || e.name.ends_with("_lupdf") ||
                       e.name.ends_with("_lupmf") || folds(e);
  return adds_up ? sum_of_parts(e, value) : value();
}

// A sum (or a fold) over lists, which may have different sizes in different rounds.
Value Evaluator::sum_of_parts(const Expression& e, const std::function<Value()>& of_one_size) {
  constexpr size_t few_sizes = 8;  // rounds of one size go together then
  try {
    return of_one_size();
  } catch (const Differs& size) {
    if (std::optional<Value> total = sum_by_running(e)) return *total;
    const std::set<double> sizes(size.numbers.begin(), size.numbers.end());
    if (sizes.size() <= few_sizes && levels_.innermost_scan(levels_.top()) == 0) throw;
    if (std::optional<Value> total = folds(e) ? fold_by_elements(e) : sum_by_elements(e)) return *total;
    throw;
  } catch (const DrawnSize&) {
    if (std::optional<Value> total = fold_of_drawn_size(e)) return *total;
    throw;
  }
}

}  // namespace adit::stan
