/* Every pointer of every function may be NULL: the call says which argument it was, and gives and takes
 * nothing. */
#include <string.h>

#include "door.h"

#define MISSING(argument, call) FAILS(ADIT_BAD_ARGUMENT, "] " argument ": ", call)

static const float one = 1;

void missing_arguments_case(void) {
  if (!first_round()) return;
  adit_device* none = NULL;
  MISSING("list", adit_device_list_new(NULL, &failure));
  MISSING("id", adit_device_open(NULL, &none, &failure));
  MISSING("device", adit_device_open("cpu", NULL, &failure));
  CHECK(none == NULL);
  MISSING("device", adit_device_wait(NULL, &failure));
  MISSING("device", adit_device_trim(NULL, &failure));
  MISSING("device", adit_device_make_default(NULL, &failure));
  adit_statistics statistics;
  MISSING("device", adit_device_statistics(NULL, &statistics, &failure));
  MISSING("statistics", adit_device_statistics(device, NULL, &failure));

  adit_tensor* made = NULL;
  adit_tensor* const x = scalar(1);
  MISSING("device", adit_tensor_from_bytes(NULL, ADIT_F32, 0, NULL, &one, 4, &made, &failure));
  MISSING("shape", adit_tensor_from_bytes(device, ADIT_F32, 1, NULL, &one, 4, &made, &failure));
  MISSING("bytes", adit_tensor_from_bytes(device, ADIT_F32, 0, NULL, NULL, 4, &made, &failure));
  MISSING("tensor", adit_tensor_from_bytes(device, ADIT_F32, 0, NULL, &one, 4, NULL, &failure));
  MISSING("device", adit_tensor_from_pointer(NULL, ADIT_F32, 0, NULL, &one, &made, &failure));
  MISSING("shape", adit_tensor_from_pointer(device, ADIT_F32, 1, NULL, &one, &made, &failure));
  MISSING("memory", adit_tensor_from_pointer(device, ADIT_F32, 0, NULL, NULL, &made, &failure));
  MISSING("tensor", adit_tensor_from_pointer(device, ADIT_F32, 0, NULL, &one, NULL, &failure));
  MISSING("tensor", adit_tensor_copy(NULL, &made, &failure));
  MISSING("copy", adit_tensor_copy(x, NULL, &failure));
  MISSING("tensor", adit_tensor_to_device(NULL, device, &made, &failure));
  MISSING("device", adit_tensor_to_device(x, NULL, &made, &failure));
  MISSING("moved", adit_tensor_to_device(x, device, NULL, &failure));

  int done = 7;
  MISSING("tensors", adit_eval(1, NULL, &failure));
  MISSING("tensor 1", adit_eval(2, (const adit_tensor*[]){x, NULL}, &failure));
  MISSING("tensors", adit_eval_quickly(1, NULL, 0, &done, &failure));
  MISSING("tensor 0", adit_eval_quickly(1, (const adit_tensor*[]){NULL}, 0, &done, &failure));
  MISSING("done", adit_eval_quickly(1, (const adit_tensor*[]){x}, 0, NULL, &failure));
  CHECK(done == 7);
  float to;
  MISSING("tensor", adit_tensor_read(NULL, 0, 1, &to, 4, &failure));
  MISSING("to", adit_tensor_read(x, 0, 1, NULL, 4, &failure));
  const void* pointer = NULL;
  MISSING("tensor", adit_tensor_pointer(NULL, &pointer, &failure));
  MISSING("pointer", adit_tensor_pointer(x, NULL, &failure));
  char* words = NULL;
  MISSING("tensor", adit_tensor_text(NULL, &words, &failure));
  MISSING("text", adit_tensor_text(x, NULL, &failure));
  MISSING("tensors", adit_explain(1, NULL, 0, &words, &failure));
  MISSING("tensor 0", adit_explain(1, (const adit_tensor*[]){NULL}, 0, &words, &failure));
  MISSING("text", adit_explain(1, (const adit_tensor*[]){x}, 0, NULL, &failure));
  void* managed = NULL;
  MISSING("tensor", adit_tensor_to_dlpack(NULL, &managed, &failure));
  MISSING("managed", adit_tensor_to_dlpack(x, NULL, &failure));
  MISSING("managed", adit_tensor_from_dlpack(device, NULL, &made, &failure));
  CHECK(!made && !pointer && !words && !managed);
}

void missing_arguments_of_functions_case(void) {
  if (!first_round()) return;
  adit_tensor* made = NULL;
  adit_tensor* const x = scalar(1);
  const adit_tensor* const none = NULL;
  MISSING("operation", adit_call(NULL, TENSORS(x), NONE, 1, &made, NULL, &failure));
  MISSING("tensors", adit_call("exp", 1, NULL, NONE, 1, &made, NULL, &failure));
  MISSING("tensor 0", adit_call("exp", 1, &none, NONE, 1, &made, NULL, &failure));
  MISSING("attributes", adit_call("exp", TENSORS(x), 1, NULL, 1, &made, NULL, &failure));
  MISSING("attribute 0",
          adit_call("exp", TENSORS(x), ATTRIBUTES(integer(NULL, 1)), 1, &made, NULL, &failure));
  MISSING("results", adit_call("exp", TENSORS(x), NONE, 1, NULL, NULL, &failure));
  MISSING("shape",
          adit_call("reshape", TENSORS(x), ATTRIBUTES(integers("shape", 2, NULL)), 1, &made, NULL, &failure));
  MISSING("type", adit_call("as_type", TENSORS(x), ATTRIBUTES(text("type", NULL)), 1, &made, NULL, &failure));
  MISSING("direction", adit_call("sort", TENSORS(vector(1, (double[]){1})),
                                 ATTRIBUTES(text("direction", NULL)), 1, &made, NULL, &failure));
  MISSING("combine", adit_call("reduce", TENSORS(x, x), ATTRIBUTES(function("combine", NULL)), 1, &made, NULL,
                               &failure));

  adit_function* f = NULL;
  const adit_slot bad = {ADIT_F32, 2, NULL};
  MISSING("function", adit_function_begin(1, &scalar_slot, NULL, &failure));
  MISSING("parameters", adit_function_begin(1, NULL, &f, &failure));
  MISSING("shape", adit_function_begin(1, &bad, &f, &failure));
  CHECK(f == NULL);
  f = begin(1, &scalar_slot);
  MISSING("function", adit_function_parameter(NULL, 0, &made, &failure));
  MISSING("placeholder", adit_function_parameter(f, 0, NULL, &failure));
  adit_tensor* const p = parameter(f, 0);
  MISSING("function", adit_function_finish(NULL, TENSORS(p), &failure));
  MISSING("results", adit_function_finish(f, 1, NULL, &failure));
  MISSING("result 0", adit_function_finish(f, 1, &none, &failure));
  finish(f, TENSORS(unary("sin", p)));
  MISSING("function", adit_function_call(NULL, TENSORS(x), 1, &made, &failure));
  MISSING("arguments", adit_function_call(f, 1, NULL, 1, &made, &failure));
  MISSING("argument 0", adit_function_call(f, 1, &none, 1, &made, &failure));
  MISSING("results", adit_function_call(f, TENSORS(x), 1, NULL, &failure));

  adit_function* other = NULL;
  const int zero = 0;
  MISSING("function", adit_function_grad(NULL, 1, &zero, &other, &failure));
  MISSING("arguments", adit_function_grad(f, 1, NULL, &other, &failure));
  MISSING("made", adit_function_grad(f, 1, &zero, NULL, &failure));
  MISSING("function", adit_function_vjp(NULL, &other, &failure));
  MISSING("made", adit_function_vjp(f, NULL, &failure));
  MISSING("function", adit_function_jvp(NULL, &other, &failure));
  MISSING("made", adit_function_jvp(f, NULL, &failure));
  MISSING("function", adit_function_vmap(NULL, 1, &zero, 2, &other, &failure));
  MISSING("axes", adit_function_vmap(f, 1, NULL, 2, &other, &failure));
  MISSING("made", adit_function_vmap(f, 1, &zero, 2, NULL, &failure));

  adit_jit* jit = NULL;
  MISSING("function", adit_jit_new(NULL, &jit, &failure));
  MISSING("jit", adit_jit_new(f, NULL, &failure));
  CHECK(!other && !jit);
  OK(adit_jit_new(f, &jit, &failure));
  int done = 7;
  MISSING("jit", adit_jit_call(NULL, TENSORS(x), 1, &made, &failure));
  MISSING("arguments", adit_jit_call(jit, 1, NULL, 1, &made, &failure));
  MISSING("argument 0", adit_jit_call(jit, 1, &none, 1, &made, &failure));
  MISSING("results", adit_jit_call(jit, TENSORS(x), 1, NULL, &failure));
  MISSING("jit", adit_jit_call_quickly(NULL, TENSORS(x), 0, &done, 1, &made, &failure));
  MISSING("arguments", adit_jit_call_quickly(jit, 1, NULL, 0, &done, 1, &made, &failure));
  MISSING("argument 0", adit_jit_call_quickly(jit, 1, &none, 0, &done, 1, &made, &failure));
  MISSING("done", adit_jit_call_quickly(jit, TENSORS(x), 0, NULL, 1, &made, &failure));
  MISSING("results", adit_jit_call_quickly(jit, TENSORS(x), 60000000, &done, 1, NULL, &failure));
  adit_jit_free(jit);
  CHECK(made == NULL);
}

void missing_arguments_of_models_case(void) {
  if (!first_round()) return;
  adit_model* model = NULL;
  MISSING("name", adit_model_new(NULL, &model, &failure));
  MISSING("model", adit_model_new("m", NULL, &failure));
  static const char* const program = "parameters { real x; } model { x ~ normal(0, 1); }";
  MISSING("name", adit_model_from_stan(NULL, program, "", 1, &model, &failure));
  MISSING("program", adit_model_from_stan("m", NULL, "", 1, &model, &failure));
  MISSING("data_json", adit_model_from_stan("m", program, NULL, 1, &model, &failure));
  MISSING("model", adit_model_from_stan("m", program, "", 1, NULL, &failure));
  MISSING("folders", adit_model_from_stan_in(1, NULL, "m", program, "", 1, &model, &failure));
  CHECK(model == NULL);

  adit_tensor *const x = scalar_f64(1), *made = NULL;
  const adit_tensor* const none = NULL;
  const adit_distribution* const d = distribution("normal", TENSORS(x, x));
  adit_distribution* other = NULL;
  MISSING("name", adit_distribution_new(NULL, TENSORS(x, x), NONE, &other, &failure));
  MISSING("parameters", adit_distribution_new("exponential", 1, NULL, NONE, &other, &failure));
  MISSING("parameter 0", adit_distribution_new("exponential", 1, &none, NONE, &other, &failure));
  MISSING("attributes", adit_distribution_new("exponential", TENSORS(x), 1, NULL, &other, &failure));
  MISSING("attribute 0",
          adit_distribution_new("exponential", TENSORS(x), ATTRIBUTES(integer(NULL, 1)), &other, &failure));
  MISSING("distribution", adit_distribution_new("exponential", TENSORS(x), NONE, NULL, &failure));
  MISSING("weights", adit_distribution_mixture(NULL, 1, &d, &other, &failure));
  MISSING("components", adit_distribution_mixture(x, 1, NULL, &other, &failure));
  MISSING("component",
          adit_distribution_mixture(x, 2, (const adit_distribution*[]){d, NULL}, &other, &failure));
  MISSING("distribution", adit_distribution_mixture(x, 1, &d, NULL, &failure));
  MISSING("inner", adit_distribution_censored(NULL, x, x, &other, &failure));
  MISSING("low", adit_distribution_censored(d, NULL, x, &other, &failure));
  MISSING("high", adit_distribution_censored(d, x, NULL, &other, &failure));
  MISSING("distribution", adit_distribution_censored(d, x, x, NULL, &failure));
  MISSING("distribution", adit_distribution_log_density(NULL, x, &made, &failure));
  MISSING("x", adit_distribution_log_density(d, NULL, &made, &failure));
  MISSING("result", adit_distribution_log_density(d, x, NULL, &failure));
  const adit_tensor* const key = call("random_key", NONE, ATTRIBUTES(integer("seed", 1)));
  MISSING("distribution", adit_distribution_draw(NULL, key, 0, NULL, &made, &failure));
  MISSING("key", adit_distribution_draw(d, NULL, 0, NULL, &made, &failure));
  MISSING("shape", adit_distribution_draw(d, key, 1, NULL, &made, &failure));
  MISSING("result", adit_distribution_draw(d, key, 0, NULL, NULL, &failure));
  adit_constraint *constraint = NULL, *positive;
  MISSING("name", adit_constraint_new(NULL, NONE, &constraint, &failure));
  MISSING("parameters", adit_constraint_new("lower", 1, NULL, &constraint, &failure));
  MISSING("parameter 0", adit_constraint_new("lower", 1, &none, &constraint, &failure));
  MISSING("constraint", adit_constraint_new("lower", TENSORS(x), NULL, &failure));
  CHECK(!other && !constraint);
  OK(adit_constraint_new("positive", NONE, &positive, &failure));

  OK(adit_model_new("m", &model, &failure));
  MISSING("model", adit_model_plate(NULL, "p", 2, NULL, &failure));
  MISSING("name", adit_model_plate(model, NULL, 2, NULL, &failure));
  MISSING("coordinate", adit_model_plate(model, "p", 2, (const char*[]){"a", NULL}, &failure));
  MISSING("model", adit_model_sample(NULL, "x", d, NONE, 0, &made, &failure));
  MISSING("name", adit_model_sample(model, NULL, d, NONE, 0, &made, &failure));
  MISSING("prior", adit_model_sample(model, "x", NULL, NONE, 0, &made, &failure));
  MISSING("extents", adit_model_sample(model, "x", d, 1, NULL, 0, &made, &failure));
  MISSING("value", adit_model_sample(model, "x", d, NONE, 0, NULL, &failure));
  MISSING("model", adit_model_parameter(NULL, "x", positive, NONE, &made, &failure));
  MISSING("name", adit_model_parameter(model, NULL, positive, NONE, &made, &failure));
  MISSING("constraint", adit_model_parameter(model, "x", NULL, NONE, &made, &failure));
  MISSING("extents", adit_model_parameter(model, "x", positive, 1, NULL, &made, &failure));
  MISSING("value", adit_model_parameter(model, "x", positive, NONE, NULL, &failure));
  MISSING("model", adit_model_observe(NULL, "x", d, x, &failure));
  MISSING("name", adit_model_observe(model, NULL, d, x, &failure));
  MISSING("likelihood", adit_model_observe(model, "x", NULL, x, &failure));
  MISSING("value", adit_model_observe(model, "x", d, NULL, &failure));
  MISSING("model", adit_model_deterministic(NULL, "x", x, NONE, &made, &failure));
  MISSING("name", adit_model_deterministic(model, NULL, x, NONE, &made, &failure));
  MISSING("value", adit_model_deterministic(model, "x", NULL, NONE, &made, &failure));
  MISSING("extents", adit_model_deterministic(model, "x", x, 1, NULL, &made, &failure));
  MISSING("result", adit_model_deterministic(model, "x", x, NONE, NULL, &failure));
  MISSING("model", adit_model_data(NULL, "x", x, &made, &failure));
  MISSING("name", adit_model_data(model, NULL, x, &made, &failure));
  MISSING("value", adit_model_data(model, "x", NULL, &made, &failure));
  MISSING("result", adit_model_data(model, "x", x, NULL, &failure));
  MISSING("model", adit_model_set_data(NULL, "x", x, &failure));
  MISSING("name", adit_model_set_data(model, NULL, x, &failure));
  MISSING("value", adit_model_set_data(model, "x", NULL, &failure));
  MISSING("model", adit_model_add_log_density(NULL, "x", x, &failure));
  MISSING("name", adit_model_add_log_density(model, NULL, x, &failure));
  MISSING("term", adit_model_add_log_density(model, "x", NULL, &failure));
  int64_t size = -7;
  MISSING("model", adit_model_size(NULL, &size, &failure));
  MISSING("size", adit_model_size(model, NULL, &failure));
  MISSING("model", adit_model_log_density(NULL, x, &made, &failure));
  MISSING("u", adit_model_log_density(model, NULL, &made, &failure));
  MISSING("result", adit_model_log_density(model, x, NULL, &failure));
  CHECK(!made && size == -7);
  /* None of it left anything in the model. */
  OK(adit_model_size(model, &size, &failure));
  CHECK(size == 0);
  adit_model_free(model);
  adit_constraint_free(positive);
}

void missing_arguments_of_draws_case(void) {
  if (!first_round()) return;
  adit_model* const model = one_normal();
  adit_run* run = NULL;
  char* words = NULL;
  MISSING("model", adit_run_start(NULL, NONE, &run, &failure));
  MISSING("options", adit_run_start(model, 1, NULL, &run, &failure));
  MISSING("attribute 0", adit_run_start(model, ATTRIBUTES(integer(NULL, 1)), &run, &failure));
  MISSING("device", adit_run_start(model, ATTRIBUTES(text("device", NULL)), &run, &failure));
  MISSING("run", adit_run_start(model, NONE, NULL, &failure));
  MISSING("model", adit_model_layout(NULL, NONE, &words, &failure));
  MISSING("options", adit_model_layout(model, 1, NULL, &words, &failure));
  MISSING("layout", adit_model_layout(model, NONE, NULL, &failure));
  adit_draws *none = NULL, *const draws =
                               sampled(model, ATTRIBUTES(integer("warmup", 50), integer("draws", 20)));
  MISSING("run", adit_run_draws(NULL, &none, &failure));
  OK(adit_run_start(model, ATTRIBUTES(integer("warmup", 50), integer("draws", 20)), &run, &failure));
  adit_run_wait(run, -1);
  MISSING("draws", adit_run_draws(run, NULL, &failure));
  adit_run_free(run);

  const adit_summary_row* rows = NULL;
  const char* const* warnings = NULL;
  const double* list = NULL;
  const char* path = NULL;
  size_t count = 7;
  MISSING("paths", adit_draws_read(1, NULL, &none, &failure));
  MISSING("path", adit_draws_read(1, &path, &none, &failure));
  path = "there_is_no_such_file.csv";
  MISSING("draws", adit_draws_read(1, &path, NULL, &failure));
  MISSING("draws", adit_draws_summary(NULL, &rows, &count, &failure));
  MISSING("rows", adit_draws_summary(draws, NULL, &count, &failure));
  MISSING("count", adit_draws_summary(draws, &rows, NULL, &failure));
  MISSING("draws", adit_draws_warnings(NULL, &warnings, &count, &failure));
  MISSING("warnings", adit_draws_warnings(draws, NULL, &count, &failure));
  MISSING("count", adit_draws_warnings(draws, &warnings, NULL, &failure));
  MISSING("draws", adit_draws_numbers(NULL, "seconds", &list, &count, &failure));
  MISSING("name", adit_draws_numbers(draws, NULL, &list, &count, &failure));
  MISSING("numbers", adit_draws_numbers(draws, "seconds", NULL, &count, &failure));
  MISSING("count", adit_draws_numbers(draws, "seconds", &list, NULL, &failure));
  CHECK(!none && !rows && !warnings && !list && count == 7);
  MISSING("draws", adit_draws_write_report(NULL, "x", &failure));
  MISSING("path", adit_draws_write_report(draws, NULL, &failure));
  MISSING("draws", adit_draws_write_csv(NULL, "x", &failure));
  MISSING("stem", adit_draws_write_csv(draws, NULL, &failure));
  MISSING("draws", adit_draws_write_netcdf(NULL, "x", &failure));
  MISSING("path", adit_draws_write_netcdf(draws, NULL, &failure));
  const adit_draws* const one_part = draws;
  MISSING("parts", adit_draws_join(1, NULL, &none, &failure));
  MISSING("part", adit_draws_join(2, (const adit_draws*[]){draws, NULL}, &none, &failure));
  MISSING("joined", adit_draws_join(1, &one_part, NULL, &failure));
  MISSING("draws", adit_draws_to_bytes(NULL, &words, &count, &failure));
  MISSING("bytes", adit_draws_to_bytes(draws, NULL, &count, &failure));
  MISSING("size", adit_draws_to_bytes(draws, &words, NULL, &failure));
  MISSING("bytes", adit_draws_from_bytes(NULL, 8, &none, &failure));
  MISSING("draws", adit_draws_from_bytes("12345678", 8, NULL, &failure));
  CHECK(!none && !words && count == 7);
  adit_draws_free(draws);
  adit_model_free(model);
}

/* What has no status: nothing is freed, counted, waited for; and errors need no place. */
void nothing_at_all_case(void) {
  if (!first_round()) return;
  adit_error_free(NULL), adit_text_free(NULL), adit_device_list_free(NULL), adit_device_free(NULL);
  adit_tensor_free(NULL), adit_function_free(NULL), adit_jit_free(NULL), adit_model_free(NULL);
  adit_distribution_free(NULL), adit_constraint_free(NULL), adit_run_free(NULL), adit_draws_free(NULL);
  CHECK(adit_device_list_size(NULL) == 0 && adit_device_list_at(NULL, 0) == NULL);
  CHECK(adit_device_info_of(NULL) == NULL && !adit_device_lost(NULL));
  CHECK(adit_tensor_rank(NULL) == 0 && adit_tensor_size(NULL) == 0 && adit_tensor_shape(NULL) == NULL);
  CHECK(!adit_tensor_is_evaluated(NULL) && adit_dtype_size(adit_tensor_dtype(NULL)) > 0);
  CHECK(adit_function_parameter_count(NULL) == 0 && adit_function_result_count(NULL) == 0);
  adit_progress progress = {.iteration = 7};
  adit_run_progress(NULL, &progress);
  adit_run_stop(NULL);
  CHECK(adit_run_wait(NULL, -1));
  CHECK(adit_draws_chains(NULL) == 0 && adit_draws_draws(NULL) == 0 && !adit_draws_finished(NULL));
  CHECK(adit_draws_variable_count(NULL, "posterior") == 0 && !adit_draws_variable(NULL, "posterior", 0));
  CHECK(adit_draws_text(NULL, "device") == NULL);
  CHECK(adit_eval(1, NULL, NULL) == ADIT_BAD_ARGUMENT);
  CHECK(adit_call(NULL, NONE, NONE, 0, NULL, NULL, NULL) == ADIT_BAD_ARGUMENT);
  CHECK(adit_device_open("abacus", NULL, NULL) == ADIT_BAD_ARGUMENT);
}
