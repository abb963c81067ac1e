// Tensors to and from other libraries by DLPack, the C layout that NumPy, PyTorch and JAX exchange arrays in.
//
// - The structs are DLPack's own, bit for bit; they live in a namespace so that its header may be included
// too.
//   A cast takes one to the other.
// - to_dlpack hands out a CPU tensor's own memory, which the exported struct keeps until its deleter is
// called. It
//   is shared with the tensor: the receiver must not write to it (the versioned struct says so in its flags).
//   For a tensor on a Vulkan device no pointer would mean anything to others: it is copied to host memory.
// - from_dlpack copies, from any strides, to `device` (else to the default device), and calls the deleter
// exactly once, also
//   where it throws. A null pointer throws.
#pragma once

#include <cstdint>
#include <memory>

#include <adit/tensor.hpp>

#pragma GCC visibility push(default)
namespace adit::dlpack {

enum DLDeviceType : int32_t { kDLCPU = 1 };  // of DLPack's list, the only one whose memory we read

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

enum DLDataTypeCode : uint8_t {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLOpaqueHandle = 3,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;  // of one element; 64 for a complex of two floats
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major, no gaps
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

struct DLPackVersion {
  uint32_t major, minor;
};

inline constexpr uint64_t read_only_flag = 1, is_copied_flag = 2;

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

static_assert(sizeof(void*) != 8 || (sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64 &&
                                     sizeof(DLManagedTensorVersioned) == 80));

}  // namespace adit::dlpack

namespace adit {

// Evaluates, waits and exports. The caller, or whom the struct is given to, calls its deleter.
dlpack::DLManagedTensor* to_dlpack(const Tensor& tensor);
dlpack::DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor);

Tensor from_dlpack(dlpack::DLManagedTensor* managed, std::shared_ptr<Device> device = nullptr);
Tensor from_dlpack(dlpack::DLManagedTensorVersioned* managed, std::shared_ptr<Device> device = nullptr);

}  // namespace adit
#pragma GCC visibility pop
