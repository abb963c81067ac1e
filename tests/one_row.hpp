// Runs the scalar meaning of one elementwise row on a device: a kernel that reads the operands' elements,
// applies the meaning and stores, with no compiler of graphs in between.
#pragma once

#include <functional>

#include "devices.hpp"
#include "graph/row.hpp"

namespace adit::test {

using graph::Scalar;

inline Scalar load_element(const Array& x, DType type, Value i) {
  if (is_complex(type)) return graph::pair(x[i * 2u], x[i * 2u + 1u]);
  return {convert(x[i], compute_type(type)), {}, false};
}

inline void store_element(const Array& y, DType type, Value i, const Scalar& value) {
  if (!is_complex(type)) {
    y[i] = convert(value.re, storage_type(type));
    return;
  }
  y[i * 2u] = value.re;
  y[i * 2u + 1u] = value.im;
}

// `result` must be one node over placeholders.
inline Program row_program(const Tensor& result) {
  const graph::Node& node = graph::node_of(result);
  Builder k(std::string(name_of(node.op)), Team::one());
  std::vector<Array> operands;
  for (const Tensor& x : node.operands) {
    EXPECT_TRUE(graph::is_placeholder(x)) << "the builder put a node in between";
    operands.push_back(
        k.buffer("x" + std::to_string(operands.size()), storage_type(x.dtype()), Access::read));
  }
  const Array y = k.buffer("y", storage_type(result.dtype()), Access::write);
  const Value i = k.team();
  std::vector<Scalar> values;
  for (size_t j = 0; j < operands.size(); ++j)
    values.push_back(load_element(operands[j], node.operands[j].dtype(), i));
  store_element(y, result.dtype(), i, graph::row_of(node.op).scalar(values, node));
  return k.finish();
}

// Whether the device computes and stores a type.
inline bool has_type(const Device& device, DType type) {
  const Limits& limits = device.limits();
  if (size_of(real_of(type)) == 8) return is_integer(type) ? limits.int64 : limits.float64;
  if (size_of(type) == 1) return limits.storage8;
  return size_of(type) > 2 || limits.storage16;
}

template <class R, class... T>
std::vector<R> apply(Device& device, const Tensor& result, size_t count, const std::vector<T>&... x) {
  const auto results =
      run_on(device, row_program(result), count, {Input::buffer(x)..., Input::buffer(std::vector<R>(count))});
  std::vector<R> values(count);
  std::memcpy(values.data(), results.back().data(), count * sizeof(R));
  return values;
}

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

template <class R, class T>
std::vector<R> apply(Device& device, Unary op, const std::vector<T>& x) {
  return apply<R>(device, op(graph::placeholder(dtype_of<T>(), {})), x.size(), x);
}
template <class R, class T>
std::vector<R> apply(Device& device, Binary op, const std::vector<T>& a, const std::vector<T>& b) {
  const DType type = dtype_of<T>();
  return apply<R>(device, op(graph::placeholder(type, {}), graph::placeholder(type, {})), a.size(), a, b);
}

}  // namespace adit::test
