// Control flow. A control node has one or more results, which `item` nodes pick (also when there is only
// one); its own type and shape are those of result 0. Attributes are a ControlAttributes: functions, counts,
// the types and shapes of all results. Functions are closed: they depend on their parameters alone, and every
// function of a node takes the node's captured operands as its last parameters. Predicates are scalars of u8;
// other than zero is true.
//
// cond        operands   predicate, operands, captured
//             functions  {on_true, on_false}: (operands, captured) -> results
// while_loop  operands   state (`carries` of them), captured
//             functions  {condition, body}: (state, captured) -> predicate; (state, captured) -> state
//             results    the first state whose condition is zero, which may be the initial one
// scan        operands   carries, xs (`sequences` of them, `length` slices along axis 0 each), captured
//             functions  {step}: (carries, slices, captured) -> (carries, outputs)
//             results    the last carries, then the outputs stacked along a new axis 0
//             `reverse`  slices come last to first; the output of slice i stands at place i all the same
// while_vjp   operands   state (`carries`), carry (`sequences`), captured
//             functions  {condition, body}: as of while_loop
//                        {backward}: (state, carry, captured) -> carry
//             results    the carry after the way back: the loop runs as while_loop does and keeps the
//                        states s[0] to s[n-1] before each of its n rounds, then
//                        carry = backward(s[t], carry) for t = n-1 down to 0
//             meaning    the gradient of while_loop: the carry holds the cotangents of those states that
//                        are floats, then sums of cotangents of captured tensors, which begin as zeros
// item        operands   a control node; attributes Which: the number of the result
#include "graph/control.hpp"

#include <algorithm>

#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::graph {

namespace {

// Tangents: the same control flow over values and tangents together.
Tensors cond_jvp(const Tensor& node, const Tensors& operands, const Tensors& tangents) {
  const ControlAttributes& a = about(node);
  const auto branch = [&](size_t which) {
    return [&, which](const Tensors&) {
      const auto [results, moved] = push_forward(*a.functions[which], after(operands, 1), after(tangents, 1));
      return filled_floats(moved, results);
    };
  };
  const Function on_true = branch(0), on_false = branch(1);
  if (std::none_of(a.types.begin(), a.types.end(), differentiable)) return Tensors(a.types.size());
  return spread_by_type(cond(operands[0], on_true, on_false, {}), a.types);
}

Tensors while_jvp(const Tensor& node, const Tensors& operands, const Tensors& tangents) {
  const ControlAttributes& a = about(node);
  const auto n = static_cast<size_t>(a.carries);
  const Tensors state = part(operands, 0, n), captured = after(operands, n);
  const Tensors last = graph::while_loop(
      [&](const Tensors& s) { return instantiate(*a.functions[0], joined(part(s, 0, n), captured))[0]; },
      [&](const Tensors& s) {
        const Tensors values = part(s, 0, n);
        const auto [next, moved] =
            push_forward(*a.functions[1], joined(values, captured),
                         joined(spread_floats(after(s, n), values), after(tangents, n)));
        return joined(next, filled_floats(moved, next));
      },
      joined(state, filled_floats(part(tangents, 0, n), state)), a.length);
  return spread_floats(after(last, n), state);
}

Tensors scan_jvp(const Tensor& node, const Tensors& operands, const Tensors& tangents) {
  const ControlAttributes& a = about(node);
  const auto n = static_cast<size_t>(a.carries), m = static_cast<size_t>(a.sequences);
  const Tensors carry = part(operands, 0, n), xs = part(operands, n, m), captured = after(operands, n + m);
  Tensors moving;  // tangents of xs that are not zero
  for (size_t i = n; i < n + m; ++i)
    if (tangents[i]) moving.push_back(tangents[i]);
  const auto step = [&](const Tensors& c, const Tensors& slices) -> Step {
    const Tensors values = part(c, 0, n);
    Tensors slice_tangents(m);
    for (size_t i = 0, next = m; i < m; ++i)
      if (tangents[n + i]) slice_tangents[i] = slices[next++];
    const auto [results, moved] =
        push_forward(*a.functions[0], joined(values, part(slices, 0, m), captured),
                     joined(spread_floats(after(c, n), values), slice_tangents, after(tangents, n + m)));
    const Tensors next = part(results, 0, n);
    return {joined(next, filled_floats(part(moved, 0, n), next)),
            filled_floats(after(moved, n), after(results, n))};
  };
  const Step all = scan(step, joined(carry, filled_floats(part(tangents, 0, n), carry)), joined(xs, moving),
                        a.length, a.reverse);
  const std::vector<DType> outputs(a.types.begin() + a.carries, a.types.end());
  return joined(spread_floats(after(all.carry, n), carry), spread_by_type(all.outputs, outputs));
}

Tensors while_vjp_jvp(const Tensor& node, const Tensors& operands, const Tensors& tangents) {
  const ControlAttributes& a = about(node);
  const auto n = static_cast<size_t>(a.carries), m = static_cast<size_t>(a.sequences);
  const Tensors state = part(operands, 0, n), carry = part(operands, n, m), captured = after(operands, n + m);
  const Tensors captured_tangents = after(tangents, n + m);
  const size_t wide = n + floats_of(state).size();
  const Function condition = [&](const Tensors& s) {
    return instantiate(*a.functions[0], joined(part(s, 0, n), captured));
  };
  const Function body = [&](const Tensors& s) {
    const Tensors values = part(s, 0, n);
    const auto [next, moved] = push_forward(*a.functions[1], joined(values, captured),
                                            joined(spread_floats(after(s, n), values), captured_tangents));
    return joined(next, filled_floats(moved, next));
  };
  const Function backward = [&](const Tensors& all) {
    const Tensors values = part(all, 0, n), value_tangents = part(all, n, wide - n);
    const Tensors c = part(all, wide, m), c_tangents = part(all, wide + m, m);
    const auto [next, moved] =
        push_forward(*a.functions[2], joined(values, c, captured),
                     joined(spread_floats(value_tangents, values), c_tangents, captured_tangents));
    return joined(next, filled_floats(moved, next));
  };
  const Tensors last =
      while_vjp(condition, body, backward, joined(state, filled_floats(part(tangents, 0, n), state)),
                joined(carry, filled_floats(part(tangents, n, m), carry)), a.length);
  return after(last, m);
}

constexpr std::string_view any_type = "any";

}  // namespace

Tensors control_jvp(const Tensor& node, const Tensors& operands, const Tensors& tangents) {
  return row_of(node_of(node).op).jvp(node, operands, tangents);
}

std::vector<Row> control_rows() {
  const Bound exact{0, "that of the functions inside"};
  const auto row = [&](Op op, std::string_view name, int arity, Jvp tangent, std::string_view doc) {
    return Row{.op = op,
               .name = name,
               .kind = Kind::control,
               .arity = arity,
               .types = any_type,
               .bound = exact,
               .cost = 1000,
               .doc = doc,
               .jvp = tangent};
  };
  return {
      row(Op::cond, "cond", -1, cond_jvp, "One of two functions, by a scalar; the other one does not run."),
      row(Op::while_loop, "while_loop", -1, while_jvp, "A function applied again while a condition holds."),
      row(Op::while_vjp, "while_vjp", -1, while_vjp_jvp, "The gradient of while_loop; has a jvp but no vjp."),
      row(Op::scan, "scan", -1, scan_jvp, "A function over the slices along axis 0, with a carry."),
      row(Op::item, "item", 1, nullptr, "One of the results of control flow."),
  };
}

}  // namespace adit::graph
