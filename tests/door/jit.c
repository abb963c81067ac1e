/* Functions that are compiled once. */
#include <math.h>
#include <string.h>

#include "door.h"
#include "threads.h"

/* sin(v) * a, and its sum */
static adit_jit* compiled(void) {
  adit_function* const f = begin(SLOTS(scalar_slot, vector3_slot));
  const adit_tensor* const product = binary("multiply", unary("sin", parameter(f, 1)), parameter(f, 0));
  finish(f, TENSORS(product, call("sum", TENSORS(product), NONE)));
  adit_jit* jit;
  OK(adit_jit_new(f, &jit, &failure));
  return jit;
}
static const double angles[] = {0.25, 1, 2};

static void expect_run(const adit_jit* jit, double a) {
  adit_tensor* results[2];
  OK(adit_jit_call(jit, TENSORS(scalar(a), vector(3, angles)), 2, results, &failure));
  keep(results[0]), keep(results[1]);
  EXPECT(results[0], 1e-6, a * sin(0.25), a * sin(1), a * sin(2));
  EXPECT(results[1], 1e-6, a * (sin(0.25) + sin(1) + sin(2)));
}

void jit_case(void) {
  adit_jit* const jit = compiled();
  expect_run(jit, 1);
  adit_statistics before, after;
  OK(adit_device_statistics(device, &before, &failure));
  adit_tensor* results[2] = {NULL, NULL};
  for (int i = 0; i < 3; ++i) {
    OK(adit_jit_call(jit, TENSORS(scalar(i), vector(3, angles)), 2, results, &failure));
    CHECK(adit_tensor_is_evaluated(keep(results[0])) && adit_tensor_is_evaluated(keep(results[1])));
  }
  OK(adit_device_statistics(device, &after, &failure));
  CHECK(after.kernels_compiled == before.kernels_compiled && after.kernels_loaded == before.kernels_loaded);
  /* Arguments that are not computed yet. */
  OK(adit_jit_call(jit, TENSORS(unary("negate", scalar(2)), vector(3, angles)), 2, results, &failure));
  keep(results[0]), keep(results[1]);
  EXPECT(results[0], 1e-6, -2 * sin(0.25), -2 * sin(1), -2 * sin(2));
  /* Types and shapes are those of the parameters. */
  results[0] = results[1] = NULL;
  FAILS(ADIT_BAD_ARGUMENT, "arguments: expected 2, got 1",
        adit_jit_call(jit, TENSORS(scalar(1)), 2, results, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "argument 0",
        adit_jit_call(jit, TENSORS(scalar_f64(1), vector(3, angles)), 2, results, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "argument 1",
        adit_jit_call(jit, TENSORS(scalar(1), vector(2, angles)), 2, results, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "capacity: expected at least 2, got 1",
        adit_jit_call(jit, TENSORS(scalar(1), vector(3, angles)), 1, results, &failure));
  CHECK(!results[0] && !results[1]);
  adit_jit_free(jit);
  /* Of no arguments; its function is freed first. */
  adit_function* constant;
  OK(adit_function_begin(NONE, &constant, &failure));
  finish(constant, TENSORS(unary("exp", scalar(1))));
  adit_jit* alone;
  OK(adit_jit_new(constant, &alone, &failure));
  adit_function_free(constant);
  OK(adit_jit_call(alone, NONE, 1, results, &failure));
  EXPECT(keep(results[0]), 1e-6, exp(1));
  adit_jit_free(alone);
}

void jit_quickly_case(void) {
  adit_jit* const jit = compiled();
  const adit_tensor* const arguments[] = {scalar(3), vector(3, angles)};
  adit_tensor* results[2] = {NULL, NULL};
  int done = 7;
  OK(adit_jit_call_quickly(jit, 2, arguments, 60000000, &done, 2, results, &failure));
  CHECK(done == 0 && !results[0] && !results[1]);
  expect_run(jit, 2);
  OK(adit_jit_call_quickly(jit, 2, arguments, 0, &done, 2, results, &failure));
  CHECK(done == 0 && !results[0] && !results[1]);
  OK(adit_jit_call_quickly(jit, 2, arguments, 60000000, &done, 2, results, &failure));
  CHECK(done == 1);
  if (done) {
    EXPECT(keep(results[0]), 1e-6, 3 * sin(0.25), 3 * sin(1), 3 * sin(2));
    EXPECT(keep(results[1]), 1e-6, 3 * (sin(0.25) + sin(1) + sin(2)));
  }
  /* Arguments that would have to be computed first are not quick. */
  OK(adit_jit_call_quickly(jit, TENSORS(unary("exp", scalar(1)), arguments[1]), 60000000, &done, 2, results,
                           &failure));
  CHECK(done == 0);
  adit_jit_free(jit);
}

/* One function on all devices, each with arguments of its own. */
void jit_on_devices_case(void) {
  if (!first_round()) return;
  adit_jit* const jit = compiled();
  adit_device* const mine = device;
  adit_device_list* list;
  OK(adit_device_list_new(&list, &failure));
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < adit_device_list_size(list); ++i) {
      const adit_device_info* const info = adit_device_list_at(list, i);
      if (strncmp(info->reason, "cannot be used", 14) == 0) continue;
      OK(adit_device_open(info->id, &device, &failure));
      expect_run(jit, 1 + (double)i);
      adit_device_free(device);
    }
  device = mine;
  adit_device_list_free(list);
  adit_jit_free(jit);
}

static adit_jit* shared_jit;
static void call_shared(int number) {
  for (int i = 0; i < 20; ++i) expect_run(shared_jit, number + i), free_kept();
}
void jit_from_threads_case(void) {
  shared_jit = compiled();
  on_threads(8, call_shared);
  adit_jit_free(shared_jit);
}
