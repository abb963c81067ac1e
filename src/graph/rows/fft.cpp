// Discrete Fourier transforms along an axis. Their matrices are symmetric: a transform is its own transpose.
#include <fmt/format.h>

#include <adit/ops.hpp>

#include "graph/op.hpp"
#include "graph/rows/first.hpp"

namespace adit::graph {

namespace fourier {
namespace {

using Operands = std::vector<Tensor>;

DType complex_type(std::string_view op, const Operands& operands, const Attributes&) {
  const DType type = operands[0].dtype();
  if (!is_complex(type)) fail(op, "x", fmt::format("expected complex numbers, got {}", name_of(type)));
  return type;
}

Operands vjp(const Tensor& result, const Operands&, const Tensor& g) {
  return {make(node_of(result).op, {g}, node_of(result).as<OneAxis>())};
}

Tensor batch(const Node& node, const Operands& operands, int64_t) {
  return make(node.op, operands, OneAxis{node.as<OneAxis>().axis + 1});
}

// --- Of real numbers ---------------------------------------------------------------------------------------
DType type_of_half(std::string_view op, const Operands& operands, const Attributes&) {
  const DType type = operands[0].dtype();
  if (!is_float(type)) fail(op, "x", fmt::format("expected real numbers, got {}", name_of(type)));
  return complex_of(type);
}
Shape shape_of_half(std::string_view, const Operands& operands, const Attributes& attributes) {
  Shape shape = operands[0].shape();
  int64_t& extent = shape[std::get<OneAxis>(attributes).axis];
  extent = extent / 2 + 1;
  return shape;
}
DType type_of_whole(std::string_view op, const Operands& operands, const Attributes& attributes) {
  return real_of(complex_type(op, operands, attributes));
}
Shape shape_of_whole(std::string_view op, const Operands& operands, const Attributes& attributes) {
  const AxisLength along = std::get<AxisLength>(attributes);
  Shape shape = operands[0].shape();
  if (shape[along.axis] != along.length / 2 + 1)
    fail(op, "x", fmt::format("expected {} elements, got {}", along.length / 2 + 1, shape[along.axis]));
  shape[along.axis] = along.length;
  return shape;
}

// Numbers of a half, each times what it counts in the whole: the ends once, and the others twice, as they
// are mirrored.
Tensor counted(const Tensor& half, int axis, int64_t length, double ends, double others) {
  const DType type = half.dtype();
  Shape shape = Shape::filled(half.rank(), 1);
  shape[axis] = half.dim(axis);
  const Tensor place = arange(half.dim(axis));
  const auto is_at = [&](int64_t end) { return equal(place, constant_integer(place.dtype(), end)); };
  const Tensor is_end = length % 2 == 0 ? logical_or(is_at(0), is_at(length / 2)) : is_at(0);
  return half * reshape(select(is_end, constant(type, ends), constant(type, others)), shape);
}

Operands vjp_of_half(const Tensor& result, const Operands& x, const Tensor& g) {
  const int axis = node_of(result).as<OneAxis>().axis;
  const int64_t length = x[0].dim(axis);
  const auto n = static_cast<double>(length);
  return {make(Op::irfft, {counted(conjugate(g), axis, length, n, n / 2)}, AxisLength{axis, length})};
}
Operands vjp_of_whole(const Tensor& result, const Operands&, const Tensor& g) {
  const AxisLength along = node_of(result).as<AxisLength>();
  const auto n = static_cast<double>(along.length);
  const Tensor half = make(Op::rfft, {g}, OneAxis{along.axis});
  return {counted(conjugate(half), along.axis, along.length, 1 / n, 2 / n)};
}
Tensor batch_of_whole(const Node& node, const Operands& operands, int64_t) {
  const AxisLength along = node.as<AxisLength>();
  return make(node.op, operands, AxisLength{along.axis + 1, along.length});
}

Row row(Op op, std::string_view name, std::string_view doc) {
  const bool to_half = op == Op::rfft, to_whole = op == Op::irfft;
  return {.op = op,
          .name = name,
          .kind = Kind::kernel,
          .arity = 1,
          .types = to_half    ? "real: c64; f64: c128"
                   : to_whole ? "any: f32; f64, c128: f64"
                              : "any: c64; f64, c128: c128",
          .type = to_half    ? type_of_half
                  : to_whole ? type_of_whole
                             : complex_type,
          .shape = to_half    ? shape_of_half
                   : to_whole ? shape_of_whole
                              : shape_of_first,
          .vjp = to_half    ? vjp_of_half
                 : to_whole ? vjp_of_whole
                            : vjp,
          .batch = to_whole ? batch_of_whole : batch,
          .bound = {.note = "log2(n) units of the root of the mean square of the results"},
          .cost = 100,
          .doc = doc};
}

}  // namespace
}  // namespace fourier

std::vector<Row> fft_rows() {
  using fourier::row;
  return {
      row(Op::fft, "fft",
          "sum of x_j exp(-2 pi i j k / n) along an axis; a length crops it or pads it with zeros."),
      row(Op::ifft, "ifft", "What fft takes back to x: sum of x_k exp(2 pi i j k / n) / n along an axis."),
      row(Op::rfft, "rfft", "`fft` of real numbers: the results 0 to n / 2, which the others mirror."),
      row(Op::irfft, "irfft",
          "What rfft takes back to n real numbers, 2 (extent - 1) of them if none is said.")};
}

}  // namespace adit::graph
