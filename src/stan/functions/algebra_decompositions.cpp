// Singular values, thin QR factors, powers and symmetric matrices.
#include <array>

#include "graph/row.hpp"
#include "stan/functions/eigen.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

// The eigenvalues of [0, a; a', 0] are the singular values of a, their negatives and zeros.
Tensor matrix_singular_values(const Arguments& a) {
  const Part p = part(a, 0);
  const int64_t rows = p.x.dim(-2), columns = p.x.dim(-1), count = std::min(rows, columns);
  const auto zero_block = [&](int64_t n, int64_t m) {
    Shape shape = stats::leading(p.x, 2);
    shape.push_back(n);
    shape.push_back(m);
    return zeros(shape, DType::f64);
  };
  const Tensor top = concatenate({zero_block(rows, rows), p.x}, -1);
  const Tensor bottom = concatenate({transposed(p).x, zero_block(columns, columns)}, -1);
  const Tensor values = symmetric_eigenvalues(concatenate({top, bottom}, -2));
  Dims begin = Dims::filled(values.rank(), 0), length = values.shape();
  begin[values.rank() - 1] = rows + columns - count;
  length[values.rank() - 1] = count;
  return finished(a, {reverse(slice(values, begin, length), {-1}), p.in_lanes});
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
    GeneralFunction{"matrix_power", matrix_power},
    GeneralFunction{"qr_thin_Q", matrix_qr_thin_q},
    GeneralFunction{"qr_thin_R", matrix_qr_thin_r},
    GeneralFunction{"singular_values", matrix_singular_values},
    GeneralFunction{"symmetrize_from_lower_tri", matrix_symmetric},
};

}  // namespace

std::span<const GeneralFunction> decomposition_functions() { return decomposition_table; }

}  // namespace adit::stan
