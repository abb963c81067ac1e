// Builders of control flow: the functions are traced, what they capture becomes operands.
#include "graph/control.hpp"

#include <fmt/format.h>

#include <adit/control.hpp>

#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit {

namespace graph {

namespace {

void check_list(std::string_view op, std::string_view name, const Tensors& list) {
  for (size_t i = 0; i < list.size(); ++i)
    if (!list[i]) fail(op, fmt::format("{} {}", name, i), "expected a tensor, got none");
}

template <class F>
void expect_function(std::string_view op, std::string_view name, const F& f) {
  if (!f) fail(op, name, "expected a function, got none");
}

// `got` must look like `expected`, one by one.
void check_same(std::string_view op, std::string_view function, std::string_view what,
                const Tensors& expected, const Tensors& got) {
  if (expected.size() != got.size())
    fail(op, function,
         fmt::format("expected {} tensors, one a {}, got {}", expected.size(), what, got.size()));
  for (size_t i = 0; i < got.size(); ++i)
    if (expected[i].dtype() != got[i].dtype() || !(expected[i].shape() == got[i].shape()))
      fail(op, function,
           fmt::format("expected {} for {} {}, got {}", describe(slot_of(expected[i])), what, i,
                       describe(slot_of(got[i]))));
}

// A scalar as u8 that is not zero where x is not.
Tensor as_predicate(std::string_view op, std::string_view name, const Tensor& x) {
  if (!x) fail(op, name, "expected a scalar, got none");
  if (x.rank() != 0) fail(op, name, fmt::format("expected a scalar, got shape {}", to_string(x.shape())));
  if (is_complex(x.dtype()))
    fail(op, name, fmt::format("expected a real scalar, got {}", name_of(x.dtype())));
  return x.dtype() == DType::u8 ? x : not_equal(x, constant_integer(x.dtype(), 0));
}

void append(Tensors& list, const Tensors& more) { list.insert(list.end(), more.begin(), more.end()); }

// The node, and its results as items.
Tensors make_control(Op op, Tensors operands, ControlAttributes attributes, const Tensors& results) {
  if (results.empty()) fail(row_of(op).name, "results", "expected at least one, got none");
  for (const Tensor& x : results) {
    attributes.types.push_back(x.dtype());
    attributes.shapes.push_back(x.shape());
  }
  const auto shared = std::make_shared<const ControlAttributes>(std::move(attributes));
  const Tensor node = make_node(op, shared->types[0], shared->shapes[0], std::move(operands), shared);
  Tensors items;
  for (size_t i = 0; i < shared->types.size(); ++i)
    items.push_back(
        make_node(Op::item, shared->types[i], shared->shapes[i], {node}, Which{static_cast<int>(i)}));
  return items;
}

Function predicate_of(std::string_view op, const Function& condition) {
  return [op, &condition](const Tensors& state) -> Tensors {
    const Tensors results = condition(state);
    if (results.size() != 1)
      fail(op, "condition", fmt::format("expected one result, got {}", results.size()));
    return {as_predicate(op, "condition", results[0])};
  };
}

}  // namespace

Tensors while_vjp(const Function& condition, const Function& body, const Function& backward,
                  const Tensors& state, const Tensors& carry, int64_t length) {
  constexpr std::string_view op = "while_vjp";
  const std::vector<Slot> slots = slots_of(state);
  Tensors both = state;
  append(both, carry);
  const std::vector<Trace> traces = {trace(op, "condition", predicate_of(op, condition), slots),
                                     trace(op, "body", body, slots),
                                     trace(op, "backward", backward, slots_of(both))};
  check_same(op, "body", "state", state, traces[1].results);
  check_same(op, "backward", "carry", carry, traces[2].results);
  Closed closed = close(traces, Invariant::outside);
  append(both, closed.captured);
  return make_control(Op::while_vjp, std::move(both),
                      {.functions = std::move(closed.functions),
                       .carries = static_cast<int>(state.size()),
                       .sequences = static_cast<int>(carry.size()),
                       .length = length},
                      carry);
}

Tensors cond_of(const Tensor& predicate, const Trace& on_true, const Trace& on_false,
                const Tensors& operands) {
  const Tensor chosen = as_predicate("cond", "predicate", predicate);
  check_same("cond", "on_false", "result", on_true.results, on_false.results);
  // A branch that is not taken costs nothing, so nothing moves out of it.
  Closed closed = close({on_true, on_false}, Invariant::inside);
  Tensors all = {chosen};
  append(all, operands);
  append(all, closed.captured);
  return make_control(Op::cond, std::move(all), {.functions = std::move(closed.functions)}, on_true.results);
}

Tensors while_of(Trace condition, const Trace& body, const Tensors& initial, int64_t length) {
  if (condition.results.size() != 1)
    fail("while_loop", "condition", fmt::format("expected one result, got {}", condition.results.size()));
  condition.results[0] = as_predicate("while_loop", "condition", condition.results[0]);
  check_same("while_loop", "body", "state", initial, body.results);
  Closed closed = close({condition, body}, Invariant::outside);
  Tensors all = initial;
  append(all, closed.captured);
  return make_control(Op::while_loop, std::move(all),
                      {.functions = std::move(closed.functions),
                       .carries = static_cast<int>(initial.size()),
                       .length = length},
                      initial);
}

Tensors while_loop(const std::function<Tensor(const Tensors&)>& condition, const Function& body,
                   const Tensors& initial, int64_t length) {
  const Function list_of_one = [&](const Tensors& state) -> Tensors { return {condition(state)}; };
  return while_of(trace("while_loop", "condition", list_of_one, slots_of(initial)),
                  trace("while_loop", "body", body, slots_of(initial)), initial, length);
}

}  // namespace graph

using namespace graph;

Tensors cond(const Tensor& predicate, const std::function<Tensors(const Tensors&)>& on_true,
             const std::function<Tensors(const Tensors&)>& on_false, const Tensors& operands) {
  const Tensor chosen = as_predicate("cond", "predicate", predicate);
  check_list("cond", "operand", operands);
  return cond_of(chosen, trace("cond", "on_true", on_true, slots_of(operands)),
                 trace("cond", "on_false", on_false, slots_of(operands)), operands);
}

Tensors while_loop(const std::function<Tensor(const Tensors&)>& condition,
                   const std::function<Tensors(const Tensors&)>& body, const Tensors& initial) {
  expect_function("while_loop", "condition", condition);
  check_list("while_loop", "initial", initial);
  return graph::while_loop(condition, body, initial, 0);
}

namespace {

int64_t scan_length(const Tensors& xs, int64_t length) {
  for (size_t i = 0; i < xs.size(); ++i) {
    if (xs[i].rank() == 0) fail("scan", fmt::format("xs {}", i), "expected at least one axis, got a scalar");
    if (length >= 0 && xs[i].shape()[0] != length)
      fail("scan", fmt::format("xs {}", i),
           fmt::format("expected {} slices along axis 0, got shape {}", length, to_string(xs[i].shape())));
    length = xs[i].shape()[0];
  }
  if (length < 0) fail("scan", "length", fmt::format("expected it, as there are no xs, got {}", length));
  return length;
}

}  // namespace

Step scan(const std::function<Step(const Tensors& carry, const Tensors& slices)>& step,
          const Tensors& initial, const Tensors& xs, int64_t length, bool reverse) {
  expect_function("scan", "step", step);
  check_list("scan", "initial", initial);
  check_list("scan", "xs", xs);
  length = scan_length(xs, length);
  std::vector<Slot> slots = slots_of(initial);
  for (const Tensor& x : xs) {
    slots.push_back(slot_of(x));
    slots.back().shape.erase(0);
  }
  const auto carries = static_cast<int64_t>(initial.size());
  size_t returned = 0;
  const Trace traced = trace(
      "scan", "step",
      [&](const Tensors& all) {
        const Step next =
            step(Tensors(all.begin(), all.begin() + carries), Tensors(all.begin() + carries, all.end()));
        returned = next.carry.size();
        Tensors results = next.carry;
        append(results, next.outputs);
        return results;
      },
      slots);
  check_same("scan", "step", "carry", initial,
             Tensors(traced.results.begin(), traced.results.begin() + static_cast<int64_t>(returned)));
  // The outputs stacked, as types and shapes only.
  Tensors results = initial;
  for (auto output = traced.results.begin() + carries; output != traced.results.end(); ++output) {
    Shape shape = output->shape();
    shape.insert(0, length);
    results.push_back(placeholder(output->dtype(), shape));
  }
  if (length == 0) {  // nothing runs
    Tensors none;
    for (size_t i = initial.size(); i < results.size(); ++i) none.push_back(zeros_for(slot_of(results[i])));
    return {initial, none};
  }
  Closed closed = close({traced}, Invariant::outside);
  Tensors all = initial;
  append(all, xs);
  append(all, closed.captured);
  const Tensors items = make_control(Op::scan, std::move(all),
                                     {.functions = std::move(closed.functions),
                                      .carries = static_cast<int>(carries),
                                      .sequences = static_cast<int>(xs.size()),
                                      .length = length,
                                      .reverse = reverse},
                                     results);
  return {Tensors(items.begin(), items.begin() + carries), Tensors(items.begin() + carries, items.end())};
}

Tensor map(const std::function<Tensor(const Tensor&)>& f, const Tensor& xs) {
  expect_function("map", "f", f);
  check_list("map", "xs", {xs});
  if (xs.rank() == 0) fail("map", "xs", "expected at least one axis, got a scalar");
  const auto step = [&](const Tensors&, const Tensors& slices) -> Step { return {{}, {f(slices[0])}}; };
  return scan(step, {}, {xs}).outputs[0];
}

}  // namespace adit
