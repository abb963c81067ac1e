#include <limits>

#include "bodies.hpp"
#include "quick.hpp"
#include "resources.hpp"
#include "terms.hpp"

namespace adit::nif {
namespace {

std::vector<adit_slot> read_slots(Call& call, Term list) {
  std::vector<adit_slot> slots;
  for (const Term term : read_list(call, "slots", list)) {
    const std::string name = element("slots", slots.size());
    const Term* pair = nullptr;
    int arity = 0;
    if (!enif_get_tuple(call.env(), term, &arity, &pair)) fail_expecting(call, name, "{dtype, shape}", term);
    if (arity != 2) call.fail(name, "expected {dtype, shape}, got a tuple of another size");
    const adit_dtype type = read_dtype(call, name, pair[0]);
    const auto shape = read_integers(call, name, pair[1]);
    slots.push_back({type, shape.size(), shape.data()});
  }
  return slots;
}

}  // namespace

Term function_begin(Call& call) {
  const std::vector<adit_slot> slots = read_slots(call, call[0]);
  adit_function* made = nullptr;
  call.door(
      [&](adit_error** error) { return adit_function_begin(slots.size(), slots.data(), &made, error); });
  const Term function = Resource<adit_function>::make(call.env(), made);  // holds it from now on
  Results placeholders(slots.size());
  for (size_t i = 0; i < slots.size(); ++i)
    call.door(
        [&](adit_error** error) { return adit_function_parameter(made, i, &placeholders.data()[i], error); });
  return enif_make_tuple3(call.env(), atoms().ok, function, placeholders.make_list(call.env()));
}

Term function_finish(Call& call) {
  const auto function = read_handle<adit_function>(call, "function", call[0]);
  const Handles<adit_tensor> results(call, "results", call[1]);
  call.deep_door([&](adit_error** error) {
    return adit_function_finish(function.get(), results.size(), results.data(), error);
  });
  return atoms().ok;
}

Term function_call(Call& call) {
  const auto function = read_handle<adit_function>(call, "function", call[0]);
  const Handles<adit_tensor> arguments(call, "arguments", call[1]);
  Results results(adit_function_result_count(function.get()));
  call.deep_door([&](adit_error** error) {
    return adit_function_call(function.get(), arguments.size(), arguments.data(), results.capacity(),
                              results.data(), error);
  });
  return make_ok(call.env(), results.make_list(call.env()));
}

Term function_grad(Call& call) {
  const auto function = read_handle<adit_function>(call, "function", call[0]);
  std::vector<int> arguments;
  for (const int64_t place : read_integers(call, "arguments", call[1])) {
    if (place < 0 || place > std::numeric_limits<int>::max())
      call.fail(element("arguments", arguments.size()),
                "expected a place of a parameter, got another integer");
    arguments.push_back(static_cast<int>(place));
  }
  adit_function* made = nullptr;
  call.deep_door([&](adit_error** error) {
    return adit_function_grad(function.get(), arguments.size(), arguments.data(), &made, error);
  });
  return make_ok(call.env(), Resource<adit_function>::make(call.env(), made));
}

Term jit(Call& call) {
  const auto function = read_handle<adit_function>(call, "function", call[0]);
  adit_jit* made = nullptr;
  call.deep_door([&](adit_error** error) { return adit_jit_new(function.get(), &made, error); });
  std::unique_ptr<adit_jit, decltype(&adit_jit_free)> held(made, &adit_jit_free);
  auto compiled = std::make_unique<Compiled>(made, adit_function_result_count(function.get()));
  static_cast<void>(held.release());
  return make_ok(call.env(), Resource<Compiled>::make(call.env(), compiled.release()));
}

Term run(Call& call) {
  const auto compiled = read_handle<Compiled>(call, "compiled", call[0]);
  const Handles<adit_tensor> arguments(call, "arguments", call[1]);
  Results results(compiled->results);
  if (call.may_block()) {
    call.deep_door([&](adit_error** error) {
      return adit_jit_call(compiled->jit, arguments.size(), arguments.data(), results.capacity(),
                           results.data(), error);
    });
  } else {
    int done = 0;
    call.door([&](adit_error** error) {
      return adit_jit_call_quickly(compiled->jit, arguments.size(), arguments.data(), most_quick_microseconds,
                                   &done, results.capacity(), results.data(), error);
    });
    if (!done) return call.go_on(Where::computing);
  }
  return make_ok(call.env(), results.make_evaluated_list(call.env()));
}

}  // namespace adit::nif
