// What stands behind the handles of adit/c.h, and the wall that no exception passes.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <adit/c.h>
#include <adit/control.hpp>
#include <adit/device.hpp>
#include <adit/diagnostics.hpp>
#include <adit/error.hpp>
#include <adit/model.hpp>

struct adit_error {
  adit_status status = ADIT_INTERNAL;
  std::string message;
};
struct adit_device {
  std::shared_ptr<adit::Device> device;
  adit::DeviceInfo about;  // whose texts `info` shows
  adit_device_info info{};
};
struct adit_tensor {
  adit::Tensor tensor;
};
struct adit_distribution {
  adit::Distribution distribution;
};
struct adit_constraint {
  adit::Constraint constraint;
};
struct adit_model {
  adit::Model model;
  mutable std::mutex mutex;  // a model is changed by one at a time, and not while a run takes it over
};

namespace adit::door {

[[noreturn]] void fail(std::string_view function, std::string_view argument, const std::string& rest);

// Throws where a pointer that must not be null is.
// A place is asked for before what goes there is made: an assignment makes its right side first, and would
// lose it.
template <class T>
T& expect(std::string_view function, std::string_view argument, T* pointer) {
  if (!pointer) fail(function, argument, "expected a pointer, got NULL");
  return *pointer;
}
template <class T>
std::span<T> expect_list(std::string_view function, std::string_view argument, T* list, size_t count) {
  if (count && !list) fail(function, argument, "expected as many as are counted, got NULL");
  return {list, count};
}
Dims dims_of(std::string_view function, std::string_view argument, const int64_t* numbers, size_t count);
DType dtype_of(std::string_view function, std::string_view argument, int64_t type);
// `argument` is the list's name, an s at its end.
Tensors tensors_of(std::string_view function, std::string_view argument, const adit_tensor* const* list,
                   size_t count);

inline adit_tensor* handle_of(Tensor tensor) { return new adit_tensor{std::move(tensor)}; }
// All of them, or none: a handle that was made already is freed where a later one cannot be.
void give(const Tensors& results, adit_tensor** to);

// What `f` throws becomes a status and, where the caller has a place for it, a message.
adit_status caught(adit_error** error) noexcept;
template <class F>
adit_status guarded(adit_error** error, F&& f) noexcept {
  try {
    f();
    return ADIT_OK;
  } catch (...) {
    return caught(error);
  }
}

char* text_of(const std::string& text);  // for adit_text_free

}  // namespace adit::door
