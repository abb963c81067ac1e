// Singular values and vectors, QR factors, pseudo-inverses, powers and symmetric matrices.
#include <array>
#include <numbers>

#include <adit/control.hpp>

#include "graph/row.hpp"
#include "stan/functions/eigen.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

Tensor square_of(const Tensor& x) { return x * x; }
Tensor row_by_column(int64_t rows, int64_t columns) {
  return expand_dims(iota({rows}, DType::i64), -1) == iota({columns}, DType::i64);
}
Tensor upper_part(const Tensor& x) {
  const Tensor is_upper = expand_dims(iota({x.dim(-2)}, DType::i64), -1) <= iota({x.dim(-1)}, DType::i64);
  return select(is_upper, x, real(0));
}
// Householder's reflections, a column at a time; the diagonal of r is made positive in the end.
struct WholeQR {
  Tensor q, r;
};
WholeQR whole_qr(const Part& p) {
  const int64_t rows = p.x.dim(-2), columns = p.x.dim(-1), count = std::min(rows, columns);
  Shape square = stats::leading(p.x, 2);
  square.push_back(rows), square.push_back(rows);
  const Tensor unit = broadcast_to(eye(rows, rows, DType::f64), square);
  const Tensor row = iota({rows}, DType::i64), column = iota({columns}, DType::i64);
  const auto step = [&](const Tensors& carry, const Tensors& number) -> Step {
    const Tensor &r = carry[0], &k = number[0];
    const Tensor x = sum(select(column == k, r, real(0)), {-1});  // [..., rows]
    const Tensor below = select(row >= k, x, real(0)), head = sum(select(row == k, x, real(0)), {-1}, true);
    const Tensor length = root_from_zero(sum(square_of(below), {-1}, true));
    const Tensor v = below + select(row == k, select(head < real(0), -length, length), real(0));
    const Tensor size = sum(square_of(v), {-1}, true);
    const Tensor scale = select(size > real(0), real(2) / select(size > real(0), size, real(1)), real(0));
    const Tensor as_column_of = expand_dims(v, -1), as_row_of = expand_dims(v * scale, -2);
    return {{r - matmul(as_column_of, matmul(as_row_of, r)),
             carry[1] - matmul(matmul(carry[1], as_column_of), as_row_of)},
            {}};
  };
  if (count == 0) return {unit, p.x};
  const Tensors done = scan(step, {p.x, unit}, {iota({count}, DType::i64)}).carry;
  const Tensor on_diagonal = select(row_by_column(rows, columns), done[0], real(0));
  const Tensor sign = select(stop_gradient(sum(on_diagonal, {-1})) < real(0), real(-1), real(1));
  return {done[1] * expand_dims(sign, -2), upper_part(done[0] * expand_dims(sign, -1))};
}
Tensor matrix_qr_q(const Arguments& a) {
  const Part p = part(a, 0);
  return finished(a, {whole_qr(p).q, p.in_lanes});
}
Tensor matrix_qr_r(const Arguments& a) {
  const Part p = part(a, 0);
  return finished(a, {whole_qr(p).r, p.in_lanes});
}

// --- Singular values and vectors ---------------------------------------------------------------------------
// Some of the last axis, or of the one before it.
Tensor some_of(const Tensor& x, int axis, int64_t first, int64_t count) {
  Dims begin = Dims::filled(x.rank(), 0), length = x.shape();
  begin[x.rank() + axis] = first;
  length[x.rank() + axis] = count;
  return slice(x, begin, length);
}
// [0, a; a', 0] of a square a, whose eigenvalues are the singular values of a and their negatives. The
// vectors of the former are those of a's rows above those of its columns, divided by sqrt(2).
Tensor beside_transposed(const Tensor& a) {
  const Tensor none = zeros_like(a);
  return concatenate({concatenate({none, a}, -1), concatenate({transposed({a, false}).x, none}, -1)}, -2);
}

// A matrix that is not square by the square factor of it, or of its transpose.
struct Singular {
  Tensor u, values, v;  // [..., rows, k], [..., k] falling, [..., columns, k]
};
Singular singular_of(const Part& p) {
  const int64_t rows = p.x.dim(-2), columns = p.x.dim(-1);
  if (rows < columns) {
    const Singular turned = singular_of(transposed(p));
    return {turned.v, turned.values, turned.u};
  }
  const bool is_square = rows == columns;
  const WholeQR qr = is_square ? WholeQR{{}, p.x} : whole_qr(p);
  const Tensor both = beside_transposed(is_square ? p.x : some_of(qr.r, -2, 0, columns));
  const Tensor values = reverse(some_of(symmetric_eigenvalues(both), -1, columns, columns), {-1});
  const Tensor vectors =
      reverse(some_of(symmetric_eigenvectors(both) * real(std::numbers::sqrt2), -1, columns, columns), {-1});
  const Tensor u = some_of(vectors, -2, 0, columns), v = some_of(vectors, -2, columns, columns);
  return {is_square ? u : matmul(some_of(qr.q, -1, 0, columns), u), values, v};
}
Tensor matrix_singular_values(const Arguments& a) {
  const Part p = part(a, 0);
  return finished(a, {singular_of(p).values, p.in_lanes});
}
Tensor matrix_svd_u(const Arguments& a) {
  const Part p = part(a, 0);
  return finished(a, {singular_of(p).u, p.in_lanes});
}
Tensor matrix_svd_v(const Arguments& a) {
  const Part p = part(a, 0);
  return finished(a, {singular_of(p).v, p.in_lanes});
}

// Penrose's inverse P: v diag(1 / s) u' of the singular values that count. Its derivative (Golub and Pereyra
// 1973), where the rank stays: -P da P + P P' da' (1 - a P) + (1 - P a) da' P' P.
Tensor matrix_generalized_inverse(const Arguments& a) {
  const Part p = part(a, 0);
  if (p.x.size() == 0) return finished(a, transposed(p));
  const auto turned = [](const Tensor& x) { return transposed({x, false}).x; };
  const Tensor known = stop_gradient(p.x);
  const Singular singular = singular_of({known, p.in_lanes});
  const Tensor& s = singular.values;
  const double share = 0x1p-52 * static_cast<double>(std::max(known.dim(-2), known.dim(-1)));
  const Tensor counts = s > reduce_max(s, {-1}, true) * real(share);
  const Tensor scale = select(counts, reciprocal(select(counts, s, real(1))), real(0));
  const Tensor inverse = stop_gradient(matmul(singular.v * expand_dims(scale, -2), turned(singular.u))),
               back = turned(inverse);
  const Tensor change = p.x - known, moved = turned(change);
  const Tensor in_rows = eye(known.dim(-2), -1, DType::f64) - matmul(known, inverse);
  const Tensor in_columns = eye(known.dim(-1), -1, DType::f64) - matmul(inverse, known);
  return finished(a, {inverse - matmul(matmul(inverse, change), inverse) +
                          matmul(matmul(inverse, back), matmul(moved, in_rows)) +
                          matmul(matmul(in_columns, moved), matmul(back, inverse)),
                      p.in_lanes});
}

// By the Cholesky factor of a' a, twice: the second time mends what the first has lost.
struct ThinQR {
  Part q, r;
};
ThinQR thin_qr(const Arguments& a) {
  Part q = part(a, 0), r;
  if (q.x.dim(-2) < q.x.dim(-1))
    graph::fail("qr_thin", "matrix", "expected at least as many rows as columns");
  for (int round = 0; round < 2; ++round) {
    const Part factor{cholesky(times(transposed(q), q).x), q.in_lanes};
    q = transposed(lower_solve(factor, transposed(q)));
    const Part upper = transposed({lower_triangle(factor.x), factor.in_lanes});
    r = round == 0 ? upper : times(upper, r);
  }
  return {q, r};
}
Tensor matrix_qr_thin_q(const Arguments& a) { return finished(a, thin_qr(a).q); }
Tensor matrix_qr_thin_r(const Arguments& a) { return finished(a, thin_qr(a).r); }

Tensor matrix_symmetric(const Arguments& a) {
  const Part p = part(a, 0);
  const int64_t size = p.x.dim(-1);
  return finished(a, {select(row_numbers(size) >= column_numbers(size), p.x, transposed(p).x), p.in_lanes});
}

// By squares; the power has to be known.
Tensor matrix_power(const Arguments& a) {
  int64_t power = size_argument(a, 1);
  if (power < 0) graph::fail("matrix_power", "power", "expected a number of at least 0");
  Part square = part(a, 0), product{eye(square.x.dim(-1), -1, DType::f64), false};
  for (bool is_first = true; power > 0; power /= 2) {
    if (power % 2 == 1) product = is_first ? square : times(product, square), is_first = false;
    if (power > 1) square = times(square, square);
  }
  return finished(a, product);
}

constexpr std::array decomposition_table{
    GeneralFunction{"generalized_inverse", matrix_generalized_inverse},
    GeneralFunction{"matrix_power", matrix_power},
    GeneralFunction{"qr_Q", matrix_qr_q},
    GeneralFunction{"qr_R", matrix_qr_r},
    GeneralFunction{"qr_thin_Q", matrix_qr_thin_q},
    GeneralFunction{"qr_thin_R", matrix_qr_thin_r},
    GeneralFunction{"singular_values", matrix_singular_values},
    GeneralFunction{"svd_U", matrix_svd_u},
    GeneralFunction{"svd_V", matrix_svd_v},
    GeneralFunction{"symmetrize_from_lower_tri", matrix_symmetric},
};

}  // namespace

std::span<const GeneralFunction> decomposition_functions() { return decomposition_table; }

}  // namespace adit::stan
