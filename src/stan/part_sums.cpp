// Sums over parts whose size differs from round to round: dot_product(x[1:t], w[1:t]) in a loop over t.
// Rounds that are run together need one size for all, so such a sum becomes a loop over its elements, which
// may have different numbers of rounds (lengths.cpp).
#include <algorithm>
#include <set>

#include "stan/copies.hpp"
#include "stan/evaluator.hpp"
#include "stan/functions/table.hpp"
#include "stan/made_expressions.hpp"

namespace adit::stan {

namespace {

using Kind = Expression::Kind;

bool is_range(const Index& index) { return index.kind != Index::Kind::single || index.low->type.array > 0; }

const Expression& without_groups(const Expression& e) {
  const Expression* inner = &e;
  while (inner->kind == Kind::group) inner = inner->parts[0].get();
  return *inner;
}

// A variable, or what single indices leave of one.
bool is_place(const Expression& e) {
  if (e.kind == Kind::variable) return e.slot >= 0;
  if (e.kind != Kind::index || e.parts[0]->kind != Kind::variable) return false;
  for (const Index& index : e.indices)
    if (is_range(index)) return false;
  return true;
}

// The place with more indices behind its own.
ExpressionPtr indexed(const Expression& place, std::vector<Index> more, const Type& type) {
  ExpressionPtr e;
  if (place.kind == Kind::index) {
    e = copy_of(place);
  } else {
    e = std::make_unique<Expression>();
    e->kind = Kind::index, e->place = place.place;
    e->parts.push_back(copy_of(place));
  }
  e->type = type;
  for (Index& index : more) e->indices.push_back(std::move(index));
  return e;
}

// Functions of a number that are applied to each element of a list.
bool is_by_element(const std::string& name) {
  static const std::set<std::string> names{
      "exp",   "log",   "sqrt",      "square",   "inv",    "inv_logit", "logit",
      "log1p", "expm1", "abs",       "fabs",     "tanh",   "log1m",     "Phi",
      "cos",   "sin",   "log1m_exp", "inv_sqrt", "lgamma", "to_vector", "to_row_vector"};
  return names.contains(name);
}

// normal_lpdf(y | mu, sigma) and the like, of which each element of the lists has one of its own.
bool is_density_of_elements(const Expression& e) {
  if (e.kind != Kind::call || e.function) return false;
  for (const char* ending : {"_lpdf", "_lpmf", "_lupdf", "_lupmf"})
    if (e.name.ends_with(ending)) return univariate_named(e.name.substr(0, e.name.rfind('_'))) != nullptr;
  return false;
}

bool is_list(const Type& type) { return type.rank() == 1 && type.base != Base::tuple; }

}  // namespace

// head, tail, segment, sub_col and sub_row of a variable, as indices: reads of a part are known as such then.
ExpressionPtr Evaluator::cut_as_index(const Expression& e) {
  static const std::set<std::string> names{"head", "tail", "segment", "sub_col", "sub_row"};
  if (e.kind != Kind::call || e.function || !names.contains(e.name) || e.parts.size() < 2) return nullptr;
  const Expression& of = without_groups(*e.parts[0]);
  if (!is_place(of)) return nullptr;
  const auto part = [&](size_t i) { return copy_of(*e.parts[i]); };
  std::vector<Index> more;
  if (e.name == "head") {
    more.push_back(range_index(integer_literal(1), part(1)));
  } else if (e.name == "tail") {
    const Expression& variable = of.kind == Kind::variable ? of : *of.parts[0];
    const Shape& shape = (*frame_)[static_cast<size_t>(variable.slot)].value.shape;
    const auto axis = static_cast<int>(of.indices.size());
    if (axis >= shape.size()) return nullptr;
    ExpressionPtr before =
        binary_of(Operator::subtract, integer_literal(shape[axis] + 1), part(1), integer_type);
    more.push_back(range_index(std::move(before), integer_literal(shape[axis])));
  } else if (e.name == "segment") {
    more.push_back(range_index(part(1), sum_less(part(1), part(2), 1)));
  } else if (e.name == "sub_col") {
    more.push_back(range_index(part(1), sum_less(part(1), part(3), 1)));
    more.push_back(single_index(part(2)));
  } else {
    more.push_back(single_index(part(1)));
    more.push_back(range_index(part(2), sum_less(part(2), part(3), 1)));
  }
  return indexed(of, std::move(more), e.type);
}

// How many elements a list has, in the words of the program; none: it cannot be told beforehand.
ExpressionPtr Evaluator::length_of(const Expression& whole) {
  const Expression& e = without_groups(whole);
  if (!is_list(e.type)) return nullptr;
  if (const ExpressionPtr index = cut_as_index(e)) return length_of(*index);
  if (e.kind == Kind::postfix || e.kind == Kind::prefix) return length_of(*e.parts[0]);
  if (e.kind == Kind::binary) {
    for (const ExpressionPtr& part : e.parts)
      if (ExpressionPtr length = length_of(*part)) return length;
    return nullptr;
  }
  if (e.kind == Kind::call) {
    const bool keeps = !e.function && e.parts.size() == 1 && (is_by_element(e.name) || e.name == "reverse");
    return keeps ? length_of(*e.parts[0]) : nullptr;
  }
  const bool is_index = e.kind == Kind::index && e.parts[0]->kind == Kind::variable;
  if (!is_index && !(e.kind == Kind::variable && e.slot >= 0)) return nullptr;
  const Expression& variable = is_index ? *e.parts[0] : e;
  const Shape& shape = (*frame_)[static_cast<size_t>(variable.slot)].value.shape;
  size_t axis = 0;
  while (axis < e.indices.size() && !is_range(e.indices[axis])) ++axis;
  if (static_cast<int>(axis) >= shape.size()) return nullptr;
  const int64_t extent = shape[static_cast<int>(axis)];
  if (axis == e.indices.size() || e.indices[axis].kind == Index::Kind::all) return integer_literal(extent);
  const Index& range = e.indices[axis];
  if (range.kind == Index::Kind::single) return nullptr;  // a list of places
  ExpressionPtr low = range.kind == Index::Kind::to ? integer_literal(1) : copy_of(*range.low);
  ExpressionPtr high = range.kind == Index::Kind::from ? integer_literal(extent) : copy_of(*range.high);
  ExpressionPtr apart = binary_of(Operator::subtract, std::move(high), std::move(low), integer_type);
  return binary_of(Operator::add, std::move(apart), integer_literal(1), integer_type);
}

// The element of a list at a place that is counted from 1.
ExpressionPtr Evaluator::element_of(const Expression& whole, const Expression& at) {
  const Expression& e = without_groups(whole);
  if (e.type.is_scalar()) return copy_of(e);
  if (const ExpressionPtr index = cut_as_index(e)) return element_of(*index, at);
  const Type element = type_of_element(e.type);
  if (e.kind == Kind::postfix) return element_of(*e.parts[0], at);
  if (e.kind == Kind::index && e.parts[0]->kind == Kind::variable) {
    ExpressionPtr one = copy_of(e);
    one->type = element;
    for (Index& index : one->indices) {
      if (!is_range(index)) continue;
      if (index.kind == Index::Kind::single) return nullptr;
      const bool has_low = index.kind == Index::Kind::from || index.kind == Index::Kind::between;
      ExpressionPtr low = has_low ? std::move(index.low) : integer_literal(1);
      index = single_index(sum_less(std::move(low), copy_of(at), 1));
      return one;
    }
    one->indices.push_back(single_index(copy_of(at)));
    return one;
  }
  std::vector<ExpressionPtr> parts;
  const auto with_elements = [&]() -> ExpressionPtr {
    for (const ExpressionPtr& part : e.parts) parts.push_back(element_of(*part, at));
    for (const ExpressionPtr& part : parts)
      if (!part) return nullptr;
    ExpressionPtr one = std::make_unique<Expression>();
    one->kind = e.kind, one->op = e.op, one->name = e.name, one->place = e.place, one->type = element;
    one->parts = std::move(parts);
    return one;
  };
  if (e.kind == Kind::prefix) return with_elements();
  if (e.kind == Kind::binary) {
    const bool scales = e.parts[0]->type.is_scalar() || e.parts[1]->type.is_scalar();
    const bool by_element = e.op == Operator::add || e.op == Operator::subtract ||
                            e.op == Operator::element_multiply || e.op == Operator::element_divide ||
                            (scales && (e.op == Operator::multiply || e.op == Operator::divide));
    return by_element ? with_elements() : nullptr;
  }
  if (e.kind == Kind::call && !e.function && e.parts.size() == 1) {
    if (e.name == "to_vector" || e.name == "to_row_vector") return element_of(*e.parts[0], at);
    if (is_by_element(e.name)) return with_elements();
    ExpressionPtr length = e.name == "reverse" ? length_of(e) : nullptr;
    if (length) {
      ExpressionPtr after = binary_of(Operator::add, std::move(length), integer_literal(1), integer_type);
      return element_of(*e.parts[0],
                        *binary_of(Operator::subtract, std::move(after), copy_of(at), integer_type));
    }
  }
  if (e.kind != Kind::variable) return nullptr;
  return indexed(
      e,
      [&] {
        std::vector<Index> one;
        one.push_back(single_index(copy_of(at)));
        return one;
      }(),
      element);
}

// The length that lists have in common; none where they are not of one length, or it cannot be told.
ExpressionPtr Evaluator::common_length(std::span<const Expression* const> lists) {
  ExpressionPtr length;
  Value first;
  for (const Expression* list : lists) {
    ExpressionPtr own = length_of(*list);
    if (!own) return nullptr;
    const Value count = evaluate(*own);
    if (!count.is_known()) return nullptr;
    if (!length) {
      length = std::move(own), first = count;
      continue;
    }
    const int level = std::max(count.level, first.level);
    if (levels_.lifted(count, level).known->numbers != levels_.lifted(first, level).known->numbers)
      return nullptr;  // who wanted them all will tell
  }
  return length;
}

// A loop of the evaluator's own over elements, by a variable in a scratch slot.
void Evaluator::run_by_elements(ExpressionPtr length, int slot, StatementPtr body) {
  auto loop = std::make_unique<Statement>();
  loop->kind = Statement::Kind::for_range, loop->place = body->place, loop->name = "element";
  loop->slot = slot, loop->low = integer_literal(1), loop->high = std::move(length),
  loop->body = std::move(body);
  const Inside inside = inside_of_a_part();
  sums_.push_back(std::move(loop));
  for_range(*sums_.back());
}

// sum(x[1:i]) with an i for each round, where x is the same in all of them: a running sum of x, of which each
// round takes one element; sum(x[i:n]) is one from the end.
std::optional<Value> Evaluator::sum_by_running(const Expression& e) {
  if (e.name != "sum" || e.type.is_integer() || !masks_.empty()) return {};
  const ExpressionPtr cut = cut_as_index(without_groups(*e.parts[0]));
  const Expression& list = cut ? *cut : without_groups(*e.parts[0]);
  if (!is_list(list.type) || list.kind != Kind::index || list.parts[0]->kind != Kind::variable) return {};
  ExpressionPtr longest = copy_of(list);
  const auto range = std::find_if(longest->indices.begin(), longest->indices.end(), is_range);
  if (range == longest->indices.end() || range->kind == Index::Kind::single) return {};
  const Shape& shape = (*frame_)[static_cast<size_t>(list.parts[0]->slot)].value.shape;
  const int64_t extent = shape[static_cast<int>(range - longest->indices.begin())];
  const auto bound = [&](const ExpressionPtr& own, Index::Kind open, int64_t otherwise) {
    return levels_.lifted(range->kind == open ? known_integer(otherwise) : evaluate(*own), levels_.top());
  };
  const std::vector<double> lows = bound(range->low, Index::Kind::to, 1).known->numbers,
                            highs = bound(range->high, Index::Kind::from, extent).known->numbers;
  std::vector<double> counts(lows.size(), 0);
  std::set<double> first, last;
  for (size_t i = 0; i < lows.size(); ++i) {
    if (highs[i] < lows[i]) continue;
    counts[i] = highs[i] - lows[i] + 1;
    first.insert(lows[i]), last.insert(highs[i]);
  }
  if (first.empty() || (first.size() > 1 && last.size() > 1)) return {};
  *range = range_index(integer_literal(static_cast<int64_t>(*first.begin())),
                       integer_literal(static_cast<int64_t>(*last.rbegin())));
  std::vector<Value> whole_list{evaluate(*longest)};
  if (whole_list[0].level > 0 || whole_list[0].is_known()) return {};
  const Type vector = scalar_type(Base::vector);
  const auto apply = [&](const char* name) {
    whole_list = {call_builtin(name, whole_list, vector, e.place)};
  };
  apply("to_vector");
  if (first.size() > 1) apply("reverse");
  apply("cumulative_sum");
  whole_list.insert(whole_list.begin(), known_real(0));
  apply("append_row");
  const Value place = known_value(integer_type, {}, std::move(counts), levels_.top());
  return at(whole_list[0], {{Spot::Kind::single, place}}, scalar_type(Base::real), e.place);
}

// What the elements at a place add to the sum that an expression is; none where it is no such sum.
ExpressionPtr Evaluator::addend_of(const Expression& e, const Expression& round,
                                   std::vector<const Expression*>& lists) {
  const bool is_density = is_density_of_elements(e);
  const bool is_call = e.name == "dot_product" || e.name == "dot_self" || e.name == "sum";
  if (e.kind == Kind::call && (e.function || !(is_density || is_call))) return nullptr;
  const Type real = scalar_type(Base::real);
  std::vector<ExpressionPtr> elements;
  for (const ExpressionPtr& part : e.parts) {
    if (is_list(part->type)) lists.push_back(part.get());
    elements.push_back(element_of(*part, round));
    if (!elements.back()) return nullptr;
  }
  if (lists.empty()) return nullptr;
  if (is_density) {
    auto addend = std::make_unique<Expression>();
    addend->kind = Kind::call, addend->name = e.name, addend->with_bar = e.with_bar;
    addend->place = e.place, addend->type = real, addend->parts = std::move(elements);
    return addend;
  }
  if (lists.size() != e.parts.size()) return nullptr;
  if (e.name == "dot_self") elements.push_back(copy_of(*elements[0]));
  if (elements.size() == 1) return std::move(elements[0]);
  return binary_of(Operator::multiply, std::move(elements[0]), std::move(elements[1]), real);
}

// The sum that an expression is, element by element; none where it is no such sum.
std::optional<Value> Evaluator::sum_by_elements(const Expression& e) {
  if (scratch_ + 2 > scratch_slots) return {};
  const size_t first = frame_->size() - static_cast<size_t>(scratch_slots - scratch_);
  const auto total_slot = static_cast<int>(first), round_slot = total_slot + 1;
  Expression round;
  round.kind = Kind::variable, round.name = "element", round.slot = round_slot, round.type = integer_type;
  const Type real = scalar_type(Base::real);
  std::vector<const Expression*> lists;
  ExpressionPtr addend = addend_of(e, round, lists), length = addend ? common_length(lists) : nullptr;
  if (!length) return {};
  auto add = std::make_unique<Statement>();
  add->kind = Statement::Kind::assign, add->place = e.place, add->compound = Operator::add;
  add->target.name = "a sum", add->target.slot = total_slot;
  add->target.type = add->target.variable_type = real;
  add->value = std::move(addend);
  (*frame_)[first] = Stored{.value = known_real(0), .home = levels_.top(), .window = {}};
  run_by_elements(std::move(length), round_slot, std::move(add));
  Value total = (*frame_)[first].value;
  if (e.type.is_integer()) total.type = e.type;  // a quotient of it is one of integers
  return total;
}

// y[a:b] ~ normal(mu[a:b], sigma) in rounds of different sizes: a loop of y[i] ~ normal(mu[i], sigma).
bool Evaluator::tilde_by_elements(const Statement& s) {
  if (s.function || s.truncation.present || !univariate_named(s.name) || scratch_ + 2 > scratch_slots)
    return false;
  const auto round_slot = static_cast<int>(frame_->size()) - scratch_slots + scratch_;
  Expression round;
  round.kind = Kind::variable, round.name = "element", round.slot = round_slot, round.type = integer_type;
  StatementPtr one = shell_of(s);
  std::vector<const Expression*> lists;
  const auto take = [&](const Expression& from, ExpressionPtr& to) {
    if (is_list(from.type)) lists.push_back(&from);
    to = element_of(from, round);
    return to != nullptr;
  };
  if (!take(*s.value, one->value)) return false;
  for (size_t i = 0; i < s.arguments.size(); ++i)
    if (!take(*s.arguments[i], one->arguments[i])) return false;
  ExpressionPtr length = lists.empty() ? nullptr : common_length(lists);
  if (!length) return false;
  run_by_elements(std::move(length), round_slot, std::move(one));
  return true;
}

}  // namespace adit::stan
