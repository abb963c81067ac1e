/* Adit for C, and for every language that can call C.
 *
 *   adit_error* error = NULL;
 *   adit_device* device;
 *   if (adit_device_open("", &device, &error)) return fail(error);
 *   adit_tensor *x, *y;
 *   adit_tensor_from_bytes(device, ADIT_F32, 1, (int64_t[]){3}, values, sizeof values, &x, &error);
 *   adit_call("exp", 1, (const adit_tensor*[]){x}, 0, NULL, 1, &y, NULL, &error);
 *   adit_tensor_read(y, 0, 3, values, sizeof values, &error);
 *
 * - Functions that can fail return a status, ADIT_OK (0) where they did not, and take as their last argument a place
 *   for an error (or NULL), which the caller frees. Where one fails it gives nothing, and takes nothing.
 * - Handles are opaque. Who gets one frees it by the function of its kind; NULL may be freed. A handle keeps alive
 *   what it needs: the order of freeing does not matter.
 * - Any thread may call any function at any time; no state belongs to a thread. What a function is made of is in its
 *   handle (adit_function), so that a graph may be built on one thread, and finished and run on others.
 * - Tensors are lazy: adit_call makes nodes of a graph, adit_eval computes. A tensor never changes.
 * - No function calls back.
 * - Text is UTF-8 and ends with a zero byte. What is returned as `const char*` lives as long as its handle.
 */
#ifndef ADIT_C_H
#define ADIT_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* Grows where functions are added; the library's own number is what adit_c_version() gives. */
#define ADIT_C_VERSION 1
int adit_c_version(void);
const char* adit_version(void); /* of the library: "0.1.0" */

/* C may hand over any number in place of an enumerator; so C++ must hold any. */
#ifdef __cplusplus
#define ADIT_ANY_INT : int
#else
#define ADIT_ANY_INT
#endif

/* --- Errors ----------------------------------------------------------------------------------------------------- */
typedef enum adit_status ADIT_ANY_INT {
  ADIT_OK = 0,
  ADIT_BAD_ARGUMENT,  /* the message names the argument */
  ADIT_NOT_FOUND,     /* a device, a file, an operation of this name */
  ADIT_UNSUPPORTED,   /* the device or the build lacks what is asked for */
  ADIT_OUT_OF_MEMORY, /* the message has the sizes */
  ADIT_DEVICE_LOST,   /* open it again */
  ADIT_IO,
  ADIT_INTERNAL /* a defect of Adit */
} adit_status;

typedef struct adit_error adit_error;
adit_status adit_error_status(const adit_error* error);
const char* adit_error_message(const adit_error* error);
void adit_error_free(adit_error* error);
const char* adit_status_name(adit_status status); /* "bad_argument" */

/* --- Devices ---------------------------------------------------------------------------------------------------- */
typedef struct adit_device adit_device;
typedef struct adit_device_list adit_device_list;

typedef struct adit_device_info {
  const char* id;     /* "cpu", "vulkan:0" */
  const char* name;   /* as the driver or the system tells it */
  const char* kind;   /* "discrete", "integrated", "virtual", "software", "cpu" */
  const char* driver; /* driver and version, or the code generator */
  const char* reason; /* why it is, or is not, chosen */
  uint64_t memory_bytes;
  int chosen; /* by adit_device_open("") */
} adit_device_info;

adit_status adit_device_list_new(adit_device_list** list, adit_error** error);
size_t adit_device_list_size(const adit_device_list* list);
const adit_device_info* adit_device_list_at(const adit_device_list* list, size_t i); /* NULL beyond its end */
void adit_device_list_free(adit_device_list* list);

/* "": the best one. A device is opened once a process; handles of it are equal in all they do. */
adit_status adit_device_open(const char* id, adit_device** device, adit_error** error);
const adit_device_info* adit_device_info_of(const adit_device* device);
void adit_device_free(adit_device* device);
adit_status adit_device_wait(adit_device* device, adit_error** error); /* until all that is queued is done */
adit_status adit_device_trim(adit_device* device, adit_error** error); /* gives unused memory back to the system */
int adit_device_lost(const adit_device* device);
/* Where tensors are computed that depend on no other tensor, such as iota; before the first call: the best one. */
adit_status adit_device_make_default(adit_device* device, adit_error** error);

typedef struct adit_statistics {
  uint64_t kernels_run, submissions, kernels_compiled, kernels_loaded;
  uint64_t allocations;                          /* asked of the pool so far */
  uint64_t bytes_in_use, bytes_held, bytes_peak; /* by tensors; from the system; the most that was in use */
} adit_statistics;
adit_status adit_device_statistics(const adit_device* device, adit_statistics* statistics, adit_error** error);

/* --- Tensors ---------------------------------------------------------------------------------------------------- */
typedef enum adit_dtype ADIT_ANY_INT {
  ADIT_U8 = 0,
  ADIT_U16,
  ADIT_U32,
  ADIT_U64,
  ADIT_I8,
  ADIT_I16,
  ADIT_I32,
  ADIT_I64,
  ADIT_F16,
  ADIT_BF16,
  ADIT_F32,
  ADIT_F64,
  ADIT_C64,
  ADIT_C128
} adit_dtype;
enum { ADIT_DTYPE_COUNT = 14, ADIT_MAX_RANK = 12 };
size_t adit_dtype_size(adit_dtype type);      /* bytes of an element; 0: there is no such type */
const char* adit_dtype_name(adit_dtype type); /* "f32"; NULL: there is no such type */

typedef struct adit_tensor adit_tensor;

/* Row-major, without gaps; bytes are copied. */
adit_status adit_tensor_from_bytes(adit_device* device, adit_dtype type, size_t rank, const int64_t* shape,
                                   const void* bytes, size_t size, adit_tensor** tensor, adit_error** error);
adit_status adit_tensor_copy(const adit_tensor* tensor, adit_tensor** copy, adit_error** error); /* of the handle */
adit_status adit_tensor_to_device(const adit_tensor* tensor, adit_device* device, adit_tensor** moved,
                                  adit_error** error);
void adit_tensor_free(adit_tensor* tensor);

adit_dtype adit_tensor_dtype(const adit_tensor* tensor);
size_t adit_tensor_rank(const adit_tensor* tensor);
const int64_t* adit_tensor_shape(const adit_tensor* tensor);
int64_t adit_tensor_size(const adit_tensor* tensor); /* elements */
int adit_tensor_is_evaluated(const adit_tensor* tensor);

/* Computes several together, in as few kernels as can be. On a GPU they are queued, not waited for. */
adit_status adit_eval(size_t count, const adit_tensor* const* tensors, adit_error** error);
/* The same where it is quick: what it needs is compiled, took at most `most_microseconds` the last time, and no other
 * thread is in its way. *done tells whether it was; where it was not nothing happened. For callers that must not be
 * held up, and hand what is not quick to another thread. */
adit_status adit_eval_quickly(size_t count, const adit_tensor* const* tensors, size_t most_microseconds, int* done,
                              adit_error** error);
/* Evaluates, waits and copies `count` elements from element `first` on. */
adit_status adit_tensor_read(const adit_tensor* tensor, int64_t first, int64_t count, void* to, size_t size,
                             adit_error** error);
/* Memory of an evaluated tensor that the host sees: a CPU's. ADIT_UNSUPPORTED elsewhere. Lives as long as the
 * handle; not to be written to. */
adit_status adit_tensor_pointer(const adit_tensor* tensor, const void** pointer, adit_error** error);
/* A copy of memory that another library holds in this process. */
adit_status adit_tensor_from_pointer(adit_device* device, adit_dtype type, size_t rank, const int64_t* shape,
                                     const void* memory, adit_tensor** tensor, adit_error** error);
/* What a person reads, as NumPy prints. Free with adit_text_free. */
adit_status adit_tensor_text(const adit_tensor* tensor, char** text, adit_error** error);
/* What is run to compute these (docs/explain.md); with times it is run and measured. */
adit_status adit_explain(size_t count, const adit_tensor* const* tensors, int times, char** text, adit_error** error);
void adit_text_free(char* text);

/* DLPack: a DLManagedTensor*. Who gets one calls its deleter; one that is given is consumed, also by an error. */
adit_status adit_tensor_to_dlpack(const adit_tensor* tensor, void** managed, adit_error** error);
adit_status adit_tensor_from_dlpack(adit_device* device, void* managed, adit_tensor** tensor, adit_error** error);

/* --- Operations by name ----------------------------------------------------------------------------------------- */
typedef struct adit_function adit_function;

/* A named argument that is not a tensor: `kind` says which of the members hold it. */
typedef enum adit_kind ADIT_ANY_INT {
  ADIT_INTEGER = 0, /* integer; also truth values */
  ADIT_REAL,        /* real, and imag where a complex number is asked for */
  ADIT_INTEGERS,    /* integers, count: shapes, axes */
  ADIT_REALS,       /* reals, count */
  ADIT_TEXT,        /* text: a name */
  ADIT_DTYPE,       /* integer is an adit_dtype */
  ADIT_FUNCTION     /* function, finished */
} adit_kind;
typedef struct adit_attribute {
  const char* name;
  adit_kind kind;
  int64_t integer;
  double real, imag;
  size_t count;
  const int64_t* integers;
  const double* reals;
  const char* text;
  const adit_function* function;
} adit_attribute;

/* Operations are named as in C++ (adit/ops.hpp, linalg.hpp, sort.hpp, fft.hpp, windows.hpp, ...), their attributes as
 * its parameters; docs/c.md lists them, and so does adit_operation_at. Every operation takes besides:
 *   cast   a dtype that all tensors are converted to first
 *   as     a dtype that the results are converted to
 *   into   a shape that the result is reshaped to
 * Writes at most `capacity` results; *result_count (or NULL) is how many there are, and fewer places than these are an
 * error. */
adit_status adit_call(const char* operation, size_t count, const adit_tensor* const* tensors, size_t attribute_count,
                      const adit_attribute* attributes, size_t capacity, adit_tensor** results, size_t* result_count,
                      adit_error** error);

typedef struct adit_operation {
  const char* name;
  const char* tensors;    /* "x, indices", "parts..." */
  const char* attributes; /* "axis=-1, direction=ascending" */
} adit_operation;
size_t adit_operation_count(void);
const adit_operation* adit_operation_at(size_t i); /* NULL beyond the end */

/* --- Functions of tensors --------------------------------------------------------------------------------------- */
/* A function is begun with the types and shapes of its parameters, built by operations on adit_function_parameter's
 * placeholders, and finished with its results. It may use any other tensor, also placeholders of a function that is
 * being built around it. */
typedef struct adit_slot {
  adit_dtype type;
  size_t rank;
  const int64_t* shape;
} adit_slot;
adit_status adit_function_begin(size_t count, const adit_slot* parameters, adit_function** function,
                                adit_error** error);
size_t adit_function_parameter_count(const adit_function* function);
adit_status adit_function_parameter(const adit_function* function, size_t i, adit_tensor** placeholder,
                                    adit_error** error);
adit_status adit_function_finish(adit_function* function, size_t count, const adit_tensor* const* results,
                                 adit_error** error);
size_t adit_function_result_count(const adit_function* function); /* 0 before it is finished */
void adit_function_free(adit_function* function);

/* Its results for these arguments, as nodes of a graph. */
adit_status adit_function_call(const adit_function* function, size_t count, const adit_tensor* const* arguments,
                               size_t capacity, adit_tensor** results, adit_error** error);

/* New functions of the same parameters. grad: the value of a function with one scalar result, then its derivative for
 * each of `arguments`. vjp: takes a cotangent a result besides, gives the results and a product for each parameter.
 * jvp: takes a tangent a parameter besides, gives the results and a product for each. vmap: parameter i gains an axis
 * of extent `size` at axes[i] (-1: none), every result one at 0. */
adit_status adit_function_grad(const adit_function* function, size_t count, const int* arguments,
                               adit_function** made, adit_error** error);
adit_status adit_function_vjp(const adit_function* function, adit_function** made, adit_error** error);
adit_status adit_function_jvp(const adit_function* function, adit_function** made, adit_error** error);
adit_status adit_function_vmap(const adit_function* function, size_t count, const int* axes, int64_t size,
                               adit_function** made, adit_error** error);

/* Compiled once for each device; a call runs it. */
typedef struct adit_jit adit_jit;
adit_status adit_jit_new(const adit_function* function, adit_jit** jit, adit_error** error);
adit_status adit_jit_call(const adit_jit* jit, size_t count, const adit_tensor* const* arguments, size_t capacity,
                          adit_tensor** results, adit_error** error);
/* The same where it is quick, as adit_eval_quickly. */
adit_status adit_jit_call_quickly(const adit_jit* jit, size_t count, const adit_tensor* const* arguments,
                                  size_t most_microseconds, int* done, size_t capacity, adit_tensor** results,
                                  adit_error** error);
void adit_jit_free(adit_jit* jit);

/* --- Models ----------------------------------------------------------------------------------------------------- */
typedef struct adit_model adit_model;
typedef struct adit_distribution adit_distribution;
typedef struct adit_constraint adit_constraint;

/* An axis of a variable: a plate, or a number. */
typedef struct adit_extent {
  int64_t size;
  const char* plate; /* NULL: none, and `size` counts */
} adit_extent;

adit_status adit_model_new(const char* name, adit_model** model, adit_error** error);
/* A Stan program with its data as JSON ("": none). */
adit_status adit_model_from_stan(const char* name, const char* program, const char* data_json, uint64_t seed,
                                 adit_model** model, adit_error** error);
/* The same, with folders that `#include` looks into, one after the other. */
adit_status adit_model_from_stan_in(size_t folder_count, const char* const* folders, const char* name,
                                    const char* program, const char* data_json, uint64_t seed, adit_model** model,
                                    adit_error** error);
void adit_model_free(adit_model* model);

/* Named as in adit/distribution.hpp and adit/constraint.hpp; parameters are tensors in the order of its functions'.
 * Attributes: lkj_corr_cholesky size, gaussian_random_walk steps. */
adit_status adit_distribution_new(const char* name, size_t count, const adit_tensor* const* parameters,
                                  size_t attribute_count, const adit_attribute* attributes,
                                  adit_distribution** distribution, adit_error** error);
adit_status adit_distribution_mixture(const adit_tensor* weights, size_t count,
                                      const adit_distribution* const* components, adit_distribution** distribution,
                                      adit_error** error);
adit_status adit_distribution_censored(const adit_distribution* inner, const adit_tensor* low,
                                       const adit_tensor* high, adit_distribution** distribution, adit_error** error);
adit_status adit_distribution_log_density(const adit_distribution* distribution, const adit_tensor* x,
                                          adit_tensor** result, adit_error** error);
adit_status adit_distribution_draw(const adit_distribution* distribution, const adit_tensor* key, size_t rank,
                                   const int64_t* shape, adit_tensor** result, adit_error** error);
void adit_distribution_free(adit_distribution* distribution);
adit_status adit_constraint_new(const char* name, size_t count, const adit_tensor* const* parameters,
                                adit_constraint** constraint, adit_error** error);
void adit_constraint_free(adit_constraint* constraint);

/* coordinates: `size` texts, or NULL. */
adit_status adit_model_plate(adit_model* model, const char* name, int64_t size, const char* const* coordinates,
                             adit_error** error);
adit_status adit_model_sample(adit_model* model, const char* name, const adit_distribution* prior, size_t rank,
                              const adit_extent* extents, int non_centred, adit_tensor** value, adit_error** error);
adit_status adit_model_parameter(adit_model* model, const char* name, const adit_constraint* constraint, size_t rank,
                                 const adit_extent* extents, adit_tensor** value, adit_error** error);
adit_status adit_model_observe(adit_model* model, const char* name, const adit_distribution* likelihood,
                               const adit_tensor* value, adit_error** error);
adit_status adit_model_deterministic(adit_model* model, const char* name, const adit_tensor* value, size_t rank,
                                     const adit_extent* extents, adit_tensor** result, adit_error** error);
adit_status adit_model_data(adit_model* model, const char* name, const adit_tensor* value, adit_tensor** result,
                            adit_error** error);
adit_status adit_model_set_data(adit_model* model, const char* name, const adit_tensor* value, adit_error** error);
adit_status adit_model_add_log_density(adit_model* model, const char* name, const adit_tensor* term,
                                       adit_error** error);
adit_status adit_model_size(const adit_model* model, int64_t* size, adit_error** error); /* unconstrained numbers */
adit_status adit_model_log_density(const adit_model* model, const adit_tensor* u, adit_tensor** result,
                                   adit_error** error);

/* --- Sampling --------------------------------------------------------------------------------------------------- */
/* A run works on a thread of its own; the caller polls. Options are those of SampleOptions in adit/sample.hpp by name:
 * chains, warmup, draws, thin, seed, device, precision, placement, layout, metric, adapt, adapt_delta, step_size,
 * max_depth, init_buffer, term_buffer, window, init_radius, restart_stuck, save_warmup, log_likelihood,
 * posterior_predictive, checkpoint, resume, first_chain; init is JSON text, an object of values by variable or a list of those, one a chain;
 * prior=1 draws from the prior, fixed=1 runs without a sampler. */
typedef struct adit_run adit_run;
typedef struct adit_progress {
  int64_t iteration, iterations, warmup;
  uint64_t leapfrogs, divergences;
  double seconds;
  int finished; /* the draws or the error are there */
} adit_progress;
adit_status adit_run_start(const adit_model* model, size_t option_count, const adit_attribute* options,
                           adit_run** run, adit_error** error);
/* How chains would lie on the device, as the option `layout` takes it: runs that share the chains of one (first_chain)
 * have the same bits as that one where all of them are given its layout. Free with adit_text_free. */
adit_status adit_model_layout(const adit_model* model, size_t option_count, const adit_attribute* options,
                              char** layout, adit_error** error);
void adit_run_progress(const adit_run* run, adit_progress* progress);
void adit_run_stop(adit_run* run); /* it ends soon, with the draws so far */
/* Waits for at most so many seconds (negative: for ever); whether it has ended. */
int adit_run_wait(adit_run* run, double seconds);
void adit_run_free(adit_run* run); /* stops it first */

typedef struct adit_draws adit_draws;
/* Of a run that has ended, or the error it ended with. */
adit_status adit_run_draws(const adit_run* run, adit_draws** draws, adit_error** error);
adit_status adit_draws_read(size_t count, const char* const* paths, adit_draws** draws, adit_error** error);
void adit_draws_free(adit_draws* draws);
int64_t adit_draws_chains(const adit_draws* draws);
int64_t adit_draws_draws(const adit_draws* draws); /* of each chain */
int adit_draws_finished(const adit_draws* draws);  /* 0: stopped before all were made */

/* Groups: "posterior", "sample_stats", "log_likelihood", "posterior_predictive", "observed", "warmup". A variable's
 * values are [chains, draws, shape...], an observed one's [shape...]. */
typedef struct adit_variable {
  const char* name;
  size_t rank;
  const int64_t* shape;
  const double* values;
  size_t count; /* of values */
} adit_variable;
size_t adit_draws_variable_count(const adit_draws* draws, const char* group);
const adit_variable* adit_draws_variable(const adit_draws* draws, const char* group, size_t i);

typedef struct adit_summary_row {
  const char* name;
  double mean, mcse, sd, mad, q5, q50, q95, ess_bulk, ess_tail, r_hat;
} adit_summary_row;
/* Made at the first call; rows of lp__ first. */
adit_status adit_draws_summary(const adit_draws* draws, const adit_summary_row** rows, size_t* count,
                               adit_error** error);
adit_status adit_draws_warnings(const adit_draws* draws, const char* const** warnings, size_t* count,
                                adit_error** error);
/* What is known of the run, by name: "step_sizes" (a number a chain), "inverse_metrics" (one chain after the other),
 * "seconds" (open, compile, warm-up, sampling, total), "divergences", "warmup_divergences", "leapfrogs", "energy_error",
 * "gradient_error", "energy_error_before", "gradient_error_before" (NaN where nobody looked before the draws).
 */
adit_status adit_draws_numbers(const adit_draws* draws, const char* name, const double** numbers, size_t* count,
                               adit_error** error);
const char* adit_draws_text(const adit_draws* draws, const char* name); /* "device", "precision", "layout", "model",
                                                                              "metric"; NULL: another */
/* Those of runs that differ in first_chain alone, one after the other, as the draws of one run: for chains that were
 * spread over processes. Where runs were stopped all chains have as many draws as the shortest. */
adit_status adit_draws_join(size_t count, const adit_draws* const* parts, adit_draws** joined, adit_error** error);
/* For the way to another process with the same build of the library. Free the bytes with adit_text_free. */
adit_status adit_draws_to_bytes(const adit_draws* draws, char** bytes, size_t* size, adit_error** error);
adit_status adit_draws_from_bytes(const void* bytes, size_t size, adit_draws** draws, adit_error** error);
adit_status adit_draws_write_report(const adit_draws* draws, const char* path, adit_error** error);
adit_status adit_draws_write_csv(const adit_draws* draws, const char* stem, adit_error** error);
adit_status adit_draws_write_netcdf(const adit_draws* draws, const char* path, adit_error** error);

#ifdef __cplusplus
}
#endif
#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#endif
