/* Many threads: graphs of their own, graphs that they share, and functions that wander from one to another.
 */
#include "threads.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "door.h"

enum { most_threads = 16 };
typedef struct {
  int number;
  void (*f)(int);
} Work;

static void* work(void* given) {
  const Work* const mine = given;
  mine->f(mine->number);
  free_kept();
  return NULL;
}

void on_threads(int count, void (*f)(int number)) {
  pthread_t threads[most_threads];
  Work works[most_threads];
  for (int i = 0; i < count; ++i) {
    works[i] = (Work){i, f};
    if (pthread_create(&threads[i], NULL, work, &works[i]) != 0) abort();
  }
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
}

static void build_own(int number) {
  for (int round = 0; round < 12; ++round) {
    const double values[] = {number, round, 0.5};
    const adit_tensor* const x = vector(3, values);
    const adit_tensor* y = x;
    for (int i = 0; i < number % 4 + 1; ++i) y = binary("add", y, scalar(1));
    const double more = number % 4 + 1;
    EXPECT(y, 1e-6, number + more, round + more, 0.5 + more);
    /* A function, its derivative and an error, all at once with the others'. */
    adit_function* const f = begin(1, &vector3_slot);
    finish(f, TENSORS(call("sum", TENSORS(unary("square", parameter(f, 0))), NONE)));
    adit_function* g;
    OK(adit_function_grad(f, 1, (int[]){0}, &g, &failure));
    keep_function(g);
    adit_tensor* results[2];
    OK(adit_function_call(g, 1, &x, 2, results, &failure));
    keep(results[0]);
    EXPECT(keep(results[1]), 1e-6, 2 * number, 2 * round, 1);
    adit_tensor* made = NULL;
    FAILS(ADIT_BAD_ARGUMENT, "[exp] tensors",
          adit_call("exp", TENSORS(x, x), NONE, 1, &made, NULL, &failure));
    free_kept();
  }
}
void threads_of_their_own_case(void) { on_threads(8, build_own); }

/* All evaluate, read, extend and free handles of the same nodes. */
static adit_tensor* shared[6];
static const double points[] = {0.5, 1, 1.5};

static void use_shared(int number) {
  for (int round = 0; round < 6; ++round) {
    adit_tensor* mine;
    OK(adit_tensor_copy(shared[(number + round) % 6], &mine, &failure));
    const int depth = (number + round) % 6 + 1;
    const adit_tensor* const more = binary("add", mine, scalar(number));
    adit_tensor_free(mine);
    double expected[3];
    for (int i = 0; i < 3; ++i) {
      expected[i] = points[i];
      for (int k = 0; k < depth; ++k) expected[i] = sin(expected[i]) + 1;
    }
    EXPECT(more, 1e-5, expected[0] + number, expected[1] + number, expected[2] + number);
  }
}
void threads_that_share_case(void) {
  for (int round = 0; round < 2; ++round) {
    const adit_tensor* x = vector(3, points);
    for (int i = 0; i < 6; ++i) {
      x = binary("add", unary("sin", x), scalar(1));
      OK(adit_tensor_copy(x, &shared[i], &failure));
    }
    free_kept(); /* the threads hold what is left */
    on_threads(8, use_shared);
    for (int i = 0; i < 6; ++i) adit_tensor_free(shared[i]);
  }
}

/* Begun here, built by one thread, finished by another, run by a third, freed here. */
static adit_function* wandering;
static adit_tensor *built, *outcome;

static void build_it(int number) {
  (void)number;
  OK(adit_tensor_copy(unary("exp", parameter(wandering, 0)), &built, &failure));
}
static void finish_it(int number) {
  (void)number;
  finish(wandering, TENSORS(binary("add", built, scalar(1))));
}
static void run_it(int number) {
  (void)number;
  adit_jit* jit;
  OK(adit_jit_new(wandering, &jit, &failure));
  OK(adit_jit_call(jit, TENSORS(scalar(1)), 1, &outcome, &failure));
  adit_jit_free(jit);
}
static void read_it(int number) {
  EXPECT(outcome, 1e-6, exp(1) + 1);
  adit_tensor* mine;
  OK(adit_function_call(wandering, TENSORS(scalar(number)), 1, &mine, &failure));
  EXPECT(keep(mine), 1e-6, exp(number) + 1);
}
static atomic_int finished_count;
static void finish_with_others(int number) {
  const adit_tensor* const result = binary("multiply", parameter(wandering, 0), scalar(number));
  if (adit_function_finish(wandering, 1, &result, NULL) == ADIT_OK) ++finished_count;
}

void function_between_threads_case(void) {
  OK(adit_function_begin(1, &scalar_slot, &wandering, &failure));
  on_threads(1, build_it);
  on_threads(1, finish_it);
  on_threads(1, run_it);
  on_threads(8, read_it);
  adit_function_free(wandering), adit_tensor_free(built), adit_tensor_free(outcome);
  /* One of many finishes it. */
  OK(adit_function_begin(1, &scalar_slot, &wandering, &failure));
  finished_count = 0;
  on_threads(8, finish_with_others);
  CHECK(finished_count == 1 && adit_function_result_count(wandering) == 1);
  adit_function_free(wandering);
}
