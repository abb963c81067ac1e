/* When all handles are freed the device holds no more than before. */
#include "door.h"

static uint64_t in_use(void) {
  adit_statistics now;
  OK(adit_device_wait(device, &failure));
  OK(adit_device_statistics(device, &now, &failure));
  return now.bytes_in_use;
}

static void use_everything(void) {
  const double values[] = {1, 2, 3};
  const adit_tensor* const x = vector(3, values);
  const adit_tensor* y = x;
  for (int i = 0; i < 10; ++i) y = binary("add", unary("sin", y), x);
  number_of(call("sum", TENSORS(y), NONE));
  adit_function* const f = begin(1, &vector3_slot);
  finish(f, TENSORS(call("sum", TENSORS(binary("multiply", unary("exp", parameter(f, 0)), x)), NONE)));
  adit_function* g;
  OK(adit_function_grad(f, 1, (int[]){0}, &g, &failure));
  keep_function(g);
  adit_jit* jit;
  OK(adit_jit_new(g, &jit, &failure));
  adit_tensor* results[2];
  OK(adit_jit_call(jit, 1, &x, 2, results, &failure));
  keep(results[0]), keep(results[1]);
  adit_jit_free(jit);
  void* managed;
  adit_tensor* back;
  OK(adit_tensor_to_dlpack(results[1], &managed, &failure));
  OK(adit_tensor_from_dlpack(device, managed, &back, &failure));
  keep(back);
  adit_model* const model = one_normal();
  adit_draws_free(
      sampled(model, ATTRIBUTES(text("device", device_id()), integer("warmup", 100), integer("draws", 50))));
  adit_model_free(model);
  adit_tensor* none = NULL;
  FAILS(ADIT_BAD_ARGUMENT, "[exp]", adit_call("exp", TENSORS(x, x), NONE, 1, &none, NULL, &failure));
}

void memory_case(void) {
  const uint64_t before = in_use();
  for (int round = 0; round < 3; ++round) {
    use_everything();
    CHECK(in_use() > before);
    free_kept();
    const uint64_t after = in_use();
    if (after != before)
      WRONG("%llu bytes in use before, %llu after round %d", (unsigned long long)before,
            (unsigned long long)after, round);
  }
  OK(adit_device_trim(device, &failure));
}
