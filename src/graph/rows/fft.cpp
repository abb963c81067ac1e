// Discrete Fourier transforms along an axis. Their matrices are symmetric: a transform is its own transpose.
#include <fmt/format.h>

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

Row row(Op op, std::string_view name, std::string_view doc) {
  return {.op = op,
          .name = name,
          .kind = Kind::kernel,
          .arity = 1,
          .types = "any: c64; f64, c128: c128",
          .type = complex_type,
          .shape = shape_of_first,
          .vjp = vjp,
          .batch = batch,
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
      row(Op::ifft, "ifft", "What fft takes back to x: sum of x_k exp(2 pi i j k / n) / n along an axis.")};
}

}  // namespace adit::graph
