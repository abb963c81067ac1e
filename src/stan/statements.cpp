// Statements but for loops.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "stan/evaluator.hpp"
#include "stan/uses.hpp"

namespace adit::stan {

namespace {

constexpr int64_t most_rounds = 200'000;  // of loops with traced values that are run round by round, in all

}  // namespace

Evaluator::Evaluator(const Program& program)
    : program_(program),
      rounds_left_(most_rounds),
      without_jumps_(program),
      workspaces_(workspaces_of(program)) {
  own_.resize(static_cast<size_t>(without_jumps_.slots + scratch_slots));
}

void Evaluator::run(const Block& block) { execute_list(block.statements); }

Evaluator::Flow Evaluator::execute_list(std::span<const StatementPtr> list) {
  for (size_t i = 0; i < list.size(); ++i) {
    rests_.push_back(list.subspan(i + 1));
    const size_t depth = rests_.size();
    const Flow flow = execute(*list[i]);
    rests_.resize(depth - 1);
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

Evaluator::Flow Evaluator::execute(const Statement& s) {
  switch (s.kind) {
    case Statement::Kind::declare:
      for (const Declaration& declaration : s.declarations) declare(declaration);
      return Flow::next;
    case Statement::Kind::assign: assign(s); return Flow::next;
    case Statement::Kind::increment:
    case Statement::Kind::jacobian:
    case Statement::Kind::tilde: add_terms(s); return Flow::next;
    case Statement::Kind::call: evaluate(*s.value); return Flow::next;
    case Statement::Kind::for_range: return for_range(s);
    case Statement::Kind::for_each: return for_each(s);
    case Statement::Kind::while_loop: return while_loop(s);
    case Statement::Kind::choice: return choice(s);
    case Statement::Kind::block:
    case Statement::Kind::profile: return execute_list(s.statements);
    case Statement::Kind::break_loop:
    case Statement::Kind::continue_loop:
      if (!masks_.empty() || levels_.top() > 0) throw NotTogether{"break or continue"};
      return s.kind == Statement::Kind::break_loop ? Flow::broke : Flow::continued;
    case Statement::Kind::give: returned_ = s.value ? evaluate(*s.value) : Value{}; return Flow::returned;
    case Statement::Kind::print:
    case Statement::Kind::reject:
    case Statement::Kind::fatal_error: speak(s); return Flow::next;
    case Statement::Kind::nothing: return Flow::next;
  }
  return Flow::next;
}

Shape Evaluator::shape_of(const SizedType& type) {
  Shape shape;
  const auto add = [&](const ExpressionPtr& size) {
    const int64_t extent = integer_of(*size);
    if (extent < 0) fail(size->place, fmt::format("expected a size of at least 0, got {}", extent));
    shape.push_back(extent);
  };
  for (const auto& size : type.array_sizes) add(size);
  for (const auto& size : type.sizes) add(size);
  const Base base = type.base;
  if (base == Base::matrix && type.sizes.size() == 1) shape.push_back(shape.back());
  return shape;
}

Value Evaluator::declared(const SizedType& type) {
  const Shape shape = shape_of(type);
  if (type.base == Base::tuple) {
    Value tuple;
    tuple.kind = Value::Kind::tuple;
    tuple.type = unsized(type);
    tuple.type.array = 0;
    for (const SizedType& member : type.members) tuple.pieces.push_back(declared(member));
    for (int axis = shape.size() - 1; axis >= 0; --axis) {
      Value array;
      array.kind = Value::Kind::pieces;
      array.type = array_of(tuple.type);
      for (int i = axis; i < shape.size(); ++i) array.shape.push_back(shape[i]);
      array.pieces.assign(static_cast<size_t>(shape[axis]), tuple);
      tuple = std::move(array);
    }
    return tuple;
  }
  std::vector<double> numbers = numbers_of_size(stan::to_text(unsized(type)), shape, 1, type.place);
  std::fill(numbers.begin(), numbers.end(), std::nan(""));
  return known_value(unsized(type), shape, std::move(numbers));
}

void Evaluator::declare(const Declaration& declaration) {
  Stored& variable = (*frame_)[static_cast<size_t>(declaration.slot)];
  variable = {};
  variable.home = levels_.top();
  variable.value = declared(declaration.type);
  if (!declaration.value) return;
  const Value value = evaluate(*declaration.value);
  expect_size(variable.value, {}, value, declaration.name_place);
  (*frame_)[static_cast<size_t>(declaration.slot)].value = promoted(value, unsized(declaration.type));
}

void Evaluator::assign(const Statement& s) {
  const Target& target = s.target;
  if (!target.parts.empty()) return assign_to(target, evaluate(*s.value), s.place);
  Stored& variable = (*frame_)[static_cast<size_t>(target.slot)];
  const bool plain = target.steps.size() <= 1 && (target.steps.empty() || !target.steps[0].indices.empty());
  const std::optional<Sum> added = plain ? sum_of(s) : std::nullopt;
  if (added) {
    Value addend = evaluate(added->whole ? *s.value : *added->part);
    if (added->negative) addend = operate(Operator::subtract, known_integer(0), addend, s.place);
    const Spots spots =
        target.steps.empty() ? Spots() : spots_of(target.steps[0].indices, variable.value, s.place);
    add_to_variable((*frame_)[static_cast<size_t>(target.slot)], target.slot, spots, addend, s.place);
    return;
  }
  Value value = evaluate(*s.value);
  if (s.compound) {
    const Value old = read_target(target, s.place);
    value = operate(*s.compound, old, value, s.place);
  }
  assign_to(target, value, s.place);
}

namespace {

// x[a][b] with single places is x[a, b].
bool all_single(const std::vector<Index>& indices) {
  for (const Index& index : indices)
    if (index.kind != Index::Kind::single || index.low->type.array > 0) return false;
  return true;
}

}  // namespace

// Places of a target of one step, or of two whose first has single places alone; nothing where it is of
// another kind.
std::optional<Spots> Evaluator::joined_spots(const Target& target, const Value& value, const Place& place) {
  const std::vector<Target::Step>& steps = target.steps;
  const bool has_members =
      std::any_of(steps.begin(), steps.end(), [](const Target::Step& step) { return step.indices.empty(); });
  if (has_members || value.type.base == Base::tuple || steps.empty() || steps.size() > 2) return {};
  if (steps.size() == 2 && !all_single(steps[0].indices)) return {};
  Spots spots = spots_of(steps[0].indices, value, place);
  if (steps.size() == 1) return spots;
  Value part = value;
  for (size_t i = 0; i < steps[0].indices.size(); ++i) part.shape = without_first(part.shape);
  for (const Spot& spot : spots_of(steps[1].indices, part, place)) spots.push_back(spot);
  return spots;
}

Value Evaluator::read_target(const Target& target, const Place& place) {
  Stored& variable = (*frame_)[static_cast<size_t>(target.slot)];
  if (target.steps.empty()) return read_variable(variable, target.slot, nullptr, target.type, place);
  if (const std::optional<Spots> spots = joined_spots(target, variable.value, place))
    return read_variable(variable, target.slot, &*spots, target.type, place);
  if (tracked(target.slot, variable.home) || is_own(target.slot))
    throw NotTogether{"a part of a part that rounds write"};
  Value value = variable.value;
  for (const Target::Step& step : target.steps) {
    if (step.indices.empty()) {
      value = Value(value.pieces.at(static_cast<size_t>(step.member - 1)));  // which the old value holds
      continue;
    }
    Type type = value.type;
    for (size_t i = 0; i < step.indices.size(); ++i) type = type_of_element(type);
    value = at(value, spots_of(step.indices, value, place),
               &step == &target.steps.back() ? target.type : type, place);
  }
  return value;
}

Value Evaluator::changed(const Value& value, std::span<const Target::Step> steps, const Value& part,
                         const Place& place) {
  if (steps.empty()) {
    expect_size(value, {}, part, place);
    return promoted(part, value.type);
  }
  const Target::Step& step = steps[0];
  if (step.indices.empty()) {
    Value tuple = value;
    Value& member = tuple.pieces.at(static_cast<size_t>(step.member - 1));
    member = changed(member, steps.subspan(1), part, place);
    return tuple;
  }
  const Spots spots = spots_of(step.indices, value, place);
  Value inner = part;
  if (steps.size() > 1) {
    Type type = value.type;
    for (const Index& index : step.indices)
      if (index.kind == Index::Kind::single && index.low->type.array == 0) type = type_of_element(type);
    inner = changed(at(value, spots, type, place), steps.subspan(1), part, place);
  } else {
    expect_size(value, spots, part, place);
  }
  return with(value, spots, inner, place);
}

void Evaluator::assign_to(const Target& target, const Value& value, const Place& place) {
  if (!target.parts.empty()) {
    for (size_t i = 0; i < target.parts.size(); ++i) assign_to(target.parts[i], value.pieces.at(i), place);
    return;
  }
  Stored& variable = (*frame_)[static_cast<size_t>(target.slot)];
  if (target.steps.empty()) return write_variable(variable, target.slot, {}, value, place);
  if (const std::optional<Spots> spots = joined_spots(target, variable.value, place))
    return write_variable(variable, target.slot, *spots, value, place);
  if (tracked(target.slot, variable.home) || levels_.top() > variable.home)
    throw NotTogether{"an assignment to a part of a part"};
  variable.value = changed(variable.value, target.steps, value, place);
}

// A statement that adds to the log density, with the values that it uses.
void Evaluator::add_terms(const Statement& s) {
  std::vector<Witness> used, *around = std::exchange(witnesses_, has_density ? &used : nullptr);
  if (s.kind == Statement::Kind::tilde)
    tilde(s);
  else
    add_term(evaluate(*s.value),
             {.place = s.place, .value = {}, .is_jacobian = s.kind == Statement::Kind::jacobian});
  witnesses_ = around;
}

void Evaluator::add_term(const Value& value, Term origin) {
  if (!has_density) return;
  Value term = whole(value);
  if (term.shape.size() > 0)
    term = traced_value(scalar_type(Base::real), {}, total_of(term), term.level, term.inside);
  if (!masks_.empty()) term = chosen(mask(), term, known_real(0));
  term = at_lanes(term, levels_.top());
  if (origin.uses.empty()) origin.uses = told_witnesses();
  if (term.inside > 0) {  // each step gives its own
    Together* step = together_of(term.inside);
    step->outputs.push_back(sum_of_lanes(term, step->level).tensor);
    if (levels_.top() > step->level) origin.uses.clear();
    step->output_terms.push_back(std::move(origin));
    return;
  }
  origin.value = term.is_known() ? leaf(term, term.level) : term.tensor;
  terms.push_back(std::move(origin));
}

// The sum over its own axes.
Tensor Evaluator::total_of(const Value& value) {
  const Value operands[] = {value};
  const Met met = meet(operands);
  Axes axes;
  for (int i = 1; i <= value.shape.size(); ++i) axes.push_back(-i);
  return axes.empty() ? met.tensors[0] : sum(met.tensors[0], axes);
}

Evaluator::Together* Evaluator::together_of(int level) {
  for (Together* loop : together_)
    if (loop->level == level && loop->is_scan) return loop;
  throw NotTogether{"a step of no recurrence"};
}

// --- Words -------------------------------------------------------------------------------------------------

void Evaluator::speak(const Statement& s) {
  std::vector<Witness> words;
  for (const Statement::Piece& piece : s.pieces) {
    words.push_back({piece.text, {}});
    if (piece.value) words.back().value = evaluate(*piece.value);
  }
  if (s.kind != Statement::Kind::print) return reject(s, words);
  std::string text;
  for (const Witness& word : words) text += word.value.is_nothing() ? word.name : to_text(word.value);
  if (print) print(text);
}

void Evaluator::reject(const Statement& s, const std::vector<Witness>& words) {
  const bool is_known = std::all_of(words.begin(), words.end(), [](const Witness& word) {
    return word.value.is_known() || word.value.kind != Value::Kind::traced;
  });
  const bool is_sure = masks_.empty() && levels_.top() == 0 && !catches_;
  std::string text;
  for (const Witness& word : words) text += word.value.is_nothing() ? word.name : to_text(word.value);
  if (is_sure && is_known) fail(s.place, "reject: " + text);
  // Points where it is reached have no density. A loop that keeps one number of it keeps the first.
  Rejection r{.place = s.place, .text = {}, .holds = known_integer(0), .uses = words};
  for (const Witness& word : words) {
    if (!word.value.is_nothing() && word.value.kind == Value::Kind::traced && word.value.shape.empty()) {
      r.number = word.value;
      break;
    }
    r.text += word.value.is_nothing() ? word.name : to_text(word.value);
  }
  const bool is_known_where =
      std::all_of(masks_.begin(), masks_.end(), [](const Mask& mask) { return mask.own.is_known(); });
  if (is_known && is_known_where && !has_density && !catches_) {
    const std::vector<bool> runs = running(levels_.top());
    if (std::find(runs.begin(), runs.end(), true) != runs.end()) fail(s.place, "reject: " + text);
  }
  if (!masks_.empty()) r.holds = operate(Operator::equal, mask(), known_integer(0), s.place);
  reject_where(std::move(r));
}

std::string Evaluator::to_text(const Value& value) {
  if (value.kind == Value::Kind::traced) return "(traced)";
  if (value.kind == Value::Kind::tuple || value.kind == Value::Kind::pieces) {
    std::string text;
    for (const Value& piece : value.pieces) text += (text.empty() ? "" : ",") + to_text(piece);
    return value.kind == Value::Kind::tuple ? "(" + text + ")" : "[" + text + "]";
  }
  std::string text;
  for (const double number : value.known->numbers)
    text += fmt::format("{}{}", text.empty() ? "" : ",", number);
  return value.shape.empty() ? text : "[" + text + "]";
}

}  // namespace adit::stan
