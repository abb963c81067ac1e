#include "compile/partition.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compile/partition_steps.hpp"
#include "compile/serial.hpp"
#include "graph/op.hpp"
#include "ops/blas.hpp"

namespace adit::compile {

using graph::Kind;
using graph::Op;
using graph::ReduceAttributes;

namespace {

constexpr int64_t inline_reduction_limit = 8;

// Products that are part of another kernel, an element at a time, by multiplications. On a CPU a library's
// call takes about a microsecond, and small matrices are many calls; on a GPU a lane goes through the terms
// by itself, so that long sums of few elements take their time. Measured: a product of 512 x 512 with a
// vector took 93 us on two cores and 75 us on an H200, of 600 x 600 22 us and 4 us.
constexpr int64_t small_on_cpu = 1 << 13, small_matrix_on_cpu = 1 << 9, small_by_hand = 1 << 9;
constexpr int64_t small_on_gpu = 1 << 12, most_on_gpu = 1 << 18, most_terms_on_gpu = 64;

bool is_small_dot(const Node& node, const Target& target) {
  const int64_t terms = contracted_count(node), all = element_count(node.shape) * terms;
  if (target.gpu)
    return all <= small_on_gpu || (all <= most_on_gpu && (terms <= most_terms_on_gpu || target.in_round));
  const bool by_hand = node.type == DType::f32 || node.type == DType::f64;  // ops/narrow_product.hpp
  if (by_hand && !target.in_round) return all <= small_by_hand;
  int64_t matrices = 1;
  for (const int64_t axis : node.as<graph::DotAttributes>().batch_a)
    matrices *= node.operands[0].dim(static_cast<int>(axis));
  return all <= small_on_cpu || all <= small_matrix_on_cpu * matrices;
}
constexpr size_t few_parts = 8;

bool reduces_last_axes(const Node& node) {
  const Axes& axes = node.as<ReduceAttributes>().axes;
  const int rank = node.operands[0].rank();
  for (int i = 0; i < axes.size(); ++i)
    if (!axes.contains(rank - 1 - i)) return false;
  return true;
}

bool reads_windows(const Node& reduction) {
  const Node* from = &graph::node_of(reduction.operands[0]);
  while ((from->op == Op::reshape || from->op == Op::transpose) && !from->computed)
    from = &graph::node_of(from->operands[0]);
  return from->op == Op::windows && !from->computed;
}

}  // namespace

int64_t Group::row_length() const {
  int64_t length = 1;
  for (const int64_t axis : axes) length *= full[static_cast<int>(axis)];
  return length;
}
int64_t Group::row_count() const {
  const int64_t length = row_length();
  return length == 0 ? 0 : element_count(full) / length;
}

bool is_inline_reduction(const Node& node, const Target& target) {
  constexpr int64_t shortest_row = 4, many_rows = 1 << 14;
  const int64_t length = reduced_count(node);
  if (length > inline_reduction_limit) return false;
  if (!target.gpu || length < shortest_row || element_count(node.shape) < many_rows) return true;
  if (reads_windows(node)) return true;  // which share their elements
  return !reduces_last_axes(node) || !combines_in_any_order(node);
}

bool Target::multiplies(DType type) const {
  if (gpu) return !is_complex(type);
  return ops::has_blas() && (type == DType::f32 || type == DType::f64 || is_complex(type));
}

const Node& memory_of(const Node& node) {
  const Node* base = &node;
  while (base->op == Op::reshape && !base->computed) base = &graph::node_of(base->operands[0]);
  return *base;
}

bool joins_by_parts(const Node& node, const Target& target) {
  if (node.op != Op::concatenate || node.computed) return false;
  if (node.operands.size() > few_parts) return true;
  constexpr int64_t least = 4096, shortest = 32;  // elements of all, and of a part in a row
  if (target.gpu || target.in_round || element_count(node.shape) < least) return false;
  int64_t outer = 1;
  for (int axis = 0; axis < node.as<graph::OneAxis>().axis; ++axis) outer *= node.shape[axis];
  return outer == 1 || std::all_of(node.operands.begin(), node.operands.end(), [&](const Tensor& part) {
           return part.size() == 0 || part.size() >= outer * shortest;
         });
}

bool has_own_kernel(const Node& node, const Target& target) {
  const Kind kind = graph::row_of(node.op).kind;
  return joins_by_parts(node, target) || kind == Kind::control ||
         (kind == Kind::kernel && !is_inline_dot(node, target));
}

bool is_inline_dot(const Node& node, const Target& target) {
  if (node.op != Op::dot) return false;
  if (!target.multiplies(node.type)) return true;
  return is_small_dot(node, target);
}

bool is_row_broadcast(const Node& node, const Shape& full, const Axes& axes) {
  if (node.op != Op::broadcast || !(node.shape == full)) return false;
  const Shape& from = node.operands[0].shape();
  const Axes& places = node.as<graph::AxisList>().axes;
  int64_t last = -1;
  Axes covered;
  for (int i = 0; i < from.size(); ++i) {
    if (from[i] == 1) continue;
    if (axes.contains(places[i]) || places[i] <= last) return false;
    last = places[i];
    covered.push_back(places[i]);
  }
  for (int axis = 0; axis < full.size(); ++axis)
    if (full[axis] != 1 && !axes.contains(axis) && !covered.contains(axis)) return false;
  return true;
}

namespace {

// How the operands of a node are read when the node itself is read so.
Reading operand_reading(const Group& group, const Node& node, Reading reading) {
  const Kind kind = graph::row_of(node.op).kind;
  if (reading == Reading::elsewhere) return reading;
  if (kind == Kind::elementwise || node.op == Op::alias) return reading;
  if (node.op == Op::reshape) return reading;
  if (node.op == Op::broadcast) {
    if (reading == Reading::whole && group.form == Group::Form::rows &&
        is_row_broadcast(node, group.full, group.axes))
      return Reading::row;
    return element_count(node.shape) == element_count(node.operands[0].shape()) ? reading
                                                                                : Reading::elsewhere;
  }
  if (kind == Kind::reduction && group.form == Group::Form::rows && reading == Reading::row &&
      node.operands[0].shape() == group.full && node.as<ReduceAttributes>().axes == group.axes)
    return Reading::whole;
  return Reading::elsewhere;
}

Reading root_reading(const Group& group, const Node& root) {
  if (group.form == Group::Form::kernel && root.op != Op::dot && group.roots.size() > 1)
    return Reading::whole;
  if (group.form != Group::Form::rows)
    return group.form == Group::Form::loop ? Reading::whole : Reading::elsewhere;
  return root.shape == group.full && graph::row_of(root.op).kind != Kind::reduction ? Reading::whole
                                                                                    : Reading::row;
}

void walk(const Group& group, const Partition& partition,
          const std::function<void(const Node&, Reading)>& on_read,
          const std::function<void(const Node&, Reading)>& on_inside) {
  std::set<std::pair<const Node*, Reading>> seen;
  std::vector<std::pair<const Node*, Reading>> open;
  for (const Node* root : group.roots) open.emplace_back(root, root_reading(group, *root));
  while (!open.empty()) {
    const auto [node, reading] = open.back();
    open.pop_back();
    if (!seen.insert({node, reading}).second) continue;
    if (partition.arguments.contains(node) ||
        (partition.in_memory.contains(node) && !group.contains(*node))) {
      if (on_read) on_read(*node, reading);
      continue;
    }
    if (on_inside) on_inside(*node, reading);
    const Reading next = operand_reading(group, *node, reading);
    for (const Tensor& operand : node->operands) open.emplace_back(&graph::node_of(operand), next);
    // What a function of the user reads beside its parameters.
    if (node->op == Op::reduce)
      for (const Tensor& result : node->as<ReduceAttributes>().combine->results)
        open.emplace_back(&graph::node_of(result), Reading::elsewhere);
  }
}

}  // namespace

void for_each_read(const Group& group, const Partition& partition,
                   const std::function<void(const Node&, Reading)>& visit) {
  walk(group, partition, visit, {});
}
void for_each_inside(const Group& group, const Partition& partition,
                     const std::function<void(const Node&, Reading)>& visit) {
  walk(group, partition, {}, visit);
}

Partition partition(const std::vector<const Node*>& nodes, const Set& inputs, const Set& outputs,
                    const Set& arguments, const Target& target) {
  Partition result;
  result.arguments = arguments;
  result.rounds_exactly = !target.gpu;
  result.in_memory = materialise(nodes, inputs, outputs, target);
  std::vector<Group> groups;
  for (const Node* node : nodes) {
    if (!result.in_memory.contains(node) || inputs.contains(node)) continue;
    Group group;
    group.roots = {node};
    const Kind kind = graph::row_of(node->op).kind;
    if (has_own_kernel(*node, target)) group.form = Group::Form::kernel;
    if (kind == Kind::reduction && !is_inline_reduction(*node, target) && combines_in_any_order(*node)) {
      group.form = Group::Form::rows;
      group.full = node->operands[0].shape();
      group.axes = node->as<ReduceAttributes>().axes;
    }
    groups.push_back(std::move(group));
  }
  result.groups = merged(std::move(groups), result, target);
  // What was merged into its only reader stays in registers.
  for (const Node* node : outputs)
    if (!inputs.contains(node)) result.stored.insert(node);
  for (const Group& group : result.groups)
    for_each_read(group, result, [&](const Node& node, Reading) { result.stored.insert(&node); });
  for (Group& group : result.groups)
    if (group.form == Group::Form::loop)
      std::erase_if(group.roots, [&](const Node* root) {
        if (result.stored.contains(root)) return false;
        result.in_memory.erase(root);  // else its readers in the group would look for it there
        return true;
      });
  return result;
}

}  // namespace adit::compile
