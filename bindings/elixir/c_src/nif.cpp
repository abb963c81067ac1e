// The NIF library of Adit.NIF: what Erlang loads.
#include <erl_nif.h>

#include <adit/c.h>

#include "bodies.hpp"
#include "resources.hpp"
#include "terms.hpp"

namespace adit::nif {
namespace {

// Functions that are quick, or find out by themselves that they are not.
template <Name name, Body body>
constexpr ErlNifFunc here(unsigned arity) {
  return {name.text, arity, &entry<name, body>, 0};
}
template <Name name, Body body>
constexpr ErlNifFunc computing(unsigned arity) {
  return {name.text, arity, &entry<name, body>, ERL_NIF_DIRTY_JOB_CPU_BOUND};
}
template <Name name, Body body>
constexpr ErlNifFunc waiting(unsigned arity) {
  return {name.text, arity, &entry<name, body>, ERL_NIF_DIRTY_JOB_IO_BOUND};
}

ErlNifFunc functions[] = {
    waiting<"devices", devices>(0),
    waiting<"open", open>(1),
    here<"make_default", make_default>(1),
    here<"device_info", device_info>(1),
    here<"statistics", statistics>(1),
    waiting<"wait", wait>(1),
    waiting<"trim", trim>(1),

    here<"from_binary", from_binary>(4),
    here<"to_binary", to_binary>(3),
    here<"info", info>(1),
    here<"deallocate", deallocate>(1),
    here<"eval", eval>(1),
    waiting<"to_device", to_device>(2),
    here<"to_pointer", to_pointer>(1),
    waiting<"from_pointer", from_pointer>(4),
    computing<"explain", explain>(2),

    here<"call", call_lazily>(3),
    here<"call_eager", call_eagerly>(3),
    here<"operations", operations>(0),

    here<"function_begin", function_begin>(1),
    computing<"function_finish", function_finish>(2),
    computing<"function_call", function_call>(2),
    computing<"function_grad", function_grad>(2),
    computing<"jit", jit>(1),
    here<"run", run>(2),

    computing<"model_new", model_new>(1),
    computing<"model_from_stan", model_from_stan>(4),
    computing<"distribution", distribution>(3),
    computing<"distribution_mixture", distribution_mixture>(2),
    computing<"distribution_censored", distribution_censored>(3),
    computing<"distribution_log_density", distribution_log_density>(2),
    computing<"constraint", constraint>(2),
    computing<"model_plate", model_plate>(4),
    computing<"model_sample", model_sample>(5),
    computing<"model_parameter", model_parameter>(4),
    computing<"model_observe", model_observe>(4),
    computing<"model_deterministic", model_deterministic>(4),
    computing<"model_data", model_data>(3),
    computing<"model_set_data", model_set_data>(3),
    computing<"model_add_log_density", model_add_log_density>(3),
    computing<"model_size", model_size>(1),
    computing<"model_log_density", model_log_density>(2),

    computing<"run_start", run_start>(2),
    computing<"model_layout", model_layout>(2),
    here<"run_progress", run_progress>(1),
    here<"run_stop", run_stop>(1),
    here<"run_wait", run_wait>(2),
    waiting<"run_draws", run_draws>(1),
    waiting<"draws_read", draws_read>(1),
    here<"draws_info", draws_info>(1),
    computing<"draws_variables", draws_variables>(2),
    computing<"draws_summary", draws_summary>(1),
    computing<"draws_warnings", draws_warnings>(1),
    computing<"draws_numbers", draws_numbers>(2),
    computing<"draws_join", draws_join>(1),
    computing<"draws_to_binary", draws_to_binary>(1),
    computing<"draws_from_binary", draws_from_binary>(1),
    waiting<"draws_write_report", draws_write_report>(2),
    waiting<"draws_write_csv", draws_write_csv>(2),
    waiting<"draws_write_netcdf", draws_write_netcdf>(2),
};

// Anything but 0 and the library is not loaded.
int load(ErlNifEnv* env, void**, ERL_NIF_TERM) {
  if (adit_c_version() < ADIT_C_VERSION) return 1;  // an older libadit than this was made for
  make_atoms(env);
  return open_resource_types(env) ? 0 : 2;
}

int upgrade(ErlNifEnv* env, void** data, void**, ERL_NIF_TERM info) { return load(env, data, info); }

}  // namespace
}  // namespace adit::nif

using adit::nif::functions;  // the macro counts them by this name
ERL_NIF_INIT(Elixir.Adit.NIF, functions, adit::nif::load, nullptr, adit::nif::upgrade, nullptr)
