#include "lower/linear_states.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "graph/op.hpp"
#include "graph/row.hpp"
#include "lower/log_sums.hpp"
#include "support/answers.hpp"

namespace adit::lower {

using graph::Node;
using graph::Op;

namespace {

constexpr int64_t most_exponents = 4096;

// The node with other operands.
Tensor with(const Tensor& x, Tensors operands) {
  const Node& node = graph::node_of(x);
  return graph::make_node(node.op, node.type, node.shape, std::move(operands), node.attributes);
}

bool keeps_first_axis(const Tensor& x) {
  const Node& node = graph::node_of(x);
  const Shape& from = operand_of(x, 0).shape();
  if (from.empty() || x.rank() == 0 || from[0] != x.shape()[0]) return false;
  switch (node.op) {
    case Op::broadcast:
    case Op::transpose: return node.as<graph::AxisList>().axes[0] == 0;
    case Op::reverse: return !node.as<graph::AxisList>().axes.contains(0);
    case Op::slice: return node.as<graph::SliceAttributes>().starts[0] == 0;
    default: return node.op == Op::reshape || node.op == Op::stop_gradient;
  }
}

// A state that goes on alone is a sum of one.
Tensor filled_sums(const Scaled& x) { return x.sums ? x.sums : x.power; }

// Whether a choice takes all states of a lane or none.
bool is_by_lane(const Tensor& which) {
  Axes states;
  for (int axis = 1; axis < which.rank(); ++axis) states.push_back(axis);
  return which.rank() > 1 && is_outside(repeated(which), states);
}

bool are_same(const Tensors& a, const Tensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same);
}

bool contains(const Tensors& list, const Tensor& x) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& other) { return is_same(other, x); });
}

constexpr int64_t most_compared = 1 << 16;

// What a leaf holds; nothing where it is unlike all others.
std::vector<uint64_t> contents(const Tensor& x) {
  const Node& node = graph::node_of(x);
  std::vector<uint64_t> words;
  if (node.computed && x.size() <= most_compared && x.dtype() == DType::f64) {
    for (const double each : x.to_vector<double>()) words.push_back(std::bit_cast<uint64_t>(each));
  } else if (!node.computed && node.op == Op::number) {
    const auto& literal = node.as<graph::Literal>();
    words = {std::bit_cast<uint64_t>(literal.real), static_cast<uint64_t>(literal.integer)};
  }
  return words;
}

}  // namespace

Tensors interned(const Tensors& results) {
  std::map<std::vector<uint64_t>, Tensor> known;
  std::map<const Node*, Tensor> now;
  for (const Tensor& x : graph::reachable(results, true)) {
    const Node& node = graph::node_of(x);
    Tensors operands;
    for (const Tensor& operand : node.operands) operands.push_back(now.at(&graph::node_of(operand)));
    const bool is_leaf = node.op == Op::input || node.op == Op::number || node.computed;
    const std::vector<uint64_t> held = contents(x);
    if ((is_leaf && held.empty()) || graph::row_of(node.op).kind == graph::Kind::control) {
      now[&node] = is_leaf || are_same(operands, node.operands) ? x : with(x, operands);
      continue;
    }
    if (is_leaf) operands.clear();
    std::vector<uint64_t> words{is_leaf ? uint64_t{0} : static_cast<uint64_t>(node.op) + 1,
                                static_cast<uint64_t>(node.type)};
    words.push_back(static_cast<uint64_t>(node.shape.size()));
    for (const int64_t extent : node.shape) words.push_back(static_cast<uint64_t>(extent));
    for (const Tensor& operand : operands) words.push_back(graph::node_of(operand).number);
    if (!is_leaf) graph::append_words(node.attributes, words);
    words.insert(words.end(), held.begin(), held.end());
    Tensor& place = known[words];
    if (!place) place = is_leaf || are_same(operands, node.operands) ? x : with(x, operands);
    now[&node] = place;
  }
  Tensors found;
  for (const Tensor& x : results) found.push_back(now.at(&graph::node_of(x)));
  return found;
}

Tensor finite_or_zero(const Tensor& x) { return select(less(abs(x), number(INFINITY)), x, number(0)); }

Tensor power_below(const Tensor& x, const Tensor& top, std::vector<Exponent>& exponents) {
  exponents.push_back({x - top, x});
  return exp(exponents.back().gap);
}

Tensor total_of(const Tensors& terms, const Shape& shape) {
  Tensor total;
  for (const Tensor& term : terms) total = total ? total + term : term;
  return total ? total : broadcast_to(number(0), shape);
}

LinearStates::LinearStates(const graph::Subgraph& step, const Tensors& states, const Tensors& carries)
    : changing_(graph::dependents(step.results, carries)) {
  for (size_t i = 0; i < carries.size() && states.size() == 1; ++i)
    if (is_same(carries[i], states[0])) alone_ = {states[0], step.results[i]};
  for (const Tensor& state : states) known_.insert_or_assign(state, Scaled{.power = state});
}

std::optional<Scaled> LinearStates::operator()(const Tensor& x) {
  answer(
      x, known_,
      [&](const Tensor& of, const auto& want) {
        for (const Tensor& operand : read_by(of)) {
          want(operand);
          if (!known_.contains(operand) || !known_.at(operand)) return;  // the others may not be needed
        }
      },
      [&](const Tensor& of) { return is_candidate(of) ? found(of) : std::nullopt; });
  return known_.at(x);
}

// What is followed to find out about x.
Tensors LinearStates::read_by(const Tensor& x) const {
  if (!is_candidate(x)) return {};
  if (const auto sum = log_sum(x)) return {sum->exponents};
  if (Tensors terms = written_log_sum(x); !terms.empty()) return terms;
  const Tensors& operands = graph::node_of(x).operands;
  switch (graph::node_of(x).op) {
    case Op::add:
      if (depends(operands[0]) && depends(operands[1])) return {};
      return {operands[depends(operands[1]) ? 1 : 0]};
    case Op::subtract: return depends(operands[1]) ? Tensors() : Tensors{operands[0]};
    case Op::reshape:
    case Op::broadcast:
    case Op::transpose:
    case Op::reverse:
    case Op::slice:
    case Op::gather:
    case Op::stop_gradient: return {operands[0]};
    case Op::select: return depends(operands[0]) ? Tensors() : Tensors{operands[1], operands[2]};
    case Op::concatenate: return operands;
    default: return {};
  }
}

std::optional<Scaled> LinearStates::found(const Tensor& x) {
  if (log_sum(x)) return reduced(x);
  if (const Tensors terms = written_log_sum(x); !terms.empty()) return written(x, terms);
  switch (graph::node_of(x).op) {
    case Op::add:
    case Op::subtract:
      for (const size_t side : {0, 1}) {
        const bool is_taken_away = is_a(x, Op::subtract);
        if (depends(operand_of(x, 1 - side)) || (is_taken_away && side == 1)) continue;
        std::optional<Scaled> made = (*this)(operand_of(x, side));
        const Tensor apart = operand_of(x, 1 - side);
        if (made) made->addends.push_back(is_taken_away ? negate(apart) : apart);
        return made;
      }
      return std::nullopt;
    case Op::reshape:
    case Op::broadcast:
    case Op::transpose:
    case Op::reverse:
    case Op::slice:
    case Op::gather:
    case Op::stop_gradient: return viewed(x);
    case Op::select: return chosen(x);
    case Op::concatenate: return joined(x);
    default: return std::nullopt;
  }
}

std::optional<Scaled> LinearStates::viewed(const Tensor& x) {
  const Tensors& operands = graph::node_of(x).operands;
  const std::optional<Scaled> of = (*this)(operands[0]);
  // Places that data tell could mix lanes.
  const bool is_gather = is_a(x, Op::gather);
  if (!of || (is_gather && (operands[0].rank() != 1 || depends(operands[1])))) return std::nullopt;
  const auto view = [&](const Tensor& y) {
    Tensors now = operands;
    now[0] = y;
    return with(x, now);
  };
  Scaled made{.power = view(of->power)};
  for (const Tensor& addend : of->addends) made.addends.push_back(view(addend));
  if (of->sums) made.sums = is_same(of->sums, of->power) ? made.power : view(of->sums);
  made.has_lanes = of->has_lanes && keeps_first_axis(x);
  return made;
}

std::optional<Scaled> LinearStates::chosen(const Tensor& x) {
  const Tensor which = operand_of(x, 0);
  if (depends(which)) return std::nullopt;
  const std::optional<Scaled> a = (*this)(operand_of(x, 1)), b = (*this)(operand_of(x, 2));
  if (!a || !b) return std::nullopt;
  const Shape& shape = x.shape();
  Scaled made{.power = with(x, {which, a->power, b->power}), .addends = a->addends};
  if (!are_same(a->addends, b->addends))
    made.addends = {with(x, {which, total_of(a->addends, shape), total_of(b->addends, shape)})};
  made.has_lanes = a->has_lanes && b->has_lanes;
  // Where all of a lane, which has a scale of its own, stays as it is nothing can be lost.
  const bool is_lanes = alone_.next && is_same(alone_.next, x) && made.has_lanes && is_by_lane(which);
  const auto sums_of = [&](const Scaled& part) {
    const bool stays = is_lanes && part.addends.empty() && is_same(part.power, alone_.state);
    return stays ? broadcast_to(number(INFINITY), shape) : filled_sums(part);
  };
  if (a->sums || b->sums) made.sums = with(x, {which, sums_of(*a), sums_of(*b)});
  return made;
}

std::optional<Scaled> LinearStates::joined(const Tensor& x) {
  Tensors powers, addends, sums;
  bool has_lanes = graph::node_of(x).as<graph::OneAxis>().axis != 0, any_sums = false;
  for (const Tensor& operand : graph::node_of(x).operands) {
    const std::optional<Scaled> part = (*this)(operand);
    if (!part) return std::nullopt;
    powers.push_back(part->power);
    addends.push_back(total_of(part->addends, operand.shape()));
    sums.push_back(filled_sums(*part));
    any_sums = any_sums || part->sums;
    has_lanes = has_lanes && part->has_lanes;
  }
  Scaled made{.power = with(x, powers), .addends = {with(x, addends)}, .has_lanes = has_lanes};
  if (any_sums) made.sums = are_same(powers, sums) ? made.power : with(x, sums);
  return made;
}

// What is the same all along the sum stays outside of it.
std::optional<Scaled> LinearStates::reduced(const Tensor& x) {
  const LogSum sum = *log_sum(x);
  const std::optional<Scaled> of = (*this)(sum.exponents);
  if (!of || of->sums || sum.exponents.size() > most_exponents) return std::nullopt;
  Scaled made{.power = of->power, .has_lanes = of->has_lanes && !sum.axes.contains(0)};
  Tensors open = of->addends, inside;
  while (!open.empty()) {
    const Tensor term = open.back();
    open.pop_back();
    const Repeated spread = repeated(term);
    if (is_outside(spread, sum.axes))
      made.addends.push_back(reshape(spread.spread(spread.base, sum.kept), x.shape()));
    else if (is_a(term, Op::add))
      open.insert(open.end(), {operand_of(term, 0), operand_of(term, 1)});
    else
      inside.push_back(term);
    if (inside.size() + open.size() > most_exponents) return std::nullopt;
  }
  if (!inside.empty()) {
    const Repeated u = repeated(total_of(inside, sum.exponents.shape()));
    const Tensor top = finite_or_zero(stop_gradient(reduce_max(u.base, reduced_axes(u, sum.axes), true)));
    made.power = made.power * u.spread(power_below(u.base, top, exponents), sum.exponents.shape());
    made.addends.push_back(reshape(u.spread(top, sum.kept), x.shape()));
  }
  made.power = reshape(adit::sum(made.power, sum.axes), x.shape());
  made.sums = made.power;
  return made;
}

std::optional<Scaled> LinearStates::written(const Tensor& x, const Tensors& terms) {
  std::vector<Scaled> parts;
  Tensors common;
  for (const Tensor& term : terms) {
    const std::optional<Scaled> part = (*this)(term);
    if (!part || part->sums) return std::nullopt;
    if (parts.empty())
      for (const Tensor& addend : part->addends)
        if (!contains(common, addend)) common.push_back(addend);
    std::erase_if(common, [&](const Tensor& addend) { return !contains(part->addends, addend); });
    parts.push_back(*part);
  }
  Scaled made{.power = {}, .addends = common};
  Tensors inside;
  Tensor top;
  for (const Scaled& part : parts) {
    Tensors rest = part.addends;
    for (const Tensor& addend : common)
      rest.erase(std::find_if(rest.begin(), rest.end(), [&](const Tensor& y) { return is_same(y, addend); }));
    inside.push_back(total_of(rest, x.shape()));
    top = top ? maximum(top, inside.back()) : inside.back();
    made.has_lanes = made.has_lanes && part.has_lanes;
  }
  top = finite_or_zero(stop_gradient(top));
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor term = parts[i].power * power_below(inside[i], top, exponents);
    made.power = made.power ? made.power + term : term;
  }
  made.addends.push_back(top);
  made.sums = made.power;
  return made;
}

}  // namespace adit::lower
