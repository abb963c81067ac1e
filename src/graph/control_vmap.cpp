// Control flow over a batch. Which parts of a state are batched is found by trying: a part that becomes
// batched in one round stays so, until nothing changes.
#include <fmt/format.h>

#include "graph/control.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::graph {

namespace {

using Flags = std::vector<bool>;

Lanes batch_function(const Subgraph& f, const Lanes& arguments, int64_t size) {
  return batch_graph(f.results, f.parameters, arguments, size);
}

Flags flags_of(const Lanes& lanes) {
  Flags flags;
  for (const Lane& lane : lanes) flags.push_back(lane.batched);
  return flags;
}

Lanes lanes_of(const Tensors& values, const Flags& flags) {
  Lanes lanes;
  for (size_t i = 0; i < values.size(); ++i) lanes.push_back({values[i], flags[i]});
  return lanes;
}

// Lanes as tensors, batched where the flags say so.
Tensors values_of(const Lanes& lanes, const Flags& flags, int64_t size) {
  Tensors values;
  for (size_t i = 0; i < lanes.size(); ++i)
    values.push_back(flags[i] ? with_batch(lanes[i], size) : lanes[i].value);
  return values;
}

Tensors all_batched(const Lanes& lanes, int64_t size) {
  return values_of(lanes, Flags(lanes.size(), true), size);
}

// Placeholders that look like a state with these flags.
Lanes imagined(const Lanes& initial, const Flags& flags, int64_t size) {
  Tensors values;
  for (const Tensor& x : values_of(initial, flags, size)) values.push_back(placeholder(x.dtype(), x.shape()));
  return lanes_of(values, flags);
}

// Adds to `flags` what is batched in `lanes`; whether there was anything to add.
bool grow(Flags& flags, const Lanes& lanes) {
  bool grew = false;
  for (size_t i = 0; i < flags.size(); ++i)
    if (lanes[i].batched && !flags[i]) flags[i] = grew = true;
  return grew;
}

// on_true where live (one number an example) is not zero.
Tensor choose(const Tensor& live, const Tensor& on_true, const Tensor& on_false) {
  return select(broadcast_in(live, on_true.shape(), {0}), on_true, on_false);
}

Tensors choose(const Tensor& live, const Tensors& on_true, const Tensors& on_false) {
  Tensors chosen;
  for (size_t i = 0; i < on_true.size(); ++i) chosen.push_back(choose(live, on_true[i], on_false[i]));
  return chosen;
}

Lanes cond_batch(const ControlAttributes& a, const Lanes& operands, int64_t size) {
  const Lanes arguments = after(operands, 1);
  const auto branch = [&](size_t which) -> Function {
    return [&, which](const Tensors&) {
      return all_batched(batch_function(*a.functions[which], arguments, size), size);
    };
  };
  const Tensor& predicate = operands[0].value;
  const Tensors results = operands[0].batched ? choose(predicate, branch(0)({}), branch(1)({}))
                                              : cond(predicate, branch(0), branch(1), {});
  return lanes_of(results, Flags(results.size(), true));
}

Lanes scan_batch(const ControlAttributes& a, const Lanes& operands, int64_t size) {
  const auto n = static_cast<size_t>(a.carries), m = static_cast<size_t>(a.sequences);
  const Lanes carry = part(operands, 0, n), captured = after(operands, n + m);
  const Subgraph& f = *a.functions[0];
  Tensors xs;  // slices along axis 0, the batch after it
  for (const Lane& x : part(operands, n, m)) xs.push_back(x.batched ? move_axis(x.value, 0, 1) : x.value);
  const Flags batched_xs = flags_of(part(operands, n, m));
  Tensors slices;
  for (const Tensor& x : xs) {
    Shape shape = x.shape();
    shape.erase(0);
    slices.push_back(placeholder(x.dtype(), shape));
  }
  Flags flags = flags_of(carry), outputs;
  for (bool grew = true; grew;) {
    const Lanes results =
        batch_function(f, joined(imagined(carry, flags, size), lanes_of(slices, batched_xs), captured), size);
    grew = grow(flags, part(results, 0, n));
    outputs = flags_of(after(results, n));
  }
  const auto step = [&](const Tensors& c, const Tensors& s) -> Step {
    const Lanes results =
        batch_function(f, joined(lanes_of(c, flags), lanes_of(s, batched_xs), captured), size);
    return {values_of(part(results, 0, n), flags, size), values_of(after(results, n), outputs, size)};
  };
  Step all = scan(step, values_of(carry, flags, size), xs, a.length, a.reverse);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i]) all.outputs[i] = move_axis(all.outputs[i], 1, 0);
  return joined(lanes_of(all.carry, flags), lanes_of(all.outputs, outputs));
}

// The loops of a batch together. Where the condition differs by example they go on while any does, and those
// that have ended keep their state.
struct BatchedLoop {
  BatchedLoop(const ControlAttributes& attributes, Lanes state, Lanes captured_lanes, int64_t batch)
      : a(attributes), initial(std::move(state)), captured(std::move(captured_lanes)), size(batch) {
    flags = flags_of(initial);
    for (bool grew = true; grew;) {
      const Lanes s = imagined(initial, flags, size);
      by_example = condition_of(s).batched;
      if (by_example) flags.assign(flags.size(), true);
      grew = !by_example && grow(flags, batch_function(*a.functions[1], joined(s, captured), size));
    }
  }

  Lane condition_of(const Lanes& state) const {
    return batch_function(*a.functions[0], joined(state, captured), size)[0];
  }
  Tensor condition(const Tensors& state) const {
    const Lane live = condition_of(lanes_of(state, flags));
    return by_example ? any(live.value) : live.value;
  }
  Tensors body(const Tensors& state) const {
    const Lanes s = lanes_of(state, flags);
    const Tensors next = values_of(batch_function(*a.functions[1], joined(s, captured), size), flags, size);
    return by_example ? choose(condition_of(s).value, next, state) : next;
  }
  Tensors first() const { return values_of(initial, flags, size); }

  const ControlAttributes& a;
  Lanes initial, captured;
  int64_t size;
  Flags flags;  // of the state
  bool by_example = false;
};

Lanes while_batch(const ControlAttributes& a, const Lanes& operands, int64_t size) {
  const auto n = static_cast<size_t>(a.carries);
  const BatchedLoop loop(a, part(operands, 0, n), after(operands, n), size);
  return lanes_of(graph::while_loop([&](const Tensors& s) { return loop.condition(s); },
                                    [&](const Tensors& s) { return loop.body(s); }, loop.first(), a.length),
                  loop.flags);
}

Lanes while_vjp_batch(const ControlAttributes& a, const Lanes& operands, int64_t size) {
  const auto n = static_cast<size_t>(a.carries), m = static_cast<size_t>(a.sequences);
  const Lanes carry = part(operands, n, m), captured = after(operands, n + m);
  const BatchedLoop loop(a, part(operands, 0, n), captured, size);
  const auto back = [&](const Lanes& state, const Lanes& c) {
    return batch_function(*a.functions[2], joined(state, c, captured), size);
  };
  Flags flags = loop.by_example ? Flags(m, true) : flags_of(carry);
  while (!loop.by_example &&
         grow(flags, back(imagined(loop.initial, loop.flags, size), imagined(carry, flags, size)))) {
  }
  const Function backward = [&](const Tensors& all) {
    const Tensors state = part(all, 0, n), c = part(all, n, m);
    const Lanes s = lanes_of(state, loop.flags);
    const Tensors next = values_of(back(s, lanes_of(c, flags)), flags, size);
    return loop.by_example ? choose(loop.condition_of(s).value, next, c) : next;
  };
  return lanes_of(while_vjp([&](const Tensors& s) -> Tensors { return {loop.condition(s)}; },
                            [&](const Tensors& s) { return loop.body(s); }, backward, loop.first(),
                            values_of(carry, flags, size), a.length),
                  flags);
}

}  // namespace

Lanes control_batch(const Tensor& node, const Lanes& operands, int64_t size) {
  const ControlAttributes& a = about(node);
  switch (node_of(node).op) {
    case Op::cond: return cond_batch(a, operands, size);
    case Op::scan: return scan_batch(a, operands, size);
    case Op::while_loop: return while_batch(a, operands, size);
    case Op::while_vjp: return while_vjp_batch(a, operands, size);
    default: fail("vmap", row_of(node_of(node).op).name, "cannot be batched");
  }
}

}  // namespace adit::graph
