// Tensors in host memory: row-major, without gaps, in the machine's byte order. What files and printing see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <adit/dtype.hpp>
#include <adit/shape.hpp>

namespace adit {

struct HostArray {
  DType type = DType::f32;
  Shape shape;
  std::vector<std::byte> bytes;
};

struct HostView {
  HostView(DType t, const Shape& s, std::span<const std::byte> b) : type(t), shape(s), bytes(b) {}
  HostView(const HostArray& array) : HostView(array.type, array.shape, array.bytes) {}
  DType type;
  Shape shape;
  std::span<const std::byte> bytes;
};

// Bytes of an array of this shape, or nothing where that (or, with a 0 among them, the product of the other
// dimensions) is beyond 2^62: such a shape must not reach arithmetic with 64 bits.
std::optional<uint64_t> checked_bytes(DType type, std::span<const int64_t> shape);

// Copies elements that lie anywhere (strides in bytes) into a row.
void gather_elements(std::byte* to, const std::byte* from, const Shape& shape, const Dims& byte_strides,
                     size_t element_bytes);

// Turns the bytes of each number (each part of a complex one) around.
void swap_bytes(DType type, std::span<std::byte> bytes);

}  // namespace adit
