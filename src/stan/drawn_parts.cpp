// Sums, log_sum_exp and their kin over a part whose size follows from parameters: log_sum_exp(x[1:k]) behind
// a loop that counted k. All elements that there can be are taken, and those behind the last one do not
// count.
#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "stan/evaluator.hpp"
#include "stan/made_expressions.hpp"

namespace adit::stan {

// How many elements a list has at most; none: it cannot be told.
std::optional<int64_t> Evaluator::most_of(const Expression& list) {
  const Expression* e = &list;
  while (e->kind == Expression::Kind::group) e = e->parts[0].get();
  if (const ExpressionPtr index = cut_as_index(*e)) return most_of(*index);
  if (e->kind == Expression::Kind::variable ||
      (e->kind == Expression::Kind::index && e->parts[0]->kind == Expression::Kind::variable)) {
    const Expression& variable = e->kind == Expression::Kind::index ? *e->parts[0] : *e;
    const Shape& shape = (*frame_)[static_cast<size_t>(variable.slot)].value.shape;
    int axis = 0;
    for (const Index& index : e->indices) {
      if (index.kind != Index::Kind::single || index.low->type.array > 0) break;
      ++axis;
    }
    return axis < shape.size() ? std::optional(shape[axis]) : std::nullopt;
  }
  std::optional<int64_t> most;
  for (const ExpressionPtr& part : e->parts) {
    if (part->type.rank() != 1) continue;
    const std::optional<int64_t> own = most_of(*part);
    if (!own) return {};
    most = std::min(*own, most.value_or(*own));
  }
  return most;
}

namespace {

// The lists whose elements meet: those of x[1:k] .* exp(y) are two.
void add_lists(const Expression& list, std::vector<const Expression*>& lists) {
  const bool keeps_size = list.kind == Expression::Kind::group || list.kind == Expression::Kind::prefix ||
                          list.kind == Expression::Kind::postfix || list.kind == Expression::Kind::binary ||
                          (list.kind == Expression::Kind::call && list.parts.size() == 1);
  if (!keeps_size) return lists.push_back(&list);
  for (const ExpressionPtr& part : list.parts)
    if (part->type.rank() == 1) add_lists(*part, lists);
}

}  // namespace

// All that meet have `count` elements; a range that ends before it begins has none.
void Evaluator::expect_lengths(std::span<const Expression* const> wholes, const Value& count) {
  std::vector<const Expression*> lists;
  for (const Expression* whole : wholes) add_lists(*whole, lists);
  for (const Expression* list : lists) {
    const ExpressionPtr length = lists.size() > 1 ? length_of(*list) : nullptr;
    if (!length) continue;
    const Value own = evaluate(*length);
    const auto is_empty = [&](const Value& x) {
      return operate(Operator::less_equal, x, known_integer(0), list->place);
    };
    const Value both_empty = operate(Operator::logical_and, is_empty(own), is_empty(count), list->place);
    const Value is_same = operate(Operator::equal, own, count, list->place);
    demand(operate(Operator::logical_or, is_same, both_empty, list->place), own, list->place,
           "expected as many elements as the list beside it has, got ");
  }
}

// An element in `longest` rounds inside of the lanes, with `filling` behind the first `count` of them.
Value Evaluator::first_elements(int64_t longest, const Value& count, int slot, const Expression& element,
                                double filling) {
  const auto around = static_cast<size_t>(levels_.at(levels_.top()).total);
  levels_.push_regular(longest, false);
  const int level = levels_.top();
  std::vector<double> numbers;
  for (size_t lane = 0; lane < around; ++lane)
    for (int64_t i = 1; i <= longest; ++i) numbers.push_back(static_cast<double>(i));
  const Value number = known_value(integer_type, {}, std::move(numbers), level);
  (*frame_)[static_cast<size_t>(slot)] = Stored{.value = number, .home = level, .window = {}};
  const Value counts = operate(Operator::less_equal, number, count, element.place);
  masks_.push_back({counts});
  const Value mine = promoted(evaluate(element), scalar_type(Base::real));
  masks_.pop_back();
  return at_lanes(chosen(counts, mine, known_real(filling)), level);
}

// Of x[2:k] all elements from the second on, with `filling` behind the last one that counts; none where the
// part is another one.
std::optional<Value> Evaluator::first_of_variable(const Expression& list, const Value& count,
                                                  double filling) {
  const Expression* e = &list;
  while (e->kind == Expression::Kind::group) e = e->parts[0].get();
  if (e->kind != Expression::Kind::index || e->indices.size() != 1) return {};
  const Expression& variable = *e->parts[0];
  const Index::Kind kind = e->indices[0].kind;
  if (variable.kind != Expression::Kind::variable ||
      (kind != Index::Kind::to && kind != Index::Kind::between))
    return {};
  const Value low = kind == Index::Kind::to ? known_integer(1) : evaluate(*e->indices[0].low);
  if (!low.is_known() || low.level > 0) return {};
  const double first = low.known->numbers[0];
  const Value all = whole(evaluate(variable));
  if (!(first >= 1) || all.is_known()) return {};
  std::vector<double> places, numbers;
  for (double place = first - 1; place < static_cast<double>(all.shape[0]); ++place) {
    places.push_back(place);
    numbers.push_back(place - first + 2);
  }
  const auto size = std::ssize(numbers);
  const Type integers = array_of(scalar_type(Base::integer)), vector = scalar_type(Base::vector);
  const Spots there{{Spot::Kind::many, known_value(integers, {size}, std::move(places))}};
  const Value operands[] = {known_value(vector, {size}, std::move(numbers)), count,
                            at(all, there, vector, e->place)};
  return elementwise(
      vector, operands, e->place, [=](const double* x) { return x[0] <= x[1] ? x[2] : filling; },
      [=](const Tensor* x) { return select(x[0] <= x[1], x[2], filling); });
}

std::optional<Value> Evaluator::fold_of_drawn_size(const Expression& e) {
  if (scratch_ + 2 > scratch_slots) return {};
  const auto round_slot = static_cast<int>(frame_->size()) - scratch_slots + scratch_;
  Expression round;
  round.kind = Expression::Kind::variable, round.name = "element", round.slot = round_slot,
  round.type = integer_type;
  std::vector<const Expression*> lists;
  const bool is_fold = folds(e) && e.name != "mean";
  ExpressionPtr element;
  if (folds(e)) {
    lists.push_back(e.parts[0].get());
    element = element_of(*lists[0], round);
  } else {
    element = addend_of(e, round, lists);
  }
  if (!element) return {};
  std::optional<Value> count;
  int64_t longest = std::numeric_limits<int64_t>::max();
  for (const Expression* list : lists) {
    const std::optional<int64_t> most = most_of(*list);
    const ExpressionPtr length = length_of(*list);
    if (!most || !length) return {};
    longest = std::min(longest, *most);
    const Value own = evaluate(*length);
    const auto extent = static_cast<double>(*most);
    if (!own.is_known())  // elements behind the last one that there is are not read here
      demand_each(own, list->place, fmt::format("expected an index from 1 to {}, got ", *most), nullptr,
                  [=](const Tensor& x) { return x <= extent; });
    if (!count || !own.is_known()) count = own;
  }
  expect_lengths(lists, *count);
  if (is_fold)
    if (const std::optional<Value> list = first_of_variable(*lists[0], *count, filling_of(e.name))) {
      std::vector<Value> arguments{*list};
      return call_builtin(e.name, arguments, e.type, e.place);
    }
  const int around = levels_.top();
  Value all;
  {
    const Inside inside = inside_of_a_part();
    all = first_elements(longest, *count, round_slot, *element, is_fold ? filling_of(e.name) : 0);
  }
  if (!is_fold) {
    Value total = sum_of_lanes(all, around);
    leave_level();
    if (e.type.is_integer()) total.type = e.type;  // a quotient of it is one of integers
    return e.name == "mean" ? operate(Operator::divide, total, *count, e.place) : total;
  }
  leave_level();
  // The level's rounds become the list's elements.
  Shape list{longest}, shape = list;
  if (const int64_t lanes = levels_.lanes(around, all.inside); lanes > 0) shape.insert(0, lanes);
  const Type vector = scalar_type(Base::vector);
  std::vector<Value> arguments{
      all.is_known() ? known_value(vector, list, all.known->numbers, around)
                     : traced_value(vector, list, reshape(all.tensor, shape), around, all.inside)};
  return call_builtin(e.name, arguments, e.type, e.place);
}

}  // namespace adit::stan
