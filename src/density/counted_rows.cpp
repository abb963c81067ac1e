#include "density/counted_rows.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <adit/ops.hpp>

#include "density/counted_values.hpp"
#include "density/split.hpp"
#include "graph/derive.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::sampling {

using graph::Node;
using graph::Op;

namespace {

constexpr int64_t fewest_rows = 64;
// Rows for each that differs, from which their sum is worth a loop of its own: distances between points,
// which stand twice in a matrix, are not.
constexpr int64_t repeats = 4;
constexpr int64_t most_seen = 8192;
constexpr double least_cost = 8;  // of a term, in additions: what is less is as fast row by row

bool is_repeated(const Tensor& x) {
  const Tensor scalar = repeated_scalar(x);
  return static_cast<bool>(scalar);
}
bool is_elementwise(const Node& node) { return graph::row_of(node.op).scalar != nullptr; }

// What follows from a model's data, as they are now.
class KnownData {
 public:
  explicit KnownData(const stats::ModelState& model) : model_(model) {}
  // The first numbers of a tensor that no variable enters.
  Tensor first(const Tensor& x, int64_t count) const {
    Tensor& value = values_[&graph::node_of(x)];
    if (!value) value = stats::at_point(model_, {graph::alias(x)}, {})[0];
    return slice(reshape(value, {x.size()}), {0}, {count});
  }

 private:
  const stats::ModelState& model_;
  mutable std::unordered_map<const Node*, Tensor> values_;
};

// The terms of a sum by the data and the single numbers that they are made of.
struct Elements {
  Tensor x;
  Tensors columns;
  double cost = 0;
};

// Nothing where a term is made of anything else.
std::optional<Elements> elements_of(const Tensor& x, const std::unordered_set<const Node*>& varying) {
  Elements found{x, {}, 0};
  std::unordered_set<const Node*> seen{&graph::node_of(x)};
  Tensors open{x};
  while (!open.empty()) {
    const Tensor each = open.back();
    open.pop_back();
    const Node& node = graph::node_of(each);
    if (each.size() != x.size()) return std::nullopt;
    if (is_repeated(each)) continue;
    if (!varying.contains(&node)) {
      found.columns.push_back(each);
      continue;
    }
    const bool is_view = node.op == Op::reshape || node.op == Op::broadcast;
    if (!is_view && !is_elementwise(node)) return std::nullopt;
    if (!is_view) found.cost += graph::row_of(node.op).cost;
    for (const Tensor& operand : node.operands)
      if (seen.insert(&graph::node_of(operand)).second) open.push_back(operand);
  }
  return found;
}

// The same terms of other rows.
Tensor with_columns(const Tensor& x, const Tensors& from, const Tensors& to, int64_t extent) {
  std::unordered_map<const Node*, Tensor> now;
  for (size_t i = 0; i < from.size(); ++i) now[&graph::node_of(from[i])] = to[i];
  const auto stop = [&](const Tensor& each) {
    return now.contains(&graph::node_of(each)) || is_repeated(each);
  };
  for (const Tensor& each : graph::reachable(std::span(&x, 1), false, stop)) {
    const Node& node = graph::node_of(each);
    if (now.contains(&node)) continue;
    Tensor& made = now[&node];
    if (const Tensor scalar = repeated_scalar(each)) {
      made = broadcast_to(scalar, {extent});
    } else if (!is_elementwise(node)) {
      made = now.at(&graph::node_of(node.operands[0]));
    } else {
      Tensors operands;
      for (const Tensor& operand : node.operands) operands.push_back(now.at(&graph::node_of(operand)));
      made = graph::make_node(node.op, node.type, {extent}, std::move(operands), node.attributes);
    }
  }
  return now.at(&graph::node_of(x));
}

// sum(x) or factor * sum(x), as split_terms() leaves them.
const Node* sum_in(const Tensor& term) {
  const Node* node = &graph::node_of(term);
  if (node->op == Op::multiply && !node->computed && node->operands[1].rank() == 0)
    node = &graph::node_of(node->operands[1]);
  const bool is_sum = node->op == Op::sum && !node->computed && node->shape.size() == 0;
  return is_sum ? node : nullptr;
}

class Counter {
 public:
  Counter(const Tensors& terms, std::span<const Tensor> inputs, const stats::ModelState& model,
          std::vector<CountedRows>& found)
      : varying_(dependents_of(terms, inputs)), data_(model), found_(found) {
    for (const Tensor& x : graph::reachable(terms, true)) sizes_.insert(x.size());
  }

  Tensors counted(Tensors terms) {
    // All rows of a size together where those that differ are few then, as they mostly are.
    std::vector<std::pair<size_t, Elements>> sums;
    for (size_t t = 0; t < terms.size(); ++t)
      if (const auto elements = worthwhile(terms[t])) sums.emplace_back(t, *elements);
    for (const auto& [t, elements] : sums) add(elements.x.size(), elements.columns);
    for (const auto& [t, elements] : sums)
      if (const CountedRows* rows = rows_of(elements)) terms[t] = shorter(terms[t], elements.x, *rows);
    return terms;
  }

 private:
  std::optional<Elements> worthwhile(const Tensor& term) const {
    const Node* total = sum_in(term);
    if (!total || total->operands[0].size() < fewest_rows) return std::nullopt;
    auto elements = elements_of(total->operands[0], varying_);
    if (!elements || elements->columns.empty() || elements->cost < least_cost) return std::nullopt;
    return elements;
  }

  // Rows that differ among the first ones: a guess, which no result depends on.
  int64_t distinct(int64_t rows, const Tensors& columns) const {
    Tensors values;
    for (const Tensor& column : columns) values.push_back(data_.first(column, seen(rows)));
    return std::ssize(distinct_rows(values, seen(rows)));
  }
  static int64_t seen(int64_t rows) { return std::min(rows, most_seen); }

  static bool has(const Tensors& columns, const Tensor& x) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const Tensor& each) { return graph::pointer_of(each) == graph::pointer_of(x); });
  }

  // To rows that are counted already, where that does not make them many more.
  void add(int64_t rows, const Tensors& columns) {
    const int64_t own = distinct(rows, columns);
    if (repeats * own > seen(rows)) return;
    for (CountedRows& known : found_) {
      if (known.rows != rows) continue;
      Tensors both = known.columns;
      for (const Tensor& column : columns)
        if (!has(both, column)) both.push_back(column);
      const int64_t more = std::max(own, distinct(rows, known.columns));
      if (both.size() > known.columns.size() && 2 * distinct(rows, both) > 3 * more) continue;
      return extend(known, both);
    }
    CountedRows next;
    next.rows = rows;
    next.extent = rows + 1;
    while (!sizes_.insert(next.extent).second) ++next.extent;
    next.count = graph::placeholder(DType::i32, {});
    next.weights = graph::placeholder(DType::f64, {next.extent});
    extend(next, columns);
    found_.push_back(std::move(next));
  }
  static void extend(CountedRows& rows, const Tensors& columns) {
    for (size_t i = rows.columns.size(); i < columns.size(); ++i) {
      rows.columns.push_back(columns[i]);
      rows.distinct.push_back(graph::placeholder(columns[i].dtype(), {rows.extent}));
    }
  }

  const CountedRows* rows_of(const Elements& elements) const {
    for (const CountedRows& known : found_)
      if (known.rows == elements.x.size() &&
          std::all_of(elements.columns.begin(), elements.columns.end(),
                      [&](const Tensor& column) { return has(known.columns, column); }))
        return &known;
    return nullptr;
  }

  static Tensor shorter(const Tensor& term, const Tensor& x, const CountedRows& rows) {
    const Tensor total =
        sum(multiply(rows.weights, with_columns(x, rows.columns, rows.distinct, rows.extent)));
    const Node& node = graph::node_of(term);
    return node.op == Op::multiply ? multiply(node.operands[0], total) : total;
  }

  const std::unordered_set<const Node*> varying_;
  const KnownData data_;
  std::unordered_set<int64_t> sizes_;
  std::vector<CountedRows>& found_;
};

}  // namespace

Tensors with_counted_rows(Tensors terms, std::span<const Tensor> inputs, const stats::ModelState& model,
                          std::vector<CountedRows>& found) {
  return Counter(terms, inputs, model, found).counted(std::move(terms));
}

bool is_counted_alone(std::span<const Tensor> roots, const CountedRows& counted) {
  std::unordered_set<const Node*> own{&graph::node_of(counted.weights)};
  for (const Tensor& x : counted.distinct) own.insert(&graph::node_of(x));
  for (const Tensor& x : graph::reachable(roots, true)) {
    const Node& node = graph::node_of(x);
    if (x.size() == counted.extent) {
      if (own.contains(&node) || is_repeated(x)) continue;
      if (!is_elementwise(node) && node.op != Op::reshape) return false;
      continue;
    }
    // Read as a whole, by sums alone.
    const bool is_sum = (node.op == Op::sum || node.op == Op::dot) && x.size() == 1;
    for (const Tensor& operand : node.operands)
      if (operand.size() == counted.extent && !is_sum) return false;
  }
  return true;
}

}  // namespace adit::sampling
