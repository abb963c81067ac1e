#include "graph/rows/elementwise.hpp"

#include <cmath>
#include <fmt/format.h>

namespace adit::graph {

std::string_view operand_name(std::string_view op, size_t count, size_t which) {
  constexpr std::string_view select_names[] = {"predicate", "on_true", "on_false"};
  constexpr std::string_view clip_names[] = {"x", "low", "high"};
  constexpr std::string_view word_names[] = {"key0", "key1", "count0", "count1", "count2", "count3"};
  if (count == 1) return "x";
  if (count == 2) return which == 0 ? "a" : "b";
  if (count == 3) return op == "select" ? select_names[which] : clip_names[which];
  return word_names[which];
}

Shape same_shape(std::string_view op, const Operands& operands, const Attributes&) {
  for (size_t i = 1; i < operands.size(); ++i)
    if (!(operands[i].shape() == operands[0].shape()))
      fail(op, operand_name(op, operands.size(), i),
           fmt::format("expected shape {}, got {}", to_string(operands[0].shape()),
                       to_string(operands[i].shape())));
  return operands[0].shape();
}

namespace {

DType same(std::string_view op, const Operands& operands, bool (*admits)(DType), std::string_view expected) {
  const DType type = operands[0].dtype();
  if (!admits(type))
    fail(op, operand_name(op, operands.size(), 0),
         fmt::format("expected {}, got {}", expected, name_of(type)));
  for (size_t i = 1; i < operands.size(); ++i)
    if (operands[i].dtype() != type)
      fail(op, operand_name(op, operands.size(), i),
           fmt::format("expected {}, got {}", name_of(type), name_of(operands[i].dtype())));
  return type;
}

bool is_any(DType) { return true; }
bool real_type(DType t) { return !is_complex(t); }
bool inexact_type(DType t) { return !is_integer(t); }

}  // namespace

DType same_any(std::string_view op, const Operands& x, const Attributes&) {
  return same(op, x, is_any, "any type");
}
DType same_real(std::string_view op, const Operands& x, const Attributes&) {
  return same(op, x, real_type, "an integer or float type");
}
DType same_float(std::string_view op, const Operands& x, const Attributes&) {
  return same(op, x, is_float, "a float type");
}
DType same_inexact(std::string_view op, const Operands& x, const Attributes&) {
  return same(op, x, inexact_type, "a float or complex type");
}
DType same_integer(std::string_view op, const Operands& x, const Attributes&) {
  return same(op, x, is_integer, "an integer type");
}
DType same_complex(std::string_view op, const Operands& x, const Attributes&) {
  return same(op, x, is_complex, "a complex type");
}
DType same_u32(std::string_view op, const Operands& x, const Attributes&) {
  return same(
      op, x, [](DType t) { return t == DType::u32; }, "u32");
}
DType part_of_any(std::string_view op, const Operands& x, const Attributes& attributes) {
  return real_of(same_any(op, x, attributes));
}
DType part_of_complex(std::string_view op, const Operands& x, const Attributes& attributes) {
  return real_of(same_complex(op, x, attributes));
}
DType flag_of_any(std::string_view, const Operands&, const Attributes&) { return DType::u8; }
DType flag_of_same(std::string_view op, const Operands& x, const Attributes& attributes) {
  return same_any(op, x, attributes), DType::u8;
}
DType flag_of_same_real(std::string_view op, const Operands& x, const Attributes& attributes) {
  return same_real(op, x, attributes), DType::u8;
}

kernel::Value infinity_like(kernel::Value x) { return x.like(INFINITY); }

kernel::Value is_infinite(kernel::Value x) {
  const kernel::Type type = kernel::unsigned_like(x.type());
  const uint64_t magnitude = ~uint64_t{0} >> (65 - kernel::bits_of(type));
  return (bitcast(x, type) & magnitude) == kernel::bits_of_number(x.type(), INFINITY);
}

}  // namespace adit::graph
