#include "stan/update_choice.hpp"

#include <adit/ops.hpp>

#include "graph/op.hpp"

namespace adit::stan {

using graph::Node;
using graph::Op;

namespace {

const Node& without_reshapes(const Tensor& x) {
  const Node* node = &graph::node_of(x);
  while (node->op == Op::reshape && !node->computed) node = &graph::node_of(node->operands[0]);
  return *node;
}

}  // namespace

Tensor chosen_elements(const Tensor& condition, const Tensor& yes, const Tensor& no) {
  const Node& put = without_reshapes(yes);
  const bool is_updated = put.op == Op::indexed_put && !put.computed && yes.shape() == no.shape() &&
                          &without_reshapes(put.operands[0]) == &without_reshapes(no);
  if (!is_updated || put.operands[2].size() >= no.size()) return select(condition, yes, no);
  const Tensor &table = put.operands[0], &places = put.operands[1], &updates = put.operands[2];
  const Axes& axes = put.as<graph::AxisList>().axes;
  const Tensor everywhere = reshape(broadcast_to(condition, yes.shape()), table.shape());
  const Tensor holds = gather(everywhere, places, axes), before = gather(table, places, axes);
  return reshape(indexed_put(table, places, select(holds, updates, before), axes), yes.shape());
}

}  // namespace adit::stan
