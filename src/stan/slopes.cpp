#include "stan/slopes.hpp"

#include <vector>

#include <adit/transform.hpp>

namespace adit::stan {

namespace {

// Some rows and columns of a matrix, or of each lane's.
Tensor matrix_part(const Tensor& matrix, int64_t row, int64_t column, int64_t rows, int64_t columns) {
  Dims starts{row, column}, lengths{rows, columns};
  if (matrix.rank() > 2) starts.insert(0, 0), lengths.insert(0, matrix.dim(0));
  return slice(matrix, starts, lengths);
}

Tensor slope_places(int64_t n) { return iota({n}, DType::i64); }

}  // namespace

Tensor identity_of(int64_t n) {
  return as_type(expand_dims(slope_places(n), 1) == expand_dims(slope_places(n), 0), DType::f64);
}

Tensor leading_inverse(const Tensor& matrix) {
  const int columns = matrix.rank() - 1;
  const int64_t n = matrix.dim(columns);
  Tensor both = concatenate({matrix, broadcast_to(identity_of(n), matrix.shape())}, columns);
  for (int64_t i = 0; i < n; ++i) {
    const Tensor pivot = matrix_part(both, i, 0, 1, 2 * n) / matrix_part(both, i, i, 1, 1);
    const Tensor factors = matrix_part(both, 0, i, n, 1);
    const Tensor is_own = expand_dims(slope_places(n) == i, 1);
    both =
        select(broadcast_to(is_own, both.shape()), broadcast_to(pivot, both.shape()), both - factors * pivot);
  }
  return matrix_part(both, 0, n, n, n);
}

Tensor slopes_of(const std::function<Tensor(const Tensor& y)>& f, const Tensor& y) {
  if (y.rank() == 1) return jacobian([&](const Tensor& at) { return f(at); })(y);
  const int64_t lanes = y.dim(0), n = y.dim(1);
  std::vector<Tensor> columns;
  for (int64_t i = 0; i < n; ++i) {
    const Tensor along = broadcast_to(as_type(slope_places(n) == i, DType::f64), {lanes, n});
    columns.push_back(jvp([&](const Tensor& at) { return f(at); }, {y}, {along}).second[0]);
  }
  return stack(columns, 2);
}

}  // namespace adit::stan
