// Rows of comparisons and of logic; they yield 1 or 0 in u8.
#include "graph/op.hpp"
#include "graph/rows/elementwise.hpp"

namespace adit::graph {

namespace {

using Pair = std::span<const Scalar>;

Scalar equal_meaning(Pair x, const Node&) {
  const kernel::Value parts = x[0].re == x[1].re;
  return flag(x[0].is_complex ? parts && x[0].im == x[1].im : parts);
}
Scalar not_equal_meaning(Pair x, const Node&) {
  const kernel::Value parts = x[0].re != x[1].re;
  return flag(x[0].is_complex ? parts || x[0].im != x[1].im : parts);
}
Scalar less_meaning(Pair x, const Node&) { return flag(x[0].re < x[1].re); }
Scalar less_equal_meaning(Pair x, const Node&) { return flag(x[0].re <= x[1].re); }
Scalar greater_meaning(Pair x, const Node&) { return flag(x[0].re > x[1].re); }
Scalar greater_equal_meaning(Pair x, const Node&) { return flag(x[0].re >= x[1].re); }
Scalar and_meaning(Pair x, const Node&) { return flag(truth(x[0]) && truth(x[1])); }
Scalar or_meaning(Pair x, const Node&) { return flag(truth(x[0]) || truth(x[1])); }
Scalar xor_meaning(Pair x, const Node&) { return flag(truth(x[0]) ^ truth(x[1])); }

Row row(Op op, std::string_view name, std::string_view types, TypeRule type, ScalarMeaning meaning,
        std::string_view doc) {
  return {.op = op,
          .name = name,
          .kind = Kind::elementwise,
          .arity = 2,
          .types = types,
          .type = type,
          .shape = same_shape,
          .scalar = meaning,
          .vjp = no_gradient,
          .doc = doc};
}

}  // namespace

std::vector<Row> comparison_rows() {
  constexpr std::string_view any = "any: u8", real = "integer, float: u8";
  return {
      row(Op::equal, "equal", any, flag_of_same, equal_meaning, "1 where a = b, else 0; NaN equals nothing."),
      row(Op::not_equal, "not_equal", any, flag_of_same, not_equal_meaning,
          "1 where a and b differ, else 0."),
      row(Op::less, "less", real, flag_of_same_real, less_meaning, "1 where a < b, else 0."),
      row(Op::less_equal, "less_equal", real, flag_of_same_real, less_equal_meaning,
          "1 where a <= b, else 0."),
      row(Op::greater, "greater", real, flag_of_same_real, greater_meaning, "1 where a > b, else 0."),
      row(Op::greater_equal, "greater_equal", real, flag_of_same_real, greater_equal_meaning,
          "1 where a >= b, else 0."),
      row(Op::logical_and, "logical_and", any, flag_of_any, and_meaning, "1 where neither is 0, else 0."),
      row(Op::logical_or, "logical_or", any, flag_of_any, or_meaning,
          "1 where one or both are not 0, else 0."),
      row(Op::logical_xor, "logical_xor", any, flag_of_any, xor_meaning,
          "1 where one of the two is 0, else 0.")};
}

}  // namespace adit::graph
