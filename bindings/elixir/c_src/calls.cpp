#include "attributes.hpp"
#include "bodies.hpp"
#include "quick.hpp"
#include "resources.hpp"
#include "terms.hpp"

namespace adit::nif {
namespace {

// More than any operation has but for those that have as many results as tensors or as a function's results.
constexpr size_t few_results = 16;

// Nodes of a graph: fast, unless they take over the graphs of functions.
void make_nodes(Call& call, Results& results) {
  const char* operation = read_name(call, "operation", call[0]);
  const Handles<adit_tensor> tensors(call, "tensors", call[1]);
  const Attributes attributes(call, "attributes", call[2]);
  if (!attributes.functions().empty()) call.take_time();

  size_t capacity = few_results + tensors.size(), count = 0;
  for (const auto& function : attributes.functions()) capacity += adit_function_result_count(function.get());
  const auto make = [&](adit_error** error) {
    return adit_call(operation, tensors.size(), tensors.data(), attributes.size(), attributes.data(),
                     results.capacity(), results.data(), &count, error);
  };
  results.resize(capacity);
  call.deep_door(make);
  results.resize(count);
}

// The end of call_eagerly on a dirty scheduler: its argument is the list of results.
Term finish_eagerly(Call& call) {
  const Handles<adit_tensor> results(call, "results", call[0]);
  call.deep_door([&](adit_error** error) { return adit_eval(results.size(), results.data(), error); });
  return make_ok(call.env(), call[0]);
}

}  // namespace

Term call_lazily(Call& call) {
  Results results;
  make_nodes(call, results);
  return make_ok(call.env(), results.make_list(call.env()));
}

Term call_eagerly(Call& call) {
  Results results;
  make_nodes(call, results);
  int done = 0;
  if (call.may_block()) {
    call.deep_door([&](adit_error** error) { return adit_eval(results.capacity(), results.data(), error); });
    done = 1;
  } else {
    call.door([&](adit_error** error) {
      return adit_eval_quickly(results.capacity(), results.data(), most_quick_microseconds, &done, error);
    });
  }
  const Term list = results.make_evaluated_list(call.env());
  if (done) return make_ok(call.env(), list);
  return call.go_on(Where::computing, &entry<"call_eager", finish_eagerly>, list);
}

Term operations(Call& call) {
  ErlNifEnv* const env = call.env();
  std::vector<Term> list;
  for (size_t i = 0; i < adit_operation_count(); ++i) {
    const adit_operation* operation = adit_operation_at(i);
    list.push_back(enif_make_tuple3(env, make_text(env, operation->name), make_text(env, operation->tensors),
                                    make_text(env, operation->attributes)));
  }
  return enif_make_list_from_array(env, list.data(), static_cast<unsigned>(list.size()));
}

}  // namespace adit::nif
