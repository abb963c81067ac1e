/* What the cases of door_c share. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <adit/c.h>

#define CASE(name) void name##_case(void);
#include "cases.h"
#undef CASE

/* The device of this round: a case is run on every one that can be used, or on those that ADIT_TEST_DEVICES
 * lists. */
extern adit_device* device;
const char* device_id(void);
bool on_cpu(void);
/* What is the same on every device is tried on the first of them alone. */
bool first_round(void);

/* The place for errors of this thread. */
extern _Thread_local adit_error* failure;

/* A case goes on after a wrong value, and ends where a call fails that must not. */
void wrong_at(const char* file, int line, const char* format, ...);
void check_at(const char* file, int line, bool holds, const char* what);
void ok_at(const char* file, int line, adit_status status, const char* what);
void fails_at(const char* file, int line, adit_status got, adit_status status, const char* words,
              const char* what);
#define WRONG(...) wrong_at(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(holds) check_at(__FILE__, __LINE__, (holds), #holds)
#define OK(call) ok_at(__FILE__, __LINE__, (call), #call)
/* The status, and words that the message must hold. */
#define FAILS(status, words, call) fails_at(__FILE__, __LINE__, (call), (status), (words), #call)

/* What is made by the functions below is kept, and freed at the end of the case or by free_kept, a list a
 * thread. */
adit_tensor* keep(adit_tensor* tensor);
adit_function* keep_function(adit_function* function);
adit_distribution* keep_distribution(adit_distribution* distribution);
void* keep_memory(void* memory);
void free_kept(void);

/* Lists as two arguments, a count and a pointer. */
#define NONE 0, NULL
#define COUNT(list) (sizeof(list) / sizeof(*(list)))
#define LIST(type, ...) \
  COUNT(((type[]){__VA_ARGS__})), (type[]) { __VA_ARGS__ }
#define TENSORS(...) LIST(const adit_tensor*, __VA_ARGS__)
#define ATTRIBUTES(...) LIST(adit_attribute, __VA_ARGS__)
#define SLOTS(...) LIST(adit_slot, __VA_ARGS__)
#define NUMBERS(...) LIST(double, __VA_ARGS__)
#define DIMS(...) LIST(int64_t, __VA_ARGS__)

adit_attribute integer(const char* name, int64_t value);
adit_attribute real(const char* name, double value);
adit_attribute integers(const char* name, size_t count, const int64_t* list);
adit_attribute text(const char* name, const char* value);
adit_attribute dtype(const char* name, adit_dtype type);
adit_attribute function(const char* name, const adit_function* f);

adit_tensor* tensor(adit_dtype type, size_t rank, const int64_t* shape, const void* bytes);
adit_tensor* vector(size_t count, const double* values); /* f32 */
adit_tensor* matrix(int64_t rows, int64_t columns, const double* values);
adit_tensor* scalar(double value); /* f32 */
adit_tensor* scalar_f64(double value);
adit_tensor* vector_f64(size_t count, const double* values);
adit_tensor* call(const char* operation, size_t count, const adit_tensor* const* tensors,
                  size_t attribute_count, const adit_attribute* attributes);
adit_tensor* unary(const char* operation, const adit_tensor* x);
adit_tensor* binary(const char* operation, const adit_tensor* a, const adit_tensor* b);

/* As f64, whatever its type; kept. */
const double* numbers_of(const adit_tensor* x);
double number_of(const adit_tensor* x);
void expect_at(const char* file, int line, const adit_tensor* x, double tolerance, size_t count,
               const double* values);
#define EXPECT(x, tolerance, ...) expect_at(__FILE__, __LINE__, (x), (tolerance), NUMBERS(__VA_ARGS__))
void near_at(const char* file, int line, double got, double wanted, double tolerance, const char* what);
#define NEAR(got, wanted, tolerance) near_at(__FILE__, __LINE__, (got), (wanted), (tolerance), #got)

/* A function that is begun: the placeholders are kept as well. */
adit_function* begin(size_t count, const adit_slot* slots);
adit_tensor* parameter(const adit_function* f, size_t i);
adit_function* finish(adit_function* f, size_t count, const adit_tensor* const* results);
extern const adit_slot scalar_slot, vector3_slot; /* f32 */

adit_distribution* distribution(const char* name, size_t count, const adit_tensor* const* parameters);
adit_model* eight_schools(void); /* the caller frees it */
adit_model* one_normal(void);    /* x ~ normal(2, 3), y = 1.5 seen of normal(x, 1) */
adit_draws* sampled(const adit_model* model, size_t count, const adit_attribute* options);
const adit_variable* variable_of(const adit_draws* draws, const char* group, const char* name);
double mean_of(const adit_variable* variable, size_t element);
