// The operations of two and three operands.
#include <cmath>

#include "graph/build/arguments.hpp"
#include "graph/op.hpp"
#include "graph/operands.hpp"

namespace adit {

using graph::as_float;
using graph::broadcast_together;
using graph::expect_tensor;
using graph::make;
using graph::make_matched;
using graph::name_of;
using graph::Op;

namespace {

// Functions of floats: two integers become f32.
Tensor make_floats(Op op, const Tensor& a, const Tensor& b) {
  expect_tensor(name_of(op), "a", a);
  expect_tensor(name_of(op), "b", b);
  return is_integer(a.dtype()) && is_integer(b.dtype()) ? make_matched(op, as_float(a), as_float(b))
                                                        : make_matched(op, a, b);
}

// Each operand is true or false by itself, so that the types stay.
Tensor make_logical(Op op, const Tensor& a, const Tensor& b) {
  expect_tensor(name_of(op), "a", a);
  expect_tensor(name_of(op), "b", b);
  return make(op, broadcast_together(name_of(op), {a, b}));
}

// The number that a scalar of the caller's or of a rule is, or NaN.
double number_of(const Tensor& x) {
  const graph::Node& node = graph::node_of(x);
  if (node.op != Op::number && node.op != Op::constant) return NAN;
  const auto& literal = node.as<graph::Literal>();
  if (is_integer(node.type)) return static_cast<double>(literal.integer);
  return literal.imag == 0 ? literal.real : NAN;
}

// The whole number as an integer beside integers, else as a fraction.
Tensor limit(const Tensor& x, double number) {
  const bool whole = std::floor(number) == number && std::abs(number) < 0x1p62;
  return whole ? number_like(x, static_cast<int64_t>(number)) : number_like(x, number);
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) { return make_matched(Op::add, a, b); }
Tensor subtract(const Tensor& a, const Tensor& b) { return make_matched(Op::subtract, a, b); }
Tensor multiply(const Tensor& a, const Tensor& b) { return make_matched(Op::multiply, a, b); }
Tensor divide(const Tensor& a, const Tensor& b) { return make_floats(Op::divide, a, b); }
Tensor quotient(const Tensor& a, const Tensor& b) { return make_matched(Op::quotient, a, b); }
Tensor remainder(const Tensor& a, const Tensor& b) { return make_matched(Op::remainder, a, b); }
Tensor atan2(const Tensor& a, const Tensor& b) { return make_floats(Op::atan2, a, b); }
Tensor hypot(const Tensor& a, const Tensor& b) { return make_floats(Op::hypot, a, b); }
Tensor minimum(const Tensor& a, const Tensor& b) { return make_matched(Op::min, a, b); }
Tensor maximum(const Tensor& a, const Tensor& b) { return make_matched(Op::max, a, b); }

// Squares and cubes are so common that they are products, which fuse and differentiate for little.
Tensor pow(const Tensor& a, const Tensor& b) {
  expect_tensor("pow", "a", a);
  expect_tensor("pow", "b", b);
  const double power = number_of(b);
  const Tensor base = as_type(a, promote(a.dtype(), b.dtype()));
  if (power == 1) return base;
  if (power == 2) return multiply(base, base);
  if (power == 3) return multiply(multiply(base, base), base);
  return make_matched(Op::pow, base, b);
}

Tensor bitwise_and(const Tensor& a, const Tensor& b) { return make_matched(Op::bitwise_and, a, b); }
Tensor bitwise_or(const Tensor& a, const Tensor& b) { return make_matched(Op::bitwise_or, a, b); }
Tensor bitwise_xor(const Tensor& a, const Tensor& b) { return make_matched(Op::bitwise_xor, a, b); }
Tensor left_shift(const Tensor& a, const Tensor& b) { return make_matched(Op::left_shift, a, b); }
Tensor right_shift(const Tensor& a, const Tensor& b) { return make_matched(Op::right_shift, a, b); }

Tensor equal(const Tensor& a, const Tensor& b) { return make_matched(Op::equal, a, b); }
Tensor not_equal(const Tensor& a, const Tensor& b) { return make_matched(Op::not_equal, a, b); }
Tensor less(const Tensor& a, const Tensor& b) { return make_matched(Op::less, a, b); }
Tensor less_equal(const Tensor& a, const Tensor& b) { return make_matched(Op::less_equal, a, b); }
Tensor greater(const Tensor& a, const Tensor& b) { return make_matched(Op::greater, a, b); }
Tensor greater_equal(const Tensor& a, const Tensor& b) { return make_matched(Op::greater_equal, a, b); }
Tensor logical_and(const Tensor& a, const Tensor& b) { return make_logical(Op::logical_and, a, b); }
Tensor logical_or(const Tensor& a, const Tensor& b) { return make_logical(Op::logical_or, a, b); }
Tensor logical_xor(const Tensor& a, const Tensor& b) { return make_logical(Op::logical_xor, a, b); }

Tensor complex(const Tensor& re, const Tensor& im) {
  expect_tensor("complex", "real", re);
  expect_tensor("complex", "imag", im);
  if (is_complex(re.dtype()) || is_complex(im.dtype()))
    graph::fail("complex", is_complex(re.dtype()) ? "real" : "imag",
                fmt::format("expected an integer or float type, got {}",
                            name_of(is_complex(re.dtype()) ? re.dtype() : im.dtype())));
  const DType part = real_of(complex_of(promote(re.dtype(), im.dtype())));
  return make_matched(Op::complex, as_type(re, part), as_type(im, part));
}

Tensor select(const Tensor& predicate, const Tensor& on_true, const Tensor& on_false) {
  expect_tensor("select", "predicate", predicate);
  expect_tensor("select", "on_true", on_true);
  expect_tensor("select", "on_false", on_false);
  const DType type = promote(on_true.dtype(), on_false.dtype());
  return make(Op::select,
              broadcast_together("select", {predicate, as_type(on_true, type), as_type(on_false, type)}));
}

Tensor clip(const Tensor& x, const Tensor& low, const Tensor& high) {
  expect_tensor("clip", "x", x);
  expect_tensor("clip", "low", low);
  expect_tensor("clip", "high", high);
  const DType type = promote(x.dtype(), promote(low.dtype(), high.dtype()));
  return make(Op::clip,
              broadcast_together("clip", {as_type(x, type), as_type(low, type), as_type(high, type)}));
}

Tensor clip(const Tensor& x, double low, double high) {
  expect_tensor("clip", "x", x);
  return clip(x, limit(x, low), limit(x, high));
}

}  // namespace adit
