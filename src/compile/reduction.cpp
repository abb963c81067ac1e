#include "compile/reduction.hpp"

#include <adit/kernel/math.hpp>

namespace adit::compile {

using graph::Op;
using graph::ReduceAttributes;
using kernel::Reduction;
using kernel::Type;

namespace {

constexpr int64_t unroll_limit = 8;

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
    case Op::reduce_max:
      return propagates_nan(node) ? std::vector{Reduction::max, Reduction::bit_or}
                                  : std::vector{Reduction::max};
    case Op::reduce_min:
      return propagates_nan(node) ? std::vector{Reduction::min, Reduction::bit_or}
                                  : std::vector{Reduction::min};
    case Op::all: return {Reduction::bit_and};
    case Op::any: return {Reduction::bit_or};
    default: throw Error(ErrorKind::internal, "[compile] reduction: no combination in any order");
  }
}

std::vector<Type> accumulator_types(const Node& node) {
  if (node.op == Op::all || node.op == Op::any) return {Type::u32};
  std::vector<Type> types(reductions_of(node).size(), compute_type(node.type));
  if (propagates_nan(node)) types[1] = Type::u32;
  // Small integers accumulate in 32 bits; wrapping at the end gives the same.
  if (types[0] == Type::u8 || types[0] == Type::u16) types[0] = Type::u32;
  if (types[0] == Type::i8 || types[0] == Type::i16) types[0] = Type::i32;
  return types;
}

std::vector<Value> contributions(const Node& node, const Scalar& element) {
  if (node.op == Op::all || node.op == Op::any) return {nonzero(element)};
  const std::vector<Type> types = accumulator_types(node);
  if (is_complex(node.type)) return {element.re, element.im};
  const Value value = convert(element.re, types[0]);
  if (propagates_nan(node)) return {value, as_flag(is_nan(value))};
  return {value};
}

Scalar finished(Writer& writer, const Node& node, const std::vector<Value>& totals) {
  if (is_complex(node.type)) return graph::pair(totals[0], totals[1]);
  const Type type = compute_type(node.type);
  Value value = convert(totals[0], type);
  if (propagates_nan(node))
    value = select(totals[1] != totals[1].like(0), quiet_nan(writer.builder(), type), value);
  return writer.rounded({value, {}, false}, node.type);
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

Index place_in(const Shape& shape, const Axes& axes, const Index& at, Value r) {
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
    case Reduction::bit_and: return a & b;
    case Reduction::bit_or: return a | b;
    case Reduction::bit_xor: return a ^ b;
  }
  return a;
}

namespace {

void fold_in_order(Writer& writer, const Node& node, const Index& at, Scalar& result);

}  // namespace

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

void fix_totals(Writer& writer, const std::vector<const Node*>& level, const std::vector<Value>& totals) {
  auto next = totals.begin();
  for (const Node* node : level) {
    const auto end = next + static_cast<long>(reductions_of(*node).size());
    writer.fix(*node, finished(writer, *node, {next, end}));
    next = end;
  }
}

void serial_reduce(Writer& writer, const Node& node, const Index& at, Scalar& result) {
  if (!combines_in_any_order(node)) return fold_in_order(writer, node, at, result);
  kernel::Builder& k = writer.builder();
  const std::vector<Reduction> reductions = reductions_of(node);
  const std::vector<Type> types = accumulator_types(node);
  const int64_t count = reduced_count(node);
  const Node& operand = node.operands[0].node();
  std::vector<Value> totals;
  if (count <= unroll_limit) {
    for (size_t i = 0; i < types.size(); ++i)
      totals.push_back(k.constant_bits(types[i], kernel::identity_of(reductions[i], types[i])));
    for (int64_t r = 0; r < count; ++r) {
      const auto parts = contributions(node, writer.read(operand, operand_index(node, at, writer.number(r))));
      for (size_t i = 0; i < types.size(); ++i) totals[i] = combine(reductions[i], totals[i], parts[i]);
    }
  } else {
    totals = loop_totals(k, writer.number(count), reductions, types, [&](Value r) {
      const Writer::Scope scope(writer);
      return contributions(node, writer.read(operand, operand_index(node, at, r)));
    });
  }
  result = finished(writer, node, totals);
}

namespace {

// The accumulator lives in variables; the user's function is written once, in the loop.
void fold_in_order(Writer& writer, const Node& node, const Index& at, Scalar& result) {
  kernel::Builder& k = writer.builder();
  const Type type = compute_type(node.type);
  const bool is_pair = is_complex(node.type);
  const auto* function = node.op == Op::reduce ? node.as<ReduceAttributes>().combine.get() : nullptr;
  Scalar start{k.constant(type, 1), {}, false};
  if (is_pair) start = graph::pair(k.constant(type, 1), k.constant(type, 0));
  // The first accumulator and what the function captured have the result's shape.
  for (size_t i = 1; function && i < node.operands.size(); ++i) {
    const Scalar given = writer.read(node.operands[i].node(), at);
    if (i == 1)
      start = given;
    else
      writer.fix(function->parameters[i].node(), given);
  }
  const kernel::Variable re = k.variable(start.re), im = k.variable(is_pair ? start.im : start.re);
  k.for_(writer.number(reduced_count(node)), [&](Value r) {
    const Writer::Scope scope(writer);
    const Scalar x = writer.read(node.operands[0].node(), operand_index(node, at, r));
    Scalar now{re.get(), is_pair ? im.get() : Value(), is_pair};
    if (function) {
      writer.fix(function->parameters[0].node(), now);
      writer.fix(function->parameters[1].node(), x);
      now = writer.read(function->results[0].node(), Index(k, {}, writer.number(0)));
    } else {
      now = graph::pair(now.re * x.re - now.im * x.im, now.re * x.im + now.im * x.re);
    }
    re = now.re;
    if (is_pair) im = now.im;
  });
  result = {re.get(), is_pair ? im.get() : Value(), is_pair};
}

}  // namespace

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

namespace {

Scalar multiply_add(const Scalar& a, const Scalar& b, const Scalar& sum) {
  if (!a.is_complex)
    return {kernel::is_float(a.re.type()) ? fma(a.re, b.re, sum.re) : sum.re + a.re * b.re, {}, false};
  return graph::pair(fma(a.re, b.re, fma(-a.im, b.im, sum.re)), fma(a.re, b.im, fma(a.im, b.re, sum.im)));
}

}  // namespace

Scalar serial_dot(Writer& writer, const Node& node, const Index& at) {
  kernel::Builder& k = writer.builder();
  const Type type = compute_type(node.type);
  const bool is_pair = is_complex(node.type);
  const int64_t count = contracted_count(node);
  const auto term = [&](Value r, const Scalar& sum) {
    return multiply_add(writer.read(node.operands[0].node(), dot_operand(node, 0, at, r)),
                        writer.read(node.operands[1].node(), dot_operand(node, 1, at, r)), sum);
  };
  Scalar sum{k.constant(type, 0), is_pair ? k.constant(type, 0) : Value(), is_pair};
  if (count <= unroll_limit) {
    for (int64_t r = 0; r < count; ++r) sum = term(writer.number(r), sum);
  } else {
    const kernel::Variable re = k.variable(sum.re), im = k.variable(sum.re);
    k.for_(writer.number(count), [&](Value r) {
      const Writer::Scope scope(writer);
      const Scalar next = term(r, {re.get(), is_pair ? im.get() : Value(), is_pair});
      re = next.re;
      if (is_pair) im = next.im;
    });
    sum = {re.get(), is_pair ? im.get() : Value(), is_pair};
  }
  return writer.rounded(sum, node.type);
}

}  // namespace adit::compile
