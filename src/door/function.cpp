#include "door/function.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include <adit/ops.hpp>
#include <adit/transform.hpp>
#include <adit/windows.hpp>

#include "door/window_call.hpp"
#include "graph/control.hpp"
#include "tensor/compiled_function.hpp"

using namespace adit;
using door::expect;
using door::guarded;

struct adit_jit {
  CompiledFunction compiled;
};

namespace adit::door {

namespace {

const Tensors& results_of(std::string_view op, std::string_view name, const adit_function& f) {
  if (!f.finished) fail(op, name, "expected a finished function, got one that is being built");
  return f.results;
}

}  // namespace

void expect_arguments(std::string_view op, std::string_view name, const adit_function& f,
                      const Tensors& arguments) {
  results_of(op, name, f);
  if (arguments.size() != f.parameters.size())
    fail(op, name,
         fmt::format("expected a function of {} tensors, got one of {}", arguments.size(),
                     f.parameters.size()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const graph::Slot got = graph::slot_of(arguments[i]), wants = graph::slot_of(f.parameters[i]);
    if (got.type != wants.type || !(got.shape == wants.shape))
      fail(op, fmt::format("argument {} of {}", i, name),
           fmt::format("expected {}, got {}", graph::describe(wants), graph::describe(got)));
  }
}

graph::Trace traced(std::string_view op, std::string_view name, const adit_function& f,
                    const Tensors& arguments) {
  expect_arguments(op, name, f, arguments);
  graph::Trace trace;
  trace.first = f.first;
  for (const Tensor& x : f.parameters) trace.parameters.push_back(graph::placeholder(x.dtype(), x.shape()));
  trace.results = graph::substitute(f.results, f.parameters, trace.parameters);
  return trace;
}

Tensors applied(const adit_function& f, const Tensors& arguments) {
  return graph::substitute(f.results, f.parameters, arguments);
}

std::unique_ptr<adit_function> function_of(graph::Trace trace) {
  auto made = std::make_unique<adit_function>();
  made->parameters = std::move(trace.parameters);
  made->results = std::move(trace.results);
  made->first = trace.first;
  made->finished = true;
  return made;
}

namespace {

// A transformation is applied to placeholders, and becomes a function of them.
std::unique_ptr<adit_function> transformed(std::string_view op, const std::vector<graph::Slot>& slots,
                                           const Function& f) {
  return function_of(graph::trace(op, "function", f, slots));
}

Function as_function(const adit_function& f) {
  return [&f](const Tensors& x) { return applied(f, x); };
}

std::function<Tensor(Tensor, Tensor)> combination(const Call& c, const Tensor& x, const Tensor& initial) {
  const adit_function& f = c.function("combine");
  const Tensor element = graph::placeholder(promote(x.dtype(), initial.dtype()), {});
  expect_arguments(c.name(), "combine", f, {element, element});
  if (f.results.size() != 1)
    fail(c.name(), "combine", fmt::format("expected one result, got {}", f.results.size()));
  return [&f](const Tensor& a, const Tensor& b) { return applied(f, {a, b})[0]; };
}

Tensors cond_call(const Call& c) {
  const Tensors operands = c.from(1);
  const graph::Trace on_true = traced("cond", "on_true", c.function("on_true"), operands);
  const graph::Trace on_false = traced("cond", "on_false", c.function("on_false"), operands);
  return graph::cond_of(c[0], on_true, on_false, operands);
}
Tensors while_call(const Call& c) {
  graph::Trace condition = traced("while_loop", "condition", c.function("condition"), c.tensors());
  const graph::Trace body = traced("while_loop", "body", c.function("body"), c.tensors());
  return graph::while_of(std::move(condition), body, c.tensors());
}
Tensors scan_call(const Call& c) {
  const int64_t carries = c.integer("carries");
  if (carries < 0 || carries > static_cast<int64_t>(c.tensors().size()))
    fail("scan", "carries", fmt::format("expected 0 to {}, got {}", c.tensors().size(), carries));
  const adit_function& f = c.function("step");
  const auto step = [&](const Tensors& carry, const Tensors& slices) -> Step {
    Tensors all = carry;
    all.insert(all.end(), slices.begin(), slices.end());
    expect_arguments("scan", "step", f, all);
    const Tensors results = applied(f, all);
    if (static_cast<int64_t>(results.size()) < carries)
      fail("scan", "step", fmt::format("expected at least {} results, got {}", carries, results.size()));
    return {{results.begin(), results.begin() + carries}, {results.begin() + carries, results.end()}};
  };
  const Tensors& all = c.tensors();
  Step made = scan(step, {all.begin(), all.begin() + carries}, {all.begin() + carries, all.end()},
                   c.integer("length", -1), c.flag("reverse", false));
  made.carry.insert(made.carry.end(), made.outputs.begin(), made.outputs.end());
  return made.carry;
}

}  // namespace

std::vector<Operation> function_operations() {
  return {
      {{"cond", "predicate, operands...", "on_true, on_false"}, 1, -1, cond_call},
      {{"while_loop", "initial...", "condition, body"}, 1, -1, while_call},
      {{"scan", "carries..., xs...", "step, carries, length, reverse=0"}, 0, -1, scan_call},
      {{"reduce", "x, initial", "axes=[], keep_axes=0, combine"},
       2,
       2,
       [](const Call& c) -> Tensors {
         return {
             reduce(c[0], c[1], c.dims("axes", {}), combination(c, c[0], c[1]), c.flag("keep_axes", false))};
       }},
      {{"window_reduce", "x, initial", "window, strides=1, low=0, high=0, same=0, dilations=1, combine"},
       2,
       2,
       [](const Call& c) -> Tensors {
         return {window_reduce(c[0], c[1], c.dims("window"), combination(c, c[0], c[1]), window_options(c))};
       }},
  };
}

}  // namespace adit::door

adit_status adit_function_begin(size_t count, const adit_slot* parameters, adit_function** function,
                                adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "function_begin";
    auto& place = expect(name, "function", function);
    auto made = std::make_unique<adit_function>();
    made->first = graph::number_of_now();
    for (const adit_slot& slot : door::expect_list(name, "parameters", parameters, count)) {
      const Shape shape = door::dims_of(name, "shape", slot.shape, slot.rank);
      for (const int64_t extent : shape)
        if (extent < 0)
          door::fail(name, "shape", fmt::format("expected extents of at least 0, got {}", extent));
      made->parameters.push_back(graph::placeholder(door::dtype_of(name, "type", slot.type), shape));
    }
    place = made.release();
  });
}

size_t adit_function_parameter_count(const adit_function* function) {
  return function ? function->parameters.size() : 0;
}

adit_status adit_function_parameter(const adit_function* function, size_t i, adit_tensor** placeholder,
                                    adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "function_parameter";
    const adit_function& f = expect(name, "function", function);
    if (i >= f.parameters.size())
      door::fail(name, "i", fmt::format("expected less than {}, got {}", f.parameters.size(), i));
    auto& place = expect(name, "placeholder", placeholder);
    place = door::handle_of(f.parameters[i]);
  });
}

adit_status adit_function_finish(adit_function* function, size_t count, const adit_tensor* const* results,
                                 adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "function_finish";
    adit_function& f = expect(name, "function", function);
    Tensors list = door::tensors_of(name, "results", results, count);
    if (list.empty()) door::fail(name, "results", "expected at least one, got none");
    const std::lock_guard lock(f.mutex);
    if (f.finished) door::fail(name, "function", "expected one that is being built, got a finished one");
    f.results = std::move(list);
    f.finished = true;
  });
}

size_t adit_function_result_count(const adit_function* function) {
  return function && function->finished ? function->results.size() : 0;
}
void adit_function_free(adit_function* function) { delete function; }

namespace {

void give_all(const char* name, const Tensors& list, size_t capacity, adit_tensor** results) {
  if (list.size() > capacity)
    door::fail(name, "capacity", fmt::format("expected at least {}, got {}", list.size(), capacity));
  door::give(list, door::expect_list(name, "results", results, list.size()).data());
}

}  // namespace

adit_status adit_function_call(const adit_function* function, size_t count,
                               const adit_tensor* const* arguments, size_t capacity, adit_tensor** results,
                               adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "function_call";
    const adit_function& f = expect(name, "function", function);
    const Tensors list = door::tensors_of(name, "arguments", arguments, count);
    door::expect_arguments(name, "function", f, list);
    give_all(name, door::applied(f, list), capacity, results);
  });
}

adit_status adit_function_grad(const adit_function* function, size_t count, const int* arguments,
                               adit_function** made, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "function_grad";
    const adit_function& f = expect(name, "function", function);
    auto& place = expect(name, "made", made);
    door::results_of(name, "function", f);
    const auto wanted = door::expect_list(name, "arguments", arguments, count);
    const std::vector<int> which(wanted.begin(), wanted.end());
    place = door::transformed(name, graph::slots_of(f.parameters), [&](const Tensors& x) {
              ValueAndGrad found = value_and_grad_of(door::as_function(f), x, which);
              found.grads.insert(found.grads.begin(), found.value);
              return found.grads;
            }).release();
  });
}

namespace {

// Functions of parameters and as many more tensors, which look like `like`.
template <class Transformation>
std::unique_ptr<adit_function> paired(const char* name, const adit_function& f, const Tensors& like,
                                      Transformation transformation) {
  std::vector<graph::Slot> slots = graph::slots_of(f.parameters);
  for (const Tensor& x : like) slots.push_back(graph::slot_of(x));
  const auto split = static_cast<int64_t>(f.parameters.size());
  return door::transformed(name, slots, [&](const Tensors& all) {
    auto [values, products] =
        transformation(Tensors(all.begin(), all.begin() + split), Tensors(all.begin() + split, all.end()));
    values.insert(values.end(), products.begin(), products.end());
    return values;
  });
}

// Integers have no derivative: they take part as they are, and products with them are zeros.
bool moves(const Tensor& x) { return !is_integer(x.dtype()); }

// Without the directions of integers.
Tensors directions_of(Tensors list) {
  for (Tensor& x : list)
    if (!moves(x)) x = {};
  return list;
}

std::pair<Tensors, Tensors> products_back(const adit_function& f, const Tensors& x, const Tensors& more) {
  Tensors moving;
  std::copy_if(x.begin(), x.end(), std::back_inserter(moving), moves);
  const auto of_moving = [&](const Tensors& list) {
    Tensors all = x;
    auto next = list.begin();
    for (Tensor& it : all)
      if (moves(it)) it = *next++;
    return door::applied(f, all);
  };
  auto [values, found] = vjp(Function(of_moving), moving, directions_of(more));
  Tensors products;
  auto next = found.begin();
  for (const Tensor& it : x) products.push_back(moves(it) ? *next++ : zeros_like(it));
  return {std::move(values), std::move(products)};
}

}  // namespace

adit_status adit_function_vjp(const adit_function* function, adit_function** made, adit_error** error) {
  return guarded(error, [&] {
    const adit_function& f = expect("function_vjp", "function", function);
    auto& place = expect("function_vjp", "made", made);
    place = paired("function_vjp", f, door::results_of("function_vjp", "function", f),
                   [&](const Tensors& x, const Tensors& more) { return products_back(f, x, more); })
                .release();
  });
}

adit_status adit_function_jvp(const adit_function* function, adit_function** made, adit_error** error) {
  return guarded(error, [&] {
    const adit_function& f = expect("function_jvp", "function", function);
    auto& place = expect("function_jvp", "made", made);
    door::results_of("function_jvp", "function", f);
    place = paired("function_jvp", f, f.parameters, [&](const Tensors& x, const Tensors& more) {
              return jvp(door::as_function(f), x, directions_of(more));
            }).release();
  });
}

adit_status adit_function_vmap(const adit_function* function, size_t count, const int* axes, int64_t size,
                               adit_function** made, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "function_vmap";
    const adit_function& f = expect(name, "function", function);
    auto& place = expect(name, "made", made);
    door::results_of(name, "function", f);
    const auto list = door::expect_list(name, "axes", axes, count);
    if (count != f.parameters.size())
      door::fail(name, "axes",
                 fmt::format("expected {}, one a parameter, got {}", f.parameters.size(), count));
    std::vector<graph::Slot> slots = graph::slots_of(f.parameters);
    for (size_t i = 0; i < count; ++i) {
      if (list[i] < -1 || list[i] > slots[i].shape.size())
        door::fail(name, "axes", fmt::format("expected -1 to {}, got {}", slots[i].shape.size(), list[i]));
      if (list[i] >= 0) slots[i].shape.insert(list[i], size);
    }
    const std::vector<int> in_axes(list.begin(), list.end());
    place = door::transformed(name, slots, [&](const Tensors& x) {
              return vmap_of(door::as_function(f), x, in_axes);
            }).release();
  });
}

adit_status adit_jit_new(const adit_function* function, adit_jit** jit, adit_error** error) {
  return guarded(error, [&] {
    const adit_function& f = expect("jit_new", "function", function);
    auto& place = expect("jit_new", "jit", jit);
    place = new adit_jit{CompiledFunction(f.parameters, door::results_of("jit_new", "function", f))};
  });
}

adit_status adit_jit_call(const adit_jit* jit, size_t count, const adit_tensor* const* arguments,
                          size_t capacity, adit_tensor** results, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "jit_call";
    const CompiledFunction& compiled = expect(name, "jit", jit).compiled;
    give_all(name, compiled(door::tensors_of(name, "arguments", arguments, count)), capacity, results);
  });
}

adit_status adit_jit_call_quickly(const adit_jit* jit, size_t count, const adit_tensor* const* arguments,
                                  size_t most_microseconds, int* done, size_t capacity, adit_tensor** results,
                                  adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "jit_call_quickly";
    const CompiledFunction& compiled = expect(name, "jit", jit).compiled;
    int& told = expect(name, "done", done);
    const auto list = compiled.quickly(door::tensors_of(name, "arguments", arguments, count),
                                       1e-6 * static_cast<double>(most_microseconds));
    told = list.has_value();
    if (list) give_all(name, *list, capacity, results);
  });
}

void adit_jit_free(adit_jit* jit) { delete jit; }
