#include "explain/cost.hpp"

#include <algorithm>

#include "compile/serial.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Kind;
using graph::Op;

namespace {

double elements_of(const Node& node) { return static_cast<double>(element_count(node.shape)); }
uint64_t bytes_of(const Node& node) {
  return static_cast<uint64_t>(element_count(node.shape)) * size_of(node.type);
}

// Operations for one element of the node, without its operands.
double unit_cost(const Node& node) {
  const graph::Row& row = graph::row_of(node.op);
  const double pairs = is_complex(node.type) ? 2 : 1;
  switch (row.kind) {
    case Kind::elementwise: return row.cost * pairs;
    case Kind::reduction: return static_cast<double>(reduced_count(node)) * pairs;
    case Kind::kernel:
      return node.op == Op::dot ? 2.0 * static_cast<double>(contracted_count(node)) * pairs : 0;
    default: return 0;  // finding a place is not counted
  }
}

DType wider(DType a, DType b) {
  const auto is_wide = [](DType type) { return type == DType::f64 || type == DType::c128; };
  return is_wide(a) || is_wide(b) ? DType::f64 : a;
}

}  // namespace

GroupCount::GroupCount(const Group& group, const Partition& partition) {
  for (const Node* root : group.roots) {
    reach(*root);
    Times& times = open_[root->number].second;
    times.here = std::max(times.here, elements_of(*root));
  }
  while (!open_.empty()) {
    const auto [node, times] = open_.begin()->second;
    open_.erase(open_.begin());
    const bool in_memory = partition.in_memory.contains(node) && !group.contains(*node);
    if (partition.arguments.contains(node)) continue;
    if (in_memory)
      reads_[node] = times;
    else
      count(*node, times, group);
  }
}

void GroupCount::reach(const Node& node) { open_[node.number].first = &node; }

void GroupCount::count(const Node& node, const Times& times, const Group& group) {
  const double t = times.total();
  const Kind kind = graph::row_of(node.op).kind;
  const bool in_rows = group.form == Group::Form::rows;
  operations_ += t * unit_cost(node);
  if (in_rows && kind != Kind::reduction && t <= static_cast<double>(group.row_count()))
    row_operations_ += t * unit_cost(node);
  type_ = wider(type_, node.type);
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const Node& operand = graph::node_of(node.operands[i]);
    reach(operand);
    Times& below = open_[operand.number].second;
    if (kind == Kind::reduction && in_rows && group.contains(node)) {
      below.here = std::max(below.here, elements_of(operand));
    } else if (kind == Kind::reduction) {
      below.moved += t * static_cast<double>(reduced_count(node));
    } else if (node.op == Op::dot) {
      below.moved += t * static_cast<double>(contracted_count(node));
    } else if (in_rows && is_row_broadcast(node, group.full, group.axes)) {
      below.here = std::max(below.here, elements_of(operand));
    } else if (kind != Kind::view || node.op == Op::reshape) {
      below.here = std::max(below.here, t);
    } else if ((node.op == Op::gather || node.op == Op::take_along_axis) && i == 0) {
      below.gathered += t;
    } else if (node.op == Op::concatenate || node.op == Op::pad || node.op == Op::put_slice) {
      below.moved += std::min(t, elements_of(operand));
    } else {
      below.moved += t;
    }
  }
}

uint64_t GroupCount::read_bytes(const Node& node) const {
  const auto it = reads_.find(&node);
  if (it == reads_.end()) return bytes_of(node);
  const Times& times = it->second;
  const double elements = std::min(elements_of(node), times.here + times.moved) + times.gathered;
  return static_cast<uint64_t>(elements) * size_of(node.type);
}

std::vector<Use> uses_of(const Work& work) {
  using KernelOp = kernel::Op;
  std::vector<Use> all(work.bindings.size());
  for (size_t i = 0; i < all.size(); ++i)
    if (work.bindings[i].kind == Binding::Kind::tensor) all[i].node = work.bindings[i].node;
  for (const kernel::Instruction& it : work.program.instructions) {
    const bool stores = it.op == KernelOp::store || it.op == KernelOp::matrix_store;
    const bool loads = it.op == KernelOp::load || it.op == KernelOp::matrix_load;
    if (!stores && !loads && !kernel::is_atomic(it.op)) continue;
    const kernel::Instruction& object = work.program[it.operand[0]];
    if (object.op != KernelOp::buffer) continue;
    Use& use = all.at(object.constant);
    use.reads = use.reads || !stores;
    use.writes = use.writes || !loads;
  }
  std::erase_if(all, [](const Use& use) { return !use.node || !(use.reads || use.writes); });
  return all;
}

namespace {

// Of real numbers half as many.
double transform_operations(const Tensor& x, int axis) {
  const auto length = static_cast<double>(x.dim(axis));
  const double each = is_complex(x.dtype()) ? 5 : 2.5;
  return each * static_cast<double>(x.size()) * std::log2(std::max(1.0, length));
}

double own_operations(const Node& node) {
  const double n = node.shape.size() ? static_cast<double>(node.shape.back()) : 1;
  switch (node.op) {
    case Op::cholesky: return elements_of(node) * n / 3;
    case Op::lu:
    case Op::solve: return elements_of(graph::node_of(node.operands[0])) * n * 2 / 3;
    case Op::qr: return elements_of(graph::node_of(node.operands[0])) * n * 2;
    case Op::triangular_solve:
      return elements_of(node) * static_cast<double>(node.operands[0].shape().back());
    case Op::cumulative_sum:
    case Op::cumulative_product: return 2 * elements_of(node);
    case Op::fft:
    case Op::ifft:
    case Op::rfft: return transform_operations(node.operands[0], node.as<graph::OneAxis>().axis);
    case Op::irfft: return transform_operations(node.operands[0], node.as<graph::AxisLength>().axis);
    case Op::indexed_add: return elements_of(graph::node_of(node.operands[2]));
    default: return 0;
  }
}

bool updates_places(const Node& node) { return node.op == Op::indexed_add || node.op == Op::indexed_put; }

// What a kernel with a shape of its own moves: each tensor once, both ways where it reads and writes it.
Cost own_cost(const Work& work, const Node& node, bool is_last) {
  Cost cost;
  cost.type = wider(DType::f32, node.type);
  cost.operations = work.operations != 0 ? work.operations : is_last ? own_operations(node) : 0;
  if (!work.kernel)
    for (const Node* touched : work.touches)
      cost.bytes += work.written != 0 && touched == &node ? work.written : bytes_of(*touched);
  else
    for (const Use& use : uses_of(work)) {
      uint64_t bytes = bytes_of(*use.node);
      // An update touches as much of its result as there are updates.
      if (updates_places(node) && use.node == &node)
        bytes = std::min(bytes, bytes_of(graph::node_of(node.operands[2])));
      if (work.written != 0 && use.node == &node) bytes = work.written;
      cost.bytes += use.reads && use.writes ? 2 * bytes : bytes;
    }
  return cost;
}

}  // namespace

Cost cost_of(const Work& work, const Group& group, const Partition& partition, size_t launch, size_t last) {
  if (group.form == Group::Form::kernel) {
    Cost cost = own_cost(work, *group.roots[0], launch == last);
    // What is computed into its place counts with the last of the parts.
    if (group.roots[0]->op == Op::concatenate && launch == last)
      cost.operations = GroupCount(group, partition).operations();
    return cost;
  }
  const GroupCount count(group, partition);
  // Rows that were split: the first kernel does the work of the row, the second joins the parts.
  const bool joins = launch > 0;
  Cost cost;
  cost.type = count.type();
  cost.operations = joins ? count.row_operations() : count.operations();
  for (const Use& use : uses_of(work)) {
    const bool is_part = !partition.in_memory.contains(use.node) && use.node->op == Op::input;
    cost.bytes += use.writes || is_part ? bytes_of(*use.node) : count.read_bytes(*use.node);
    if (joins && is_part) cost.operations += elements_of(*use.node);
  }
  return cost;
}

Cost cost_of_team(const Work& work, const std::vector<const Group*>& groups, const Partition& partition) {
  Cost cost;
  for (const Group* group : groups) {
    const GroupCount count(*group, partition);
    cost.operations += count.operations();
    cost.type = wider(cost.type, count.type());
  }
  for (const Use& use : uses_of(work)) cost.bytes += bytes_of(*use.node) * (use.reads && use.writes ? 2 : 1);
  return cost;
}

}  // namespace adit::compile
