// The functions of Adit.NIF, as lib/adit/nif.ex tells what they take and give.
#pragma once

#include "call.hpp"

namespace adit::nif {

// devices.cpp
Term devices(Call& call);
Term open(Call& call);
Term make_default(Call& call);
Term device_info(Call& call);
Term statistics(Call& call);
Term wait(Call& call);
Term trim(Call& call);

// tensors.cpp
Term from_binary(Call& call);
Term to_binary(Call& call);
Term info(Call& call);
Term deallocate(Call& call);
Term eval(Call& call);
Term to_device(Call& call);
Term to_pointer(Call& call);
Term from_pointer(Call& call);
Term explain(Call& call);

// calls.cpp
Term call_lazily(Call& call);
Term call_eagerly(Call& call);
Term operations(Call& call);

// functions.cpp
Term function_begin(Call& call);
Term function_finish(Call& call);
Term function_call(Call& call);
Term function_grad(Call& call);
Term jit(Call& call);
Term run(Call& call);

// models.cpp
Term model_new(Call& call);
Term model_from_stan(Call& call);
Term distribution(Call& call);
Term distribution_mixture(Call& call);
Term distribution_censored(Call& call);
Term distribution_log_density(Call& call);
Term constraint(Call& call);
Term model_plate(Call& call);
Term model_sample(Call& call);
Term model_parameter(Call& call);
Term model_observe(Call& call);
Term model_deterministic(Call& call);
Term model_data(Call& call);
Term model_set_data(Call& call);
Term model_add_log_density(Call& call);
Term model_size(Call& call);
Term model_log_density(Call& call);

// sampling.cpp
Term run_start(Call& call);
Term model_layout(Call& call);
Term run_progress(Call& call);
Term run_stop(Call& call);
Term run_wait(Call& call);
Term run_draws(Call& call);
Term draws_read(Call& call);
Term draws_info(Call& call);
Term draws_variables(Call& call);
Term draws_summary(Call& call);
Term draws_warnings(Call& call);
Term draws_numbers(Call& call);
Term draws_write_report(Call& call);
Term draws_write_csv(Call& call);
Term draws_write_netcdf(Call& call);

// draws.cpp
Term draws_join(Call& call);
Term draws_to_binary(Call& call);
Term draws_from_binary(Call& call);

}  // namespace adit::nif
