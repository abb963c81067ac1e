// Builders of the reductions, and what is made of them.
#include <limits>
#include <unordered_set>

#include "graph/build/arguments.hpp"
#include "graph/op.hpp"
#include "graph/rows/view.hpp"
#include "graph/trace.hpp"

namespace adit {

using namespace graph;

namespace {

struct Plan {
  Axes axes;
  Shape result, kept;  // without and with the reduced axes, which have extent 1 then
  int64_t count = 1;   // elements that one result is made of
};

Plan plan_of(const char* op, const Tensor& x, const Axes& axes) {
  expect_tensor(op, "x", x);
  Plan plan;
  plan.axes = axes.empty() ? Axes::counted(x.rank()) : normal_axes(op, axes, x.rank());
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t extent = x.shape()[axis];
    const bool reduced = plan.axes.contains(axis);
    if (reduced) plan.count *= extent;
    if (!reduced) plan.result.push_back(extent);
    plan.kept.push_back(reduced ? 1 : extent);
  }
  return plan;
}

Tensor shaped(const Tensor& reduced, const Plan& plan, bool keep_axes) {
  return keep_axes ? reshape(reduced, plan.kept) : reduced;
}

// One element a result: nothing to reduce.
Tensor reduce_by(Op op, const Tensor& x, const Plan& plan, bool keep_axes) {
  const bool trivial = plan.count == 1 && x.size() > 0;
  const Tensor reduced =
      trivial ? reshape(x, plan.result) : make(op, {x}, ReduceAttributes{plan.axes, false, {}});
  return shaped(reduced, plan, keep_axes);
}

// Integers are summed in 32 bits or 64, as in Nx.
DType aggregate_of(DType type) {
  if (!is_integer(type) || size_of(type) == 8) return type;
  return is_unsigned(type) ? DType::u32 : DType::i32;
}

// Integers and halves are computed in f32.
DType working_type(DType type) { return is_integer(type) || size_of(type) == 2 ? DType::f32 : type; }

Tensor count_like(const Tensor& x, int64_t count) { return constant(x.dtype(), static_cast<double>(count)); }

Tensor argument_of(Op op, const char* name, const Tensor& x, std::optional<int> axis, bool keep_axis,
                   TieBreak tie_break) {
  expect_tensor(name, "x", x);
  if (!axis) {
    const Tensor place = argument_of(op, name, flatten(x), 0, false, tie_break);
    return keep_axis ? reshape(place, Shape::filled(x.rank(), 1)) : place;
  }
  const Plan plan = plan_of(name, x, {normal_axis(name, *axis, x.rank())});
  const ReduceAttributes attributes{plan.axes, tie_break == TieBreak::high, {}};
  return shaped(make(op, {x}, attributes), plan, keep_axis);
}

Tensor truths(const Tensor& x) { return not_equal(x, constant(x.dtype(), 0)); }

// The largest element, as a number to subtract: no gradient flows through it, and an infinite one is left
// out.
Tensor shift_of(const Tensor& x, const Axes& axes) {
  const Tensor top = stop_gradient(reduce_max(x, axes, true));
  return select(is_infinity(top), constant(x.dtype(), 0), top);
}

// A sum of powers that is 0 only where all elements are -infinity; there 1, so that no NaN arises.
Tensor filled_sum(const Tensor& powers, const Axes& axes) {
  const Tensor total = sum(powers, axes, true);
  return select(equal(total, constant(total.dtype(), 0)), constant(total.dtype(), 1), total);
}

void expect_real(const char* op, const Tensor& x) {
  expect_tensor(op, "x", x);
  if (is_complex(x.dtype())) fail(op, "x", fmt::format("expected real numbers, got {}", name_of(x.dtype())));
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, bool keep_axes) {
  const Plan plan = plan_of("sum", x, axes);
  const DType type = aggregate_of(x.dtype());
  if (plan.count == 0) return zeros(keep_axes ? plan.kept : plan.result, type);
  return reduce_by(Op::sum, as_type(x, type), plan, keep_axes);
}

Tensor product(const Tensor& x, const Axes& axes, bool keep_axes) {
  const Plan plan = plan_of("product", x, axes);
  const DType type = aggregate_of(x.dtype());
  if (plan.count == 0) return ones(keep_axes ? plan.kept : plan.result, type);
  return reduce_by(Op::product, as_type(x, type), plan, keep_axes);
}

Tensor reduce_max(const Tensor& x, const Axes& axes, bool keep_axes) {
  expect_real("reduce_max", x);
  return reduce_by(Op::reduce_max, x, plan_of("reduce_max", x, axes), keep_axes);
}

Tensor reduce_min(const Tensor& x, const Axes& axes, bool keep_axes) {
  expect_real("reduce_min", x);
  return reduce_by(Op::reduce_min, x, plan_of("reduce_min", x, axes), keep_axes);
}

Tensor argmax(const Tensor& x, std::optional<int> axis, bool keep_axis, TieBreak tie_break) {
  return argument_of(Op::argmax, "argmax", x, axis, keep_axis, tie_break);
}

Tensor argmin(const Tensor& x, std::optional<int> axis, bool keep_axis, TieBreak tie_break) {
  return argument_of(Op::argmin, "argmin", x, axis, keep_axis, tie_break);
}

Tensor all(const Tensor& x, const Axes& axes, bool keep_axes) {
  const Plan plan = plan_of("all", x, axes);
  if (plan.count == 0) return ones(keep_axes ? plan.kept : plan.result, DType::u8);
  return reduce_by(Op::all, truths(x), plan, keep_axes);
}

Tensor any(const Tensor& x, const Axes& axes, bool keep_axes) {
  const Plan plan = plan_of("any", x, axes);
  if (plan.count == 0) return zeros(keep_axes ? plan.kept : plan.result, DType::u8);
  return reduce_by(Op::any, truths(x), plan, keep_axes);
}

Tensor mean(const Tensor& x, const Axes& axes, bool keep_axes) {
  const Plan plan = plan_of("mean", x, axes);
  const Tensor total = sum(as_type(x, working_type(x.dtype())), plan.axes, keep_axes);
  return as_type(total / count_like(total, plan.count), float_of(x.dtype()));
}

// In two passes: the squares of small differences, not the difference of large squares.
Tensor variance(const Tensor& x, const Axes& axes, bool keep_axes, int ddof) {
  const Plan plan = plan_of("variance", x, axes);
  if (ddof < 0) fail("variance", "ddof", fmt::format("expected at least 0, got {}", ddof));
  const Tensor working = as_type(x, working_type(x.dtype()));
  const Tensor distance = working - mean(working, plan.axes, true);
  const Tensor squares =
      is_complex(x.dtype()) ? square(real(distance)) + square(imag(distance)) : square(distance);
  const Tensor total = sum(squares, plan.axes, keep_axes);
  return as_type(total / count_like(total, std::max<int64_t>(plan.count - ddof, 0)),
                 real_of(float_of(x.dtype())));
}

Tensor logsumexp(const Tensor& x, const Axes& axes, bool keep_axes) {
  expect_real("logsumexp", x);
  const Plan plan = plan_of("logsumexp", x, axes);
  const Tensor working = as_type(x, working_type(x.dtype()));
  const Tensor lowest = constant(working.dtype(), -std::numeric_limits<double>::infinity());
  const DType type = float_of(x.dtype());
  if (plan.count == 0) return as_type(broadcast_to(lowest, keep_axes ? plan.kept : plan.result), type);
  const Tensor shift = shift_of(working, plan.axes);
  const Tensor powers = exp(working - shift);
  const Tensor none = equal(stop_gradient(reduce_max(working, plan.axes, true)), lowest);
  const Tensor logarithm = select(none, lowest, shift + log(filled_sum(powers, plan.axes)));
  return as_type(reshape(logarithm, keep_axes ? plan.kept : plan.result), type);
}

Tensor softmax(const Tensor& x, const Axes& axes) {
  expect_real("softmax", x);
  const Plan plan = plan_of("softmax", x, axes);
  const Tensor working = as_type(x, working_type(x.dtype()));
  if (x.size() == 0) return as_type(x, float_of(x.dtype()));
  const Tensor powers = exp(working - shift_of(working, plan.axes));
  return as_type(powers / filled_sum(powers, plan.axes), float_of(x.dtype()));
}

Tensor log_softmax(const Tensor& x, const Axes& axes) {
  expect_real("log_softmax", x);
  const Plan plan = plan_of("log_softmax", x, axes);
  const Tensor working = as_type(x, working_type(x.dtype()));
  if (x.size() == 0) return as_type(x, float_of(x.dtype()));
  const Tensor shifted_down = working - shift_of(working, plan.axes);
  return as_type(shifted_down - log(filled_sum(exp(shifted_down), plan.axes)), float_of(x.dtype()));
}

namespace {

// The caller's function as a subgraph; what it reads beside its parameters becomes further parameters.
struct Combination {
  std::shared_ptr<const Subgraph> function;
  std::vector<Tensor> captured;
};

Combination trace(const std::function<Tensor(Tensor, Tensor)>& combine, DType type) {
  const Tracing tracing;
  std::vector<Tensor> parameters{placeholder(type, {}), placeholder(type, {})};
  const Tensor result = combine(parameters[0], parameters[1]);
  expect_tensor("reduce", "combine", result);
  if (result.rank() != 0)
    fail("reduce", "combine", fmt::format("expected a scalar, got the shape {}", to_string(result.shape())));
  const std::vector<Tensor> roots{as_type(result, type)};

  Combination combination;
  std::unordered_set<const Node*> dependent{&graph::node_of(parameters[0]), &graph::node_of(parameters[1])},
      known;
  const auto capture = [&](const Tensor& x) {
    const bool new_one = graph::node_of(x).op != Op::constant && known.insert(&graph::node_of(x)).second;
    if (new_one) combination.captured.push_back(x);
  };
  const std::lock_guard lock(graph_lock());  // another thread may evaluate what is captured
  for (const Tensor& x : reachable(roots, true)) {
    if (dependent.contains(&graph::node_of(x))) continue;
    bool depends = false;
    for (const Tensor& operand : graph::node_of(x).operands)
      depends = depends || dependent.contains(&graph::node_of(operand));
    if (!depends) continue;
    if (row_of(graph::node_of(x).op).kind != Kind::elementwise && graph::node_of(x).op != Op::alias)
      fail("reduce", "combine",
           fmt::format("expected operations on scalars, got {}", name_of(graph::node_of(x).op)));
    dependent.insert(&graph::node_of(x));
    for (const Tensor& operand : graph::node_of(x).operands)
      if (!dependent.contains(&graph::node_of(operand))) capture(operand);
  }
  if (!dependent.contains(&graph::node_of(roots[0]))) capture(roots[0]);
  for (const Tensor& x : combination.captured) parameters.push_back(placeholder(x.dtype(), {}));
  Tensors from = combination.captured, to(parameters.begin() + 2, parameters.end());
  add_own_constants(roots, from, to);
  combination.function = std::make_shared<Subgraph>(Subgraph{parameters, substitute(roots, from, to)});
  return combination;
}

}  // namespace

Tensor reduce(const Tensor& x, const Tensor& initial, const Axes& axes,
              const std::function<Tensor(Tensor, Tensor)>& combine, bool keep_axes) {
  const Plan plan = plan_of("reduce", x, axes);
  expect_tensor("reduce", "initial", initial);
  if (initial.rank() != 0)
    fail("reduce", "initial", fmt::format("expected a scalar, got the shape {}", to_string(initial.shape())));
  if (!combine) fail("reduce", "combine", "expected a function, got none");
  const DType type = promote(x.dtype(), initial.dtype());
  const Tensor start = broadcast_to(as_type(initial, type), plan.result);
  if (plan.count == 0) return shaped(start, plan, keep_axes);
  const Combination combination = trace(combine, type);
  // Without axes to fold the function is still called once, for the one element.
  const Tensor elements = x.rank() == 0 ? reshape(as_type(x, type), {1}) : as_type(x, type);
  std::vector<Tensor> operands{elements, start};
  for (const Tensor& captured : combination.captured) operands.push_back(broadcast_to(captured, plan.result));
  const Axes folded = x.rank() == 0 ? Axes{0} : plan.axes;
  return shaped(make(Op::reduce, operands, ReduceAttributes{folded, false, combination.function}), plan,
                keep_axes);
}

}  // namespace adit
