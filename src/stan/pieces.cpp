// Values that were written element by element, put together. What lies side by side in one tensor is one cut
// of it, and numbers that are known are one table, so that a vector of which one element was set costs three
// parts and not one for each element.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "graph/node.hpp"
#include "graph/op.hpp"
#include "stan/evaluator.hpp"
#include "stan/functions/formulas.hpp"

namespace adit::stan {

namespace {

using graph::Node;
using graph::Op;

// A row of a tensor along an axis.
struct Cut {
  Tensor from;
  int64_t row = 0;
};

// The tensor that `part` is one row of, where a cut made it.
std::optional<Cut> cut_of(const Tensor& part, int axis) {
  const std::lock_guard lock(graph::graph_lock());
  const Node* node = &graph::node_of(part);
  while (node->op == Op::reshape && node->operands.size() == 1) node = &graph::node_of(node->operands[0]);
  if (node->op != Op::slice || node->operands.size() != 1) return {};
  const auto& cut = node->as<graph::SliceAttributes>();
  const Tensor& from = node->operands[0];
  if (from.rank() != part.rank() + 1) return {};
  for (int i = 0; i < from.rank(); ++i) {
    if (cut.strides[i] != 1 || node->shape[i] != (i == axis ? 1 : from.shape()[i])) return {};
    if (i != axis && part.shape()[i < axis ? i : i - 1] != from.shape()[i]) return {};
  }
  return Cut{from, cut.starts[axis]};
}

Tensor rows_of(const Cut& first, int64_t count, int axis) {
  Dims starts = Dims::filled(first.from.rank(), 0), lengths = first.from.shape();
  if (first.row == 0 && count == lengths[axis]) return first.from;
  starts[axis] = first.row, lengths[axis] = count;
  return slice(first.from, starts, lengths);
}

// How many parts from `first` on are rows that follow each other in one tensor.
int64_t run_of(const std::vector<std::optional<Cut>>& cuts, size_t first) {
  size_t end = first + 1;
  if (!cuts[first]) return 1;
  const auto* base = graph::pointer_of(cuts[first]->from).get();
  while (end < cuts.size() && cuts[end] && graph::pointer_of(cuts[end]->from).get() == base &&
         cuts[end]->row == cuts[first]->row + static_cast<int64_t>(end - first))
    ++end;
  return static_cast<int64_t>(end - first);
}

// Along the axis; those of one rank more than `rank` have it already.
Tensor joined(const std::vector<Tensor>& parts, int rank, int axis) {
  constexpr int64_t shortest_run = 3;  // less is no saving
  std::vector<std::optional<Cut>> cuts;
  for (const Tensor& part : parts) cuts.push_back(part.rank() == rank ? cut_of(part, axis) : std::nullopt);
  std::vector<Tensor> runs, single;
  const auto stack_single = [&] {
    if (!single.empty()) runs.push_back(stack(std::exchange(single, {}), axis));
  };
  for (size_t i = 0; i < parts.size();) {
    const int64_t count = run_of(cuts, i);
    if (parts[i].rank() == rank && count < shortest_run) {
      single.push_back(parts[i++]);
      continue;
    }
    stack_single();
    runs.push_back(parts[i].rank() > rank ? parts[i] : rows_of(*cuts[i], count, axis));
    i += static_cast<size_t>(count);
  }
  stack_single();
  return runs.size() == 1 ? runs[0] : concatenate(runs, axis);
}

// Neighbours that are known, in all lanes alike, as one value with an axis more.
std::vector<Value> with_known_runs(const std::vector<Value>& parts, const Type& type) {
  std::vector<Value> runs;
  for (size_t i = 0; i < parts.size();) {
    std::vector<double> numbers;
    size_t end = i;
    for (; end < parts.size() && parts[end].is_known() && parts[end].level == 0; ++end)
      numbers.insert(numbers.end(), parts[end].known->numbers.begin(), parts[end].known->numbers.end());
    if (end <= i + 1) {
      runs.push_back(parts[i++]);
      continue;
    }
    Shape shape = parts[i].shape;
    shape.insert(0, static_cast<int64_t>(end - i));
    runs.push_back(known_value(type, shape, std::move(numbers)));
    i = end;
  }
  return runs;
}

}  // namespace

Value Evaluator::whole(const Value& value) {
  if (value.kind != Value::Kind::pieces || value.type.base == Base::tuple) return value;
  std::vector<Value> parts;
  bool all_known = true;
  int level = 0;
  for (const Value& piece : value.pieces) {
    parts.push_back(whole(piece));
    all_known = all_known && parts.back().is_known();
    level = std::max(level, parts.back().level);
  }
  if (all_known) return known_whole(value, parts, level);
  const int rank = parts[0].shape.size();
  parts = with_known_runs(parts, value.type);
  const Met met = meet(parts);
  const int axis = met.lanes > 0 ? 1 : 0;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < parts.size(); ++i) {
    Shape shape = parts[i].shape;
    if (met.lanes > 0) shape.insert(0, met.lanes);
    tensors.push_back(met.tensors[i].shape() == shape ? met.tensors[i] : broadcast_to(met.tensors[i], shape));
  }
  return traced_value(value.type, value.shape, joined(tensors, rank + axis, axis), met.level, met.inside);
}

Value Evaluator::known_whole(const Value& value, const std::vector<Value>& parts, int level) const {
  const auto lanes = static_cast<size_t>(level ? levels_.at(level).total : 1);
  const auto each = parts.empty() ? 0 : static_cast<size_t>(parts[0].size());
  std::vector<double> numbers(lanes * parts.size() * each);
  for (size_t p = 0; p < parts.size(); ++p) {
    const Value lifted = levels_.lifted(parts[p], level);
    for (size_t lane = 0; lane < lanes; ++lane)
      std::copy_n(lifted.known->numbers.begin() + static_cast<int64_t>(lane * each), each,
                  numbers.begin() + static_cast<int64_t>((lane * parts.size() + p) * each));
  }
  return known_value(value.type, value.shape, std::move(numbers), level);
}

// The sum, or log_sum_exp, of a few numbers that were written one by one, number by number: who reads a
// concatenation chooses among all of its parts, for each of them.
std::optional<Value> Evaluator::sum_of_pieces(const std::string& name, const Value& value,
                                              const Place& place) {
  constexpr size_t most = 8;
  const std::vector<Value>& parts = value.pieces;
  if (value.kind != Value::Kind::pieces || parts.size() < 2 || parts.size() > most) return {};
  for (const Value& part : parts)
    if (part.kind == Value::Kind::pieces || part.kind == Value::Kind::tuple || part.shape.size() > 0 ||
        part.type.is_integer())
      return {};
  const Value joined = whole(value);
  if (joined.is_known()) return {};
  const auto is_concatenation = [&] {
    const std::lock_guard lock(graph::graph_lock());
    const Node* node = &graph::node_of(joined.tensor);
    while (node->op == Op::reshape) node = &graph::node_of(node->operands[0]);
    return node->op == Op::concatenate;
  };
  if (!is_concatenation()) return {};  // cuts of one tensor
  const bool is_log = name == "log_sum_exp";
  const size_t count = parts.size();
  return elementwise(scalar_type(Base::real), parts, place, nullptr, [=](const Tensor* x) {
    Tensor most_of = x[0];
    for (size_t i = 1; is_log && i < count; ++i) most_of = maximum(most_of, x[i]);
    const Tensor known = stop_gradient(most_of), zero = full({}, 0.0, DType::f64);
    const Tensor shift = select(abs(known) < full({}, INFINITY, DType::f64), known, zero);
    Tensor total = is_log ? exp(x[0] - shift) : x[0];
    for (size_t i = 1; i < count; ++i) total = total + (is_log ? exp(x[i] - shift) : x[i]);
    return is_log ? log_of_powers(total) + shift : total;
  });
}

}  // namespace adit::stan
