/* Calls that cannot work: the status, and what the message says. */
#include <string.h>

#include "door.h"

static adit_tensor* made;
#define REFUSED(words, ...) FAILS(ADIT_BAD_ARGUMENT, words, adit_call(__VA_ARGS__, 1, &made, NULL, &failure))

void wrong_names_case(void) {
  const adit_tensor* const x = scalar(1);
  FAILS(ADIT_NOT_FOUND, "'exq'", adit_call("exq", TENSORS(x), NONE, 1, &made, NULL, &failure));
  FAILS(ADIT_NOT_FOUND, "''", adit_call("", TENSORS(x), NONE, 1, &made, NULL, &failure));
  FAILS(ADIT_NOT_FOUND, "'Exp'", adit_call("Exp", TENSORS(x), NONE, 1, &made, NULL, &failure));
  adit_distribution* d = NULL;
  FAILS(ADIT_NOT_FOUND, "half_normal", adit_distribution_new("normel", TENSORS(x, x), NONE, &d, &failure));
  adit_constraint* c = NULL;
  FAILS(ADIT_NOT_FOUND, "simplex", adit_constraint_new("negative", NONE, &c, &failure));
  CHECK(!made && !d && !c);
  /* An error of its own for each; freed in any order. */
  adit_error *first = NULL, *second = NULL;
  CHECK(adit_call("exq", TENSORS(x), NONE, 1, &made, NULL, &first) == ADIT_NOT_FOUND);
  CHECK(adit_call("exr", TENSORS(x), NONE, 1, &made, NULL, &second) == ADIT_NOT_FOUND);
  CHECK(strstr(adit_error_message(first), "exq") && strstr(adit_error_message(second), "exr"));
  adit_error_free(first);
  CHECK(adit_error_status(second) == ADIT_NOT_FOUND && strstr(adit_error_message(second), "exr"));
  adit_error_free(second);
}

void wrong_counts_case(void) {
  const adit_tensor* const x = scalar(1);
  REFUSED("[exp] tensors: expected 1 (x), got 2", "exp", TENSORS(x, x), NONE);
  REFUSED("[add] tensors: expected 2 (a, b), got 1", "add", TENSORS(x), NONE);
  REFUSED("[exp] tensors", "exp", NONE, NONE);
  REFUSED("[concatenate] tensors: expected at least 1", "concatenate", NONE, NONE);
  REFUSED("[layer_norm] tensors: expected 1 to 3", "layer_norm", TENSORS(x, x, x, x), NONE);
  REFUSED("[full] tensors", "full", TENSORS(x), ATTRIBUTES(integer("value", 1)));
  adit_attribute many[65];
  for (size_t i = 0; i < COUNT(many); ++i) many[i] = integer("keep_axes", 1);
  REFUSED("attributes: expected at most 64, got 65", "sum", TENSORS(x), COUNT(many), many);
  /* Fewer places than results: how many there are is told all the same. */
  adit_tensor* places[2] = {NULL, NULL};
  const double values[] = {2, 1, 1, 3};
  const adit_tensor* const m = matrix(2, 2, values);
  size_t count = 0;
  FAILS(ADIT_BAD_ARGUMENT, "capacity: expected at least 3, got 2",
        adit_call("svd", TENSORS(m), NONE, 2, places, &count, &failure));
  CHECK(count == 3 && !places[0] && !places[1]);
  OK(adit_call("qr", TENSORS(m), NONE, 2, places, &count, &failure));
  CHECK(count == 2);
  keep(places[0]), keep(places[1]);
  adit_distribution* d = NULL;
  FAILS(ADIT_BAD_ARGUMENT, "parameters: expected 2, got 1",
        adit_distribution_new("normal", TENSORS(x), NONE, &d, &failure));
  adit_constraint* c = NULL;
  FAILS(ADIT_BAD_ARGUMENT, "parameters: expected 1, got 0", adit_constraint_new("lower", NONE, &c, &failure));
  CHECK(!made && !d && !c);
}

void wrong_attributes_case(void) {
  const double values[] = {3, 1, 2};
  const adit_tensor* const x = vector(3, values);
  REFUSED("[exp] axis: ", "exp", TENSORS(x), ATTRIBUTES(integer("axis", 1)));
  REFUSED("axes=[], keep_axes=0", "sum", TENSORS(x), ATTRIBUTES(integer("axis", 0)));
  REFUSED("[sum] keep_axes", "sum", TENSORS(x), ATTRIBUTES(integer("keep_axes", 1), integer("keep_axes", 1)));
  REFUSED("[sum] axes: expected a list of integers, got an integer", "sum", TENSORS(x),
          ATTRIBUTES(integer("axes", 0)));
  REFUSED("[sum] keep_axes: expected an integer, got text", "sum", TENSORS(x),
          ATTRIBUTES(text("keep_axes", "yes")));
  REFUSED("[sort] direction: expected text, got an integer", "sort", TENSORS(x),
          ATTRIBUTES(integer("direction", 1)));
  REFUSED("[sort] direction: expected ascending or descending, got up", "sort", TENSORS(x),
          ATTRIBUTES(text("direction", "up")));
  REFUSED("[argmax] tie_break: expected low or high", "argmax", TENSORS(x),
          ATTRIBUTES(text("tie_break", "first")));
  REFUSED("[as_type] type: expected a dtype, got an integer", "as_type", TENSORS(x),
          ATTRIBUTES(integer("type", 10)));
  REFUSED("[as_type] type: expected a dtype from 0 to 13, got 14", "as_type", TENSORS(x),
          ATTRIBUTES(dtype("type", (adit_dtype)14)));
  FAILS(ADIT_NOT_FOUND, "f33",
        adit_call("as_type", TENSORS(x), ATTRIBUTES(text("type", "f33")), 1, &made, NULL, &failure));
  REFUSED("[as_type] type: expected it, got none", "as_type", TENSORS(x), NONE);
  REFUSED("[reshape] shape: expected it, got none", "reshape", TENSORS(x), NONE);
  REFUSED("[full] value: expected a number, got none", "full", NONE, NONE);
  REFUSED("[full] value: expected a number", "full", NONE, ATTRIBUTES(text("value", "1")));
  REFUSED("[reduce] combine: expected a function, got an integer", "reduce", TENSORS(x, scalar(0)),
          ATTRIBUTES(integer("combine", 1)));
  REFUSED("[norm] p: expected a number, got text", "norm", TENSORS(x), ATTRIBUTES(text("p", "2")));
  adit_attribute strange = integer("keep_axes", 1);
  strange.kind = (adit_kind)99;
  REFUSED("[sum] keep_axes: expected an integer, got an unknown kind", "sum", TENSORS(x), 1, &strange);
  const int64_t long_list[13] = {0};
  REFUSED("[sum] axes: expected at most 12 numbers, got 13", "sum", TENSORS(x),
          ATTRIBUTES(integers("axes", 13, long_list)));
  REFUSED("[cumulative_sum] axis", "cumulative_sum", TENSORS(x), ATTRIBUTES(integer("axis", INT64_MAX)));
  REFUSED("[matrix_norm] kind: expected one of frobenius", "matrix_norm", TENSORS(matrix(1, 1, values)),
          ATTRIBUTES(text("kind", "wide")));
  REFUSED("[searchsorted] side: expected left or right", "searchsorted", TENSORS(x, x),
          ATTRIBUTES(text("side", "up")));
  CHECK(made == NULL);
}

void wrong_shapes_case(void) {
  const double values[] = {1, 2, 3, 4, 5, 6};
  const adit_tensor *const a = matrix(2, 3, values), *const b = vector(2, values);
  const int32_t zero = 0;
  const adit_tensor* const places = tensor(ADIT_I32, 0, NULL, &zero);
  const int64_t seven[] = {7}, minus[] = {-4, 2}, twice[] = {0, 0};
  REFUSED("[add]", "add", TENSORS(a, b), NONE);
  REFUSED("[sum] axis: expected -2 to 1 for rank 2, got 7", "sum", TENSORS(a),
          ATTRIBUTES(integers("axes", 1, seven)));
  REFUSED("[sum] axes", "sum", TENSORS(a), ATTRIBUTES(integers("axes", 2, twice)));
  REFUSED("[reshape] shape", "reshape", TENSORS(a), ATTRIBUTES(integers("shape", 1, seven)));
  REFUSED("[reshape] shape", "reshape", TENSORS(a), ATTRIBUTES(integers("shape", 2, minus)));
  REFUSED("[cholesky]", "cholesky", TENSORS(a), NONE);
  REFUSED("[matmul]", "matmul", TENSORS(a, a), NONE);
  REFUSED("[take] axis", "take", TENSORS(a, places), ATTRIBUTES(integer("axis", 2)));
  REFUSED("[bitwise_and]", "bitwise_and", TENSORS(a, a), NONE); /* of integers alone */
  REFUSED("[concatenate]", "concatenate", TENSORS(a, b), NONE);
  CHECK(made == NULL);
}

/* cast, as, into. */
void every_operation_takes_case(void) {
  const int32_t whole[] = {1, 2, 3, 4};
  const adit_tensor* const x = tensor(ADIT_I32, 1, (int64_t[]){4}, whole);
  const adit_tensor* y = call("divide", TENSORS(x, x), ATTRIBUTES(dtype("cast", ADIT_F64)));
  CHECK(adit_tensor_dtype(y) == ADIT_F64);
  EXPECT(y, 0, 1, 1, 1, 1);
  const int64_t square[] = {2, 2};
  y = call("add", TENSORS(x, x), ATTRIBUTES(text("as", "u8"), integers("into", 2, square)));
  CHECK(adit_tensor_dtype(y) == ADIT_U8 && adit_tensor_rank(y) == 2 && adit_tensor_shape(y)[1] == 2);
  EXPECT(y, 0, 2, 4, 6, 8);
  const int64_t bad[] = {3};
  REFUSED("", "add", TENSORS(x, x), ATTRIBUTES(integers("into", 1, bad)));
  REFUSED("[add] as", "add", TENSORS(x, x), ATTRIBUTES(integer("as", 1)));
  CHECK(made == NULL);
}
