#include "lower/product_form.hpp"

#include <adit/ops.hpp>

#include "graph/op.hpp"

namespace adit::lower {

using graph::DotAttributes;
using graph::Op;

namespace {

struct Side {
  Axes contract, batch, free;
};

Side side_of(const Tensor& x, const Axes& contract, const Axes& batch) {
  Side side{contract, batch, {}};
  for (int axis = 0; axis < x.rank(); ++axis)
    if (!contract.contains(axis) && !batch.contains(axis)) side.free.push_back(axis);
  return side;
}

Axes joined(const Axes& a, const Axes& b, const Axes& c) {
  Axes all = a;
  for (const int64_t axis : b) all.push_back(axis);
  for (const int64_t axis : c) all.push_back(axis);
  return all;
}

bool is_counted(const Axes& axes) { return axes == Axes::counted(axes.size()); }
bool is_plain(const Side& side) { return is_counted(joined(side.batch, side.free, side.contract)); }
bool is_transposed(const Side& side) { return is_counted(joined(side.batch, side.contract, side.free)); }

int64_t extent(const Tensor& x, const Axes& axes) {
  int64_t product = 1;
  for (const int64_t axis : axes) product *= x.shape()[static_cast<int>(axis)];
  return product;
}

// Looks through a transpose where the free axes keep their order, since the result's axes follow them.
void fold_transpose(Tensor& x, Axes& contract, Axes& batch) {
  if (graph::node_of(x).op != Op::transpose || graph::node_of(x).computed) return;
  const Axes& axes = graph::node_of(x).as<graph::AxisList>().axes;
  const Side side = side_of(x, contract, batch);
  for (int i = 1; i < side.free.size(); ++i)
    if (axes[static_cast<int>(side.free[i])] < axes[static_cast<int>(side.free[i - 1])]) return;
  Axes folded_contract = contract, folded_batch = batch;
  for (int64_t& axis : folded_contract) axis = axes[static_cast<int>(axis)];
  for (int64_t& axis : folded_batch) axis = axes[static_cast<int>(axis)];
  // Only into a form that a kernel reads: `arrange` would bring the transpose back.
  const Tensor inner = graph::node_of(x).operands[0];
  const Side folded = side_of(inner, folded_contract, folded_batch);
  if (!is_plain(folded) && !is_transposed(folded)) return;
  contract = folded_contract;
  batch = folded_batch;
  x = inner;
}

// [batch, free, contracted] by a transpose, where the order is another one.
void arrange(Tensor& x, Axes& contract, Axes& batch) {
  const Side side = side_of(x, contract, batch);
  if (is_plain(side) || is_transposed(side)) return;
  x = transpose(x, joined(side.batch, side.free, side.contract));
  batch = Axes::counted(batch.size());
  const int first = side.batch.size() + side.free.size();
  for (int i = 0; i < contract.size(); ++i) contract[i] = first + i;
}

}  // namespace

std::optional<ProductForm> product_form(const graph::Node& node) {
  const auto& d = node.as<DotAttributes>();
  const Tensor &a = node.operands[0], &b = node.operands[1];
  const Side left = side_of(a, d.contract_a, d.batch_a), right = side_of(b, d.contract_b, d.batch_b);
  const bool left_fits = is_plain(left) || is_transposed(left),
             right_fits = is_plain(right) || is_transposed(right);
  if (!left_fits || !right_fits) return std::nullopt;
  ProductForm form;
  form.batch = extent(a, d.batch_a);
  form.m = extent(a, left.free);
  form.n = extent(b, right.free);
  form.k = extent(a, d.contract_a);
  form.transpose_a = !is_plain(left);
  form.transpose_b = is_plain(right);  // [batch, free, contracted] is n x k
  // A vector is both; the plain reading is enough.
  if (is_transposed(right)) form.transpose_b = false;
  return form;
}

Tensor in_product_form(const graph::Node& node, const std::vector<Tensor>& operands) {
  DotAttributes d = node.as<DotAttributes>();
  Tensor a = operands[0], b = operands[1];
  fold_transpose(a, d.contract_a, d.batch_a);
  fold_transpose(b, d.contract_b, d.batch_b);
  arrange(a, d.contract_a, d.batch_a);
  arrange(b, d.contract_b, d.batch_b);
  if (graph::pointer_of(a) == graph::pointer_of(operands[0]) &&
      graph::pointer_of(b) == graph::pointer_of(operands[1]))
    return {};
  return graph::make_node(Op::dot, node.type, node.shape, {a, b}, d);
}

}  // namespace adit::lower
