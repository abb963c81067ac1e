// Inverses, determinants and systems of general square matrices, by Gauss-Jordan elimination with partial
// pivoting in a scan over the columns. It runs without derivatives; a step of Newton's method afterwards,
// x + inverse (b - a x), has those of the solution and mends its last digits.
#include <array>

#include <adit/control.hpp>

#include "stan/functions/inverse.hpp"
#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

struct Elimination {
  Tensor inverse;         // [..., n, n]
  Tensor log_size, sign;  // of the determinant
};

// 1 where the permutation that row k holds a 1 at place p_k of is even, else -1.
Tensor sign_of_permutation(const Tensor& places, int64_t size) {
  const Tensor is_before = row_numbers(size) < column_numbers(size);
  const Tensor crosses = both(is_before, expand_dims(places, -1) > expand_dims(places, -2));
  const Tensor count = sum(select(crosses, real(1), real(0)), {-2, -1});
  return select(remainder(count, real(2)) == real(0), real(1), real(-1));
}

Elimination eliminated(const Tensor& matrices) {
  const int64_t size = matrices.dim(-1);
  const Tensor a = stop_gradient(matrices);
  if (size == 0) return {a, zeros(stats::leading(a, 2), DType::f64), ones(stats::leading(a, 2), DType::f64)};
  const Shape vectors = stats::leading(a, 1);
  const Tensor unit = broadcast_to(eye(size, size, DType::f64), a.shape());
  const Tensor number = iota({size}, DType::i64);
  // Carried: a beside the identity, and which rows have been pivots.
  const auto step = [&](const Tensors& carry, const Tensors& column) -> Step {
    const Tensor is_column = number == column[0];
    const auto at_column = [&](const Tensor& x) { return sum(select(is_column, x, real(0)), {-1}); };
    const Tensor values = at_column(carry[0]);  // [..., n]
    const Tensor sizes = select(carry[2] != real(0), real(-1), abs(values));
    const Tensor place = as_type(argmax(select(is_nan(sizes), infinity(), sizes), -1), DType::i64);
    const Tensor is_pivot = number == expand_dims(place, -1), in_row = expand_dims(is_pivot, -1);
    const auto pivot_row = [&](const Tensor& x) { return sum(select(in_row, x, real(0)), {-2}, true); };
    const Tensor left = pivot_row(carry[0]), right = pivot_row(carry[1]);
    const Tensor pivot = at_column(left);                             // [..., 1]
    const Tensor divisor = select(pivot == real(0), real(1), pivot);  // what is singular is found below
    const Tensor share = expand_dims(values / divisor, -1), whole = expand_dims(divisor, -1);
    return {{select(in_row, left / whole, carry[0] - share * left),
             select(in_row, right / whole, carry[1] - share * right), select(is_pivot, real(1), carry[2])},
            {squeeze(pivot, {-1}), as_type(place, DType::f64)}};
  };
  const Step done = scan(step, {a, unit, zeros(vectors, DType::f64)}, {number});
  // Outputs come with the columns first.
  const auto to_last = [](const Tensor& x) {
    Axes axes;
    for (int i = 1; i < x.rank(); ++i) axes.push_back(i);
    axes.push_back(0);
    return transpose(x, axes);
  };
  const Tensor pivots = to_last(done.outputs[0]), places = to_last(done.outputs[1]);
  // Row k of the inverse stands where column k had its pivot.
  const Tensor is_place = expand_dims(places, -1) == as_type(number, DType::f64);  // [..., k, row]
  const Tensor inverse = matmul(select(is_place, real(1), real(0)), done.carry[1]);
  const Tensor negative = sum(select(pivots < real(0), real(1), real(0)), {-1});
  const Tensor sign = select(remainder(negative, real(2)) == real(0), real(1), real(-1));
  const Tensor log_size = sum(log(abs(pivots)), {-1});
  const Tensor is_singular = expand_dims(expand_dims(log_size == minus_infinity(), -1), -1);
  return {stop_gradient(select(is_singular, not_a_number(), inverse)), stop_gradient(log_size),
          stop_gradient(sign * sign_of_permutation(places, size))};
}

}  // namespace

Tensor inverse_of(const Tensor& matrices) { return eliminated(matrices).inverse; }

namespace {

Part solved(const Part& matrix, const Part& b) {
  const Part inverse{eliminated(matrix.x).inverse, matrix.in_lanes};
  const Part start = times(inverse, {stop_gradient(b.x), b.in_lanes});
  const Part known{stop_gradient(start.x), start.in_lanes};
  const Part left =
      elementwise(b, times(matrix, known), [](const Tensor& p, const Tensor& q) { return p - q; });
  return elementwise(known, times(inverse, left), [](const Tensor& p, const Tensor& q) { return p + q; });
}
Part inverted(const Part& matrix) {
  return solved(matrix, {eye(matrix.x.dim(-1), matrix.x.dim(-1), DType::f64), false});
}

// log |det a| with the derivative inverse(a)'. Singular: -infinity.
Tensor log_size_of(const Tensor& matrices, const Elimination& e) {
  const Tensor slope = transposed({e.inverse, false}).x;
  const Tensor known = select(is_finite(slope), slope, real(0));
  return e.log_size + sum((matrices - stop_gradient(matrices)) * known, {-2, -1});
}

Tensor general_inverse(const Arguments& a) { return finished(a, inverted(part(a, 0))); }
Tensor general_log_determinant(const Arguments& a) {
  const Part p = part(a, 0);
  if (p.x.dim(-1) == 0) return finished(a, {real(0), false});
  return finished(a, {log_size_of(p.x, eliminated(p.x)), p.in_lanes});
}
Tensor general_determinant(const Arguments& a) {
  const Part p = part(a, 0);
  if (p.x.dim(-1) == 0) return finished(a, {real(1), false});
  const Elimination e = eliminated(p.x);
  return finished(a, {e.sign * exp(log_size_of(p.x, e)), p.in_lanes});
}
Tensor general_left_divide(const Arguments& a) {
  const Part b = part(a, 1);
  if (b.axes() == 2) return finished(a, solved(part(a, 0), b));
  return finished(a, without_axis(solved(part(a, 0), as_column(b)), -1));
}
// b a^-1 is (a'^-1 b')'.
Tensor general_right_divide(const Arguments& a) {
  const Part b = part(a, 0), matrix = transposed(part(a, 1));
  if (b.axes() == 2) return finished(a, transposed(solved(matrix, transposed(b))));
  return finished(a, without_axis(solved(matrix, as_column(b)), -1));
}

constexpr std::array inverse_table{
    GeneralFunction{"determinant", general_determinant},
    GeneralFunction{"inverse", general_inverse},
    GeneralFunction{"log_determinant", general_log_determinant},
    GeneralFunction{"mdivide_left", general_left_divide},
    GeneralFunction{"mdivide_right", general_right_divide},
};

}  // namespace

std::span<const GeneralFunction> inverse_functions() { return inverse_table; }

}  // namespace adit::stan
