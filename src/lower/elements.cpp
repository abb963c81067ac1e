#include "lower/elements.hpp"

namespace adit::lower {

using graph::Scalar;

Scalar rounded(const Scalar& value, DType type) {
  if (type != DType::f16 && type != DType::bf16) return value;
  return {kernel::convert(kernel::convert(value.re, storage_type(type)), kernel::Type::f32), {}, false};
}

Scalar literal(kernel::Builder& builder, const graph::Node& node) {
  const auto& literal = node.as<graph::Literal>();
  const kernel::Type type = compute_type(node.type);
  if (is_integer(node.type)) {
    const auto bits = static_cast<uint64_t>(literal.integer);
    return {builder.constant_bits(type, kernel::wrapped(type, bits)), {}, false};
  }
  if (is_complex(node.type))
    return graph::pair(builder.constant(type, literal.real), builder.constant(type, literal.imag));
  return rounded({builder.constant(type, literal.real), {}, false}, node.type);
}

}  // namespace adit::lower
