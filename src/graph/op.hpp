// The names of the primitive operations. Each has one row in the table (row.hpp); composites such as softmax are
// functions in src/graph/build that are made of these.
#pragma once

#include <cstdint>

namespace adit::graph {

enum class Op : uint8_t {
  // Leaves
  input,     // a tensor in memory, or a placeholder while a function is traced
  number,    // a scalar that the caller gave: an argument of kernels, so that a new value compiles nothing
  constant,  // a scalar that a rule needs: part of the structure
  iota,
  alias,  // the same tensor under a new name: what transformations call a function with
  // Elementwise, one operand
  negate, abs, sign, floor, ceil, round, trunc,
  exp, exp2, expm1, log, log2, log10, log1p, sqrt, rsqrt, cbrt,
  sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh,
  erf, erfc, erf_inv, lgamma, digamma, trigamma, sigmoid, softplus, log_sigmoid,
  bitwise_not, logical_not, conjugate, real, imag, is_nan, is_infinity, count_leading_zeros, population_count,
  as_type, bitcast, stop_gradient,
  // Elementwise, two
  add, subtract, multiply, divide, quotient, remainder, pow, atan2, hypot, min, max,
  bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift,
  equal, not_equal, less, less_equal, greater, greater_equal, logical_and, logical_or, logical_xor, complex,
  // Elementwise, more
  select, clip, threefry, philox,
  // Index maps: an element of the result is an element of an operand
  reshape, transpose, broadcast, slice, dynamic_slice, put_slice, pad, concatenate, reverse, take_along_axis,
  gather,
  // Reductions
  sum, product, reduce_max, reduce_min, argmax, argmin, all, any, reduce,
  // With kernels of their own
  dot, indexed_add, indexed_put, cholesky, triangular_solve,
  // Control flow; they yield several tensors, which `item` picks
  cond, while_loop, while_vjp, scan, item,
  op_count
};

}  // namespace adit::graph
