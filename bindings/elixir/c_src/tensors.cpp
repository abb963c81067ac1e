#include <limits>
#include <string>

#include "bodies.hpp"
#include "memory.hpp"
#include "quick.hpp"
#include "resources.hpp"
#include "terms.hpp"

namespace adit::nif {
namespace {

constexpr size_t too_large = std::numeric_limits<size_t>::max();

// The bytes of a tensor; the door tells of shapes that make no sense.
size_t bytes_of(adit_dtype type, std::span<const int64_t> shape) {
  size_t bytes = adit_dtype_size(type);
  for (const int64_t extent : shape) {
    if (extent <= 0) return 0;
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(extent), &bytes)) return too_large;
  }
  return bytes;
}

bool is_cpu(const adit_device* device) {
  return std::string_view(adit_device_info_of(device)->kind) == "cpu";
}

// Whether reading is nothing but copying.
bool is_at_hand(const adit_tensor* tensor) {
  const void* pointer = nullptr;
  return adit_tensor_is_evaluated(tensor) && adit_tensor_pointer(tensor, &pointer, nullptr) == ADIT_OK;
}

template <class T>
bool deallocate_one(ErlNifEnv* env, Term term, Term& answer) {
  Resource<T>* resource = Resource<T>::find(env, term);
  if (resource) answer = resource->deallocate() ? atoms().ok : atoms().already_deallocated;
  return resource != nullptr;
}

template <class... T>
bool deallocate_any(ErlNifEnv* env, Term term, Term& answer, Kinds<T...>) {
  return (deallocate_one<T>(env, term, answer) || ...);
}

}  // namespace

Term from_binary(Call& call) {
  const auto device = read_handle<adit_device>(call, "device", call[0]);
  const adit_dtype type = read_dtype(call, "dtype", call[1]);
  const auto shape = read_integers(call, "shape", call[2]);
  if (!is_cpu(device.get())) call.take_time(Where::waiting);
  // Before the binary is looked at: one that begins in the middle of a byte is copied by that.
  if (bytes_of(type, shape) > most_copied) call.take_time();
  const ErlNifBinary binary = read_binary(call, "binary", call[3]);
  if (binary.size > most_copied) call.take_time();
  adit_tensor* tensor = nullptr;
  call.deep_door([&](adit_error** error) {
    return adit_tensor_from_bytes(device.get(), type, shape.size(), shape.data(), binary.data, binary.size,
                                  &tensor, error);
  });
  return make_ok(call.env(), make_evaluated(call.env(), tensor));
}

Term to_binary(Call& call) {
  const auto held = read_handle<adit_tensor>(call, "tensor", call[0]);
  const adit_tensor* const tensor = held.get();
  const int64_t first = read_integer(call, "first", call[1]);
  int64_t count = read_integer(call, "count", call[2]);
  const int64_t size = adit_tensor_size(tensor);
  if (first < 0 || first > size)
    call.fail("first", "expected 0 to " + std::to_string(size) + ", got " + std::to_string(first));
  if (count == -1) count = size - first;
  if (count < 0 || count > size - first)
    call.fail("count", "expected -1 to " + std::to_string(size - first) + ", got " + std::to_string(count));
  const size_t bytes = static_cast<size_t>(count) * adit_dtype_size(adit_tensor_dtype(tensor));

  if (!call.may_block()) {
    const bool is_waited_for = adit_tensor_is_evaluated(tensor) && !is_at_hand(tensor);
    if (is_waited_for || !is_at_hand(tensor) || bytes > most_copied)
      call.take_time(is_waited_for ? Where::waiting : Where::computing);
  } else {
    // First, so that no memory is taken for what cannot be computed.
    call.deep_door([&](adit_error** error) { return adit_eval(1, &tensor, error); });
  }
  NewBinary binary(call, bytes);
  call.deep_door([&](adit_error** error) {
    return adit_tensor_read(tensor, first, count, binary.data(), bytes, error);
  });
  return make_ok(call.env(), binary.term());
}

Term info(Call& call) {
  const auto tensor = read_handle<adit_tensor>(call, "tensor", call[0]);
  ErlNifEnv* const env = call.env();
  const Term shape = make_integers(env, {adit_tensor_shape(tensor.get()), adit_tensor_rank(tensor.get())});
  return make_ok(env, enif_make_tuple2(env, atoms().dtypes[adit_tensor_dtype(tensor.get())], shape));
}

Term deallocate(Call& call) {
  Term answer = atoms().ok;
  if (!deallocate_any(call.env(), call[0], answer, AllKinds{}))
    fail_without_handle(call, "handle", "a handle", call[0]);
  return answer;
}

Term eval(Call& call) {
  const Handles<adit_tensor> tensors(call, "tensors", call[0]);
  if (call.may_block()) {
    call.deep_door([&](adit_error** error) { return adit_eval(tensors.size(), tensors.data(), error); });
    return atoms().ok;
  }
  int done = 0;
  call.door([&](adit_error** error) {
    return adit_eval_quickly(tensors.size(), tensors.data(), most_quick_microseconds, &done, error);
  });
  return done ? atoms().ok : call.go_on(Where::computing);
}

Term to_device(Call& call) {
  const auto tensor = read_handle<adit_tensor>(call, "tensor", call[0]);
  const auto device = read_handle<adit_device>(call, "device", call[1]);
  adit_tensor* moved = nullptr;
  call.deep_door(
      [&](adit_error** error) { return adit_tensor_to_device(tensor.get(), device.get(), &moved, error); });
  return make_ok(call.env(), make_evaluated(call.env(), moved));
}

Term to_pointer(Call& call) {
  const auto tensor = read_handle<adit_tensor>(call, "tensor", call[0]);
  if (!adit_tensor_is_evaluated(tensor.get())) call.take_time();
  const void* pointer = nullptr;
  call.deep_door([&](adit_error** error) { return adit_tensor_pointer(tensor.get(), &pointer, error); });
  return make_ok(call.env(), enif_make_uint64(call.env(), reinterpret_cast<uintptr_t>(pointer)));
}

Term from_pointer(Call& call) {
  const auto device = read_handle<adit_device>(call, "device", call[0]);
  const adit_dtype type = read_dtype(call, "dtype", call[1]);
  const auto shape = read_integers(call, "shape", call[2]);
  const uint64_t address = read_unsigned(call, "address", call[3]);
  const size_t bytes = bytes_of(type, shape);
  if (bytes == too_large || !is_readable(address, bytes))
    call.fail("address", "expected memory that this process may read, got another address");
  adit_tensor* tensor = nullptr;
  call.deep_door([&](adit_error** error) {
    const void* memory = reinterpret_cast<const void*>(static_cast<uintptr_t>(address));
    return adit_tensor_from_pointer(device.get(), type, shape.size(), shape.data(), memory, &tensor, error);
  });
  return make_ok(call.env(), make_evaluated(call.env(), tensor));
}

Term explain(Call& call) {
  const Handles<adit_tensor> tensors(call, "tensors", call[0]);
  const bool times = read_truth(call, "times", call[1]);
  char* made = nullptr;
  call.deep_door(
      [&](adit_error** error) { return adit_explain(tensors.size(), tensors.data(), times, &made, error); });
  const std::unique_ptr<char, decltype(&adit_text_free)> text(made, &adit_text_free);
  return make_ok(call.env(), make_text(call.env(), made));
}

}  // namespace adit::nif
