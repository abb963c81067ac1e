// Rows of three operands and more: choices and random bits.
#include <fmt/format.h>

#include "graph/op.hpp"
#include "graph/rows/elementwise.hpp"
#include "kernel/random_bits.hpp"

namespace adit::graph {

namespace {

using kernel::Value;

DType select_type(std::string_view op, const Operands& x, const Attributes&) {
  if (x[1].dtype() != x[2].dtype())
    fail(op, "on_false", fmt::format("expected {}, got {}", name_of(x[1].dtype()), name_of(x[2].dtype())));
  return x[1].dtype();
}

Scalar select_meaning(std::span<const Scalar> x, const Node&) {
  const Value condition = truth(x[0]), re = select(condition, x[1].re, x[2].re);
  return x[1].is_complex ? pair(re, select(condition, x[1].im, x[2].im)) : scalar(re);
}

Operands select_vjp(const Tensor&, const Operands& x, const Tensor& g) {
  const Tensor zero = zero_like(g);
  return {Tensor(), select(x[0], g, zero), select(x[0], zero, g)};
}

// NaN stays; NaN as a limit is none.
Scalar clip_meaning(std::span<const Scalar> x, const Node&) {
  const Value raised = select(x[0].re < x[1].re, x[1].re, x[0].re);
  return scalar(select(x[2].re < raised, x[2].re, raised));
}

// What moved the result: the limits where they cut, else x, at the limits too.
Operands clip_vjp(const Tensor&, const Operands& x, const Tensor& g) {
  const Tensor zero = zero_like(g), raised = less(x[0], x[1]);
  const Tensor lowered = less(x[2], maximum(x[0], x[1]));
  const Tensor kept = select(lowered, zero, g);
  return {select(raised, zero, kept), select(raised, kept, zero), select(lowered, g, zero)};
}

void check_word(std::string_view op, const Attributes& attributes, int words) {
  const int word = std::get<Which>(attributes).number;
  if (word < 0 || word >= words) fail(op, "word", fmt::format("expected 0 to {}, got {}", words - 1, word));
}

DType threefry_type(std::string_view op, const Operands& x, const Attributes& attributes) {
  check_word(op, attributes, 2);
  return same_u32(op, x, attributes);
}
DType philox_type(std::string_view op, const Operands& x, const Attributes& attributes) {
  check_word(op, attributes, 4);
  return same_u32(op, x, attributes);
}

Scalar threefry_meaning(std::span<const Scalar> x, const Node& node) {
  const auto words = kernel::threefry({x[0].re, x[1].re}, {x[2].re, x[3].re});
  return scalar(words[static_cast<size_t>(node.as<Which>().number)]);
}
Scalar philox_meaning(std::span<const Scalar> x, const Node& node) {
  const auto words = kernel::philox({x[0].re, x[1].re}, {x[2].re, x[3].re, x[4].re, x[5].re});
  return scalar(words[static_cast<size_t>(node.as<Which>().number)]);
}

Row row(Op op, std::string_view name, int arity, std::string_view types, TypeRule type, ScalarMeaning meaning,
        Vjp vjp, int cost, std::string_view doc) {
  return {.op = op,
          .name = name,
          .kind = Kind::elementwise,
          .arity = arity,
          .types = types,
          .type = type,
          .shape = same_shape,
          .scalar = meaning,
          .vjp = vjp,
          .cost = cost,
          .doc = doc};
}

}  // namespace

std::vector<Row> more_rows() {
  return {row(Op::select, "select", 3, "any, and two of one type: that", select_type, select_meaning,
              select_vjp, 2, "The second where the first is not 0, else the third."),
          row(Op::clip, "clip", 3, "integer, float: same", same_real, clip_meaning, clip_vjp, 3,
              "x between two limits; NaN stays, and the upper limit wins where they cross."),
          row(Op::threefry, "threefry", 4, "u32: same", threefry_type, threefry_meaning, no_gradient, 90,
              "One word of Threefry 2x32 with 20 rounds, of two words of key and two of counter."),
          row(Op::philox, "philox", 6, "u32: same", philox_type, philox_meaning, no_gradient, 80,
              "One word of Philox 4x32 with 10 rounds, of two words of key and four of counter.")};
}

}  // namespace adit::graph
