#include "stan/syntax.hpp"

#include "support/deep_stack.hpp"

namespace adit::stan {

namespace {

bool holds_others(const ExpressionPtr& expression) {
  return expression && (!expression->parts.empty() || !expression->indices.empty());
}

void take_expressions(Expression& from, std::vector<ExpressionPtr>& to) {
  for (ExpressionPtr& part : from.parts)
    if (holds_others(part)) to.push_back(std::move(part));
  for (Index& index : from.indices)
    for (ExpressionPtr* bound : {&index.low, &index.high})
      if (holds_others(*bound)) to.push_back(std::move(*bound));
}

void take_statements(Statement& from, std::vector<StatementPtr>& to) {
  for (StatementPtr* inner : {&from.body, &from.otherwise})
    if (*inner) to.push_back(std::move(*inner));
  for (StatementPtr& inner : from.statements)
    if (inner) to.push_back(std::move(inner));
}

// Of a level in the walks that need most: the parser's and the evaluator's.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr size_t stack_of_level = 24 << 10;
#else
constexpr size_t stack_of_level = 6 << 10;
#endif
// What a walk has beside its levels; and calls inside of calls, of which a program without functions has
// none.
constexpr size_t stack_of_walk = size_t{8} << 20;
#ifdef __SANITIZE_ADDRESS__  // which does not clean up what an exception left on a stack of 64 MiB and more
constexpr size_t stack_of_calls = size_t{40} << 20;
#else
constexpr size_t stack_of_calls = size_t{1016} << 20;
#endif
constexpr size_t stack_of_call = 1 << 20;

}  // namespace

Expression::~Expression() {
  std::vector<ExpressionPtr> open;
  take_expressions(*this, open);
  while (!open.empty()) {
    const ExpressionPtr next = std::move(open.back());
    open.pop_back();
    take_expressions(*next, open);
  }
}

Statement::~Statement() {
  std::vector<StatementPtr> open;
  take_statements(*this, open);
  while (!open.empty()) {
    const StatementPtr next = std::move(open.back());
    open.pop_back();
    take_statements(*next, open);
  }
}

void walk_deep(const Program& program, const std::function<void()>& work) {
  on_deep_stack(stack_of_walk + program.depth * stack_of_level, work,
                program.functions.empty() ? 0 : stack_of_calls);
}

bool has_stack_for(const Program& program) {
  return deep_stack_left() > stack_of_call + program.depth * stack_of_level;
}

const char* to_text(Operator op) {
  switch (op) {
    case Operator::add: return "+";
    case Operator::subtract: return "-";
    case Operator::multiply: return "*";
    case Operator::divide: return "/";
    case Operator::integer_divide: return "%/%";
    case Operator::modulo: return "%";
    case Operator::left_divide: return "\\";
    case Operator::element_multiply: return ".*";
    case Operator::element_divide: return "./";
    case Operator::power: return "^";
    case Operator::element_power: return ".^";
    case Operator::logical_or: return "||";
    case Operator::logical_and: return "&&";
    case Operator::equal: return "==";
    case Operator::not_equal: return "!=";
    case Operator::less: return "<";
    case Operator::less_equal: return "<=";
    case Operator::greater: return ">";
    case Operator::greater_equal: return ">=";
    case Operator::logical_not: return "!";
    case Operator::plus: return "+";
    case Operator::minus: return "-";
    case Operator::transpose: return "'";
  }
  return "";
}

const char* to_text(BlockKind kind) {
  switch (kind) {
    case BlockKind::data: return "data";
    case BlockKind::transformed_data: return "transformed data";
    case BlockKind::parameters: return "parameters";
    case BlockKind::transformed_parameters: return "transformed parameters";
    case BlockKind::model: return "model";
    case BlockKind::generated_quantities: return "generated quantities";
  }
  return "";
}

Type unsized(const SizedType& type) {
  Type result{type.base, static_cast<int>(type.array_sizes.size()), {}};
  for (const SizedType& member : type.members) result.members.push_back(unsized(member));
  return result;
}

}  // namespace adit::stan
