#include "io/host_array.hpp"

#include <algorithm>
#include <cstring>

namespace adit {

std::optional<uint64_t> checked_bytes(DType type, std::span<const int64_t> shape) {
  constexpr uint64_t most = uint64_t{1} << 62;
  uint64_t bytes = size_of(type);
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
      continue;
    }
    if (static_cast<uint64_t>(extent) > most / bytes) return std::nullopt;
    bytes *= static_cast<uint64_t>(extent);
  }
  return empty ? 0 : bytes;
}

void gather_elements(std::byte* to, const std::byte* from, const Shape& shape, const Dims& byte_strides,
                     size_t element_bytes) {
  if (element_count(shape) == 0) return;
  if (shape.empty()) {
    std::memcpy(to, from, element_bytes);
    return;
  }
  const int last = shape.size() - 1;
  const int64_t length = shape[last], step = byte_strides[last];
  Dims at = Dims::filled(shape.size(), 0);
  int64_t offset = 0;
  while (true) {
    if (step == static_cast<int64_t>(element_bytes)) {
      std::memcpy(to, from + offset, static_cast<size_t>(length) * element_bytes);
    } else {
      for (int64_t i = 0; i < length; i++)
        std::memcpy(to + static_cast<size_t>(i) * element_bytes, from + offset + i * step, element_bytes);
    }
    to += static_cast<size_t>(length) * element_bytes;
    int axis = last - 1;
    for (; axis >= 0; axis--) {
      offset += byte_strides[axis];
      if (++at[axis] < shape[axis]) break;
      offset -= at[axis] * byte_strides[axis];
      at[axis] = 0;
    }
    if (axis < 0) return;
  }
}

void swap_bytes(DType type, std::span<std::byte> bytes) {
  const size_t width = size_of(real_of(type));
  if (width == 1) return;
  for (size_t i = 0; i + width <= bytes.size(); i += width)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + width));
}

}  // namespace adit
