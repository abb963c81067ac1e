#include <fmt/format.h>
#include <memory>
#include <optional>

#include <adit/dlpack.hpp>

#include "io/host_array.hpp"

namespace adit {
namespace {

using namespace dlpack;

constexpr DLPackVersion our_version{1, 0};

DLDataType data_type(DType type) {
  const uint8_t code = is_unsigned(type)     ? kDLUInt
                       : is_integer(type)    ? kDLInt
                       : is_complex(type)    ? kDLComplex
                       : type == DType::bf16 ? kDLBfloat
                                             : kDLFloat;
  return {code, static_cast<uint8_t>(8 * size_of(type)), 1};
}

// What an exported struct keeps alive.
template <class Managed>
struct Export {
  Managed managed{};
  Tensor tensor;                 // so that nobody takes its memory for a result
  Buffer buffer;                 // on the cpu: the tensor's own memory, which is what was handed out
  std::vector<std::byte> bytes;  // elsewhere: the copy
  Shape shape, strides;
};

template <class Managed>
Managed* export_tensor(const Tensor& tensor) {
  if (!tensor) throw Error(ErrorKind::bad_argument, "[to_dlpack] tensor: expected a tensor, got none");
  auto owner = std::make_unique<Export<Managed>>();
  owner->shape = tensor.shape();
  owner->strides = strides_of(tensor.shape());
  DLTensor& out = owner->managed.dl_tensor;
  tensor.eval();
  const std::shared_ptr<Device> device = tensor.device();
  const bool shared = device && device->info().kind == DeviceKind::cpu;
  if (shared) {
    owner->tensor = tensor;
    owner->buffer = tensor.buffer();
    device->wait();
    out.data = reinterpret_cast<void*>(static_cast<uintptr_t>(owner->buffer.address()));
  } else {
    owner->bytes = tensor.to_bytes();
    out.data = owner->bytes.data();
  }
  if (tensor.size() == 0) out.data = nullptr;
  out.device = {kDLCPU, 0};
  out.ndim = tensor.rank();
  out.dtype = data_type(tensor.dtype());
  out.shape = owner->shape.begin();
  out.strides = owner->strides.begin();
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    owner->managed.version = our_version;
    owner->managed.flags = shared ? read_only_flag : is_copied_flag;
  }
  owner->managed.manager_ctx = owner.get();
  owner->managed.deleter = [](Managed* self) { delete static_cast<Export<Managed>*>(self->manager_ctx); };
  return &owner.release()->managed;
}

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorKind::bad_argument, "[from_dlpack] " + what);
}

DType element_type(const DLDataType& from) {
  if (from.code == kDLBool && from.bits == 8 && from.lanes == 1) return DType::u8;
  for (int i = 0; i < dtype_count; i++) {
    const DLDataType known = data_type(static_cast<DType>(i));
    if (known.code == from.code && known.bits == from.bits && from.lanes == 1) return static_cast<DType>(i);
  }
  fail(fmt::format(
      "dtype: expected bool, int, uint, float, bfloat or complex of a usual width with one lane, got "
      "code {}, {} bits, {} lanes",
      from.code, from.bits, from.lanes));
}

Shape checked_shape(const DLTensor& from, DType type) {
  if (from.ndim < 0 || from.ndim > max_rank)
    fail(fmt::format("ndim: expected 0 to {}, got {}", max_rank, from.ndim));
  if (from.ndim > 0 && !from.shape) fail("shape: expected a list, got null");
  const std::span<const int64_t> extents(from.shape, static_cast<size_t>(from.ndim));
  const Shape shape(extents);
  if (!checked_bytes(type, extents))
    fail(fmt::format("shape: expected a size that memory can hold, got {}", to_string(shape)));
  return shape;
}

// In bytes; the whole reach of the tensor must be a distance that 63 bits hold.
Dims byte_strides(const DLTensor& from, const Shape& shape, DType type) {
  Dims strides = from.strides ? Dims(std::span<const int64_t>(from.strides, static_cast<size_t>(from.ndim)))
                              : strides_of(shape);
  int64_t reach = 0;
  for (int axis = 0; axis < shape.size(); axis++) {
    if (shape[axis] <= 1) {  // never taken; may be anything
      strides[axis] = 0;
      continue;
    }
    int64_t step = 0, length = 0;
    if (__builtin_mul_overflow(strides[axis], static_cast<int64_t>(size_of(type)), &step) ||
        __builtin_mul_overflow(step, shape[axis], &length) || length == INT64_MIN ||
        __builtin_add_overflow(reach, length < 0 ? -length : length, &reach))
      fail(fmt::format("strides: expected elements within 63 bits of each other, got {} for shape {}",
                       to_string(strides), to_string(shape)));
    strides[axis] = step;
  }
  return strides;
}

Tensor import_tensor(const DLTensor& from, std::shared_ptr<Device> device) {
  if (from.device.device_type != kDLCPU)
    fail(fmt::format("device: expected host memory (device type {}), got device type {}",
                     static_cast<int>(kDLCPU), from.device.device_type));
  const DType type = element_type(from.dtype);
  const Shape shape = checked_shape(from, type);
  std::vector<std::byte> bytes(static_cast<size_t>(element_count(shape)) * size_of(type));
  if (!bytes.empty()) {
    if (!from.data) fail("data: expected memory, got null");
    gather_elements(bytes.data(), static_cast<const std::byte*>(from.data) + from.byte_offset, shape,
                    byte_strides(from, shape, type), size_of(type));
  }
  if (from.dtype.code == kDLBool)
    for (std::byte& value : bytes) value = static_cast<std::byte>(value != std::byte{0});
  return from_bytes(type, shape, bytes, std::move(device));
}

template <class Managed>
struct CallDeleter {
  void operator()(Managed* managed) const {
    if (managed->deleter) managed->deleter(managed);
  }
};

}  // namespace

DLManagedTensor* to_dlpack(const Tensor& tensor) { return export_tensor<DLManagedTensor>(tensor); }

DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor) {
  return export_tensor<DLManagedTensorVersioned>(tensor);
}

Tensor from_dlpack(DLManagedTensor* managed, std::shared_ptr<Device> device) {
  if (!managed) fail("managed: expected a tensor, got null");
  const std::unique_ptr<DLManagedTensor, CallDeleter<DLManagedTensor>> owner(managed);
  return import_tensor(managed->dl_tensor, std::move(device));
}

Tensor from_dlpack(DLManagedTensorVersioned* managed, std::shared_ptr<Device> device) {
  if (!managed) fail("managed: expected a tensor, got null");
  const std::unique_ptr<DLManagedTensorVersioned, CallDeleter<DLManagedTensorVersioned>> owner(managed);
  if (managed->version.major != our_version.major)  // what follows the deleter may lie differently
    fail(fmt::format("version: expected DLPack {}, got {}.{}", our_version.major, managed->version.major,
                     managed->version.minor));
  return import_tensor(managed->dl_tensor, std::move(device));
}

}  // namespace adit
