// Attention as one operation: softmax(queries keys^T) values, of queries [n, groups, q, depth], whose scale
// is in them already, keys [n, k, depth] and values [n, k, width]. All groups see the same keys. Devices that
// have no kernel for it take products (src/lower/simplify.cpp).
#include "graph/attention.hpp"

#include <fmt/format.h>

#include <adit/control.hpp>
#include <adit/network.hpp>

#include "graph/derive.hpp"
#include "graph/op.hpp"

namespace adit::graph {

namespace attention_rules {

using Operands = std::vector<Tensor>;

DType type(std::string_view op, const Operands& operands, const Attributes&) {
  const DType first = operands[0].dtype();
  if (!is_float(first)) fail(op, "queries", fmt::format("expected floats, got {}", name_of(first)));
  for (size_t i = 1; i < operands.size(); ++i)
    if (operands[i].dtype() != first)
      fail(op, i == 1 ? "keys" : "values",
           fmt::format("expected {}, got {}", name_of(first), name_of(operands[i].dtype())));
  return first;
}

Shape shape(std::string_view op, const Operands& operands, const Attributes&) {
  const Shape &queries = operands[0].shape(), &keys = operands[1].shape(), &values = operands[2].shape();
  if (queries.size() != 4) fail(op, "queries", fmt::format("expected four axes, got {}", to_string(queries)));
  const bool keys_fit = keys.size() == 3 && keys[0] == queries[0] && keys[2] == queries[3];
  if (!keys_fit)
    fail(op, "keys", fmt::format("expected [{}, keys, {}], got {}", queries[0], queries[3], to_string(keys)));
  if (values.size() != 3 || values[0] != keys[0] || values[1] != keys[1])
    fail(op, "values", fmt::format("expected [{}, {}, width], got {}", keys[0], keys[1], to_string(values)));
  return {queries[0], queries[1], queries[2], values[2]};
}

// Of products, which the derivative goes through: the scores are made again, and live while it is computed.
Tensor by_products(const Operands& x, bool causal) {
  AttentionOptions options;
  options.causal = causal;
  options.scale = 1;
  options.fused = false;
  return attention(x[0], expand_dims(x[1], 1), expand_dims(x[2], 1), options);
}

Operands vjp_by_products(const Operands& operands, const Tensor& g, bool causal) {
  Operands inputs;
  for (const Tensor& x : operands) inputs.push_back(alias(x));
  return pull_back({by_products(inputs, causal)}, {g}, inputs);
}

// Parts of equal size that what is first is taken in, so that the scores of one are not too many: several
// tensors of them live at once.
int64_t parts_of(const Operands& operands) {
  constexpr int64_t most_bytes = int64_t{256} << 20;
  const Shape& queries = operands[0].shape();
  const int64_t count = queries[0];
  const int64_t each = queries[1] * queries[2] * operands[1].dim(1) * size_of(operands[0].dtype());
  int64_t parts = 1;
  while (parts < count && (count % parts != 0 || count / parts * each > most_bytes)) ++parts;
  return parts;
}

Operands vjp(const Tensor& result, const Operands& operands, const Tensor& g) {
  const bool causal = (node_of(result).as<Which>().number & attention_is_causal) != 0;
  const int64_t parts = parts_of(operands);
  if (parts == 1) return vjp_by_products(operands, g, causal);
  Operands slices;
  for (const Tensor& x : {operands[0], operands[1], operands[2], g}) {
    Shape shape = x.shape();
    shape[0] /= parts;
    shape.insert(0, parts);
    slices.push_back(reshape(x, shape));
  }
  const Step all = scan(
      [&](const Tensors&, const Tensors& x) {
        return Step{{}, vjp_by_products({x[0], x[1], x[2]}, x[3], causal)};
      },
      {}, slices);
  Operands gradients;
  for (size_t i = 0; i < operands.size(); ++i)
    gradients.push_back(reshape(all.outputs[i], operands[i].shape()));
  return gradients;
}

// Batches are more of what is first.
Tensor batch(const Node& node, const Operands& operands, int64_t) {
  Operands flat;
  Shape result;
  for (const Tensor& x : operands) {
    Shape joined = x.shape();
    joined.erase(0);
    joined[0] = x.dim(0) * x.dim(1);
    flat.push_back(reshape(x, joined));
    if (result.empty()) result = x.shape();
  }
  result[4] = operands[2].dim(-1);
  return reshape(make(node.op, flat, node.attributes), result);
}

}  // namespace attention_rules

Row attention_row() {
  return {
      .op = Op::attention,
      .name = "attention",
      .kind = Kind::kernel,
      .arity = 3,
      .types = "float; all of one type",
      .type = attention_rules::type,
      .shape = attention_rules::shape,
      .vjp = attention_rules::vjp,
      .batch = attention_rules::batch,
      .bound = {0,
                "n + d units of the sum of |weight value| for n keys of depth d; halves by products: scores "
                "and weights are rounded to halves"},
      .cost = 100,
      .doc = "softmax(queries keys^T) values without the scores in memory; heads may share keys and values."};
}

}  // namespace adit::graph
