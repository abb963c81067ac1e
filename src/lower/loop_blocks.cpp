#include "lower/loop_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include <adit/control.hpp>
#include <adit/ops.hpp>

#include "graph/by_node.hpp"
#include "graph/control.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"
#include "support/answers.hpp"

namespace adit::lower {

using graph::Node;
using graph::node_of;
using graph::Op;

namespace {

// The axis of a loop's steps, where a tensor has them: the first one that is longer than 1. (What lowers
// programs puts axes of length 1 in front.)
int steps_axis(const Shape& shape) {
  int axis = 0;
  while (axis + 1 < shape.size() && shape[axis] == 1) ++axis;
  return axis;
}

bool has_steps(const Tensor& x, int64_t steps) {
  return x.rank() > 0 && x.shape()[steps_axis(x.shape())] == steps;
}

Shape with_steps(Shape shape, int64_t steps) {
  shape[steps_axis(shape)] = steps;
  return shape;
}

// Whether a step of the node is made of the same step of its first operand, and of what is the same for all.
bool goes_step_by_step(const Node& node, int64_t steps) {
  if (node.operands.empty() || !has_steps(node.operands[0], steps)) return false;
  const int from = steps_axis(node.operands[0].shape()), to = steps_axis(node.shape);
  switch (node.op) {
    case Op::reshape: return node.shape.size() > 0 && node.shape[to] == steps;
    case Op::transpose: return node.as<graph::AxisList>().axes[to] == from;
    case Op::broadcast: return node.as<graph::AxisList>().axes[from] == to;
    case Op::dot: {
      const auto& about = node.as<graph::DotAttributes>();
      return about.batch_a.empty() && !about.contract_a.contains(from);
    }
    case Op::sum:
    case Op::reduce_max:
    case Op::reduce_min: return !node.as<graph::ReduceAttributes>().axes.contains(from);
    default: return false;
  }
}

bool is_elementwise(const Node& node) {
  return graph::row_of(node.op).kind == graph::Kind::elementwise && node.shape.size() > 0 &&
         std::all_of(node.operands.begin(), node.operands.end(),
                     [&](const Tensor& operand) { return operand.shape() == node.shape; });
}

// What is the same for all steps, repeated for each.
bool repeats(const Node& node) {
  if (node.op != Op::broadcast) return false;
  const auto& axes = node.as<graph::AxisList>().axes;
  for (int i = 0; i < axes.size(); ++i)
    if (axes[i] == steps_axis(node.shape) && node.operands[0].shape()[i] > 1) return false;
  return true;
}

bool sums_over_steps(const Node& node, int64_t steps) {
  return node.op == Op::sum && has_steps(node.operands[0], steps) &&
         node.as<graph::ReduceAttributes>().axes.contains(steps_axis(node.operands[0].shape()));
}

// One loop, and what follows from it step by step.
class BlockedLoop {
 public:
  BlockedLoop(const Tensors& roots, const Tensors& inputs, const Tensor& loop)
      : about_(graph::about(loop)),
        operands_(node_of(loop).operands),
        carries_(static_cast<size_t>(about_.carries)),
        varying_(graph::dependents(roots, inputs)),
        after_(graph::dependents(roots, {loop})) {
    for (const Tensor& x : graph::reachable(roots, true)) {
      const Node& node = node_of(x);
      if (node.op == Op::item && &node_of(node.operands[0]) == &node_of(loop)) items_.push_back(x);
      if (!node.computed && sums_over_steps(node, about_.length) && after_.contains(node.operands[0]) &&
          goes_into_blocks(node.operands[0]))
        sums_.push_back(x);
    }
  }

  // What stands in place of the loop's results and of those sums; the loops that were made.
  const Tensors& replace(Tensors& from, Tensors& to) {
    const int64_t n = about_.length, length = block_length(n), blocks = n / length, rest = n % length;
    collect_sequences(length);
    Part whole, end;
    whole.carry = graph::part(operands_, 0, carries_);
    if (rest > 0 && about_.reverse) end = last_steps(whole.carry, rest);
    if (rest > 0 && about_.reverse) whole.carry = end.carry;
    whole = in_blocks(whole.carry, blocks, length);
    if (rest > 0 && !about_.reverse) end = last_steps(whole.carry, rest);

    const Tensors& carry = rest > 0 && !about_.reverse ? end.carry : whole.carry;
    for (const Tensor& item : items_) {
      const auto which = static_cast<size_t>(node_of(item).as<graph::Which>().number);
      from.push_back(item);
      if (which < carries_)
        to.push_back(carry[which]);
      else
        to.push_back(rest > 0
                         ? concatenate({whole.outputs[which - carries_], end.outputs[which - carries_]}, 0)
                         : whole.outputs[which - carries_]);
    }
    for (size_t i = 0; i < sums_.size(); ++i) {
      from.push_back(sums_[i]);
      to.push_back(rest > 0 ? whole.sums[i] + end.sums[i] : whole.sums[i]);
    }
    return made_;
  }

 private:
  struct Part {
    Tensors carry, outputs, sums;
  };

  // Whether the steps of a block of x can be made inside of the block: x is an output, comes before the loop,
  // or follows from such ones step by step.
  bool goes_into_blocks(const Tensor& x) {
    answer(
        x, goes_,
        [&](const Tensor& of, const auto& want) {
          for (const Tensor& operand : made_of(of)) want(operand);
        },
        [&](const Tensor& of) { return finds_into_blocks(of); });
    return goes_.at(x);
  }
  // What must go into blocks too.
  std::span<const Tensor> made_of(const Tensor& x) const {
    const Node& node = node_of(x);
    const bool is_followed = after_.contains(x) && has_steps(x, about_.length) && x.rank() < max_rank &&
                             !node.computed && !is_output(node);
    if (!is_followed) return {};
    if (is_elementwise(node)) return node.operands;
    return std::span(node.operands).first(goes_step_by_step(node, about_.length) ? 1 : 0);
  }
  bool finds_into_blocks(const Tensor& x) const {
    const Node& node = node_of(x);
    if (!after_.contains(x)) return true;
    if (!has_steps(x, about_.length) || x.rank() == max_rank || node.computed) return false;
    if (is_output(node)) return true;
    if (!is_elementwise(node)) {
      for (size_t i = 1; i < node.operands.size(); ++i)
        if (after_.contains(node.operands[i])) return false;
      if (!goes_step_by_step(node, about_.length)) return false;
    }
    const std::span<const Tensor> made = made_of(x);
    return std::all_of(made.begin(), made.end(), [&](const Tensor& operand) { return goes_.at(operand); });
  }
  bool is_output(const Node& node) const {
    return std::any_of(items_.begin(), items_.end(), [&](const Tensor& x) { return &node_of(x) == &node; }) &&
           node.as<graph::Which>().number >= about_.carries;
  }

  // Some steps of x. What is made of others is made anew of theirs; the rest is handed to the block.
  Tensor steps_of(const Tensor& x, int64_t count) {
    answer(
        x, steps_,
        [&](const Tensor& of, const auto& want) {
          for (const Tensor& operand : steps_read(of)) want(operand);
        },
        [&](const Tensor& of) { return make_steps(of, count); });
    return steps_.at(x);
  }
  // Operands of which steps are made; the others are read whole.
  std::span<const Tensor> steps_read(const Tensor& x) const {
    const Node& node = node_of(x);
    if (!varying_.contains(x) || node.computed) return {};
    if (is_elementwise(node)) return node.operands;
    return std::span(node.operands).first(goes_step_by_step(node, about_.length) ? 1 : 0);
  }
  Tensor make_steps(const Tensor& x, int64_t count) {
    const Node& node = node_of(x);
    const size_t cut = steps_read(x).size();
    const bool repeats_all = varying_.contains(x) && !node.computed && repeats(node);
    if (cut == 0 && !repeats_all) {
      sequences_.push_back(x);
      return graph::placeholder(x.dtype(), with_steps(x.shape(), count));
    }
    Tensors operands = node.operands;
    for (size_t i = 0; i < cut; ++i) operands[i] = steps_.at(operands[i]);
    return graph::make_node(node.op, node.type, with_steps(node.shape, count), operands, node.attributes);
  }

  // A first walk, only to know what blocks are handed.
  void collect_sequences(int64_t length) {
    const Tensors placeholders = placeholders_of(length);
    for (size_t i = 0; i < items_.size(); ++i)
      if (is_output(node_of(items_[i]))) steps_.insert_or_assign(items_[i], placeholders[i]);
    for (const Tensor& x : slices()) steps_of(x, length);
    for (const Tensor& x : sums_) steps_of(node_of(x).operands[0], length);
  }
  Tensors placeholders_of(int64_t length) const {
    Tensors found;
    for (const Tensor& item : items_)
      found.push_back(graph::placeholder(
          item.dtype(), is_output(node_of(item)) ? with_steps(item.shape(), length) : item.shape()));
    return found;
  }
  Tensors slices() const { return graph::part(operands_, carries_, static_cast<size_t>(about_.sequences)); }

  // A block, from the state before it and what it is handed.
  Part block(const Tensors& carry, const Tensors& handed, int64_t count) {
    steps_.clear();
    for (size_t i = 0; i < handed.size(); ++i) steps_.insert_or_assign(sequences_[i], handed[i]);
    const Tensors captured = graph::after(operands_, carries_ + static_cast<size_t>(about_.sequences));
    const auto step = [&](const Tensors& c, const Tensors& s) -> Step {
      const Tensors next = graph::instantiate(*about_.functions[0], graph::joined(c, s, captured));
      return {graph::part(next, 0, carries_), graph::after(next, carries_)};
    };
    Tensors xs;
    for (const Tensor& x : slices()) xs.push_back(steps_of(x, count));
    const Step all = scan(step, carry, xs, count, about_.reverse);
    made_.push_back(node_of(all.carry[0]).operands[0]);
    for (const Tensor& item : items_)
      if (is_output(node_of(item)))
        steps_.insert_or_assign(
            item, all.outputs[static_cast<size_t>(node_of(item).as<graph::Which>().number) - carries_]);
    Part part{all.carry, all.outputs, {}};
    for (const Tensor& x : sums_)
      part.sums.push_back(graph::make_node(Op::sum, x.dtype(), x.shape(),
                                           {steps_of(node_of(x).operands[0], count)}, node_of(x).attributes));
    return part;
  }

  Part in_blocks(const Tensors& carry, int64_t blocks, int64_t length) {
    Tensors handed;
    for (const Tensor& x : sequences_) {
      Shape shape = with_steps(x.shape(), length);
      shape.insert(0, blocks);
      handed.push_back(reshape(cut(x, 0, blocks * length), shape));
    }
    const auto step = [&](const Tensors& c, const Tensors& s) -> Step {
      const Part part = block(c, s, length);
      return {part.carry, graph::joined(part.outputs, part.sums)};
    };
    const Step all = scan(step, carry, handed, blocks, about_.reverse);
    made_.push_back(node_of(all.carry[0]).operands[0]);
    Part part{all.carry, {}, {}};
    for (size_t i = 0; i < all.outputs.size(); ++i) {
      const Tensor& x = all.outputs[i];
      if (i >= all.outputs.size() - sums_.size()) {
        part.sums.push_back(sum(x, {0}));
        continue;
      }
      Shape shape = x.shape();
      shape.erase(0);
      part.outputs.push_back(reshape(x, with_steps(shape, blocks * length)));
    }
    return part;
  }

  // Those that make no block: the last ones of all.
  Part last_steps(const Tensors& carry, int64_t count) {
    Tensors handed;
    for (const Tensor& x : sequences_) handed.push_back(cut(x, about_.length - count, count));
    return block(carry, handed, count);
  }

  static Tensor cut(const Tensor& x, int64_t first, int64_t count) {
    if (has_steps(x, count)) return x;
    Dims starts = Dims::filled(x.rank(), 0);
    starts[steps_axis(x.shape())] = first;
    return slice(x, starts, with_steps(x.shape(), count));
  }

  const graph::ControlAttributes& about_;
  const Tensors& operands_;
  size_t carries_;
  graph::Dependents varying_, after_;
  Tensors items_, sums_, made_;
  graph::ByNode<bool> goes_;
  Tensors sequences_;
  graph::ByNode<Tensor> steps_;
};

// Numbers that the gradient of a scan keeps, roughly: what its steps begin with, read of others that vary,
// and give.
int64_t loop_numbers(const Node& scan, const graph::Dependents& varying) {
  const auto& about = *scan.as<std::shared_ptr<const graph::ControlAttributes>>();
  const graph::Subgraph& step = *about.functions[0];
  int64_t numbers = 0;
  for (const Tensor& x : step.results) numbers += x.size();
  for (size_t i = 0; i < static_cast<size_t>(about.carries + about.sequences); ++i)
    if (i < static_cast<size_t>(about.carries) || varying.contains(scan.operands[i]))
      numbers += step.parameters[i].size();
  return about.length * numbers;
}

bool has_room_for_an_axis(const Node& scan) {
  const auto& about = *scan.as<std::shared_ptr<const graph::ControlAttributes>>();
  const auto is_full = [](const Shape& shape) { return shape.size() == max_rank; };
  return std::none_of(about.shapes.begin(), about.shapes.end(), is_full) &&
         std::none_of(scan.operands.begin(), scan.operands.end(),
                      [&](const Tensor& x) { return is_full(x.shape()); });
}

Tensor first_long_loop(const Tensors& roots, const Tensors& inputs, int64_t most,
                       const std::unordered_set<const graph::ControlAttributes*>& made) {
  constexpr int64_t fewest = 16;  // steps: blocks of fewer keep no less
  const graph::Dependents varying = graph::dependents(roots, inputs);
  for (const Tensor& x : graph::reachable(roots, true)) {
    const Node& node = node_of(x);
    if (node.op != Op::scan || node.computed || !varying.contains(x)) continue;
    const graph::ControlAttributes& about = graph::about(x);
    if (about.carries > 0 && about.length >= fewest && !made.contains(&about) && has_room_for_an_axis(node) &&
        loop_numbers(node, varying) > most)
      return x;
  }
  return {};
}

}  // namespace

int64_t block_length(int64_t n) {
  const auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  for (int64_t more = 0; more <= 3 * root; ++more)
    if (n % (root + more) == 0) return root + more;
  return root;
}

std::vector<Tensor> loops_in_blocks(const std::vector<Tensor>& roots, const std::vector<Tensor>& inputs,
                                    int64_t most) {
  if (most == any_loop_numbers) return roots;
  const graph::Tracing tracing;
  std::vector<Tensor> now = roots;
  std::unordered_set<const graph::ControlAttributes*> made;  // which a loop keeps when its operands change
  while (const Tensor loop = first_long_loop(now, inputs, most, made)) {
    Tensors from, to;
    BlockedLoop blocked(now, inputs, loop);
    for (const Tensor& scan : blocked.replace(from, to)) made.insert(&graph::about(scan));
    now = graph::substitute(now, from, to);
  }
  return now;
}

}  // namespace adit::lower
