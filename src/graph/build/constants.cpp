// Tensors from nothing but numbers.
//
// Zeros and ones are part of the structure, so that what follows from them is known while kernels are
// written. Other numbers of the caller are arguments of kernels: a new value compiles nothing.
#include <cmath>
#include <limits>

#include "graph/build/arguments.hpp"
#include "graph/op.hpp"

namespace adit {

using graph::constant;
using graph::constant_integer;
using graph::expect_shape;
using graph::expect_tensor;
using graph::fail;
using graph::Literal;

namespace {

Tensor repeat(const Tensor& scalar, const Shape& shape) { return broadcast_to(scalar, shape); }

Tensor number(DType type, const Literal& literal) {
  return graph::make_node(graph::Op::number, type, {}, {}, literal);
}

// A number in an integer type; its bits are kept where it is beyond, as everywhere integers wrap.
Literal whole(int64_t integer) { return {static_cast<double>(integer), 0, integer}; }

Tensor integer_scalar(DType type, int64_t integer) {
  if (integer == 0 || integer == 1) return constant_integer(type, integer);
  if (!is_integer(type)) return number(type, {static_cast<double>(integer), 0, 0});
  return number(type, whole(integer));
}

// 2^63 and above need the unsigned type.
bool fits(double number, DType type) {
  if (std::trunc(number) != number) return false;
  const double beyond = std::ldexp(1.0, static_cast<int>(size_of(type) * 8 - (is_unsigned(type) ? 0 : 1)));
  return number < beyond && number >= (is_unsigned(type) ? 0 : -beyond);
}

}  // namespace

Tensor full(const Shape& shape, double value, DType type) {
  expect_shape("full", shape);
  if (is_integer(type)) {
    if (!fits(value, type))
      fail("full", "number",
           fmt::format("expected a whole number that {} holds, got {}", name_of(type), value));
    const bool high = value >= 0x1p63;
    return repeat(integer_scalar(type, high ? static_cast<int64_t>(static_cast<uint64_t>(value))
                                            : static_cast<int64_t>(value)),
                  shape);
  }
  // A negative zero is not the constant 0.
  const bool structural = (value == 0 && !std::signbit(value)) || value == 1;
  return repeat(structural ? constant(type, value) : number(type, {value, 0, 0}), shape);
}

Tensor full(const Shape& shape, std::complex<double> value, DType type) {
  expect_shape("full", shape);
  if (!is_complex(type)) fail("full", "type", fmt::format("expected c64 or c128, got {}", name_of(type)));
  return repeat(number(type, {value.real(), value.imag(), 0}), shape);
}

Tensor full_integer(const Shape& shape, int64_t value, DType type) {
  expect_shape("full_integer", shape);
  return repeat(integer_scalar(type, value), shape);
}

Tensor zeros_like(const Tensor& x) {
  expect_tensor("zeros_like", "x", x);
  return repeat(constant(x.dtype(), 0), x.shape());
}

Tensor ones_like(const Tensor& x) {
  expect_tensor("ones_like", "x", x);
  return repeat(constant(x.dtype(), 1), x.shape());
}

Tensor iota(const Shape& shape, DType type, std::optional<int> axis) {
  expect_shape("iota", shape);
  const int along = axis ? graph::normal_axis("iota", *axis, shape.size()) : -1;
  return graph::make_node(graph::Op::iota, type, shape, {}, graph::OneAxis{along});
}

Tensor arange(int64_t end, DType type) {
  if (end < 0) fail("arange", "end", fmt::format("expected at least 0, got {}", end));
  return iota({end}, type);
}

// From both ends to the middle, so that the first and the last are what the caller said.
Tensor linspace(double first, double last, int64_t count, DType type) {
  if (count < 0) fail("linspace", "count", fmt::format("expected at least 0, got {}", count));
  if (!is_float(type)) fail("linspace", "type", fmt::format("expected a float, got {}", name_of(type)));
  if (count <= 1) return full({count}, first, type);
  const DType inner = type == DType::f64 ? DType::f64 : DType::f32;
  const double step = (last - first) / static_cast<double>(count - 1);
  const DType places = count > std::numeric_limits<int32_t>::max() ? DType::i64 : DType::i32;
  const Tensor place = iota({count}, places);
  const Tensor scale = number(inner, {step, 0, 0});
  const Tensor upward = number(inner, {first, 0, 0}) + as_type(place, inner) * scale;
  const Tensor left = constant_integer(places, count - 1) - place;
  const Tensor downward = number(inner, {last, 0, 0}) - as_type(left, inner) * scale;
  return as_type(select(less(place, constant_integer(places, count / 2)), upward, downward), type);
}

Tensor eye(int64_t rows, int64_t columns, DType type) {
  if (columns == -1) columns = rows;
  if (rows < 0 || columns < 0)
    fail("eye", "extents", fmt::format("expected at least 0, got {} and {}", rows, columns));
  const Shape shape{rows, columns};
  const DType places =
      std::max(rows, columns) > std::numeric_limits<int32_t>::max() ? DType::i64 : DType::i32;
  return as_type(equal(iota(shape, places, 0), iota(shape, places, 1)), type);
}

Tensor number_like(const Tensor& other, double value) {
  expect_tensor("number_like", "other", other);
  return number(float_of(other.dtype()), {value, 0, 0});
}

// A whole number takes the tensor's type, or the smallest of its kind that holds both, as in Nx: -1 beside u8
// makes i16.
Tensor number_like(const Tensor& other, int64_t value) {
  expect_tensor("number_like", "other", other);
  DType type = other.dtype();
  if (!is_integer(type)) return number(type, {static_cast<double>(value), 0, 0});
  if (is_unsigned(type) && value < 0) type = promote(type, DType::i8);
  while (size_of(type) < 8 && !fits(static_cast<double>(value), type))
    type = static_cast<DType>(static_cast<int>(type) + 1);
  return number(type, whole(value));
}

}  // namespace adit
