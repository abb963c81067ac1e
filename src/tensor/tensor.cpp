#include <fmt/format.h>

#include <adit/tensor.hpp>

#include "graph/op.hpp"
#include "graph/row.hpp"
#include "lower/memory_plan.hpp"
#include "tensor/evaluate.hpp"

namespace adit {

void detail::expect_row(size_t row, size_t expected, size_t got) {
  if (got != expected)
    graph::fail("tensor", fmt::format("row {}", row),
                fmt::format("expected {} numbers, as row 0 has, got {}", expected, got));
}

const Tensor& Tensor::eval() const {
  if (!graph::node_of(*this).computed) adit::eval(std::span(this, 1));
  return *this;
}

Buffer Tensor::buffer() const {
  eval();
  return node_->storage->buffer;
}

std::vector<std::byte> Tensor::to_bytes() const {
  std::vector<std::byte> bytes(this->bytes());
  const Buffer from = buffer();
  if (!bytes.empty()) node_->storage->device->read(from, bytes.data(), bytes.size());
  return bytes;
}

void Tensor::read(void* to, DType type, size_t count) const {
  if (!node_) graph::fail("read", "tensor", "expected a tensor, got none");
  if (type != dtype())
    graph::fail("read", "type", fmt::format("expected {}, got {}", name_of(dtype()), name_of(type)));
  if (static_cast<int64_t>(count) != size())
    graph::fail(
        "read", "size",
        fmt::format("expected a tensor of {} elements, got shape {}", count, adit::to_string(shape())));
  const Buffer from = buffer();
  if (count) node_->storage->device->read(from, to, bytes());
}

Tensor from_buffer(DType type, const Shape& shape, const Buffer& buffer, std::shared_ptr<Device> device) {
  if (!device) graph::fail("from_buffer", "device", "expected a device, got none");
  const uint64_t bytes = static_cast<uint64_t>(element_count(shape)) * size_of(type);
  if (buffer.bytes() < bytes)
    graph::fail("from_buffer", "buffer",
                fmt::format("expected at least {} bytes, got {}", bytes, buffer.bytes()));
  Buffer mine = buffer;
  // Kernels read whole vectors: memory that does not start or end on one is copied.
  if (buffer.offset() % lower::memory_unit != 0 || buffer.bytes() % 16 != 0) {
    mine = device->allocate(lower::padded(bytes));
    if (bytes) device->copy(buffer, mine, bytes);
  }
  const Tensor x = graph::make_node(graph::Op::input, type, shape, {});
  set_storage(x, device, mine);
  return x;
}

Tensor from_bytes(DType type, const Shape& shape, std::span<const std::byte> bytes,
                  std::shared_ptr<Device> device) {
  const uint64_t expected = static_cast<uint64_t>(element_count(shape)) * size_of(type);
  if (bytes.size() != expected)
    graph::fail("tensor", "values",
                fmt::format("expected {} bytes for {} of shape {}, got {}", expected, name_of(type),
                            to_string(shape), bytes.size()));
  if (!device) device = default_device();
  const Buffer buffer = device->allocate(lower::padded(expected));
  if (expected) device->write(buffer, bytes.data(), expected);
  return from_buffer(type, shape, buffer, std::move(device));
}

Tensor to_device(const Tensor& x, std::shared_ptr<Device> device) {
  if (!device) graph::fail("to_device", "device", "expected a device, got none");
  if (x.eval().device() == device) return x;
  return from_bytes(x.dtype(), x.shape(), x.to_bytes(), std::move(device));
}

}  // namespace adit
