#include "interpreter_linear.hpp"

#include <algorithm>

namespace adit::stan::reference {

Value transposed(const Value& x) {
  if (x.base == Base::vector) return row_vector(x.numbers);
  if (x.base == Base::row_vector) return vector(x.numbers);
  expect(x.is(Base::matrix), "a container to transpose was expected");
  Value result = matrix(x.columns, x.rows);
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.columns; ++j) result.at(j, i) = x.at(i, j);
  return result;
}

Value as_matrix(const Value& x) {
  expect(x.is_container(), "a vector or matrix was expected");
  Value result = x;
  result.base = Base::matrix;
  return result;
}

Value dense_vector(const Value& matrix) { return vector(matrix.numbers); }

Value product(const Value& a, const Value& b) {
  if (a.is_scalar() || b.is_scalar())
    return zip(a, b, [](const Number& x, const Number& y) { return x * y; });
  expect(a.is_container() && b.is_container() && a.columns == b.rows, "sizes of a product differ");
  Value result = matrix(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.columns; ++j)
      for (int64_t k = 0; k < a.columns; ++k) result.at(i, j) += a.at(i, k) * b.at(k, j);
  if (a.base == Base::row_vector && b.base == Base::vector) return real(result.numbers[0]);
  if (a.base == Base::row_vector) return row_vector(result.numbers);
  if (b.base == Base::vector && a.base == Base::matrix) return vector(result.numbers);
  return result;
}

Value identity(int64_t size) {
  Value result = matrix(size, size);
  for (int64_t i = 0; i < size; ++i) result.at(i, i) = 1;
  return result;
}

Value cholesky(const Value& a) {
  expect(a.is(Base::matrix) && a.rows == a.columns, "a square matrix was expected");
  Value l = matrix(a.rows, a.rows);
  for (int64_t j = 0; j < a.rows; ++j) {
    Number pivot = a.at(j, j);
    for (int64_t k = 0; k < j; ++k) pivot -= square(l.at(j, k));
    if (!(pivot.value > 0)) throw Rejected("a matrix is not positive definite");
    l.at(j, j) = sqrt(pivot);
    for (int64_t i = j + 1; i < a.rows; ++i) {
      Number sum = a.at(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= l.at(i, k) * l.at(j, k);
      l.at(i, j) = sum / l.at(j, j);
    }
  }
  return l;
}

Value lower_solve(const Value& l, const Value& b) {
  expect(l.rows == l.columns && l.rows == b.rows, "sizes of a triangular system differ");
  Value x = b;
  for (int64_t c = 0; c < b.columns; ++c)
    for (int64_t i = 0; i < l.rows; ++i) {
      for (int64_t k = 0; k < i; ++k) x.at(i, c) -= l.at(i, k) * x.at(k, c);
      x.at(i, c) = x.at(i, c) / l.at(i, i);
    }
  return x;
}

Value upper_of_lower_solve(const Value& l, const Value& b) {
  expect(l.rows == l.columns && l.rows == b.rows, "sizes of a triangular system differ");
  Value x = b;
  for (int64_t c = 0; c < b.columns; ++c)
    for (int64_t i = l.rows - 1; i >= 0; --i) {
      for (int64_t k = i + 1; k < l.rows; ++k) x.at(i, c) -= l.at(k, i) * x.at(k, c);
      x.at(i, c) = x.at(i, c) / l.at(i, i);
    }
  return x;
}

namespace {

// Gauss with row pivots: leaves the upper triangle in a and what it does to b.
int linear_eliminate(Value& a, Value& b) {
  int sign = 1;
  for (int64_t j = 0; j < a.rows; ++j) {
    int64_t best = j;
    for (int64_t i = j + 1; i < a.rows; ++i)
      if (std::fabs(a.at(i, j).value) > std::fabs(a.at(best, j).value)) best = i;
    if (best != j) {
      sign = -sign;
      for (int64_t k = 0; k < a.columns; ++k) std::swap(a.at(j, k), a.at(best, k));
      for (int64_t k = 0; k < b.columns; ++k) std::swap(b.at(j, k), b.at(best, k));
    }
    if (a.at(j, j).value == 0) continue;
    for (int64_t i = j + 1; i < a.rows; ++i) {
      const Number factor = a.at(i, j) / a.at(j, j);
      for (int64_t k = j; k < a.columns; ++k) a.at(i, k) -= factor * a.at(j, k);
      for (int64_t k = 0; k < b.columns; ++k) b.at(i, k) -= factor * b.at(j, k);
    }
  }
  return sign;
}

}  // namespace

Value solve(const Value& a, const Value& b) {
  expect(a.is(Base::matrix) && a.rows == a.columns && a.rows == b.rows, "sizes of a system differ");
  Value upper = a, x = b;
  linear_eliminate(upper, x);
  for (int64_t c = 0; c < b.columns; ++c)
    for (int64_t i = a.rows - 1; i >= 0; --i) {
      for (int64_t k = i + 1; k < a.rows; ++k) x.at(i, c) -= upper.at(i, k) * x.at(k, c);
      x.at(i, c) = x.at(i, c) / upper.at(i, i);
    }
  return x;
}

Value inverse(const Value& a) { return solve(a, identity(a.rows)); }

Number log_abs_determinant(const Value& a) {
  expect(a.is(Base::matrix) && a.rows == a.columns, "a square matrix was expected");
  Value upper = a, none = matrix(a.rows, 0);
  linear_eliminate(upper, none);
  Number sum = 0;
  for (int64_t i = 0; i < a.rows; ++i) sum += log(abs(upper.at(i, i)));
  return sum;
}

Number determinant(const Value& a) {
  expect(a.is(Base::matrix) && a.rows == a.columns, "a square matrix was expected");
  Value upper = a, none = matrix(a.rows, 0);
  Number result = linear_eliminate(upper, none);
  for (int64_t i = 0; i < a.rows; ++i) result *= upper.at(i, i);
  return result;
}

// Gram and Schmidt, each column twice so that rounding does no harm.
Factored thin_qr(const Value& a) {
  const int64_t count = std::min(a.rows, a.columns);
  Value q = matrix(a.rows, count), r = matrix(count, a.columns);
  for (int64_t j = 0; j < a.columns; ++j) {
    Numbers column(a.numbers.begin() + j * a.rows, a.numbers.begin() + (j + 1) * a.rows);
    for (int pass = 0; pass < 2; ++pass)
      for (int64_t k = 0; k < std::min(j, count); ++k) {
        Number along = 0;
        for (int64_t i = 0; i < a.rows; ++i) along += q.at(i, k) * column[static_cast<size_t>(i)];
        r.at(k, j) += along;
        for (int64_t i = 0; i < a.rows; ++i) column[static_cast<size_t>(i)] -= along * q.at(i, k);
      }
    if (j >= count) continue;
    Number length = 0;
    for (const Number& x : column) length += square(x);
    r.at(j, j) = sqrt(length);
    for (int64_t i = 0; i < a.rows; ++i) q.at(i, j) = column[static_cast<size_t>(i)] / r.at(j, j);
  }
  return {q, r};
}

// Jacobi's rotations on the values; then, with dA in the basis of the vectors, dl_i = dA_ii and
// dV = V F with F_ij = dA_ij / (l_j - l_i).
Eigen symmetric_eigen(const Value& a) {
  const int64_t n = a.rows;
  Value work = a, v = identity(n), slopes = matrix(n, n);
  for (size_t i = 0; i < a.numbers.size(); ++i) {
    slopes.numbers[i] = a.numbers[i].slope;
    work.numbers[i].slope = 0;
  }
  for (int sweep = 0; sweep < 60; ++sweep)
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        if (std::fabs(work.at(p, q).value) < 1e-300) continue;
        const double tau = (work.at(q, q).value - work.at(p, p).value) / (2 * work.at(p, q).value);
        const double t = (tau >= 0 ? 1 : -1) / (std::fabs(tau) + std::sqrt(1 + tau * tau));
        const double c = 1 / std::sqrt(1 + t * t), s = t * c;
        const auto turn = [c, s](Number& x, Number& y) {
          const double old = x.value;
          x = c * old - s * y.value;
          y = s * old + c * y.value;
        };
        for (int64_t k = 0; k < n; ++k) turn(work.at(k, p), work.at(k, q));
        for (int64_t k = 0; k < n; ++k) turn(work.at(p, k), work.at(q, k));
        for (int64_t k = 0; k < n; ++k) turn(v.at(k, p), v.at(k, q));
      }
  std::vector<int64_t> order(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) order[static_cast<size_t>(i)] = i;
  std::sort(order.begin(), order.end(),
            [&](int64_t x, int64_t y) { return work.at(x, x).value < work.at(y, y).value; });
  Value vectors = matrix(n, n);
  Numbers values;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t from = order[static_cast<size_t>(j)];
    values.push_back(work.at(from, from));
    for (int64_t i = 0; i < n; ++i) vectors.at(i, j) = v.at(i, from);
  }
  const Value inside = product(product(transposed(vectors), slopes), vectors);
  Value turn = matrix(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (i != j && inside.at(i, j).value != 0)
        turn.at(i, j) = inside.at(i, j).value /
                        (values[static_cast<size_t>(j)].value - values[static_cast<size_t>(i)].value);
  const Value moved = product(vectors, turn);
  for (size_t i = 0; i < vectors.numbers.size(); ++i) vectors.numbers[i].slope = moved.numbers[i].value;
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)].slope = inside.at(i, i).value;
  return {vector(values), vectors};
}

// Scaled until it is small, a Taylor series, squared back.
Value matrix_exponential(const Value& a) {
  double size = 0;
  for (const Number& x : a.numbers) size = std::max(size, std::fabs(x.value) * static_cast<double>(a.rows));
  int halvings = 0;
  for (; size > 0.25; size /= 2) ++halvings;
  const Value small = product(real(std::ldexp(1.0, -halvings)), a);
  Value sum = identity(a.rows), term = sum;
  for (int k = 1; k < 24; ++k) {
    term = product(real(1.0 / k), product(term, small));
    sum = zip(sum, term, [](const Number& x, const Number& y) { return x + y; });
  }
  for (int k = 0; k < halvings; ++k) sum = product(sum, sum);
  return sum;
}

}  // namespace adit::stan::reference
