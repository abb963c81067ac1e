// Tensors, lazy: an operation adds a node to a graph, and nothing runs until a value is asked for.
//
//   Tensor x = tensor({1.0f, 2.0f, 3.0f});
//   Tensor y = sum(x * x);           // no work yet
//   float v = y.item<float>();       // one fused kernel
//
// A Tensor is a handle; copies share. Any thread may build, evaluate and drop tensors.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <adit/device.hpp>
#include <adit/dtype.hpp>
#include <adit/shape.hpp>

namespace adit::graph {
struct Node;
struct Inside;
}  // namespace adit::graph

#pragma GCC visibility push(default)
namespace adit {

class Tensor {
 public:
  Tensor() = default;  // no tensor; only assignment and `operator bool` may follow

  // Whether there is a tensor, not what its value is. `if (x < 1)` does not compile, since it would always be
  // true: a comparison is a tensor of u8, and `all(x < 1).item<bool>()` reads it.
  explicit operator bool() const& { return node_ != nullptr; }
  explicit operator bool() const&& = delete;
  DType dtype() const;
  const Shape& shape() const;
  int rank() const { return shape().size(); }
  int64_t dim(int axis) const;  // negative axes count from the end
  int64_t size() const;         // elements
  uint64_t bytes() const { return static_cast<uint64_t>(size()) * size_of(dtype()); }
  // Where it lives or will be computed; null where nothing decides it yet (constants alone).
  std::shared_ptr<Device> device() const;

  // Runs what is needed for the value; returns itself. The work is queued, not waited for.
  const Tensor& eval() const;
  bool is_evaluated() const;
  // Evaluates, waits and copies out. The C++ type must be the element type (bool reads u8).
  template <class T>
  std::vector<T> to_vector() const {
    if constexpr (std::is_same_v<T, bool>) {  // a vector of bool has no memory of its elements' type
      const auto bytes = to_vector<uint8_t>();
      return std::vector<bool>(bytes.begin(), bytes.end());
    } else {
      std::vector<T> values(static_cast<size_t>(size()));
      read(values.data(), dtype_of<T>(), values.size());
      return values;
    }
  }
  // The one element of a tensor of size 1.
  template <class T>
  T item() const {
    T value;
    read(&value, dtype_of<T>(), 1);
    return value;
  }
  std::vector<std::byte> to_bytes() const;
  Buffer buffer() const;          // evaluated; row-major, no gaps
  std::string to_string() const;  // as NumPy prints

 private:
  friend struct graph::Inside;
  explicit Tensor(std::shared_ptr<graph::Node> node) : node_(std::move(node)) {}
  [[noreturn]] static void throw_empty();
  void read(void* to, DType type, size_t count) const;
  std::shared_ptr<graph::Node> node_;
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

// Evaluates several together, in as few kernels as can be.
void eval(std::span<const Tensor> tensors);
inline void eval(std::initializer_list<Tensor> tensors) { eval(std::span(tensors.begin(), tensors.size())); }
// Compiles what eval() would run, and runs nothing: beside other work, say. A thread that needs the same
// meanwhile waits for it.
void prepare(std::span<const Tensor> tensors);

// The device of tensors that are made from host data when none is named: Device::open("") at first use.
std::shared_ptr<Device> default_device();  // opened again after a loss
void set_default_device(std::shared_ptr<Device> device);

// --- Making tensors from host data -------------------------------------------------------------------------
Tensor from_bytes(DType type, const Shape& shape, std::span<const std::byte> bytes,
                  std::shared_ptr<Device> device = nullptr);
// A tensor over memory that is already on a device; row-major, without gaps.
Tensor from_buffer(DType type, const Shape& shape, const Buffer& buffer, std::shared_ptr<Device> device);

template <class T>
requires std::is_arithmetic_v<T> Tensor tensor(T value,
                                               std::shared_ptr<Device> device = nullptr) {  // a scalar
  return from_bytes(dtype_of<T>(), {}, std::as_bytes(std::span(&value, 1)), std::move(device));
}
template <class T>
Tensor tensor(std::span<const T> values, const Shape& shape, std::shared_ptr<Device> device = nullptr) {
  return from_bytes(dtype_of<T>(), shape, std::as_bytes(values), std::move(device));
}
template <class T>
Tensor tensor(const std::vector<T>& values, const Shape& shape, std::shared_ptr<Device> device = nullptr) {
  if constexpr (std::is_same_v<T, bool>)
    return tensor(std::vector<uint8_t>(values.begin(), values.end()), shape, std::move(device));
  else
    return tensor(std::span<const T>(values), shape, std::move(device));
}
template <class T>
Tensor tensor(const std::vector<T>& values) {
  return tensor(values, {static_cast<int64_t>(values.size())});
}
template <class T>
Tensor tensor(std::initializer_list<T> values) {
  return tensor(std::span<const T>(values.begin(), values.size()), {static_cast<int64_t>(values.size())});
}
namespace detail {
// Throws unless the row has as many numbers as the first one.
void expect_row(size_t row, size_t expected, size_t got);
}  // namespace detail
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows) {
  std::vector<T> values;
  const size_t columns = rows.size() ? rows.begin()->size() : 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows.begin()[i];
    detail::expect_row(i, columns, row.size());
    values.insert(values.end(), row.begin(), row.end());
  }
  return tensor(std::span<const T>(values),
                {static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns)});
}
// A copy of the value on another device.
Tensor to_device(const Tensor& x, std::shared_ptr<Device> device);

}  // namespace adit
#pragma GCC visibility pop
