#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

#include "door/handles.hpp"

namespace adit::door {

void fail(std::string_view function, std::string_view argument, const std::string& rest) {
  throw Error(ErrorKind::bad_argument, fmt::format("[{}] {}: {}", function, argument, rest));
}

Dims dims_of(std::string_view function, std::string_view argument, const int64_t* numbers, size_t count) {
  if (count > static_cast<size_t>(max_rank))
    fail(function, argument, fmt::format("expected at most {} numbers, got {}", max_rank, count));
  return Dims(std::span<const int64_t>(expect_list(function, argument, numbers, count)));
}

DType dtype_of(std::string_view function, std::string_view argument, int64_t type) {
  if (type < 0 || type >= dtype_count)
    fail(function, argument, fmt::format("expected a dtype from 0 to {}, got {}", dtype_count - 1, type));
  return static_cast<DType>(type);
}

Tensors tensors_of(std::string_view function, std::string_view argument, const adit_tensor* const* list,
                   size_t count) {
  Tensors tensors;
  tensors.reserve(count);
  for (const adit_tensor* const handle : expect_list(function, argument, list, count)) {
    if (!handle)
      fail(function, fmt::format("{} {}", argument.substr(0, argument.size() - 1), tensors.size()),
           "expected a tensor, got NULL");
    tensors.push_back(handle->tensor);
  }
  return tensors;
}

void give(const Tensors& results, adit_tensor** to) {
  std::vector<std::unique_ptr<adit_tensor>> made;
  made.reserve(results.size());
  for (const Tensor& x : results) made.push_back(std::make_unique<adit_tensor>(adit_tensor{x}));
  for (size_t i = 0; i < made.size(); ++i) to[i] = made[i].release();
}

namespace {

adit_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_argument: return ADIT_BAD_ARGUMENT;
    case ErrorKind::not_found: return ADIT_NOT_FOUND;
    case ErrorKind::unsupported: return ADIT_UNSUPPORTED;
    case ErrorKind::out_of_memory: return ADIT_OUT_OF_MEMORY;
    case ErrorKind::device_lost: return ADIT_DEVICE_LOST;
    case ErrorKind::io: return ADIT_IO;
    case ErrorKind::internal: break;
  }
  return ADIT_INTERNAL;
}

// Where there is no memory even for the message the status alone tells.
adit_status told(adit_error** error, adit_status status, const char* message) noexcept {
  if (error) {
    *error = new (std::nothrow) adit_error;
    if (*error) {
      (*error)->status = status;
      try {
        (*error)->message = message;
      } catch (...) {
      }
    }
  }
  return status;
}

}  // namespace

adit_status caught(adit_error** error) noexcept {
  try {
    throw;
  } catch (const Error& e) {
    return told(error, status_of(e.kind()), e.what());
  } catch (const std::bad_alloc&) {
    return told(error, ADIT_OUT_OF_MEMORY, "no memory is left on the host");
  } catch (const std::exception& e) {
    return told(error, ADIT_INTERNAL, e.what());
  } catch (...) {
    return told(error, ADIT_INTERNAL, "an error of an unknown kind");
  }
}

char* text_of(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace adit::door

int adit_c_version(void) { return ADIT_C_VERSION; }
const char* adit_version(void) { return ADIT_VERSION; }

adit_status adit_error_status(const adit_error* error) { return error ? error->status : ADIT_OK; }
const char* adit_error_message(const adit_error* error) { return error ? error->message.c_str() : ""; }
void adit_error_free(adit_error* error) { delete error; }
void adit_text_free(char* text) { std::free(text); }

const char* adit_status_name(adit_status status) {
  switch (status) {
    case ADIT_OK: return "ok";
    case ADIT_BAD_ARGUMENT: return "bad_argument";
    case ADIT_NOT_FOUND: return "not_found";
    case ADIT_UNSUPPORTED: return "unsupported";
    case ADIT_OUT_OF_MEMORY: return "out_of_memory";
    case ADIT_DEVICE_LOST: return "device_lost";
    case ADIT_IO: return "io";
    case ADIT_INTERNAL: break;
  }
  return "internal";
}
