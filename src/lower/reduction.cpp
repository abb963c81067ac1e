#include "lower/reduction.hpp"

#include <cmath>

#include <adit/kernel/math.hpp>

#include "graph/op.hpp"

namespace adit::lower {

using graph::Op;
using graph::ReduceAttributes;
using kernel::Reduction;
using kernel::Type;

namespace {

bool propagates_nan(const Node& node) {
  return (node.op == Op::reduce_max || node.op == Op::reduce_min) && is_float(node.type);
}

Value as_flag(Value x) {
  return select(x, x.builder().constant(Type::u32, 1), x.builder().constant(Type::u32, 0));
}

Value nonzero(const Scalar& x) {
  const Value re = x.re != x.re.like(0);
  return as_flag(x.is_complex ? re || x.im != x.im.like(0) : re);
}

Value quiet_nan(kernel::Builder& builder, Type type) {
  const Type bits = kernel::unsigned_like(type);
  return bitcast(builder.constant_bits(bits, type == Type::f64 ? 0x7ff8000000000000u : 0x7fc00000u), type);
}

}  // namespace

bool combines_in_any_order(const Node& node) {
  return node.op != Op::reduce && !(node.op == Op::product && is_complex(node.type));
}

std::vector<Reduction> reductions_of(const Node& node) {
  switch (node.op) {
    case Op::sum: return std::vector<Reduction>(is_complex(node.type) ? 2 : 1, Reduction::add);
    case Op::product: return {Reduction::mul};
    case Op::reduce_max: return {propagates_nan(node) ? Reduction::max_or_nan : Reduction::max};
    case Op::reduce_min: return {propagates_nan(node) ? Reduction::min_or_nan : Reduction::min};
    case Op::all: return {Reduction::bit_and};
    case Op::any: return {Reduction::bit_or};
    default: throw Error(ErrorKind::internal, "[compile] reduction: no combination in any order");
  }
}

std::vector<Type> accumulator_types(const Node& node) {
  if (node.op == Op::all || node.op == Op::any) return {Type::u32};
  std::vector<Type> types(reductions_of(node).size(), compute_type(node.type));
  if (node.op == Op::reduce_max || node.op == Op::reduce_min) return types;
  // Small integers are summed in 32 bits; wrapping at the end gives the same.
  if (types[0] == Type::u8 || types[0] == Type::u16) types[0] = Type::u32;
  if (types[0] == Type::i8 || types[0] == Type::i16) types[0] = Type::i32;
  return types;
}

std::vector<Value> contributions(const Node& node, const Scalar& element) {
  if (node.op == Op::all || node.op == Op::any) return {nonzero(element)};
  const std::vector<Type> types = accumulator_types(node);
  if (is_complex(node.type)) return {element.re, element.im};
  return {convert(element.re, types[0])};
}

Scalar total_of(const Node& node, const std::vector<Value>& totals) {
  if (is_complex(node.type)) return graph::pair(totals[0], totals[1]);
  const Type type = compute_type(node.type);
  Value value = convert(totals[0], type);
  if (propagates_nan(node)) value = select(is_nan(value), quiet_nan(value.builder(), type), value);
  return {value, {}, false};
}

int64_t reduced_count(const Node& node) {
  int64_t count = 1;
  for (const int64_t axis : node.as<ReduceAttributes>().axes)
    count *= node.operands[0].shape()[static_cast<int>(axis)];
  return count;
}

bool last_axes(const Shape& shape, const Axes& axes) {
  int first = shape.size();
  while (first > 0 && (axes.contains(first - 1) || shape[first - 1] == 1)) --first;
  for (const int64_t axis : axes)
    if (axis < first && shape[static_cast<int>(axis)] != 1) return false;
  return true;
}

Index place_in(const Shape& shape, const Axes& axes, const Index& at, Value r, std::optional<Value> given) {
  std::vector<Value> coordinates(static_cast<size_t>(shape.size()));
  int64_t stride = 1, count = 1;
  for (const int64_t axis : axes) count *= shape[static_cast<int>(axis)];
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    if (!axes.contains(axis)) continue;
    Value coordinate = at.number(0);
    if (shape[axis] != 1) {
      coordinate = stride == 1 ? r : r / at.number(stride);
      if (stride * shape[axis] != count) coordinate = coordinate % at.number(shape[axis]);
    }
    coordinates[static_cast<size_t>(axis)] = coordinate;
    stride *= shape[axis];
  }
  int kept = 0;
  for (int axis = 0; axis < shape.size(); ++axis)
    if (!axes.contains(axis)) coordinates[static_cast<size_t>(axis)] = at.coordinate(kept++);
  if (given) return Index(at.builder(), shape, *given, std::move(coordinates));
  if (!last_axes(shape, axes)) return at.at(shape, std::move(coordinates));
  const Value linear = element_count(at.shape()) == 1 ? r : at.linear() * at.number(count) + r;
  return Index(at.builder(), shape, linear, std::move(coordinates));
}

Index operand_index(const Node& node, const Index& at, Value r) {
  return place_in(node.operands[0].shape(), node.as<ReduceAttributes>().axes, at, r);
}

Value combine(Reduction reduction, Value a, Value b) {
  switch (reduction) {
    case Reduction::add: return a + b;
    case Reduction::mul: return a * b;
    case Reduction::min: return min(a, b);
    case Reduction::max: return max(a, b);
    case Reduction::min_or_nan: return min_or_nan(a, b);
    case Reduction::max_or_nan: return max_or_nan(a, b);
    case Reduction::bit_and: return a & b;
    case Reduction::bit_or: return a | b;
    case Reduction::bit_xor: return a ^ b;
  }
  return a;
}

std::vector<Value> loop_totals(kernel::Builder& k, Value steps, const std::vector<Reduction>& reductions,
                               const std::vector<Type>& types,
                               const std::function<std::vector<Value>(Value)>& body) {
  std::vector<kernel::Variable> cells;
  for (size_t i = 0; i < types.size(); ++i)
    cells.push_back(k.variable(k.constant_bits(types[i], kernel::identity_of(reductions[i], types[i]))));
  k.for_(steps, [&](Value r) {
    const std::vector<Value> parts = body(r);
    for (size_t i = 0; i < parts.size(); ++i) cells[i] = combine(reductions[i], cells[i].get(), parts[i]);
  });
  std::vector<Value> totals;
  for (const auto& cell : cells) totals.push_back(cell.get());
  return totals;
}

int64_t contracted_count(const Node& node) {
  int64_t count = 1;
  for (const int64_t axis : node.as<graph::DotAttributes>().contract_a)
    count *= node.operands[0].shape()[static_cast<int>(axis)];
  return count;
}

// Coordinates of one operand of a dot: batch axes, free axes, contracted ones.
Index dot_operand(const Node& node, int which, const Index& at, Value r) {
  const auto& attributes = node.as<graph::DotAttributes>();
  const Axes& contract = which == 0 ? attributes.contract_a : attributes.contract_b;
  const Axes& batch = which == 0 ? attributes.batch_a : attributes.batch_b;
  const Shape& shape = node.operands[static_cast<size_t>(which)].shape();
  std::vector<Value> coordinates(static_cast<size_t>(shape.size()));
  for (int i = 0; i < batch.size(); ++i) coordinates[static_cast<size_t>(batch[i])] = at.coordinate(i);
  int64_t stride = 1;
  const int64_t count = contracted_count(node);
  for (int i = contract.size() - 1; i >= 0; --i) {
    const int64_t extent = shape[static_cast<int>(contract[i])];
    Value coordinate = stride == 1 ? r : r / at.number(stride);
    if (stride * extent != count) coordinate = coordinate % at.number(extent);
    coordinates[static_cast<size_t>(contract[i])] = coordinate;
    stride *= extent;
  }
  int next = batch.size();
  if (which == 1) next = at.shape().size() - (shape.size() - batch.size() - contract.size());
  for (int axis = 0; axis < shape.size(); ++axis)
    if (!batch.contains(axis) && !contract.contains(axis))
      coordinates[static_cast<size_t>(axis)] = at.coordinate(next++);
  return at.at(shape, std::move(coordinates));
}

bool starts_from_zero(const Node& node) {
  if (node.op != Op::indexed_add && node.op != Op::indexed_put) return false;
  const graph::Literal* literal = graph::constant_value(node.operands[0]);
  return literal && literal->real == 0 && literal->imag == 0 && literal->integer == 0 &&
         !std::signbit(literal->real);
}

}  // namespace adit::lower
