// Rows that change the type or look at the bits: as_type, bitcast, parts of complex numbers, tests, counts.
#include <fmt/format.h>

#include <adit/kernel/math.hpp>

#include "graph/op.hpp"
#include "graph/rows/elementwise.hpp"

namespace adit::graph {

namespace {

using kernel::Type;
using kernel::Value;

bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }
DType named_type(const Attributes& attributes) {
  return static_cast<DType>(std::get<Which>(attributes).number);
}

// To f32 with what is cut off noted in the last bit, so that rounding once more to a half rounds only once.
Value narrowed_to_odd(Value x) {
  const Value near = convert(x, Type::f32), back = convert(near, Type::f64);
  const Value bits = bitcast(near, Type::u32);
  const Value toward_zero = select(abs(back) > abs(x), bits - 1, bits);
  return select(back == x || is_nan(x), near, bitcast(toward_zero | 1, Type::f32));
}

Value converted(Value x, DType from, DType to) {
  return from == DType::f64 && is_half(to) ? narrowed_to_odd(x) : convert(x, compute_type(to));
}

Scalar as_type_meaning(std::span<const Scalar> x, const Node& node) {
  const DType from = real_of(node.operands[0].dtype()), to = real_of(node.type);
  const Value re = converted(x[0].re, from, to);
  if (!is_complex(node.type)) return scalar(re);
  return pair(re, x[0].is_complex ? converted(x[0].im, from, to) : re.like(0));
}

// Only numbers flow back: through a complex number's real part where just one side is complex.
Operands as_type_vjp(const Tensor& y, const Operands& x, const Tensor& g) {
  if (is_integer(y.dtype()) || is_integer(x[0].dtype())) return {Tensor()};
  return {as_type(g, x[0].dtype())};
}

// The bits of a half that is held in f32, by integer arithmetic: not every device computes with f16.
Value half_bits(Value x) {
  const Value bits = bitcast(x, Type::u32), size = bits & 0x7fffffffu;
  const Value small = convert(abs(x) * 0x1p24, Type::u32), normal = (size - 0x38000000u) >> 13;
  const Value special = ((size >> 13) & 0x3ffu) | 0x7c00u;
  const Value half = select(size >= 0x7f800000u, special, select(size < 0x38800000u, small, normal));
  return convert(half | ((bits >> 16) & 0x8000u), Type::u16);
}
Value of_half_bits(Value half) {
  const Value bits = convert(half, Type::u32), size = bits & 0x7fffu;
  const Value small = bitcast(convert(size, Type::f32) * 0x1p-24, Type::u32);
  const Value large = (size << 13) + select(size >= 0x7c00u, bits.like(0x70000000u), 0x38000000u);
  return bitcast(select(size < 0x400u, small, large) | ((bits & 0x8000u) << 16), Type::f32);
}

Scalar bitcast_meaning(std::span<const Scalar> x, const Node& node) {
  const DType from = node.operands[0].dtype(), to = node.type;
  const Value bits = from == DType::f16 ? half_bits(x[0].re) : convert(x[0].re, storage_type(from));
  if (to == DType::f16) return scalar(of_half_bits(bitcast(bits, Type::u16)));
  return scalar(convert(bitcast(bits, storage_type(to)), compute_type(to)));
}

DType as_type_type(std::string_view, const Operands&, const Attributes& attributes) {
  return named_type(attributes);
}

DType bitcast_type(std::string_view op, const Operands& x, const Attributes& attributes) {
  const DType from = x[0].dtype(), to = named_type(attributes);
  if (is_complex(from) || is_complex(to))
    fail(op, is_complex(from) ? "x" : "type",
         fmt::format("expected an integer or float type, got {}", name_of(is_complex(from) ? from : to)));
  if (size_of(from) != size_of(to))
    fail(op, "type", fmt::format("expected a type as wide as {}, got {}", name_of(from), name_of(to)));
  return to;
}

Scalar real_meaning(std::span<const Scalar> x, const Node&) { return scalar(x[0].re); }
Scalar imag_meaning(std::span<const Scalar> x, const Node&) { return scalar(x[0].im); }
Scalar conjugate_meaning(std::span<const Scalar> x, const Node&) { return pair(x[0].re, -x[0].im); }
Scalar identity_meaning(std::span<const Scalar> x, const Node&) { return x[0]; }

template <Value (*test)(Value)>
Scalar test_meaning(std::span<const Scalar> x, const Node&) {
  if (!kernel::is_float(x[0].re.type())) return scalar(x[0].re.builder().constant(Type::u8, 0));
  return flag(x[0].is_complex ? test(x[0].re) || test(x[0].im) : test(x[0].re));
}
Scalar logical_not_meaning(std::span<const Scalar> x, const Node&) { return flag(!truth(x[0])); }

Scalar bitwise_not_meaning(std::span<const Scalar> x, const Node&) { return scalar(~x[0].re); }
// Counts of bits do not know signs.
template <Value (*count)(Value)>
Scalar count_meaning(std::span<const Scalar> x, const Node&) {
  const Type type = x[0].re.type();
  return scalar(bitcast(count(bitcast(x[0].re, kernel::unsigned_like(type))), type));
}

Tensor imaginary(const Tensor& x) { return adit::complex(zero_like(x), x); }

Row row(Op op, std::string_view name, std::string_view types, TypeRule type, ScalarMeaning meaning, Vjp vjp,
        std::string_view doc) {
  return {.op = op,
          .name = name,
          .kind = Kind::elementwise,
          .arity = 1,
          .types = types,
          .type = type,
          .shape = same_shape,
          .scalar = meaning,
          .vjp = vjp,
          .doc = doc};
}

}  // namespace

std::vector<Row> conversion_rows() {
  return {
      row(Op::bitwise_not, "bitwise_not", "integer: same", same_integer, bitwise_not_meaning, no_gradient,
          "Every bit turned over."),
      row(Op::logical_not, "logical_not", "any: u8", flag_of_any, logical_not_meaning, no_gradient,
          "1 where x is 0, else 0."),
      row(Op::conjugate, "conjugate", "complex: same", same_complex, conjugate_meaning,
          vjp_of<[](Unary h) { return conjugate(h.g); }>, "The other sign of the imaginary part."),
      row(Op::real, "real", "complex: its float", part_of_complex, real_meaning,
          vjp_of<[](Unary h) { return as_type(h.g, h.x.dtype()); }>, "The real part."),
      row(Op::imag, "imag", "complex: its float", part_of_complex, imag_meaning,
          vjp_of<[](Unary h) { return imaginary(negate(h.g)); }>, "The imaginary part."),
      row(Op::is_nan, "is_nan", "any: u8", flag_of_any, test_meaning<kernel::is_nan>, no_gradient,
          "1 where x, or a part of it, is NaN, else 0."),
      row(Op::is_infinity, "is_infinity", "any: u8", flag_of_any, test_meaning<is_infinite>, no_gradient,
          "1 where x, or a part of it, is infinite, else 0."),
      row(Op::count_leading_zeros, "count_leading_zeros", "integer: same", same_integer,
          count_meaning<kernel::leading_zeros>, no_gradient, "Zeros above the highest bit that is set."),
      row(Op::population_count, "population_count", "integer: same", same_integer,
          count_meaning<kernel::count_ones>, no_gradient, "How many bits are set."),
      row(Op::as_type, "as_type", "any: the named type", as_type_type, as_type_meaning, as_type_vjp,
          "Rounds to nearest; a float to an integer toward zero, ends hold and NaN gives 0; an integer "
          "to a smaller "
          "one wraps; a complex number leaves its real part."),
      row(Op::bitcast, "bitcast", "integer, float: the named type", bitcast_type, bitcast_meaning,
          no_gradient,
          "The same bits as another type of the same width; a half that is NaN may lose what it carries."),
      row(Op::stop_gradient, "stop_gradient", "any: same", same_any, identity_meaning, no_gradient,
          "x, which derivatives take for a constant.")};
}

}  // namespace adit::graph
