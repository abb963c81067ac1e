// log_sum_exp, max and their kin over parts whose size differs from round to round: log_sum_exp(x[t:n]) in a
// loop over t. All rounds take a list of the longest size; where a round has no element of its own, the list
// keeps a number that does not count.
#include <algorithm>
#include <limits>

#include "stan/copies.hpp"
#include "stan/evaluator.hpp"
#include "stan/made_expressions.hpp"

namespace adit::stan {

namespace {

// What does not count in a list; none: the function is no fold.
std::optional<double> neutral_of(const std::string& name) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (name == "log_sum_exp" || name == "max") return -infinity;
  if (name == "min") return infinity;
  if (name == "prod") return 1;
  return {};
}

// x[element] = value
StatementPtr put_of(int slot, const Expression& element, ExpressionPtr value) {
  auto put = std::make_unique<Statement>();
  put->kind = Statement::Kind::assign, put->place = value->place;
  put->target.name = "a part", put->target.slot = slot;
  put->target.type = scalar_type(Base::real), put->target.variable_type = scalar_type(Base::vector);
  put->target.steps.emplace_back();
  put->target.steps.back().indices.push_back(single_index(copy_of(element)));
  put->value = std::move(value);
  return put;
}

}  // namespace

bool Evaluator::folds(const Expression& e) {
  return e.parts.size() == 1 && (e.name == "mean" || neutral_of(e.name)) && e.parts[0]->type.rank() == 1;
}

double Evaluator::filling_of(const std::string& name) { return neutral_of(name).value_or(0); }

// An element in all of `longest` rounds inside of the lanes; after a lane's last one it is that again, and
// `filling` stands for it.
Value Evaluator::repeated_to(int64_t longest, const Value& count, int slot, const Expression& element,
                             double filling) {
  const int around = levels_.top();
  const std::vector<double> own = levels_.lifted(count, around).known->numbers;
  levels_.push_regular(longest, false);
  const int level = levels_.top();
  std::vector<double> numbers, counts;
  for (const double last : own)
    for (int64_t i = 1; i <= longest; ++i) {
      const auto number = static_cast<double>(i);
      numbers.push_back(std::min(number, last));
      counts.push_back(number <= last);
    }
  (*frame_)[static_cast<size_t>(slot)] =
      Stored{.value = known_value(integer_type, {}, std::move(numbers), level), .home = level, .window = {}};
  const Value mine = promoted(evaluate(element), scalar_type(Base::real));
  Value all = at_lanes(
      chosen(known_value(integer_type, {}, std::move(counts), level), mine, known_real(filling)), level);
  leave_level();
  // The level's rounds become the list's elements.
  const Shape list{longest};
  if (all.is_known()) return known_value(scalar_type(Base::vector), list, all.known->numbers, around);
  Shape shape = list;
  if (const int64_t lanes = levels_.lanes(around, all.inside); lanes > 0) shape.insert(0, lanes);
  return traced_value(scalar_type(Base::vector), list, reshape(all.tensor, shape), around, all.inside);
}

// The numbers of a list in all rounds, `filling` where one is shorter than the longest.
std::optional<Value> Evaluator::filled_list(const Expression& list, double filling) {
  if (scratch_ + 2 > scratch_slots) return {};
  const size_t first = frame_->size() - static_cast<size_t>(scratch_slots - scratch_);
  const auto list_slot = static_cast<int>(first), round_slot = list_slot + 1;
  Expression round;
  round.kind = Expression::Kind::variable, round.name = "element", round.slot = round_slot;
  round.type = integer_type;
  ExpressionPtr element = element_of(list, round), length = element ? length_of(list) : nullptr;
  if (!length) return {};
  const Value count = evaluate(*length);
  if (!count.is_known()) return {};
  const auto [shortest, longest] =
      std::minmax_element(count.known->numbers.begin(), count.known->numbers.end());
  const auto size = static_cast<int64_t>(std::max(0.0, *longest));
  if (*shortest >= 1) {
    const Inside inside = inside_of_a_part();
    return repeated_to(size, count, round_slot, *element, filling);
  }
  // A lane without elements has none to repeat.
  (*frame_)[first] = Stored{.value = known_value(scalar_type(Base::vector), {size},
                                                 std::vector<double>(static_cast<size_t>(size), filling)),
                            .home = levels_.top(),
                            .window = {}};
  run_by_elements(std::move(length), round_slot, put_of(list_slot, round, std::move(element)));
  return whole((*frame_)[first].value);
}

std::optional<Value> Evaluator::fold_by_elements(const Expression& e) {
  if (!folds(e)) return {};
  if (e.name != "mean") {
    std::optional<Value> list = filled_list(*e.parts[0], *neutral_of(e.name));
    if (!list) return {};
    std::vector<Value> arguments{std::move(*list)};
    return call_builtin(e.name, arguments, e.type, e.place);
  }
  ExpressionPtr total = copy_of(e), length = length_of(*e.parts[0]);
  total->name = "sum";
  std::optional<Value> sum = sum_by_elements(*total);
  if (!sum || !length) return {};
  return operate(Operator::divide, *sum, evaluate(*length), e.place);
}

}  // namespace adit::stan
