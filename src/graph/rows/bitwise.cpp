// Rows of two integers' bits.
#include "graph/op.hpp"
#include "graph/rows/elementwise.hpp"
#include "graph/rows/integer.hpp"

namespace adit::graph {

namespace {

using kernel::Value;

Value bits_and(Value a, Value b) { return a & b; }
Value bits_or(Value a, Value b) { return a | b; }
Value bits_xor(Value a, Value b) { return a ^ b; }

Row row(Op op, std::string_view name, ScalarMeaning meaning, int cost, std::string_view doc) {
  return {.op = op,
          .name = name,
          .kind = Kind::elementwise,
          .arity = 2,
          .types = "integer: same",
          .type = same_integer,
          .shape = same_shape,
          .scalar = meaning,
          .vjp = no_gradient,
          .cost = cost,
          .doc = doc};
}

}  // namespace

std::vector<Row> bitwise_rows() {
  return {row(Op::bitwise_and, "bitwise_and", of_reals<bits_and>, 1, "Bits that are set in both."),
          row(Op::bitwise_or, "bitwise_or", of_reals<bits_or>, 1, "Bits that are set in either."),
          row(Op::bitwise_xor, "bitwise_xor", of_reals<bits_xor>, 1, "Bits that are set in one of the two."),
          row(Op::left_shift, "left_shift", of_reals<integers::shift_left>, 3,
              "a 2^b; 0 where b is negative or no less than the width."),
          row(Op::right_shift, "right_shift", of_reals<integers::shift_right>, 3,
              "a / 2^b downward; where b is negative or no less than the width only the sign is left.")};
}

}  // namespace adit::graph
