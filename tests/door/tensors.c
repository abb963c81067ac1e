/* Versions, devices, and tensors in and out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "door.h"

void versions_case(void) {
  CHECK(adit_c_version() == ADIT_C_VERSION);
  CHECK(strlen(adit_version()) >= 5 && strchr(adit_version(), '.'));
  static const char* const names[] = {
      "ok", "bad_argument", "not_found", "unsupported", "out_of_memory", "device_lost", "io", "internal"};
  for (size_t i = 0; i < COUNT(names); ++i) CHECK(strcmp(adit_status_name((adit_status)i), names[i]) == 0);
  CHECK(strcmp(adit_status_name((adit_status)99), "internal") == 0);
  CHECK(adit_error_status(NULL) == ADIT_OK && strcmp(adit_error_message(NULL), "") == 0);
}

void devices_case(void) {
  adit_device_list* list;
  OK(adit_device_list_new(&list, &failure));
  const size_t count = adit_device_list_size(list);
  size_t chosen = 0, mine = 0;
  for (size_t i = 0; i < count; ++i) {
    const adit_device_info* const info = adit_device_list_at(list, i);
    CHECK(*info->id && *info->name && *info->kind && *info->reason);
    chosen += info->chosen != 0;
    mine += strcmp(info->id, device_id()) == 0;
  }
  CHECK(count > 0 && chosen == 1 && mine == 1);
  CHECK(adit_device_list_at(list, count) == NULL && adit_device_list_at(list, SIZE_MAX) == NULL);
  adit_device_list_free(list);

  const adit_device_info* const info = adit_device_info_of(device);
  CHECK(on_cpu() == (strcmp(info->kind, "cpu") == 0));
  CHECK(info->memory_bytes > 0);
  CHECK(!adit_device_lost(device));
  OK(adit_device_wait(device, &failure));
  OK(adit_device_trim(device, &failure));

  /* Opened twice: tensors of both handles meet in one graph. */
  adit_device *first = device, *again;
  OK(adit_device_open(info->id, &again, &failure));
  const adit_tensor* const a = scalar(1);
  device = again;
  const adit_tensor* const b = scalar(2);
  device = first;
  adit_device_free(again);
  EXPECT(binary("add", a, b), 0, 3);

  adit_device* none = NULL;
  FAILS(ADIT_NOT_FOUND, "abacus", adit_device_open("abacus", &none, &failure));
  CHECK(none == NULL);
  adit_device* best;
  OK(adit_device_open("", &best, &failure));
  adit_device_free(best);
  adit_device_free(NULL);
}

void statistics_case(void) {
  adit_statistics before, after;
  OK(adit_device_statistics(device, &before, &failure));
  const double values[] = {1, 2, 3, 4};
  EXPECT(unary("exp2", vector(4, values)), 1e-6, 2, 4, 8, 16);
  OK(adit_device_statistics(device, &after, &failure));
  CHECK(after.kernels_run > before.kernels_run);
  CHECK(after.allocations > before.allocations);
  CHECK(after.bytes_in_use > 0 && after.bytes_held >= after.bytes_in_use &&
        after.bytes_peak >= after.bytes_in_use);
}

/* Bits that a conversion would change: NaN of either sign and with a payload, infinities, -0, subnormal
 * numbers. Of f16 without the payload: lavapipe on aarch64 moves halves through floats of its own, and drops it. */
static const uint8_t f16_bits[] = {0x00, 0x7e, 0x00, 0xfe, 0x00, 0x7c, 0x00, 0xfc, 0x00, 0x80, 0x01, 0x00};
static const uint8_t bf16_bits[] = {0xc1, 0x7f, 0xc0, 0xff, 0x80, 0x7f, 0x80, 0xff, 0x00, 0x80, 0x01, 0x00};
static const uint32_t f32_bits[] = {0x7fc00001, 0xffc12345, 0x7f800000, 0xff800000, 0x80000000, 0x00000001};
static const uint64_t f64_bits[] = {0x7ff8000000000001, 0xfff8123456789abc, 0x7ff0000000000000,
                                    0xfff0000000000000, 0x8000000000000000, 0x0000000000000001};

static void expect_bytes(adit_dtype type, const void* bytes, int64_t count) {
  const size_t size = adit_dtype_size(type) * (size_t)count;
  adit_tensor *made, *pointed;
  OK(adit_tensor_from_bytes(device, type, 1, &count, bytes, size, &made, &failure));
  OK(adit_tensor_from_pointer(device, type, 1, &count, bytes, &pointed, &failure));
  const adit_tensor* const both[] = {keep(made), keep(pointed)};
  for (int i = 0; i < 2; ++i) {
    CHECK(adit_tensor_dtype(both[i]) == type && adit_tensor_rank(both[i]) == 1);
    CHECK(adit_tensor_size(both[i]) == count && adit_tensor_shape(both[i])[0] == count);
    CHECK(adit_tensor_is_evaluated(both[i]));
    uint8_t* const got = keep_memory(calloc(size, 1));
    OK(adit_tensor_read(both[i], 0, count, got, size, &failure));
    if (memcmp(got, bytes, size) != 0) WRONG("%s came back with other bits", adit_dtype_name(type));
    /* The same through an operation that moves, and computes nothing. */
    const adit_tensor* const turned = call("reverse", TENSORS(call("reverse", TENSORS(both[i]), NONE)), NONE);
    OK(adit_tensor_read(turned, 0, count, got, size, &failure));
    if (memcmp(got, bytes, size) != 0) WRONG("%s has other bits after two reversals", adit_dtype_name(type));
  }
}

void every_dtype_case(void) {
  static const char* const names[] = {"u8",  "u16", "u32",  "u64", "i8",  "i16", "i32",
                                      "i64", "f16", "bf16", "f32", "f64", "c64", "c128"};
  static const size_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  uint8_t bytes[12 * 16];
  for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = (uint8_t)(37 * i + 11);
  for (int i = 0; i < ADIT_DTYPE_COUNT; ++i) {
    const adit_dtype type = (adit_dtype)i;
    CHECK(strcmp(adit_dtype_name(type), names[i]) == 0 && adit_dtype_size(type) == sizes[i]);
    if (type < ADIT_F16) expect_bytes(type, bytes, 12);
  }
  CHECK(adit_dtype_size((adit_dtype)ADIT_DTYPE_COUNT) == 0 && !adit_dtype_name((adit_dtype)ADIT_DTYPE_COUNT));
  CHECK(adit_dtype_size((adit_dtype)-1) == 0 && !adit_dtype_name((adit_dtype)-1));
  expect_bytes(ADIT_F16, f16_bits, 6);
  expect_bytes(ADIT_BF16, bf16_bits, 6);
  expect_bytes(ADIT_F32, f32_bits, 6);
  expect_bytes(ADIT_F64, f64_bits, 6);
  expect_bytes(ADIT_C64, f32_bits, 3);
  expect_bytes(ADIT_C128, f64_bits, 3);
}

void shapes_case(void) {
  /* Rank 0. */
  const float one = 1.5f;
  const adit_tensor* x = tensor(ADIT_F32, 0, NULL, &one);
  CHECK(adit_tensor_rank(x) == 0 && adit_tensor_size(x) == 1);
  EXPECT(unary("negate", x), 0, -1.5);
  /* Rank 12. */
  const int64_t long_shape[ADIT_MAX_RANK] = {1, 2, 1, 1, 3, 1, 1, 1, 2, 1, 1, 1};
  int32_t twelve[12];
  for (int i = 0; i < 12; ++i) twelve[i] = i - 6;
  x = tensor(ADIT_I32, ADIT_MAX_RANK, long_shape, twelve);
  CHECK(adit_tensor_rank(x) == ADIT_MAX_RANK && adit_tensor_size(x) == 12);
  CHECK(memcmp(adit_tensor_shape(x), long_shape, sizeof long_shape) == 0);
  const int64_t axes[] = {1, 8};
  EXPECT(call("sum", TENSORS(x), ATTRIBUTES(integers("axes", 2, axes))), 0, -10, -2, 6);
  /* Without elements. */
  x = tensor(ADIT_F64, 3, (int64_t[]){2, 0, 3}, NULL);
  CHECK(adit_tensor_rank(x) == 3 && adit_tensor_size(x) == 0);
  OK(adit_tensor_read(x, 0, 0, NULL, 0, &failure));
  x = binary("add", x, scalar(1));
  OK(adit_eval(1, (const adit_tensor*[]){x}, &failure));
  OK(adit_tensor_read(x, 0, 0, NULL, 0, &failure));
  EXPECT(call("sum", TENSORS(x), NONE), 0, 0);

  adit_tensor* none = NULL;
  const int64_t negative = -1, thirteen[13] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const int64_t giant[] = {INT64_MAX, INT64_MAX}, folded[] = {INT64_C(1) << 32, INT64_C(1) << 32};
  FAILS(ADIT_BAD_ARGUMENT, "shape",
        adit_tensor_from_bytes(device, ADIT_F32, 1, &negative, &one, 4, &none, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "shape",
        adit_tensor_from_bytes(device, ADIT_F32, 13, thirteen, &one, 4, &none, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "shape",
        adit_tensor_from_bytes(device, ADIT_F32, 2, giant, &one, 4, &none, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "", adit_tensor_from_bytes(device, ADIT_F32, 0, NULL, &one, 3, &none, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "", adit_tensor_from_bytes(device, ADIT_F32, 0, NULL, &one, 5, &none, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "type",
        adit_tensor_from_bytes(device, (adit_dtype)14, 0, NULL, &one, 4, &none, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "type",
        adit_tensor_from_bytes(device, (adit_dtype)-1, 0, NULL, &one, 4, &none, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "shape",
        adit_tensor_from_pointer(device, ADIT_F32, 1, &negative, &one, &none, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "shape",
        adit_tensor_from_pointer(device, ADIT_F32, 2, giant, &one, &none, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "shape",
        adit_tensor_from_pointer(device, ADIT_F32, 2, folded, &one, &none, &failure));
  CHECK(none == NULL);
}

void reading_case(void) {
  const double values[] = {1, 2, 3, 4, 5};
  const adit_tensor* const x = unary("negate", vector(5, values));
  float got[5] = {0};
  OK(adit_tensor_read(x, 1, 3, got, 3 * sizeof(float), &failure));
  CHECK(got[0] == -2 && got[1] == -3 && got[2] == -4 && got[3] == 0);
  OK(adit_tensor_read(x, 5, 0, NULL, 0, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "first", adit_tensor_read(x, 6, 0, got, 0, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "first", adit_tensor_read(x, -1, 1, got, 4, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "count", adit_tensor_read(x, 3, 3, got, 12, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "count", adit_tensor_read(x, 0, -1, got, 0, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "count", adit_tensor_read(x, 1, INT64_MAX, got, 0, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "size", adit_tensor_read(x, 0, 5, got, 19, &failure));

  /* A handle of a handle outlives it. */
  adit_tensor *mine, *copy;
  OK(adit_call("add", TENSORS(x, x), NONE, 1, &mine, NULL, &failure));
  OK(adit_tensor_copy(mine, &copy, &failure));
  adit_tensor_free(mine);
  EXPECT(keep(copy), 0, -2, -4, -6, -8, -10);
  CHECK(adit_tensor_is_evaluated(x) && adit_tensor_shape(NULL) == NULL);

  const void* pointer = NULL;
  if (on_cpu()) {
    OK(adit_tensor_pointer(x, &pointer, &failure));
    CHECK(((const float*)pointer)[4] == -5);
  } else {
    FAILS(ADIT_UNSUPPORTED, device_id(), adit_tensor_pointer(x, &pointer, &failure));
    CHECK(pointer == NULL);
  }
  adit_device* cpu;
  adit_tensor* moved;
  OK(adit_device_open("cpu", &cpu, &failure));
  OK(adit_tensor_to_device(x, cpu, &moved, &failure));
  adit_device_free(cpu);
  OK(adit_tensor_pointer(keep(moved), &pointer, &failure));
  CHECK(((const float*)pointer)[0] == -1);
}

void texts_case(void) {
  const double values[] = {1, 2.5, 3};
  const adit_tensor* const x = vector(3, values);
  char* words;
  OK(adit_tensor_text(x, &words, &failure));
  CHECK(strstr(words, "2.5"));
  adit_text_free(words);
  const adit_tensor* const y = unary("exp", unary("sin", x));
  OK(adit_explain(1, &y, 0, &words, &failure));
  CHECK(strlen(words) > 50);
  CHECK(!adit_tensor_is_evaluated(y));
  adit_text_free(words);
  OK(adit_explain(1, &y, 1, &words, &failure));
  CHECK(strlen(words) > 50);
  adit_text_free(words);
  adit_text_free(NULL);
}

/* --- Laziness
 * -------------------------------------------------------------------------------------------------- */
static uint64_t kernels_run(void) {
  adit_statistics now;
  OK(adit_device_statistics(device, &now, &failure));
  return now.kernels_run;
}

void laziness_case(void) {
  const double values[] = {0.1, 0.2, 0.3};
  const adit_tensor* const x = vector(3, values);
  const uint64_t before = kernels_run();
  const adit_tensor* const y = unary("sin", x);
  const adit_tensor* const z = binary("multiply", y, y);
  const adit_tensor* const w = binary("add", z, scalar(1));
  CHECK(!adit_tensor_is_evaluated(y) && !adit_tensor_is_evaluated(z) && !adit_tensor_is_evaluated(w));
  CHECK(adit_tensor_rank(z) == 1 && adit_tensor_shape(z)[0] == 3 && adit_tensor_dtype(z) == ADIT_F32);
  CHECK(kernels_run() == before);
  OK(adit_eval(2, (const adit_tensor*[]){z, w}, &failure));
  OK(adit_device_wait(device, &failure));
  CHECK(adit_tensor_is_evaluated(z) && adit_tensor_is_evaluated(w));
  CHECK(kernels_run() == before + 1); /* both by one kernel */
  OK(adit_eval(2, (const adit_tensor*[]){z, w}, &failure));
  CHECK(kernels_run() == before + 1); /* nothing is computed twice */
  for (int i = 0; i < 3; ++i) NEAR(numbers_of(w)[i], sin(values[i]) * sin(values[i]) + 1, 1e-6);
  OK(adit_eval(0, NULL, &failure));

  /* An evaluated graph lets go of what it was made of; the caller may free anything in any order. */
  adit_tensor *a, *b;
  OK(adit_call("cos", TENSORS(x), NONE, 1, &a, NULL, &failure));
  OK(adit_call("exp", TENSORS(a), NONE, 1, &b, NULL, &failure));
  adit_tensor_free(a);
  EXPECT(keep(b), 1e-6, exp(cos(0.1)), exp(cos(0.2)), exp(cos(0.3)));
}

static adit_tensor* odd_graph(double first) {
  const double values[] = {first, 2, 3, 4, 5, 6, 7};
  return binary("subtract", unary("tanh", vector(7, values)), unary("cbrt", vector(7, values)));
}

void eval_quickly_case(void) {
  int done = 7;
  const adit_tensor* x = odd_graph(0.5);
  OK(adit_eval_quickly(1, &x, 1000000, &done, &failure));
  CHECK(done == 0 && !adit_tensor_is_evaluated(x)); /* nothing is compiled yet */
  OK(adit_eval(1, &x, &failure));
  OK(adit_eval_quickly(1, &x, 1000000, &done, &failure));
  CHECK(done == 1); /* it is there already */
  x = odd_graph(1.25);
  OK(adit_eval_quickly(1, &x, 0, &done, &failure));
  CHECK(done == 0 && !adit_tensor_is_evaluated(x)); /* it took longer than no time at all */
  OK(adit_eval_quickly(1, &x, 60000000, &done, &failure));
  CHECK(done == 1 && adit_tensor_is_evaluated(x));
  NEAR(numbers_of(x)[0], tanh(1.25) - cbrt(1.25), 1e-6);
  NEAR(numbers_of(x)[6], tanh(7) - cbrt(7), 1e-6);
  OK(adit_eval_quickly(0, NULL, 0, &done, &failure));
  CHECK(done == 1);
}
