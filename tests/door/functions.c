/* Functions of tensors: control flow, what they capture, and their derivatives. */
#include <math.h>

#include "door.h"

/* a op b of scalars, as `combine` and steps take it. */
static adit_function* of_two(const char* operation) {
  adit_function* const f = begin(SLOTS(scalar_slot, scalar_slot));
  return finish(f, TENSORS(binary(operation, parameter(f, 0), parameter(f, 1))));
}
static adit_function* of_one(const char* operation, adit_slot slot) {
  adit_function* const f = begin(1, &slot);
  return finish(f, TENSORS(unary(operation, parameter(f, 0))));
}
static const adit_tensor* truth(int value) {
  const uint8_t byte = (uint8_t)value;
  return tensor(ADIT_U8, 0, NULL, &byte);
}
static adit_tensor* applied(const adit_function* f, size_t count, const adit_tensor* const* arguments) {
  adit_tensor* result;
  OK(adit_function_call(f, count, arguments, 1, &result, &failure));
  return keep(result);
}

void cond_case(void) {
  const adit_function *const sine = of_one("sin", scalar_slot), *const cosine = of_one("cos", scalar_slot);
  const adit_attribute branches[] = {function("on_true", sine), function("on_false", cosine)};
  EXPECT(call("cond", TENSORS(truth(1), scalar(0.5)), 2, branches), 1e-6, sin(0.5));
  EXPECT(call("cond", TENSORS(truth(0), scalar(0.5)), 2, branches), 1e-6, cos(0.5));
  /* Without operands, and with several results. */
  adit_function *const a = begin(NONE), *const b = begin(NONE);
  finish(a, TENSORS(scalar(1), scalar(2)));
  finish(b, TENSORS(scalar(3), scalar(4)));
  adit_tensor* results[2];
  size_t count;
  OK(adit_call("cond", TENSORS(truth(0)), ATTRIBUTES(function("on_true", a), function("on_false", b)), 2,
               results, &count, &failure));
  CHECK(count == 2);
  EXPECT(keep(results[0]), 0, 3);
  EXPECT(keep(results[1]), 0, 4);

  adit_tensor* made = NULL;
  FAILS(ADIT_BAD_ARGUMENT, "on_false",
        adit_call("cond", TENSORS(truth(1), scalar(1)), 1, branches, 1, &made, NULL, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "on_true: expected a function of 0 tensors, got one of 1",
        adit_call("cond", TENSORS(truth(1)), 2, branches, 1, &made, NULL, &failure));
  FAILS(
      ADIT_BAD_ARGUMENT, "argument 0 of on_true",
      adit_call("cond", TENSORS(truth(1), vector(1, (double[]){1})), 2, branches, 1, &made, NULL, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "",
        adit_call("cond", TENSORS(truth(1)),
                  ATTRIBUTES(function("on_true", a), function("on_false", of_one("sin", scalar_slot))), 1,
                  &made, NULL, &failure));
  CHECK(made == NULL);
}

/* A loop that never ends stands in the branch that is not taken. */
void branch_not_taken_case(void) {
  adit_function* const endless = begin(1, &scalar_slot);
  adit_function *const for_ever = begin(1, &scalar_slot), *const body = begin(1, &scalar_slot);
  finish(for_ever, TENSORS(binary("greater_equal", parameter(for_ever, 0), parameter(for_ever, 0))));
  finish(body, TENSORS(unary("negate", parameter(body, 0))));
  finish(endless, TENSORS(call("while_loop", TENSORS(parameter(endless, 0)),
                               ATTRIBUTES(function("condition", for_ever), function("body", body)))));
  const adit_function* const plain = of_one("exp2", scalar_slot);
  EXPECT(call("cond", TENSORS(truth(1), scalar(3)),
              ATTRIBUTES(function("on_true", plain), function("on_false", endless))),
         1e-6, 8);
  EXPECT(call("cond", TENSORS(truth(0), scalar(4)),
              ATTRIBUTES(function("on_true", endless), function("on_false", plain))),
         1e-6, 16);
}

/* Doubles x until it is above the limit, and counts. */
static void loop_of(const adit_tensor* limit, adit_function** condition, adit_function** body) {
  const adit_slot slots[] = {scalar_slot, scalar_slot};
  *condition = begin(2, slots);
  finish(*condition, TENSORS(binary("less", parameter(*condition, 0), limit)));
  *body = begin(2, slots);
  finish(*body, TENSORS(binary("add", parameter(*body, 0), parameter(*body, 0)),
                        binary("add", parameter(*body, 1), scalar(1))));
}

void while_loop_case(void) {
  adit_function *condition, *body;
  loop_of(scalar(100), &condition, &body);
  const adit_attribute parts[] = {function("condition", condition), function("body", body)};
  for (int start = 1; start <= 200; start += 66) {
    adit_tensor* results[2];
    OK(adit_call("while_loop", TENSORS(scalar(start), scalar(0)), 2, parts, 2, results, NULL, &failure));
    double x = start, steps = 0;
    for (; x < 100; ++steps) x += x;
    EXPECT(keep(results[0]), 0, x);
    EXPECT(keep(results[1]), 0, steps);
  }
  adit_tensor* made = NULL;
  const adit_function* const three = of_one("sin", vector3_slot);
  FAILS(ADIT_BAD_ARGUMENT, "condition",
        adit_call("while_loop", TENSORS(scalar(1)), 2, parts, 1, &made, NULL, &failure));
  FAILS(
      ADIT_BAD_ARGUMENT, "",
      adit_call("while_loop", TENSORS(vector(3, (double[]){1, 2, 3})),
                ATTRIBUTES(function("condition", three), function("body", three)), 1, &made, NULL, &failure));
  CHECK(made == NULL);
}

void scan_case(void) {
  /* carry' = carry + x, output = carry * x. */
  adit_function* const step = begin(SLOTS(scalar_slot, scalar_slot));
  const adit_tensor *const carry = parameter(step, 0), *const x = parameter(step, 1);
  finish(step, TENSORS(binary("add", carry, x), binary("multiply", carry, x)));
  const double values[] = {1, 2, 3, 4};
  adit_tensor* results[2];
  size_t count;
  OK(adit_call("scan", TENSORS(scalar(10), vector(4, values)),
               ATTRIBUTES(function("step", step), integer("carries", 1)), 2, results, &count, &failure));
  CHECK(count == 2);
  EXPECT(keep(results[0]), 0, 20);
  EXPECT(keep(results[1]), 0, 10, 22, 39, 64);
  OK(adit_call("scan", TENSORS(scalar(10), vector(4, values)),
               ATTRIBUTES(function("step", step), integer("carries", 1), integer("reverse", 1)), 2, results,
               &count, &failure));
  EXPECT(keep(results[0]), 0, 20);
  EXPECT(keep(results[1]), 0, 19, 34, 42, 40);
  /* Without xs: `length` steps. */
  const adit_function* const twice = of_two("add");
  adit_function* const alone = begin(1, &scalar_slot);
  finish(alone, TENSORS(applied(twice, TENSORS(parameter(alone, 0), parameter(alone, 0)))));
  EXPECT(call("scan", TENSORS(scalar(1)),
              ATTRIBUTES(function("step", alone), integer("carries", 1), integer("length", 5))),
         0, 32);

  adit_tensor* made = NULL;
  FAILS(ADIT_BAD_ARGUMENT, "carries",
        adit_call("scan", TENSORS(scalar(1)), ATTRIBUTES(function("step", alone), integer("carries", 2)), 1,
                  &made, NULL, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "step",
        adit_call("scan", TENSORS(scalar(1), vector(4, values)),
                  ATTRIBUTES(function("step", alone), integer("carries", 1)), 1, &made, NULL, &failure));
  CHECK(made == NULL);
}

void reduce_case(void) {
  const double values[] = {1, 2, 3, 4, 5, 6};
  const adit_tensor* const x = matrix(2, 3, values);
  /* In row-major order from `initial` on: a - b tells the order. */
  const adit_function* const minus = of_two("subtract");
  EXPECT(call("reduce", TENSORS(x, scalar(100)), ATTRIBUTES(function("combine", minus))), 0, 79);
  const int64_t last[] = {1};
  const adit_tensor* const rows =
      call("reduce", TENSORS(x, scalar(100)),
           ATTRIBUTES(function("combine", minus), integers("axes", 1, last), integer("keep_axes", 1)));
  CHECK(adit_tensor_rank(rows) == 2 && adit_tensor_shape(rows)[1] == 1);
  EXPECT(rows, 0, 94, 85);
  adit_tensor* made = NULL;
  FAILS(ADIT_BAD_ARGUMENT, "combine",
        adit_call("reduce", TENSORS(x, scalar(0)),
                  ATTRIBUTES(function("combine", of_one("sin", scalar_slot))), 1, &made, NULL, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "argument 0 of combine", /* f64 beside a function of f32 */
        adit_call("reduce", TENSORS(x, scalar_f64(0)), ATTRIBUTES(function("combine", minus)), 1, &made, NULL,
                  &failure));
  adit_function* const pair = begin(SLOTS(scalar_slot, scalar_slot));
  finish(pair, TENSORS(parameter(pair, 0), parameter(pair, 1)));
  FAILS(ADIT_BAD_ARGUMENT, "combine: expected one result, got 2",
        adit_call("reduce", TENSORS(x, scalar(0)), ATTRIBUTES(function("combine", pair)), 1, &made, NULL,
                  &failure));
  CHECK(made == NULL);
}

void window_reduce_case(void) {
  const double values[] = {1, 5, 2, 4, 3};
  const int64_t two[] = {2}, one[] = {1}, none[] = {0};
  EXPECT(call("window_reduce", TENSORS(vector(5, values), scalar(0)),
              ATTRIBUTES(function("combine", of_two("maximum")), integers("window", 1, two))),
         0, 5, 5, 4, 4);
  EXPECT(call("window_reduce", TENSORS(vector(5, values), scalar(0)),
              ATTRIBUTES(function("combine", of_two("add")), integers("window", 1, two),
                         integers("strides", 1, two), integers("low", 1, one), integers("high", 1, none))),
         0, 1, 7, 7);
}

/* Placeholders of an outer function inside of inner ones, by every operation that takes functions. */
void captured_case(void) {
  adit_function* const outer = begin(SLOTS(scalar_slot, vector3_slot));
  const adit_tensor *const a = parameter(outer, 0), *const v = parameter(outer, 1);
  const adit_slot two[] = {scalar_slot, scalar_slot};

  adit_function* const scaled = begin(2, two); /* acc + a x */
  finish(scaled, TENSORS(binary("add", parameter(scaled, 0), binary("multiply", a, parameter(scaled, 1)))));
  const adit_tensor* const reduced =
      call("reduce", TENSORS(v, scalar(0)), ATTRIBUTES(function("combine", scaled)));

  adit_function *condition, *body;
  loop_of(unary("square", a), &condition, &body);
  const adit_attribute loop[] = {function("condition", condition), function("body", body)};
  adit_tensor* looped[2];
  OK(adit_call("while_loop", TENSORS(scalar(1), scalar(0)), 2, loop, 2, looped, NULL, &failure));
  keep(looped[0]), keep(looped[1]);

  adit_function *const yes = begin(NONE), *const no = begin(NONE);
  finish(yes, TENSORS(binary("multiply", a, a)));
  finish(no, TENSORS(unary("negate", a)));
  const adit_tensor* const chosen = call("cond", TENSORS(binary("greater", a, scalar(0))),
                                         ATTRIBUTES(function("on_true", yes), function("on_false", no)));

  adit_function* const step = begin(2, two);
  const adit_tensor* const next =
      binary("add", parameter(step, 0), binary("multiply", a, parameter(step, 1)));
  finish(step, TENSORS(next, next));
  adit_tensor* scanned[2];
  OK(adit_call("scan", TENSORS(scalar(0), v), ATTRIBUTES(function("step", step), integer("carries", 1)), 2,
               scanned, NULL, &failure));
  keep(scanned[0]), keep(scanned[1]);
  const int64_t window[] = {2};
  const adit_tensor* const windowed =
      call("window_reduce", TENSORS(v, scalar(0)),
           ATTRIBUTES(function("combine", scaled), integers("window", 1, window)));
  finish(outer, TENSORS(reduced, looped[1], chosen, scanned[1], windowed));
  CHECK(adit_function_result_count(outer) == 5 && adit_function_parameter_count(outer) == 2);

  const double values[] = {1, 2, 3};
  adit_tensor* results[5];
  for (int round = 0; round < 2; ++round) {
    const double by = round == 0 ? 3 : -2;
    OK(adit_function_call(outer, TENSORS(scalar(by), vector(3, values)), 5, results, &failure));
    for (int i = 0; i < 5; ++i) keep(results[i]);
    EXPECT(results[0], 1e-6, 6 * by);
    EXPECT(results[1], 0, by == 3 ? 4 : 2); /* 1, 2, 4, 8, 16 up to 9; 1, 2, 4 up to 4 */
    EXPECT(results[2], 1e-6, by == 3 ? 9 : 2);
    EXPECT(results[3], 1e-6, by, 3 * by, 6 * by);
    EXPECT(results[4], 1e-6, 3 * by, 5 * by);
  }

  /* What a function captures may be made, or computed, after it was begun. */
  adit_function* const late = begin(1, &scalar_slot);
  const adit_tensor* const made_later = unary("exp", scalar(0));
  EXPECT(made_later, 0, 1);
  const adit_tensor* const lazy = binary("add", made_later, scalar(1));
  finish(late, TENSORS(binary("multiply", parameter(late, 0), lazy)));
  EXPECT(applied(late, TENSORS(scalar(21))), 0, 42);
  /* A function inside of a function inside of one. */
  adit_function *const f = begin(1, &scalar_slot), *const g = begin(1, &scalar_slot),
                       *const h = begin(1, &scalar_slot);
  finish(h, TENSORS(binary("add", binary("multiply", parameter(f, 0), parameter(g, 0)), parameter(h, 0))));
  finish(g, TENSORS(call("cond", TENSORS(truth(1), parameter(g, 0)),
                         ATTRIBUTES(function("on_true", h), function("on_false", h)))));
  finish(f, TENSORS(call("cond", TENSORS(truth(0), scalar(5)),
                         ATTRIBUTES(function("on_true", g), function("on_false", g)))));
  EXPECT(applied(f, TENSORS(scalar(2))), 0, 15);
  EXPECT(applied(f, TENSORS(scalar(3))), 0, 20);
}

void several_uses_case(void) {
  const adit_function* const f = of_one("sin", scalar_slot);
  const adit_tensor* x = scalar(1);
  for (int i = 0; i < 4; ++i) x = applied(f, TENSORS(x));
  EXPECT(x, 1e-6, sin(sin(sin(sin(1)))));
  /* Both branches of a choice, and a loop around it. */
  const adit_tensor* const same =
      call("cond", TENSORS(truth(1), scalar(1)), ATTRIBUTES(function("on_true", f), function("on_false", f)));
  EXPECT(binary("add", same, applied(f, TENSORS(same))), 1e-6, sin(1) + sin(sin(1)));
  const double values[] = {1, 2, 3};
  const adit_function* const plus = of_two("add");
  const adit_tensor* const once =
      call("reduce", TENSORS(vector(3, values), scalar(0)), ATTRIBUTES(function("combine", plus)));
  EXPECT(call("reduce", TENSORS(vector(3, values), once), ATTRIBUTES(function("combine", plus))), 0, 12);
}

void function_errors_case(void) {
  adit_function* const f = begin(1, &scalar_slot);
  adit_tensor *const p = parameter(f, 0), *made = NULL;
  adit_function* other = NULL;
  adit_jit* jit = NULL;
  FAILS(ADIT_BAD_ARGUMENT, "i: expected less than 1, got 1", adit_function_parameter(f, 1, &made, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "finished", adit_function_call(f, TENSORS(scalar(1)), 1, &made, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "finished", adit_function_grad(f, 1, (int[]){0}, &other, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "finished", adit_function_vjp(f, &other, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "finished", adit_function_jvp(f, &other, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "finished", adit_function_vmap(f, 1, (int[]){0}, 2, &other, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "finished", adit_jit_new(f, &jit, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "at least one", adit_function_finish(f, NONE, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "placeholder", adit_eval(1, (const adit_tensor*[]){p}, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "placeholder", adit_eval(1, (const adit_tensor*[]){unary("exp", p)}, &failure));
  float to;
  FAILS(ADIT_BAD_ARGUMENT, "placeholder", adit_tensor_read(p, 0, 1, &to, 4, &failure));
  CHECK(adit_function_result_count(f) == 0);
  finish(f, TENSORS(unary("sin", p)));
  FAILS(ADIT_BAD_ARGUMENT, "finished", adit_function_finish(f, TENSORS(p), &failure));
  FAILS(ADIT_BAD_ARGUMENT, "tensors, got one of 1", adit_function_call(f, NONE, 1, &made, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "argument 0", adit_function_call(f, TENSORS(scalar_f64(1)), 1, &made, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "capacity: expected at least 1, got 0",
        adit_function_call(f, TENSORS(scalar(1)), 0, &made, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "", adit_function_grad(f, 1, (int[]){1}, &other, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "", adit_function_grad(f, 1, (int[]){-1}, &other, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "axes: expected 1, one a parameter, got 2",
        adit_function_vmap(f, 2, (int[]){0, 0}, 2, &other, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "axes: expected -1 to 0, got 1",
        adit_function_vmap(f, 1, (int[]){1}, 2, &other, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "size", adit_function_vmap(f, 1, (int[]){0}, -2, &other, &failure));
  const int64_t negative = -3, ones[ADIT_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  FAILS(ADIT_BAD_ARGUMENT, "shape",
        adit_function_begin(1, &(adit_slot){ADIT_F32, 1, &negative}, &other, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "shape",
        adit_function_begin(1, &(adit_slot){ADIT_F32, 13, ones}, &other, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "type",
        adit_function_begin(1, &(adit_slot){(adit_dtype)14, 0, NULL}, &other, &failure));
  const adit_function* const deep = of_one("sin", (adit_slot){ADIT_F32, ADIT_MAX_RANK, ones});
  FAILS(ADIT_BAD_ARGUMENT, "12", adit_function_vmap(deep, 1, (int[]){0}, 2, &other, &failure));
  const adit_function* const three = of_one("sin", vector3_slot); /* not a scalar */
  FAILS(ADIT_BAD_ARGUMENT, "", adit_function_grad(three, 1, (int[]){0}, &other, &failure));
  CHECK(!made && !other && !jit);
}

/* --- Derivatives
 * ----------------------------------------------------------------------------------------------- */
/* sum(sin(v) * a) + a^2 */
static adit_function* of_both(void) {
  adit_function* const f = begin(SLOTS(scalar_slot, vector3_slot));
  const adit_tensor *const a = parameter(f, 0), *const v = parameter(f, 1);
  const adit_tensor* const waves = call("sum", TENSORS(binary("multiply", unary("sin", v), a)), NONE);
  return finish(f, TENSORS(binary("add", waves, unary("square", a))));
}

void grad_case(void) {
  const adit_function* const f = of_both();
  adit_function* g;
  OK(adit_function_grad(f, 2, (int[]){1, 0}, &g, &failure));
  keep_function(g);
  CHECK(adit_function_parameter_count(g) == 2 && adit_function_result_count(g) == 3);
  const double v[] = {0.1, 0.5, 2}, a = 1.5;
  adit_tensor* results[3];
  OK(adit_function_call(g, TENSORS(scalar(a), vector(3, v)), 3, results, &failure));
  for (int i = 0; i < 3; ++i) keep(results[i]);
  const double waves = sin(v[0]) + sin(v[1]) + sin(v[2]);
  EXPECT(results[0], 1e-6, a * waves + a * a);
  EXPECT(results[1], 1e-6, a * cos(v[0]), a * cos(v[1]), a * cos(v[2]));
  EXPECT(results[2], 1e-6, waves + 2 * a);
  /* The derivative of a derivative, and of a loop, a choice and a capture. */
  adit_function* const inner = begin(1, &scalar_slot);
  const adit_tensor* const x = parameter(inner, 0);
  finish(inner, TENSORS(binary("multiply", x, binary("multiply", x, x))));
  adit_function *first, *second;
  OK(adit_function_grad(inner, 1, (int[]){0}, &first, &failure));
  keep_function(first);
  adit_function* const slope = begin(1, &scalar_slot);
  OK(adit_function_call(first, TENSORS(parameter(slope, 0)), 2, results, &failure));
  keep(results[0]);
  finish(slope, TENSORS(keep(results[1])));
  OK(adit_function_grad(slope, 1, (int[]){0}, &second, &failure));
  keep_function(second);
  OK(adit_function_call(second, TENSORS(scalar(4)), 2, results, &failure));
  EXPECT(keep(results[0]), 1e-6, 48);
  EXPECT(keep(results[1]), 1e-6, 24);
}

/* A choice, a scan and a fold in one function, against differences of its values in f64. */
static adit_function* of_much(void) {
  const adit_slot number = {ADIT_F64, 0, NULL}, numbers = {ADIT_F64, 1, (int64_t[]){4}};
  adit_function* const f = begin(SLOTS(numbers));
  const adit_tensor* const x = parameter(f, 0);
  const adit_tensor* const mean = call("mean", TENSORS(x), NONE);
  adit_function* const step = begin(SLOTS(number, number));
  const adit_tensor* const next =
      unary("tanh", binary("add", binary("multiply", parameter(step, 0), mean), parameter(step, 1)));
  finish(step, TENSORS(next, unary("square", next)));
  adit_tensor* scanned[2];
  OK(adit_call("scan", TENSORS(scalar_f64(0.3), x), ATTRIBUTES(function("step", step), integer("carries", 1)),
               2, scanned, NULL, &failure));
  keep(scanned[0]), keep(scanned[1]);
  adit_function *const yes = begin(SLOTS(number)), *const no = begin(SLOTS(number));
  finish(yes, TENSORS(binary("multiply", parameter(yes, 0), mean)));
  finish(no, TENSORS(unary("exp", parameter(no, 0))));
  const adit_tensor* const chosen = call("cond", TENSORS(binary("greater", mean, scalar_f64(0)), scanned[0]),
                                         ATTRIBUTES(function("on_true", yes), function("on_false", no)));
  return finish(f, TENSORS(binary("add", chosen, call("sum", TENSORS(scanned[1]), NONE))));
}

void finite_differences_case(void) {
  const adit_function* const f = of_much();
  adit_function* g;
  OK(adit_function_grad(f, 1, (int[]){0}, &g, &failure));
  keep_function(g);
  for (int sign = -1; sign <= 1; sign += 2) {
    double at[] = {0.4 * sign, 0.2 * sign, 0.7 * sign, 0.1 * sign};
    adit_tensor* results[2];
    OK(adit_function_call(g, TENSORS(vector_f64(4, at)), 2, results, &failure));
    keep(results[0]);
    const double* const slopes = numbers_of(keep(results[1]));
    for (int i = 0; i < 4; ++i) {
      const double middle = at[i], h = 1e-5;
      at[i] = middle + h;
      const double above = number_of(applied(f, TENSORS(vector_f64(4, at))));
      at[i] = middle - h;
      const double below = number_of(applied(f, TENSORS(vector_f64(4, at))));
      at[i] = middle;
      NEAR(slopes[i], (above - below) / (2 * h), 1e-7);
    }
  }
}

void vjp_and_jvp_case(void) {
  /* (a v, sum(v)): the Jacobian is known. */
  adit_function* const f = begin(SLOTS(scalar_slot, vector3_slot));
  const adit_tensor *const a = parameter(f, 0), *const v = parameter(f, 1);
  finish(f, TENSORS(binary("multiply", a, v), call("sum", TENSORS(v), NONE)));
  adit_function *back, *forth;
  OK(adit_function_vjp(f, &back, &failure));
  OK(adit_function_jvp(f, &forth, &failure));
  keep_function(back), keep_function(forth);
  CHECK(adit_function_parameter_count(back) == 4 && adit_function_result_count(back) == 4);
  CHECK(adit_function_parameter_count(forth) == 4 && adit_function_result_count(forth) == 4);
  const double at[] = {1, 2, 3}, c[] = {5, 7, 11};
  adit_tensor* r[4];
  OK(adit_function_call(back, TENSORS(scalar(2), vector(3, at), vector(3, c), scalar(13)), 4, r, &failure));
  for (int i = 0; i < 4; ++i) keep(r[i]);
  EXPECT(r[0], 0, 2, 4, 6);
  EXPECT(r[1], 0, 6);
  EXPECT(r[2], 0, 5 + 14 + 33);
  EXPECT(r[3], 0, 2 * 5 + 13, 2 * 7 + 13, 2 * 11 + 13);
  OK(adit_function_call(forth, TENSORS(scalar(2), vector(3, at), scalar(13), vector(3, c)), 4, r, &failure));
  for (int i = 0; i < 4; ++i) keep(r[i]);
  EXPECT(r[0], 0, 2, 4, 6);
  EXPECT(r[1], 0, 6);
  EXPECT(r[2], 0, 13 + 10, 26 + 14, 39 + 22);
  EXPECT(r[3], 0, 23);
  /* An integer has no derivative: zeros of its shape. */
  adit_function* const whole = begin(SLOTS({ADIT_I32, 0, NULL}, scalar_slot));
  finish(whole, TENSORS(binary("multiply", parameter(whole, 0), parameter(whole, 1))));
  adit_function* product;
  OK(adit_function_vjp(whole, &product, &failure));
  keep_function(product);
  const int32_t four = 4;
  OK(adit_function_call(product, TENSORS(tensor(ADIT_I32, 0, NULL, &four), scalar(3), scalar(1)), 4, r,
                        &failure));
  for (int i = 0; i < 3; ++i) keep(r[i]);
  EXPECT(r[0], 0, 12);
  EXPECT(r[1], 0, 0);
  EXPECT(r[2], 0, 4);
  adit_function* const floor_too = begin(SLOTS({ADIT_I32, 0, NULL}, scalar_slot));
  finish(floor_too, TENSORS(binary("multiply", parameter(floor_too, 0), parameter(floor_too, 1)),
                            parameter(floor_too, 0)));
  OK(adit_function_jvp(floor_too, &product, &failure));
  keep_function(product);
  const adit_tensor* const whole_4 = tensor(ADIT_I32, 0, NULL, &four);
  OK(adit_function_call(product, TENSORS(whole_4, scalar(3), whole_4, scalar(10)), 4, r, &failure));
  for (int i = 0; i < 4; ++i) keep(r[i]);
  EXPECT(r[0], 0, 12);
  EXPECT(r[1], 0, 4);
  EXPECT(r[2], 0, 40);
  EXPECT(r[3], 0, 0);
  OK(adit_function_vjp(floor_too, &product, &failure));
  keep_function(product);
  OK(adit_function_call(product, TENSORS(whole_4, scalar(3), scalar(1), whole_4), 4, r, &failure));
  for (int i = 0; i < 4; ++i) keep(r[i]);
  EXPECT(r[2], 0, 0);
  EXPECT(r[3], 0, 4);
}

void vmap_case(void) {
  adit_function* const f = begin(SLOTS(scalar_slot, vector3_slot));
  finish(f,
         TENSORS(call("sum", TENSORS(binary("multiply", parameter(f, 0), unary("square", parameter(f, 1)))),
                      NONE)));
  const double a[] = {1, 10}, rows[] = {1, 2, 3, 4, 5, 6}, columns[] = {1, 4, 2, 5, 3, 6};
  adit_function* many;
  OK(adit_function_vmap(f, 2, (int[]){0, 0}, 2, &many, &failure));
  keep_function(many);
  EXPECT(applied(many, TENSORS(vector(2, a), matrix(2, 3, rows))), 0, 14, 770);
  OK(adit_function_vmap(f, 2, (int[]){-1, 1}, 2, &many, &failure));
  keep_function(many);
  EXPECT(applied(many, TENSORS(scalar(2), matrix(3, 2, columns))), 0, 28, 154);
  /* Of a gradient. */
  adit_function* g;
  OK(adit_function_grad(f, 1, (int[]){1}, &g, &failure));
  keep_function(g);
  OK(adit_function_vmap(g, 2, (int[]){0, -1}, 2, &many, &failure));
  keep_function(many);
  adit_tensor* results[2];
  OK(adit_function_call(many, TENSORS(vector(2, a), vector(3, rows)), 2, results, &failure));
  EXPECT(keep(results[0]), 0, 14, 140);
  EXPECT(keep(results[1]), 0, 2, 4, 6, 20, 40, 60);
}
