// Statements that say how likely whole data are, element by element: log likelihoods and predictive draws are
// had of them without a word in the program.
#include <algorithm>
#include <map>
#include <numeric>

#include <adit/random.hpp>

#include "stan/evaluator.hpp"
#include "stan/functions/table.hpp"

namespace adit::stan {

// Which elements of which data are on the left side: all of y, or those that an index names, also in a loop
// that is run together or step by step. None: another statement.
std::shared_ptr<Observed> Evaluator::observed_elements(const Statement& s, const Value& left) {
  const int level = levels_.top(), inside = levels_.innermost_scan(level);
  if (depth_ > 0 || !masks_.empty() || !left.is_known() || left.level != level) return {};
  if (inside > 0 && (inside != 1 || level != 1)) return {};
  const Expression& e = *s.value;
  const bool is_indexed = e.kind == Expression::Kind::index;
  const Expression& variable = is_indexed ? *e.parts[0] : e;
  if (variable.kind != Expression::Kind::variable) return {};
  const Value all = evaluate(variable);
  if (!all.is_known() || all.level > 0 || all.shape.empty() || all.size() == 0) return {};
  std::vector<double> numbers(static_cast<size_t>(all.size()));
  std::iota(numbers.begin(), numbers.end(), 0.0);
  Value positions = known_value(all.type, all.shape, std::move(numbers));
  if (is_indexed) positions = at(positions, spots_of(e.indices, all, s.place), e.type, s.place);
  if (!positions.is_known() || positions.level != level || positions.shape != left.shape) return {};
  Observed found{variable.name, s.name, all.shape, {}, {}, {}, {}};
  for (const double position : positions.known->numbers)
    found.positions.push_back(static_cast<int64_t>(position));
  return std::make_shared<Observed>(std::move(found));
}

// False: it is no such statement, and its term is still to be added.
bool Evaluator::observe(const Statement& s, const std::vector<Value>& arguments,
                        const std::vector<Witness>& used) {
  if (s.function || s.truncation.present) return false;
  const UnivariateDensity* row = univariate_named(s.name, arguments.size() - 1);
  if (!row || !row->log_density) return false;
  const auto is_known = [](const Value& one) { return one.is_known(); };
  if (std::all_of(arguments.begin(), arguments.end(), is_known)) return false;  // a number of the data
  const std::shared_ptr<Observed> observed = observed_elements(s, arguments[0]);
  if (!observed) return false;
  const auto parameters = observed->parameters = std::make_shared<std::vector<Tensor>>();
  Tensor value;
  const Value each = elementwise(array_of(scalar_type(Base::real), arguments[0].shape.size()), arguments,
                                 s.place, nullptr, [&](const Tensor* x) {
                                   value = x[0];
                                   parameters->assign(x + 1, x + arguments.size());
                                   return row->log_density(x[0], x + 1);
                                 });
  if (each.shape != arguments[0].shape || each.level != levels_.top()) return false;
  if (row->draw)
    observed->draw = [row, parameters](const Tensor& own, const Shape& shape) {
      return row->draw(own, parameters->data(), shape);
    };
  expect_domains(s.name + (row->is_discrete ? "_lpmf" : "_lpdf"), arguments, s.place);
  Term origin{.place = s.place, .value = each.tensor, .observed = observed, .uses = used};
  if (each.inside > 0) {
    const std::vector<double>& numbers = arguments[0].known->numbers;
    observed->value = tensor(numbers, {std::ssize(numbers)});
    observe_step(each, std::exchange(*parameters, {}), std::move(origin));
    return true;
  }
  observed->value = broadcast_to(value, each.tensor.shape());
  terms.push_back(std::move(origin));
  return true;
}

// In a loop that goes step by step: each step gives its density, and the parameters of its own.
void Evaluator::observe_step(const Value& each, const std::vector<Tensor>& parameters, Term origin) {
  Together* loop = together_of(each.inside);
  const std::shared_ptr<Observed> observed = origin.observed;
  const Place place = origin.place;
  const auto give = [&](const Tensor& tensor, Term of) {
    loop->outputs.push_back(tensor);
    loop->output_terms.push_back(std::move(of));
  };
  give(each.tensor, std::move(origin));
  if (!observed->draw) return;
  for (const Tensor& parameter : parameters)
    give(parameter, {.place = place, .value = {}, .parameter_of = observed});
}

namespace {

constexpr size_t most_parts = 64;  // that are joined: rounds of a loop may have been written out

using Draw = std::function<Tensor(const Tensor& key, const Shape& shape)>;
using Parts = std::vector<const Term*>;

// Where each element of the variable stands among those of the parts; nothing where one is missing or stands
// twice.
std::vector<int64_t> order_of_parts(const Parts& parts) {
  std::vector<int64_t> order(static_cast<size_t>(element_count(parts[0]->observed->shape)), -1);
  int64_t next = 0;
  for (const Term* part : parts)
    for (const int64_t position : part->observed->positions)
      if (std::exchange(order[static_cast<size_t>(position)], next++) >= 0) return {};
  return next == std::ssize(order) ? order : std::vector<int64_t>{};
}

// The parts behind each other, in the order of the variable's elements.
Tensor in_order(const std::vector<Tensor>& parts, const std::vector<int64_t>& order, const Shape& shape) {
  std::vector<Tensor> flat;
  for (const Tensor& part : parts) flat.push_back(reshape(part, {part.size()}));
  const Tensor all = flat.size() == 1 ? flat[0] : concatenate(flat, 0);
  const bool is_sorted = std::is_sorted(order.begin(), order.end());
  return reshape(is_sorted ? all : take(all, tensor(order), 0), shape);
}

Draw draw_of(const Parts& parts, const std::vector<int64_t>& order) {
  std::vector<std::pair<Draw, Shape>> draws;
  for (const Term* part : parts) {
    if (!part->observed->draw) return {};
    draws.emplace_back(part->observed->draw, part->value.shape());
  }
  return [draws, order](const Tensor& key, const Shape& shape) {
    std::vector<Tensor> drawn;
    for (size_t i = 0; i < draws.size(); ++i)
      drawn.push_back(draws[i].first(random::fold_in(key, i), draws[i].second));
    return in_order(drawn, order, shape);
  };
}

Likelihood joined(const Parts& parts, const std::vector<int64_t>& order) {
  const Observed& first = *parts[0]->observed;
  std::vector<Tensor> densities, values;
  for (const Term* part : parts) densities.push_back(part->value), values.push_back(part->observed->value);
  return {first.name, first.distribution, in_order(densities, order, first.shape),
          in_order(values, order, first.shape), draw_of(parts, order)};
}

}  // namespace

// Statements about parts of the same data are one likelihood where each element is in one of them; else none
// of them is.
std::vector<Likelihood> Evaluator::likelihoods() const {
  std::vector<std::string> names;
  std::map<std::string, Parts> by_name;
  for (const Term& term : terms) {
    if (!term.observed) continue;
    Parts& parts = by_name[term.observed->name];
    if (parts.empty()) names.push_back(term.observed->name);
    parts.push_back(&term);
  }
  std::vector<Likelihood> all;
  for (const std::string& name : names) {
    const Parts& parts = by_name[name];
    if (parts.size() > most_parts) continue;
    const std::vector<int64_t> order = order_of_parts(parts);
    if (order.empty()) continue;
    const Observed& first = *parts[0]->observed;
    const bool is_whole = parts.size() == 1 && parts[0]->value.shape() == first.shape &&
                          std::is_sorted(order.begin(), order.end());
    all.push_back(is_whole ? Likelihood{name, first.distribution, parts[0]->value, first.value, first.draw,
                                        parts[0] - terms.data()}
                           : joined(parts, order));
  }
  return all;
}

}  // namespace adit::stan
