// Matrices of which nobody reads what stands above the diagonal: a factorisation reads the lower triangle,
// and its gradient is zero above it. A CPU's team leaves the rest out, half of a covariance, say.
#include "density/scheduler.hpp"
#include "lower/reduction.hpp"

namespace adit::sampling {

using graph::Op;

namespace {

// Rows are as long as lanes count them (`shortest_row`), so that a row is a loop.
bool is_square(const Node& node) {
  return node.shape.size() == 2 && node.shape[0] == node.shape[1] && node.shape[0] >= shortest_row;
}

}  // namespace

// Whether all entries above the diagonal are zero, by those of the operands.
bool Scheduler::is_zero_above(const Node& node) const {
  if (!is_square(node)) return false;
  const auto of = [&](size_t i) { return zero_above_.contains(&graph::node_of(node.operands[i])); };
  switch (node.op) {
    case Op::cholesky:
    case Op::cholesky_vjp: return true;
    case Op::multiply: return of(0) || of(1);
    case Op::negate:
    case Op::divide:
    case Op::reshape: return of(0);
    case Op::add:
    case Op::subtract: return of(0) && of(1);
    case Op::select: return of(1) && of(2);
    default: return false;
  }
}

// A sum over all of a matrix, in the order in which it lies, to which nothing above the diagonal adds.
bool Scheduler::is_sum_below(const Node& node) const {
  if ((node.op != Op::sum && node.op != Op::dot) || count_of(node) != 1) return false;
  bool is_zero = false;
  for (const Tensor& operand : node.operands) {
    if (!is_square(graph::node_of(operand)) || length_of(node) != operand.size()) return false;
    is_zero = is_zero || zero_above_.contains(&graph::node_of(operand));
  }
  if (node.op == Op::sum) return is_zero;
  const auto& about = node.as<graph::DotAttributes>();
  return is_zero && about.contract_a == Axes{0, 1} && about.contract_b == Axes{0, 1};
}

// Whether a user of a matrix reads its lower triangle alone.
bool Scheduler::reads_below(const Node& user, const Node& matrix) const {
  if (user.op == Op::cholesky || user.op == Op::cholesky_vjp) return true;
  if (user.op == Op::triangular_solve)
    return user.as<graph::TriangularAttributes>().lower && &graph::node_of(user.operands[1]) != &matrix;
  return lower_.contains(&user) && (reduces(user) || is_elementwise(user));
}

void Scheduler::find_lower() {
  if (!on_cpu_ || !by_team_ || !region_.in_place.empty() || region_.team.spreads) return;
  for (const Node* node : nodes_)
    if (is_zero_above(*node)) zero_above_.insert(node);
  if (zero_above_.empty()) return;
  std::unordered_set<const Node*> results;
  for (const Tensor& result : region_.results) results.insert(&graph::node_of(result));
  // Users before what they read.
  for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {
    const Node& node = **it;
    if (is_sum_below(node)) {
      lower_.insert(&node);
    } else if (is_square(node) && !results.contains(&node) && !users_[&node].empty()) {
      const auto& users = users_[&node];
      if (std::all_of(users.begin(), users.end(), [&](const Node* user) { return reads_below(*user, node); }))
        lower_.insert(&node);
    }
  }
}

}  // namespace adit::sampling
