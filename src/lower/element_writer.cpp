#include "lower/element_writer.hpp"

#include "graph/op.hpp"

namespace adit::lower {

using graph::Index;
using graph::Node;
using graph::Scalar;

Scalar ElementWriter::read(const Node& node, const Index& at) {
  if (const std::optional<Scalar> value = fixed(node)) return *value;
  if (node.op == graph::Op::constant) return literal(builder(), node);
  const uint64_t place = place_of(node, at);
  if (const Scalar* seen = memo_.find(node, place)) return *seen;
  const std::optional<Scalar> given = known(node, at);
  const Scalar value = given ? *given : compute(node, at);
  memo_.add(node, place, value, at);
  return value;
}

Scalar ElementWriter::compute(const Node& node, const Index& at) {
  const graph::Row& row = graph::row_of(node.op);
  if (row.scalar) return result(node, operands_at(*this, node, at));
  if (row.view) return row.view(*this, node, at);
  return other(node, at);
}

}  // namespace adit::lower
