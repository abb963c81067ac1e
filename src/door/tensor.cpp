#include <fmt/format.h>

#include <adit/dlpack.hpp>
#include <adit/explain.hpp>

#include "door/handles.hpp"
#include "tensor/evaluate.hpp"

using namespace adit;
using door::expect;
using door::guarded;

size_t adit_dtype_size(adit_dtype type) {
  return static_cast<unsigned>(type) < dtype_count ? size_of(static_cast<DType>(type)) : 0;
}
const char* adit_dtype_name(adit_dtype type) {
  return static_cast<unsigned>(type) < dtype_count ? name_of(static_cast<DType>(type)).data() : nullptr;
}
static_assert(ADIT_DTYPE_COUNT == dtype_count && ADIT_C128 == static_cast<int>(DType::c128) &&
              ADIT_I8 == static_cast<int>(DType::i8) && ADIT_MAX_RANK == max_rank);

adit_status adit_tensor_from_bytes(adit_device* device, adit_dtype type, size_t rank, const int64_t* shape,
                                   const void* bytes, size_t size, adit_tensor** tensor, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "tensor_from_bytes";
    auto& place = expect(name, "tensor", tensor);
    const auto data = door::expect_list(name, "bytes", static_cast<const std::byte*>(bytes), size);
    place = door::handle_of(from_bytes(door::dtype_of(name, "type", type),
                                       door::dims_of(name, "shape", shape, rank), data,
                                       expect(name, "device", device).device));
  });
}

adit_status adit_tensor_from_pointer(adit_device* device, adit_dtype type, size_t rank, const int64_t* shape,
                                     const void* memory, adit_tensor** tensor, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "tensor_from_pointer";
    const Shape dims = door::dims_of(name, "shape", shape, rank);
    const size_t size =
        static_cast<size_t>(element_count(dims)) * size_of(door::dtype_of(name, "type", type));
    auto& place = expect(name, "tensor", tensor);
    const auto data = door::expect_list(name, "memory", static_cast<const std::byte*>(memory), size);
    place = door::handle_of(
        from_bytes(static_cast<DType>(type), dims, data, expect(name, "device", device).device));
  });
}

adit_status adit_tensor_copy(const adit_tensor* tensor, adit_tensor** copy, adit_error** error) {
  return guarded(error, [&] {
    auto& place = expect("tensor_copy", "copy", copy);
    place = door::handle_of(expect("tensor_copy", "tensor", tensor).tensor);
  });
}

adit_status adit_tensor_to_device(const adit_tensor* tensor, adit_device* device, adit_tensor** moved,
                                  adit_error** error) {
  return guarded(error, [&] {
    auto& place = expect("tensor_to_device", "moved", moved);
    place = door::handle_of(to_device(expect("tensor_to_device", "tensor", tensor).tensor,
                                      expect("tensor_to_device", "device", device).device));
  });
}

void adit_tensor_free(adit_tensor* tensor) { delete tensor; }

adit_dtype adit_tensor_dtype(const adit_tensor* tensor) {
  return tensor ? static_cast<adit_dtype>(tensor->tensor.dtype()) : ADIT_U8;
}
size_t adit_tensor_rank(const adit_tensor* tensor) {
  return tensor ? static_cast<size_t>(tensor->tensor.rank()) : 0;
}
const int64_t* adit_tensor_shape(const adit_tensor* tensor) {
  return tensor ? tensor->tensor.shape().begin() : nullptr;
}
int64_t adit_tensor_size(const adit_tensor* tensor) { return tensor ? tensor->tensor.size() : 0; }
int adit_tensor_is_evaluated(const adit_tensor* tensor) { return tensor && tensor->tensor.is_evaluated(); }

adit_status adit_eval(size_t count, const adit_tensor* const* tensors, adit_error** error) {
  return guarded(error, [&] { eval(door::tensors_of("eval", "tensors", tensors, count)); });
}

adit_status adit_eval_quickly(size_t count, const adit_tensor* const* tensors, size_t most_microseconds,
                              int* done, adit_error** error) {
  return guarded(error, [&] {
    int& told = expect("eval_quickly", "done", done);
    told = eval_quickly(door::tensors_of("eval_quickly", "tensors", tensors, count),
                        1e-6 * static_cast<double>(most_microseconds));
  });
}

adit_status adit_tensor_read(const adit_tensor* tensor, int64_t first, int64_t count, void* to, size_t size,
                             adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "tensor_read";
    const Tensor& x = expect(name, "tensor", tensor).tensor;
    if (first < 0 || first > x.size())
      door::fail(name, "first", fmt::format("expected 0 to {}, got {}", x.size(), first));
    if (count < 0 || count > x.size() - first)
      door::fail(name, "count", fmt::format("expected at most {}, got {}", x.size() - first, count));
    const uint64_t element = size_of(x.dtype()), bytes = static_cast<uint64_t>(count) * element;
    if (size != bytes) door::fail(name, "size", fmt::format("expected {} bytes, got {}", bytes, size));
    const Buffer from = x.buffer();
    if (bytes)
      x.device()->read(from, &expect(name, "to", static_cast<char*>(to)), bytes,
                       static_cast<uint64_t>(first) * element);
  });
}

adit_status adit_tensor_pointer(const adit_tensor* tensor, const void** pointer, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "tensor_pointer";
    const Tensor& x = expect(name, "tensor", tensor).tensor;
    auto& place = expect(name, "pointer", pointer);
    const Buffer buffer = x.buffer();
    if (x.device()->info().kind != DeviceKind::cpu)
      throw Error(ErrorKind::unsupported,
                  fmt::format("[{}] tensor: expected one of the cpu, got one of {}, whose memory the host "
                              "does not see",
                              name, x.device()->info().id));
    place = reinterpret_cast<const void*>(buffer.address());
  });
}

adit_status adit_tensor_text(const adit_tensor* tensor, char** text, adit_error** error) {
  return guarded(error, [&] {
    auto& place = expect("tensor_text", "text", text);
    place = door::text_of(expect("tensor_text", "tensor", tensor).tensor.to_string());
  });
}

adit_status adit_explain(size_t count, const adit_tensor* const* tensors, int times, char** text,
                         adit_error** error) {
  return guarded(error, [&] {
    auto& place = expect("explain", "text", text);
    place = door::text_of(
        explain(door::tensors_of("explain", "tensors", tensors, count), ExplainOptions{true, times != 0}));
  });
}

adit_status adit_tensor_to_dlpack(const adit_tensor* tensor, void** managed, adit_error** error) {
  return guarded(error, [&] {
    auto& place = expect("tensor_to_dlpack", "managed", managed);
    place = to_dlpack(expect("tensor_to_dlpack", "tensor", tensor).tensor);
  });
}

adit_status adit_tensor_from_dlpack(adit_device* device, void* managed, adit_tensor** tensor,
                                    adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "tensor_from_dlpack";
    auto* given = static_cast<dlpack::DLManagedTensor*>(managed);
    // Consumed in any case: from_dlpack calls the deleter, also where it throws.
    const auto drop = [](dlpack::DLManagedTensor* it) {
      if (it && it->deleter) it->deleter(it);
    };
    std::unique_ptr<dlpack::DLManagedTensor, decltype(drop)> held(given, drop);
    auto& place = expect(name, "tensor", tensor);
    auto on = expect(name, "device", device).device;
    expect(name, "managed", managed ? static_cast<char*>(managed) : nullptr);
    place = door::handle_of(from_dlpack(held.release(), std::move(on)));
  });
}
