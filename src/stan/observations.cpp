// Statements that say how likely whole data are, element by element: log likelihoods and predictive draws are
// had of them without a word in the program.
#include <algorithm>

#include "stan/evaluator.hpp"
#include "stan/functions/table.hpp"

namespace adit::stan {

const UnivariateDensity* univariate_named(const std::string& name) {
  const auto rows = univariate_densities();
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const UnivariateDensity& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

// The variable whose elements are all on the left side, each once and in order: y, or y[n] in a loop of all n
// that is run together. None: another statement.
const Expression* Evaluator::observed_variable(const Statement& s, const Value& left) {
  const bool in_loop = levels_.top() == 1 && !levels_.at(1).is_scan;
  if (depth_ > 0 || !masks_.empty() || !left.is_known() || left.level != levels_.top()) return {};
  const Expression& e = *s.value;
  if (e.kind == Expression::Kind::variable) return levels_.top() == 0 && left.shape.size() > 0 ? &e : nullptr;
  if (!in_loop || e.kind != Expression::Kind::index || e.indices.size() != 1 || left.shape.size() > 0 ||
      e.parts[0]->kind != Expression::Kind::variable || e.indices[0].kind != Index::Kind::single)
    return nullptr;
  const Value whole = evaluate(*e.parts[0]), index = evaluate(*e.indices[0].low);
  if (!whole.is_known() || whole.level > 0 || !index.is_known() || index.level != 1 ||
      std::ssize(index.known->numbers) != whole.size())
    return nullptr;
  for (size_t i = 0; i < index.known->numbers.size(); ++i)
    if (index.known->numbers[i] != static_cast<double>(i + 1)) return nullptr;
  return e.parts[0].get();
}

// False: it is no such statement, and its term is still to be added.
bool Evaluator::observe(const Statement& s, const std::vector<Value>& arguments) {
  if (s.function || s.truncation.present) return false;
  const UnivariateDensity* row = univariate_named(s.name);
  if (!row || !row->log_density || arguments.size() != static_cast<size_t>(row->parameters) + 1) return false;
  const auto is_known = [](const Value& one) { return one.is_known(); };
  if (std::all_of(arguments.begin(), arguments.end(), is_known)) return false;  // a number of the data
  const Expression* variable = observed_variable(s, arguments[0]);
  if (!variable) return false;
  for (const Term& term : terms)
    if (term.observed && term.observed->name == variable->name) {
      term.observed->is_only = false;
      return false;
    }
  std::vector<Tensor> parameters;
  Tensor value;
  const Value each = elementwise(array_of(scalar_type(Base::real), arguments[0].shape.size()), arguments,
                                 s.place, nullptr, [&](const Tensor* x) {
                                   value = x[0];
                                   parameters.assign(x + 1, x + arguments.size());
                                   return row->log_density(x[0], x + 1);
                                 });
  if (each.shape != arguments[0].shape || each.inside > 0 || each.level != levels_.top()) return false;
  auto observed = std::make_shared<Observed>(
      Observed{variable->name, s.name, broadcast_to(value, each.tensor.shape()), {}, true});
  if (row->draw)
    observed->draw = [row, parameters](const Tensor& own, const Shape& shape) {
      return row->draw(own, parameters.data(), shape);
    };
  terms.push_back({s.place, each.tensor, std::move(observed)});
  return true;
}

}  // namespace adit::stan
