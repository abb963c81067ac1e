#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "door.h"
#include "rounds.h"

_Thread_local adit_error* failure;
atomic_int wrong_count;

void wrong_at(const char* file, int line, const char* format, ...) {
  char words[2000];
  va_list list;
  va_start(list, format);
  vsnprintf(words, sizeof words, format, list);
  va_end(list);
  const char* name = strrchr(file, '/');
  fprintf(stderr, "%s:%d: (%s) %s\n", name ? name + 1 : file, line, device_id(), words);
  ++wrong_count;
}

void check_at(const char* file, int line, bool holds, const char* what) {
  if (!holds) wrong_at(file, line, "expected %s", what);
}

void ok_at(const char* file, int line, adit_status status, const char* what) {
  if (status == ADIT_OK) return;
  wrong_at(file, line, "%.90s: %s: %s", what, adit_status_name(status), adit_error_message(failure));
  exit(1);
}

void fails_at(const char* file, int line, adit_status got, adit_status status, const char* words,
              const char* what) {
  const char* message = adit_error_message(failure);
  if (got != status)
    wrong_at(file, line, "%.90s: expected %s, got %s: %s", what, adit_status_name(status),
             adit_status_name(got), message);
  else if (!failure)
    wrong_at(file, line, "%.90s: there is no error", what);
  else if (adit_error_status(failure) != status)
    wrong_at(file, line, "%.90s: the error has the status %s", what,
             adit_status_name(adit_error_status(failure)));
  else if (!strstr(message, words))
    wrong_at(file, line, "%.90s: expected \"%s\" in the message, got: %s", what, words, message);
  adit_error_free(failure);
  failure = NULL;
}

/* --- What is kept
 * ---------------------------------------------------------------------------------------------- */
static void free_tensor(void* it) { adit_tensor_free(it); }
static void free_function(void* it) { adit_function_free(it); }
static void free_distribution(void* it) { adit_distribution_free(it); }

typedef struct Kept {
  void* it;
  void (*free)(void*);
  struct Kept* next;
} Kept;
static _Thread_local Kept* kept;

static void* keep_any(void* it, void (*how)(void*)) {
  Kept* place = malloc(sizeof *place);
  if (!place) abort();
  *place = (Kept){it, how, kept};
  kept = place;
  return it;
}
adit_tensor* keep(adit_tensor* it) { return keep_any(it, free_tensor); }
adit_function* keep_function(adit_function* it) { return keep_any(it, free_function); }
adit_distribution* keep_distribution(adit_distribution* it) { return keep_any(it, free_distribution); }
void* keep_memory(void* it) { return keep_any(it, free); }

void free_kept(void) {
  while (kept) {
    Kept* const first = kept;
    kept = first->next;
    first->free(first->it);
    free(first);
  }
}

/* --- Attributes
 * ------------------------------------------------------------------------------------------------ */
adit_attribute integer(const char* name, int64_t value) {
  return (adit_attribute){.name = name, .kind = ADIT_INTEGER, .integer = value};
}
adit_attribute real(const char* name, double value) {
  return (adit_attribute){.name = name, .kind = ADIT_REAL, .real = value};
}
adit_attribute integers(const char* name, size_t count, const int64_t* list) {
  return (adit_attribute){.name = name, .kind = ADIT_INTEGERS, .count = count, .integers = list};
}
adit_attribute text(const char* name, const char* value) {
  return (adit_attribute){.name = name, .kind = ADIT_TEXT, .text = value};
}
adit_attribute dtype(const char* name, adit_dtype type) {
  return (adit_attribute){.name = name, .kind = ADIT_DTYPE, .integer = type};
}
adit_attribute function(const char* name, const adit_function* f) {
  return (adit_attribute){.name = name, .kind = ADIT_FUNCTION, .function = f};
}

/* --- Tensors
 * --------------------------------------------------------------------------------------------------- */
adit_tensor* tensor(adit_dtype type, size_t rank, const int64_t* shape, const void* bytes) {
  size_t size = adit_dtype_size(type);
  for (size_t i = 0; i < rank; ++i) size *= (size_t)shape[i];
  adit_tensor* made;
  OK(adit_tensor_from_bytes(device, type, rank, shape, bytes, size, &made, &failure));
  return keep(made);
}

static adit_tensor* of_floats(size_t rank, const int64_t* shape, size_t count, const double* values) {
  float* narrow = keep_memory(malloc(count * sizeof *narrow + 1));
  for (size_t i = 0; i < count; ++i) narrow[i] = (float)values[i];
  return tensor(ADIT_F32, rank, shape, narrow);
}
adit_tensor* vector(size_t count, const double* values) {
  return of_floats(1, (int64_t[]){(int64_t)count}, count, values);
}
adit_tensor* matrix(int64_t rows, int64_t columns, const double* values) {
  return of_floats(2, (int64_t[]){rows, columns}, (size_t)(rows * columns), values);
}
adit_tensor* scalar(double value) { return of_floats(0, NULL, 1, &value); }
adit_tensor* scalar_f64(double value) { return tensor(ADIT_F64, 0, NULL, &value); }
adit_tensor* vector_f64(size_t count, const double* values) {
  return tensor(ADIT_F64, 1, (int64_t[]){(int64_t)count}, values);
}

adit_tensor* call(const char* operation, size_t count, const adit_tensor* const* tensors,
                  size_t attribute_count, const adit_attribute* attributes) {
  adit_tensor* made;
  size_t results = 0;
  OK(adit_call(operation, count, tensors, attribute_count, attributes, 1, &made, &results, &failure));
  if (results != 1) WRONG("%s gave %zu results", operation, results);
  return keep(made);
}
adit_tensor* unary(const char* operation, const adit_tensor* x) { return call(operation, TENSORS(x), NONE); }
adit_tensor* binary(const char* operation, const adit_tensor* a, const adit_tensor* b) {
  return call(operation, TENSORS(a, b), NONE);
}

const double* numbers_of(const adit_tensor* x) {
  const adit_tensor* const wide = call("as_type", TENSORS(x), ATTRIBUTES(dtype("type", ADIT_F64)));
  const int64_t count = adit_tensor_size(wide);
  double* numbers = keep_memory(malloc((size_t)count * sizeof *numbers + 1));
  OK(adit_tensor_read(wide, 0, count, numbers, (size_t)count * sizeof *numbers, &failure));
  return numbers;
}
double number_of(const adit_tensor* x) {
  if (adit_tensor_size(x) != 1) WRONG("expected one number, got %lld", (long long)adit_tensor_size(x));
  return *numbers_of(x);
}

static bool close_to(double got, double wanted, double tolerance) {
  if (got == wanted || (isnan(got) && isnan(wanted))) return true;
  return fabs(got - wanted) <= tolerance * fmax(1, fabs(wanted));
}
void near_at(const char* file, int line, double got, double wanted, double tolerance, const char* what) {
  if (!close_to(got, wanted, tolerance))
    wrong_at(file, line, "%.90s: expected %.17g, got %.17g", what, wanted, got);
}
void expect_at(const char* file, int line, const adit_tensor* x, double tolerance, size_t count,
               const double* values) {
  if (adit_tensor_size(x) != (int64_t)count) {
    wrong_at(file, line, "expected %zu numbers, got %lld", count, (long long)adit_tensor_size(x));
    return;
  }
  const double* const got = numbers_of(x);
  for (size_t i = 0; i < count; ++i)
    if (!close_to(got[i], values[i], tolerance))
      wrong_at(file, line, "number %zu: expected %.17g, got %.17g", i, values[i], got[i]);
}

/* --- Functions
 * ------------------------------------------------------------------------------------------------- */
const adit_slot scalar_slot = {ADIT_F32, 0, NULL};
const adit_slot vector3_slot = {ADIT_F32, 1, (const int64_t[]){3}};

adit_function* begin(size_t count, const adit_slot* slots) {
  adit_function* made;
  OK(adit_function_begin(count, slots, &made, &failure));
  return keep_function(made);
}
adit_tensor* parameter(const adit_function* f, size_t i) {
  adit_tensor* placeholder;
  OK(adit_function_parameter(f, i, &placeholder, &failure));
  return keep(placeholder);
}
adit_function* finish(adit_function* f, size_t count, const adit_tensor* const* results) {
  OK(adit_function_finish(f, count, results, &failure));
  return f;
}

/* --- Models
 * ---------------------------------------------------------------------------------------------------- */
adit_distribution* distribution(const char* name, size_t count, const adit_tensor* const* parameters) {
  adit_distribution* made;
  OK(adit_distribution_new(name, count, parameters, NONE, &made, &failure));
  return keep_distribution(made);
}

adit_model* eight_schools(void) {
  static const double seen[] = {28, 8, -3, 7, -1, 1, 18, 12}, deviations[] = {15, 10, 16, 11, 9, 11, 10, 18};
  static const char* const names[] = {"A", "B", "C", "D", "E", "F", "G", "H"};
  const adit_extent school = {0, "school"};
  adit_model* model;
  adit_tensor *mu, *tau, *z, *theta, *sigma;
  OK(adit_model_new("eight_schools", &model, &failure));
  OK(adit_model_plate(model, "school", 8, names, &failure));
  OK(adit_model_sample(model, "mu", distribution("normal", TENSORS(scalar_f64(0), scalar_f64(5))), NONE, 0,
                       &mu, &failure));
  OK(adit_model_sample(model, "tau", distribution("half_cauchy", TENSORS(scalar_f64(5))), NONE, 0, &tau,
                       &failure));
  OK(adit_model_sample(model, "z", distribution("normal", TENSORS(scalar_f64(0), scalar_f64(1))), 1, &school,
                       0, &z, &failure));
  keep(mu), keep(tau), keep(z);
  OK(adit_model_deterministic(model, "theta", binary("add", mu, binary("multiply", tau, z)), 1, &school,
                              &theta, &failure));
  OK(adit_model_data(model, "sigma", vector_f64(8, deviations), &sigma, &failure));
  keep(theta), keep(sigma);
  OK(adit_model_observe(model, "y", distribution("normal", TENSORS(theta, sigma)), vector_f64(8, seen),
                        &failure));
  return model;
}

adit_model* one_normal(void) {
  adit_model* model;
  adit_tensor* x;
  OK(adit_model_new("one_normal", &model, &failure));
  OK(adit_model_sample(model, "x", distribution("normal", TENSORS(scalar_f64(2), scalar_f64(3))), NONE, 0, &x,
                       &failure));
  keep(x);
  OK(adit_model_observe(model, "y", distribution("normal", TENSORS(x, scalar_f64(1))), scalar_f64(1.5),
                        &failure));
  return model;
}

adit_draws* sampled(const adit_model* model, size_t count, const adit_attribute* options) {
  adit_run* run;
  adit_draws* draws;
  OK(adit_run_start(model, count, options, &run, &failure));
  CHECK(adit_run_wait(run, -1));
  OK(adit_run_draws(run, &draws, &failure));
  adit_run_free(run);
  return draws;
}

const adit_variable* variable_of(const adit_draws* draws, const char* group, const char* name) {
  for (size_t i = 0; i < adit_draws_variable_count(draws, group); ++i) {
    const adit_variable* const it = adit_draws_variable(draws, group, i);
    if (strcmp(it->name, name) == 0) return it;
  }
  WRONG("there is no %s in %s", name, group);
  exit(1);
}

double mean_of(const adit_variable* variable, size_t element) {
  size_t size = 1;
  for (size_t i = 0; i < variable->rank; ++i) size *= (size_t)variable->shape[i];
  double sum = 0;
  size_t count = 0;
  for (size_t i = element; i < variable->count; i += size, ++count) sum += variable->values[i];
  return sum / (double)count;
}
