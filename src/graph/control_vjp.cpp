// Gradients of control flow, written with the builders of control flow: what they need of the node's operands
// they simply capture.
#include "graph/control.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::graph {

namespace {

using Flags = std::vector<bool>;

Flags flags_of_floats(const Tensors& list) {
  Flags flags;
  for (const Tensor& x : list) flags.push_back(differentiable(x.dtype()));
  return flags;
}

Tensors chosen(const Tensors& list, const Flags& flags) {
  Tensors found;
  for (size_t i = 0; i < list.size(); ++i)
    if (flags[i]) found.push_back(list[i]);
  return found;
}

Tensors spread(const Tensors& list, const Flags& flags) {
  Tensors all(flags.size());
  for (size_t i = 0, next = 0; i < flags.size(); ++i)
    if (flags[i]) all[i] = list[next++];
  return all;
}

Tensors filled(Tensors list, const Tensors& like) {
  for (size_t i = 0; i < list.size(); ++i)
    if (!list[i]) list[i] = zeros_for(slot_of(like[i]));
  return list;
}

Tensors zeros_of(const Tensors& like) { return filled(Tensors(like.size()), like); }

Tensors added(const Tensors& sums, const Tensors& more) {
  Tensors next;
  for (size_t i = 0; i < sums.size(); ++i) next.push_back(more[i] ? add(sums[i], more[i]) : sums[i]);
  return next;
}

ControlGradients cond_vjp(const ControlAttributes& a, const Tensors& operands, const Tensors& cotangents,
                          const Flags& wanted) {
  const Tensors arguments = after(operands, 1);
  const Flags flags = after(wanted, 1);
  const Tensors like = chosen(arguments, flags);
  const auto branch = [&](size_t which) -> Function {
    return [&, which](const Tensors&) {
      return filled(pull_back(*a.functions[which], arguments, cotangents, flags), like);
    };
  };
  if (like.empty()) return {};
  return {joined(Tensors{{}}, spread(cond(operands[0], branch(0), branch(1), {}), flags)), {}};
}

// A forward scan that keeps the carries before each step too (and replaces the first one), then a scan the
// other way over carries, slices and cotangents of the outputs. Its carry: cotangents of the carries, sums of
// those of captured tensors.
ControlGradients scan_vjp(const ControlAttributes& a, const Tensors& operands, const Tensors& cotangents,
                          const Flags& wanted) {
  const auto n = static_cast<size_t>(a.carries), m = static_cast<size_t>(a.sequences);
  const Tensors carry = part(operands, 0, n), xs = part(operands, n, m), captured = after(operands, n + m);
  const Flags wanted_xs(wanted.begin() + a.carries, wanted.begin() + a.carries + a.sequences);
  const Flags wanted_captured = after(wanted, n + m);
  const Subgraph& step = *a.functions[0];

  Tensors again, kept;
  if (n > 0) {
    const auto keep = [&](const Tensors& c, const Tensors& slices) -> Step {
      const Tensors next = instantiate(step, joined(c, slices, captured));
      return {part(next, 0, n), joined(after(next, n), c)};
    };
    const Step forward = scan(keep, carry, xs, a.length, a.reverse);
    again = joined(forward.carry, part(forward.outputs, 0, cotangents.size() - n));
    kept = after(forward.outputs, cotangents.size() - n);
  }
  Tensors flowing;  // cotangents of outputs that are not zero
  for (size_t i = n; i < cotangents.size(); ++i)
    if (cotangents[i]) flowing.push_back(cotangents[i]);
  const size_t floats = floats_of(carry).size();

  const auto back = [&](const Tensors& c, const Tensors& slices) -> Step {
    const Tensors values = part(slices, 0, n), inputs = part(slices, n, m);
    Tensors outputs(cotangents.size() - n);
    for (size_t i = 0, next = n + m; i < outputs.size(); ++i)
      if (cotangents[n + i]) outputs[i] = slices[next++];
    const Tensors gradients = pull_back(step, joined(values, inputs, captured),
                                        joined(spread_floats(part(c, 0, floats), values), outputs),
                                        joined(flags_of_floats(values), wanted_xs, wanted_captured));
    const Tensors like_xs = chosen(inputs, wanted_xs);
    return {joined(filled(part(gradients, 0, floats), floats_of(values)),
                   added(after(c, floats), after(gradients, floats + like_xs.size()))),
            filled(part(gradients, floats, like_xs.size()), like_xs)};
  };
  const Tensors first = joined(filled_floats(cotangents, carry), zeros_of(chosen(captured, wanted_captured)));
  const Step all = scan(back, first, joined(kept, xs, flowing), a.length, !a.reverse);
  return {joined(spread_floats(part(all.carry, 0, floats), carry), spread(all.outputs, wanted_xs),
                 spread(after(all.carry, floats), wanted_captured)),
          again};
}

ControlGradients while_loop_vjp(const ControlAttributes& a, const Tensors& operands,
                                const Tensors& cotangents, const Flags& wanted) {
  const auto n = static_cast<size_t>(a.carries);
  const Tensors state = part(operands, 0, n), captured = after(operands, n);
  const Flags wanted_captured = after(wanted, n);
  const size_t floats = floats_of(state).size();
  const auto call = [&](size_t which) -> Function {
    return [&, which](const Tensors& s) { return instantiate(*a.functions[which], joined(s, captured)); };
  };
  const Function backward = [&](const Tensors& all) {
    const Tensors values = part(all, 0, n), c = after(all, n);
    const Tensors gradients =
        pull_back(*a.functions[1], joined(values, captured), spread_floats(part(c, 0, floats), values),
                  joined(flags_of_floats(values), wanted_captured));
    return joined(filled(part(gradients, 0, floats), floats_of(values)),
                  added(after(c, floats), after(gradients, floats)));
  };
  const Tensors last = while_vjp(
      call(0), call(1), backward, state,
      joined(filled_floats(cotangents, state), zeros_of(chosen(captured, wanted_captured))), a.length);
  return {joined(spread_floats(part(last, 0, floats), state), spread(after(last, floats), wanted_captured)),
          {}};
}

}  // namespace

ControlGradients control_vjp(const Tensor& node, const Tensors& operands, const Tensors& cotangents,
                             const std::vector<bool>& wanted) {
  const ControlAttributes& a = about(node);
  switch (node_of(node).op) {
    case Op::cond: return cond_vjp(a, operands, cotangents, wanted);
    case Op::scan: return scan_vjp(a, operands, cotangents, wanted);
    case Op::while_loop: return while_loop_vjp(a, operands, cotangents, wanted);
    default:
      fail("grad", row_of(node_of(node).op).name,
           "has no derivative in reverse mode; take the jvp of the gradient, as hessian does");
  }
}

}  // namespace adit::graph
