#include "density/scan_lines.hpp"

#include "graph/op.hpp"
#include "support/answers.hpp"

namespace adit::sampling {

using graph::Node;
using graph::Op;
using kernel::Value;

Dependence::Dependence(const graph::Subgraph& step, size_t carries, std::span<const size_t> of, bool lets_go)
    : lets_go_(lets_go) {
  for (size_t i = 0; i < carries; ++i) known_[&graph::node_of(step.parameters[i])] = Bearing::other;
  for (const size_t i : of) known_[&graph::node_of(step.parameters[i])] = Bearing::linear;
}

Bearing Dependence::operator()(const Node& node) {
  answer(
      &node, known_,
      [](const Node* of, const auto& want) {
        for (const Tensor& operand : of->operands) want(&graph::node_of(operand));
      },
      [&](const Node* of) { return found(*of); });
  return known_.at(&node);
}

Bearing Dependence::found(const Node& node) const {
  std::vector<Bearing> of;
  bool is_apart = true;
  for (const Tensor& operand : node.operands) {
    of.push_back(known_.at(&graph::node_of(operand)));
    if (of.back() == Bearing::other) return Bearing::other;
    is_apart = is_apart && of.back() == Bearing::apart;
  }
  if (is_apart) return Bearing::apart;
  if (element_count(node.shape) != 1) return Bearing::other;
  switch (node.op) {
    case Op::add:
    case Op::subtract:
    case Op::negate:
    case Op::reshape:
    case Op::broadcast:
    case Op::stop_gradient: return Bearing::linear;
    case Op::as_type:
      return graph::node_of(node.operands[0]).type == node.type ? Bearing::linear : Bearing::other;
    case Op::multiply:
      return of[0] == Bearing::linear && of[1] == Bearing::linear ? Bearing::other : Bearing::linear;
    case Op::divide: return of[1] == Bearing::linear ? Bearing::other : Bearing::linear;
    // Where one side lets go of the state, that may be NaN or infinite, and 0 times it is not 0.
    case Op::select:
      if (of[0] != Bearing::apart) return Bearing::other;
      return lets_go_ || (of[1] == Bearing::linear && of[2] == Bearing::linear) ? Bearing::linear
                                                                                : Bearing::other;
    default: return Bearing::other;
  }
}

namespace {

Line each_part(const Line& a, const std::function<Number(const Number&)>& f) {
  Line made{a.slopes, f(a.offset), a.holds};
  for (Number& slope : made.slopes) slope = f(slope);
  return made;
}
Line each_pair(const Line& a, const Line& b, const std::function<Number(const Number&, const Number&)>& f) {
  Line made{a.slopes, f(a.offset, b.offset), a.holds};
  for (size_t i = 0; i < made.slopes.size(); ++i) made.slopes[i] = f(a.slopes[i], b.slopes[i]);
  return made;
}

// A slope that is let go of is 0 beside another one.
Line sum_of(const Line& a, const Line& b) {
  const auto at_work = [](const Line& line) {
    Line made = line;
    for (size_t i = 0; i < made.slopes.size(); ++i)
      if (made.slopes[i] && made.holds[i])
        made.slopes[i] = select(*made.holds[i], *made.slopes[i], made.slopes[i]->like(0));
    return made;
  };
  Line made = each_pair(at_work(a), at_work(b), added);
  for (size_t i = 0; i < made.slopes.size(); ++i) {
    const bool both = a.slopes[i] && b.slopes[i];
    if (!both)
      made.holds[i] = a.slopes[i] ? a.holds[i] : b.holds[i];
    else
      made.holds[i] = a.holds[i] && b.holds[i] ? Number(*a.holds[i] || *b.holds[i]) : Number();
  }
  return made;
}

// One or the other: where one side has no slope the choice of it lets go.
Line chosen_of(Value condition, const Line& a, const Line& b, Value zero) {
  Line made = each_pair(a, b, [&](const Number& x, const Number& y) {
    return x || y ? Number(select(condition, x.value_or(zero), y.value_or(zero))) : Number();
  });
  for (size_t i = 0; i < made.slopes.size(); ++i) {
    const auto side = [&](const Line& line) {
      return line.holds[i].value_or(condition.like(line.slopes[i].has_value()));
    };
    const bool always = a.slopes[i] && b.slopes[i] && !a.holds[i] && !b.holds[i];
    made.holds[i] = always || !made.slopes[i] ? Number() : Number(select(condition, side(a), side(b)));
  }
  return made;
}

Number negated(const Number& x) { return x ? Number(-*x) : x; }

// Of which operands a line is made.
std::vector<size_t> lines_read(const Node& x) {
  switch (x.op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide: return {0, 1};
    case Op::select: return {0, 1, 2};
    default: return {0};
  }
}

}  // namespace

Number added(const Number& a, const Number& b) { return a && b ? Number(*a + *b) : a ? a : b; }
Number multiplied(const Number& a, const Number& b) { return a && b ? Number(*a * *b) : Number(); }

std::vector<Line> lines_of(const graph::Subgraph& step, size_t carries, std::span<const size_t> of, Value one,
                           const std::function<Value(const Node&)>& read, bool lets_go) {
  std::map<const Node*, Line> known;
  for (size_t i = 0; i < of.size(); ++i) {
    Line itself{std::vector<Number>(of.size()), {}, std::vector<Number>(of.size())};
    itself.slopes[i] = one;
    known[&graph::node_of(step.parameters[of[i]])] = itself;
  }
  Dependence depends(step, carries, of, lets_go);
  const auto is_apart = [&](const Node& x) { return depends(x) == Bearing::apart; };
  const auto want_operands = [&](const Node* x, const auto& want) {
    if (!is_apart(*x))
      for (const size_t i : lines_read(*x)) want(&graph::node_of(x->operands[i]));
  };
  const auto line_of = [&](const Node* node) -> Line {
    const Node& x = *node;
    if (is_apart(x)) return {std::vector<Number>(of.size()), read(x), std::vector<Number>(of.size())};
    const auto operand = [&](size_t i) -> const Line& { return known.at(&graph::node_of(x.operands[i])); };
    const auto scaled = [&](size_t linear, size_t by) {
      const Number factor = operand(by).offset;
      return each_part(operand(linear), [&](const Number& n) { return multiplied(n, factor); });
    };
    switch (x.op) {
      case Op::add: return sum_of(operand(0), operand(1));
      case Op::subtract: return sum_of(operand(0), each_part(operand(1), negated));
      case Op::negate: return each_part(operand(0), negated);
      case Op::multiply: return is_apart(graph::node_of(x.operands[1])) ? scaled(0, 1) : scaled(1, 0);
      case Op::divide: {
        const Value by = *operand(1).offset;
        return each_part(operand(0), [&](const Number& n) { return n ? Number(*n / by) : n; });
      }
      case Op::select: {
        const Value chosen = *operand(0).offset;
        return chosen_of(chosen != chosen.like(0), operand(1), operand(2), one.like(0));
      }
      default: return operand(0);
    }
  };
  std::vector<Line> next;
  for (const size_t i : of) {
    const Node* result = &graph::node_of(step.results[i]);
    answer(result, known, want_operands, line_of);
    next.push_back(known.at(result));
  }
  return next;
}

}  // namespace adit::sampling
