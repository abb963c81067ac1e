/* Tensors to and from others by DLPack, whose layout is repeated here as another library would have it. */
#include <stdlib.h>
#include <string.h>

#include "door.h"

typedef struct Managed {
  void* data;
  struct {
    int32_t type, id;
  } device;
  int32_t rank;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t offset;
  void* context;
  void (*deleter)(struct Managed*);
} Managed;

static int deleted;
static void count_deletion(Managed* it) {
  ++deleted;
  it->data = NULL;
}

static float values[] = {1, 2, 3, 4, 5, 6};
static int64_t shape[] = {2, 3}, transposed[] = {1, 2};

static Managed of_values(void) {
  return (Managed){.data = values,
                   .device = {1, 0},
                   .rank = 2,
                   .dtype = {2, 32, 1},
                   .shape = shape,
                   .deleter = count_deletion};
}

void dlpack_case(void) {
  /* Out and in again. */
  const double numbers[] = {1, 2, 3, 4, 5, 6};
  const adit_tensor* const x = unary("square", matrix(2, 3, numbers));
  void* given;
  OK(adit_tensor_to_dlpack(x, &given, &failure));
  Managed* const managed = given;
  CHECK(managed->rank == 2 && managed->shape[0] == 2 && managed->shape[1] == 3);
  CHECK(managed->device.type == 1 && managed->dtype.code == 2 && managed->dtype.bits == 32);
  CHECK(((const float*)managed->data)[5] == 36);
  adit_tensor* back;
  OK(adit_tensor_from_dlpack(device, managed, &back, &failure));
  EXPECT(keep(back), 0, 1, 4, 9, 16, 25, 36);
  OK(adit_tensor_to_dlpack(x, &given, &failure));
  ((Managed*)given)->deleter(given); /* who gets one and does not pass it on calls its deleter */

  /* Of others: copied by its strides, and the deleter is called once. */
  deleted = 0;
  Managed theirs = of_values();
  theirs.strides = transposed;
  adit_tensor* made;
  OK(adit_tensor_from_dlpack(device, &theirs, &made, &failure));
  CHECK(deleted == 1);
  EXPECT(keep(made), 0, 1, 3, 5, 2, 4, 6);
}

/* Consumed also by an error. */
void dlpack_refused_case(void) {
  adit_tensor* made = NULL;
  Managed theirs = of_values();
  deleted = 0;
  theirs.dtype.bits = 7;
  FAILS(ADIT_BAD_ARGUMENT, "dtype", adit_tensor_from_dlpack(device, &theirs, &made, &failure));
  CHECK(deleted == 1);
  theirs = of_values();
  theirs.device.type = 2; /* another one's memory */
  FAILS(ADIT_BAD_ARGUMENT, "device", adit_tensor_from_dlpack(device, &theirs, &made, &failure));
  CHECK(deleted == 2);
  theirs = of_values();
  FAILS(ADIT_BAD_ARGUMENT, "device", adit_tensor_from_dlpack(NULL, &theirs, &made, &failure));
  CHECK(deleted == 3);
  theirs = of_values();
  FAILS(ADIT_BAD_ARGUMENT, "tensor", adit_tensor_from_dlpack(device, &theirs, NULL, &failure));
  CHECK(deleted == 4);
  FAILS(ADIT_BAD_ARGUMENT, "managed", adit_tensor_from_dlpack(device, NULL, &made, &failure));
  CHECK(made == NULL);
}
