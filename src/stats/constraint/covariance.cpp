// Covariance matrices, from K (K + 1) / 2 reals: S = L L' with u row by row in the lower triangle of L, whose
// diagonal is exp(u_kk). To the lower triangle of S, with k counted from 0,
//   log |J| = K log 2 + sum_k (K - k + 1) u_kk.
#include <cmath>

#include "stats/constraint/matrix.hpp"

namespace adit::constraint {

namespace {

Tensor diagonal_mask(int64_t size) {
  const Shape shape{size, size};
  return equal(iota(shape, DType::i32, 0), iota(shape, DType::i32, 1));
}

}  // namespace

Constraint cov_matrix() {
  Constraint c{.name = "cov_matrix", .event_rank = 2, .expected = "a symmetric positive definite matrix"};
  c.unconstrained_shape = [](const Shape& x) {
    stats::expect_square("cov_matrix", x);
    Shape u = x;
    u.erase(u.size() - 1);
    return stats::with_last(u, x.back() * (x.back() + 1) / 2);
  };
  c.constrain = [](const Tensor& u, const Shape& x) {
    const int64_t size = x.back();
    const Tensor plain = stats::lower(u, size), mask = broadcast_to(diagonal_mask(size), x);
    const Tensor zero = broadcast_to(stats::real(0), x);
    // The exponential sees the diagonal alone: elsewhere it might overflow.
    const Tensor diagonal = select(mask, plain, zero);
    const Tensor factor = select(mask, exp(diagonal), plain);
    const auto last = static_cast<double>(size);
    const Tensor weight = stats::real(last + 1) - iota({size, size}, DType::f64, 0);
    const double constant = static_cast<double>(element_count(x)) / last * std::log(2.0);
    return Constrained{stats::product_of(factor), stats::real(constant) + sum(diagonal * weight)};
  };
  c.unconstrain = [](const Tensor& x) {
    const Tensor factor = cholesky(x), mask = broadcast_to(diagonal_mask(x.dim(-1)), x.shape());
    return stats::from_lower(
        select(mask, log(select(mask, factor, broadcast_to(stats::real(1), x.shape()))), factor));
  };
  c.contains = stats::is_positive_definite;
  return c;
}

// Lower triangular [M, N], M >= N, with a positive diagonal: u row by row, with exp on the diagonal;
//   log |J| = sum_k u_kk.
Constraint cholesky_factor_cov() {
  Constraint c{.name = "cholesky_factor_cov",
               .event_rank = 2,
               .expected = "a lower triangular matrix with a positive diagonal"};
  c.unconstrained_shape = [](const Shape& x) {
    if (x.size() < 2 || x.back() < 1 || x[x.size() - 2] < x.back())
      graph::fail("cholesky_factor_cov", "shape",
                  "expected a matrix with no fewer rows than columns, got " + to_string(x));
    const int64_t rows = x[x.size() - 2], columns = x.back();
    Shape u = x;
    u.erase(u.size() - 1);
    return stats::with_last(u, columns * (columns + 1) / 2 + (rows - columns) * columns);
  };
  c.constrain = [](const Tensor& u, const Shape& x) {
    const int64_t rows = x[x.size() - 2], columns = x.back(), square = columns * (columns + 1) / 2;
    const Tensor plain = stats::lower(stats::first(u, square), columns);
    const Tensor mask = broadcast_to(diagonal_mask(columns), plain.shape());
    const Tensor diagonal = select(mask, plain, broadcast_to(stats::real(0), plain.shape()));
    Tensor value = select(mask, exp(diagonal), plain);
    if (rows > columns) {
      Shape below = x;
      below[below.size() - 2] = rows - columns;
      value = concatenate({value, reshape(stats::rest(u, square), below)}, -2);
    }
    return Constrained{value, sum(diagonal)};
  };
  c.unconstrain = [](const Tensor& x) {
    const int64_t rows = x.dim(-2), columns = x.dim(-1);
    Dims starts = Dims::filled(x.rank(), 0), lengths = x.shape();
    lengths[lengths.size() - 2] = columns;
    const Tensor top = slice(x, starts, lengths), mask = broadcast_to(diagonal_mask(columns), top.shape());
    const Tensor free = stats::from_lower(
        select(mask, log(select(mask, top, broadcast_to(stats::real(1), top.shape()))), top));
    if (rows == columns) return free;
    starts[starts.size() - 2] = columns, lengths[lengths.size() - 2] = rows - columns;
    Shape flat = x.shape();
    flat.erase(flat.size() - 1);
    flat[flat.size() - 1] = (rows - columns) * columns;
    return concatenate({free, reshape(slice(x, starts, lengths), flat)}, -1);
  };
  c.contains = [](const Tensor& x) {
    Dims starts = Dims::filled(x.rank(), 0), lengths = x.shape();
    lengths[lengths.size() - 2] = x.dim(-1);
    const Tensor top = slice(x, starts, lengths), mask = broadcast_to(diagonal_mask(x.dim(-1)), top.shape());
    const Tensor above = broadcast_to(
        greater(iota({x.dim(-1), x.dim(-1)}, DType::i32, 1), iota({x.dim(-1), x.dim(-1)}, DType::i32, 0)),
        top.shape());
    const Tensor good = logical_and(logical_or(logical_not(mask), greater(top, stats::real(0))),
                                    logical_or(logical_not(above), equal(top, stats::real(0))));
    return stats::all_of_event(good, 2);
  };
  return c;
}

}  // namespace adit::constraint
