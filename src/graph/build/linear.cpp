// Builders of linear algebra.
#include <cmath>
#include <limits>

#include <adit/linalg.hpp>
#include <adit/sort.hpp>

#include "graph/build/arguments.hpp"
#include "graph/op.hpp"
#include "graph/rows/matrices.hpp"

namespace adit {

using namespace graph;
using matrices::adjoint;
using matrices::conjugated;
using matrices::swapped;

namespace linear {
namespace {

DType computed_in(DType type) {
  return type == DType::f16 || type == DType::bf16 || is_integer(type) ? DType::f32 : type;
}

// x in a type that factorisations have; `given` is what results go back to.
Tensor prepared(std::string_view op, const Tensor& x) {
  expect_tensor(op, "a", x);
  if (x.rank() < 2) fail(op, "a", fmt::format("expected matrices, got shape {}", to_string(x.shape())));
  return as_type(x, computed_in(x.dtype()));
}
Tensor prepared_square(std::string_view op, const Tensor& x) {
  const Tensor y = prepared(op, x);
  matrices::expect_square(op, y);
  return y;
}
Tensor as_given(const Tensor& result, const Tensor& x) {
  return x.dtype() == DType::f16 || x.dtype() == DType::bf16 ? as_type(result, x.dtype()) : result;
}

bool is_empty(const Tensor& x) { return x.size() == 0; }

double epsilon_of(DType type) {
  return type == DType::f64 || type == DType::c128 ? std::numeric_limits<double>::epsilon()
                                                   : std::numeric_limits<float>::epsilon();
}

// Singular values that count: above the tolerance times the largest.
Tensor counting(std::string_view op, const Tensor& x, const Tensor& s, std::optional<double> tolerance) {
  if (tolerance && !(*tolerance >= 0))
    fail(op, "tolerance", fmt::format("expected at least 0, got {}", *tolerance));
  const double share =
      tolerance ? *tolerance : static_cast<double>(std::max(x.dim(-1), x.dim(-2))) * epsilon_of(x.dtype());
  return s > reduce_max(s, {-1}, true) * constant(s.dtype(), share);
}

Shape batch_of(const Tensor& a, const Tensor& b, std::string_view op) {
  const Shape x = matrices::without_matrix(a.shape()), y = matrices::without_matrix(b.shape());
  const int count = std::max(x.size(), y.size());
  Shape batch;
  for (int i = 0; i < count; ++i) {
    const int at_x = i - (count - x.size()), at_y = i - (count - y.size());
    const int64_t ex = at_x < 0 ? 1 : x[at_x], ey = at_y < 0 ? 1 : y[at_y];
    if (ex != ey && ex != 1 && ey != 1)
      fail(op, "b",
           fmt::format("expected leading axes that broadcast with those of {}, got shape {}",
                       to_string(a.shape()), to_string(b.shape())));
    batch.push_back(ex == 1 ? ey : ex);
  }
  return batch;
}

Tensor with_batch_shape(const Tensor& x, const Shape& batch) {
  Shape shape = batch;
  shape.push_back(x.dim(-2));
  shape.push_back(x.dim(-1));
  return broadcast_to(x, shape);
}

// a and b as matrices with the same leading axes, and whether b was vectors.
struct System {
  Tensor a, b;
  bool is_vector = false;
};
System system_of(std::string_view op, const Tensor& a, const Tensor& b) {
  expect_tensor(op, "a", a);
  expect_tensor(op, "b", b);
  const DType type = computed_in(promote(a.dtype(), b.dtype()));
  System s{as_type(a, type), as_type(b, type)};
  if (a.rank() < 2) fail(op, "a", fmt::format("expected matrices, got shape {}", to_string(a.shape())));
  Shape vector = a.shape();
  vector.erase(a.rank() - 1);
  s.is_vector = b.shape() == vector || b.rank() == 1;
  if (s.is_vector) s.b = expand_dims(s.b, -1);
  if (s.b.dim(-2) != a.dim(-2))
    fail(op, "b",
         fmt::format("expected {} rows, as of a's shape {}, got shape {}", a.dim(-2), to_string(a.shape()),
                     to_string(b.shape())));
  const Shape batch = batch_of(s.a, s.b, op);
  s.a = with_batch_shape(s.a, batch);
  s.b = with_batch_shape(s.b, batch);
  return s;
}

Tensor identity_like(const Tensor& x) { return broadcast_to(eye(x.dim(-1), -1, x.dtype()), x.shape()); }

Tensor absolute(const Tensor& x) { return abs(x); }

}  // namespace
}  // namespace linear

using namespace linear;

namespace linear {
namespace {

// Packed factors, permutation and sign. Of a matrix without rows the determinant is 1.
std::vector<Tensor> lu_parts(const Tensor& y) {
  if (!is_empty(y)) return make_several(Op::lu, {y});
  return {y, zeros(matrices::with_vector(y.shape(), y.dim(-1)), DType::i32),
          ones(matrices::without_matrix(y.shape()), DType::i32)};
}

Tensor identities(const Tensor& like, int64_t size) {
  return broadcast_to(eye(size, -1, like.dtype()), matrices::with_matrix(like.shape(), size, size));
}

}  // namespace
}  // namespace linear

LuFactors lu_factor(const Tensor& x) {
  const Tensor y = prepared_square("lu", x);
  const auto parts = lu_parts(y);
  return {as_given(parts[0], x), parts[1], parts[2]};
}

Plu lu(const Tensor& x) {
  const Tensor y = prepared_square("lu", x);
  const auto parts = lu_parts(y);
  const Tensor on = matrices::on_diagonal(y.shape());
  const Tensor l = select(on, ones_like(y), matrices::lower_part(parts[0], 1));
  const Tensor p = as_type(matrices::row_numbers(y.shape()) == expand_dims(parts[1], -2), y.dtype());
  return {as_given(p, x), as_given(l, x), as_given(matrices::upper_part(parts[0]), x)};
}

Qr qr(const Tensor& x, bool complete) {
  const Tensor y = prepared("qr", x);
  if (is_empty(y)) {
    const int64_t k = complete ? y.dim(-2) : 0;
    return {as_given(complete ? identities(y, k)
                              : zeros(matrices::with_matrix(y.shape(), y.dim(-2), 0), y.dtype()),
                     x),
            as_given(zeros(matrices::with_matrix(y.shape(), k, y.dim(-1)), y.dtype()), x)};
  }
  const auto parts = make_several(Op::qr, {y}, FactorAttributes{complete});
  return {as_given(parts[0], x), as_given(parts[1], x)};
}

Eigh eigh(const Tensor& x) {
  const Tensor y = prepared_square("eigh", x);
  if (is_empty(y))
    return {zeros(matrices::with_vector(x.shape(), 0), real_of(as_given(y, x).dtype())), as_given(y, x)};
  const auto parts = make_several(Op::eigh, {y});
  return {as_given(parts[0], x), as_given(parts[1], x)};
}
Tensor eigh_values(const Tensor& x) { return eigh(x).values; }

Svd svd(const Tensor& x, bool full) {
  const Tensor y = prepared("svd", x);
  if (is_empty(y)) {
    const int64_t m = y.dim(-2), n = y.dim(-1), k = std::min(m, n);
    const auto side = [&](int64_t rows, int64_t columns, int64_t size) {
      return as_given(
          full ? identities(y, size) : zeros(matrices::with_matrix(y.shape(), rows, columns), y.dtype()), x);
    };
    return {side(m, k, m), zeros(matrices::with_vector(y.shape(), k), real_of(as_given(y, x).dtype())),
            side(k, n, n)};
  }
  const auto parts = make_several(Op::svd, {y}, FactorAttributes{full});
  return {as_given(parts[0], x), as_given(parts[1], x), as_given(parts[2], x)};
}
Tensor singular_values(const Tensor& x) { return svd(x).s; }

Eig eig(const Tensor& x) {
  const Tensor y = prepared_square("eig", x);
  if (is_empty(y)) {
    const DType type = complex_of(y.dtype());
    return {zeros(matrices::with_vector(y.shape(), y.dim(-1)), type), zeros(y.shape(), type)};
  }
  const auto parts = make_several(Op::eig, {y});
  return {parts[0], parts[1]};
}
Tensor eigenvalues(const Tensor& x) { return eig(x).values; }

Tensor solve(const Tensor& a, const Tensor& b) {
  const System s = system_of("solve", a, b);
  const Tensor x = make(Op::solve, {s.a, s.b});
  const DType type = promote(a.dtype(), b.dtype());
  const Tensor given = type == DType::f16 || type == DType::bf16 ? as_type(x, type) : x;
  return s.is_vector ? squeeze(given, {given.rank() - 1}) : given;
}

Tensor inverse(const Tensor& x) {
  const Tensor y = prepared_square("inverse", x);
  return as_given(make(Op::solve, {y, identity_like(y)}), x);
}

Tensor pseudo_inverse(const Tensor& x, std::optional<double> tolerance) {
  const Tensor y = prepared("pseudo_inverse", x);
  if (is_empty(y)) return zeros(swapped(x).shape(), as_given(y, x).dtype());
  const Svd parts = svd(y);
  const Tensor counts = counting("pseudo_inverse", y, parts.s, tolerance);
  const Tensor inverse =
      select(counts, 1.0 / select(counts, parts.s, ones_like(parts.s)), zeros_like(parts.s));
  const Tensor scaled = matrices::times_columns(adjoint(parts.v_h), as_type(inverse, y.dtype()));
  return as_given(matrices::product(scaled, adjoint(parts.u)), x);
}

Tensor least_squares(const Tensor& a, const Tensor& b, std::optional<double> tolerance) {
  const System s = system_of("least_squares", a, b);
  if (is_empty(s.a) || is_empty(s.b)) {
    Shape shape = s.b.shape();
    shape[s.b.rank() - 2] = s.a.dim(-1);
    const Tensor none = zeros(shape, s.a.dtype());
    return s.is_vector ? squeeze(none, {none.rank() - 1}) : none;
  }
  const Svd parts = svd(s.a);
  const Tensor counts = counting("least_squares", s.a, parts.s, tolerance);
  const Tensor inverse =
      select(counts, 1.0 / select(counts, parts.s, ones_like(parts.s)), zeros_like(parts.s));
  const Tensor inside =
      matrices::times_rows(matrices::product(adjoint(parts.u), s.b), as_type(inverse, s.a.dtype()));
  const Tensor x = matrices::product(adjoint(parts.v_h), inside);
  return s.is_vector ? squeeze(x, {x.rank() - 1}) : x;
}

Tensor determinant(const Tensor& x) {
  const Tensor y = prepared_square("determinant", x);
  const auto parts = lu_parts(y);
  const Tensor pivots = matrices::diagonal(parts[0]);
  return as_given(product(pivots, {-1}) * as_type(parts[2], y.dtype()), x);
}

SignAndLog sign_and_log_determinant(const Tensor& x) {
  const Tensor y = prepared_square("sign_and_log_determinant", x);
  const auto parts = lu_parts(y);
  const Tensor pivots = matrices::diagonal(parts[0]), size = absolute(pivots);
  const Tensor zero = size == constant(size.dtype(), 0);
  const Tensor phases =
      is_complex(y.dtype())
          ? select(zero, zeros_like(pivots), pivots / as_type(select(zero, ones_like(size), size), y.dtype()))
          : sign(pivots);
  return {as_given(product(phases, {-1}) * as_type(parts[2], y.dtype()), x),
          as_given(sum(log(size), {-1}), x)};
}

Tensor diagonal(const Tensor& x) {
  expect_tensor("diagonal", "a", x);
  if (x.rank() < 2)
    fail("diagonal", "a", fmt::format("expected matrices, got shape {}", to_string(x.shape())));
  return matrices::diagonal(x);
}
Tensor trace(const Tensor& x) {
  expect_tensor("trace", "a", x);
  if (x.rank() < 2) fail("trace", "a", fmt::format("expected matrices, got shape {}", to_string(x.shape())));
  return sum(matrices::diagonal(x), {-1});
}

Tensor matrix_rank(const Tensor& x, std::optional<double> tolerance) {
  const Tensor y = prepared("matrix_rank", x);
  if (is_empty(y)) return zeros(matrices::without_matrix(x.shape()), DType::i64);
  const Tensor s = singular_values(y);
  return sum(as_type(counting("matrix_rank", y, s, tolerance), DType::i64), {-1});
}

Tensor matrix_norm(const Tensor& x, MatrixNorm kind) {
  const Tensor y = prepared("matrix_norm", x);
  if (is_empty(y) && kind != MatrixNorm::frobenius && kind != MatrixNorm::nuclear)
    fail("matrix_norm", "a", fmt::format("expected elements, got shape {}", to_string(x.shape())));
  const auto found = [&]() -> Tensor {
    switch (kind) {
      case MatrixNorm::frobenius: return norm(y, 2, {-2, -1});
      case MatrixNorm::nuclear: return sum(singular_values(y), {-1});
      case MatrixNorm::spectral: return reduce_max(singular_values(y), {-1});
      case MatrixNorm::least: return reduce_min(singular_values(y), {-1});
      case MatrixNorm::one: return reduce_max(sum(absolute(y), {-2}), {-1});
      case MatrixNorm::infinity: return reduce_max(sum(absolute(y), {-1}), {-1});
      case MatrixNorm::least_one: return reduce_min(sum(absolute(y), {-2}), {-1});
      default: return reduce_min(sum(absolute(y), {-1}), {-1});
    }
  };
  return as_given(found(), x);
}

Tensor norm(const Tensor& x, double p, const Axes& axes, bool keep_axes) {
  expect_tensor("norm", "x", x);
  if (std::isnan(p)) fail("norm", "p", "expected a number, got NaN");
  const Tensor size = absolute(as_type(x, computed_in(x.dtype())));
  if (p == 0)
    return as_given(sum(as_type(size != constant(size.dtype(), 0), size.dtype()), axes, keep_axes), x);
  if (std::isinf(p))
    return as_given(p > 0 ? reduce_max(size, axes, keep_axes) : reduce_min(size, axes, keep_axes), x);
  if (p == 1) return as_given(sum(size, axes, keep_axes), x);
  if (p == 2) {
    // At zero the gradient is 0, as of the norm's least subgradient, not NaN.
    const Tensor squares = sum(square(size), axes, keep_axes);
    const Tensor zero = squares == constant(squares.dtype(), 0);
    return as_given(select(zero, zeros_like(squares), sqrt(select(zero, ones_like(squares), squares))), x);
  }
  const Tensor powers = sum(pow(size, constant(size.dtype(), p)), axes, keep_axes);
  return as_given(pow(powers, constant(size.dtype(), 1 / p)), x);
}

Tensor matrix_power(const Tensor& x, int64_t exponent) {
  expect_tensor("matrix_power", "a", x);
  if (x.rank() < 2 || x.dim(-1) != x.dim(-2))
    fail("matrix_power", "a", fmt::format("expected square matrices, got shape {}", to_string(x.shape())));
  if (exponent == std::numeric_limits<int64_t>::min())
    fail("matrix_power", "exponent", fmt::format("expected above -2^63, got {}", exponent));
  if (exponent < 0) return matrix_power(inverse(x), -exponent);
  Tensor result, base = x;
  for (int64_t left = exponent; left > 0; left /= 2) {
    if (left % 2 == 1) result = result ? matrices::product(result, base) : base;
    if (left > 1) base = matrices::product(base, base);
  }
  return result ? result : identity_like(x);
}

// Higham's: x / 2^s has a 1-norm below theta, where the approximation of order 13 is exact to double
// precision; s rounds of squaring follow, of which a matrix in a batch takes as many as it needs.
Tensor matrix_exponential(const Tensor& x) {
  constexpr double theta = 5.371920351148152;
  constexpr int most = 16;
  constexpr double b[] = {64764752532480000,
                          32382376266240000,
                          7771770303897600,
                          1187353796428800,
                          129060195264000,
                          10559470521600,
                          670442572800,
                          33522128640,
                          1323241920,
                          40840800,
                          960960,
                          16380,
                          182,
                          1};
  const Tensor y = prepared_square("matrix_exponential", x);
  if (is_empty(y)) return as_given(y, x);
  const Tensor size = matrix_norm(y, MatrixNorm::one);
  const DType real_type = size.dtype();
  const Tensor needed = maximum(constant(real_type, 0), ceil(log2(size / constant(real_type, theta))));
  const Tensor rounds = expand_dims(expand_dims(stop_gradient(needed), -1), -1);
  const Tensor a = y * as_type(exp2(negate(rounds)), y.dtype());
  const auto times = [&](const Tensor& t, double number) { return t * constant(y.dtype(), number); };
  const Tensor one = identity_like(y), a2 = matrices::product(a, a), a4 = matrices::product(a2, a2),
               a6 = matrices::product(a4, a2);
  const Tensor odd =
      matrices::product(a, matrices::product(a6, times(a6, b[13]) + times(a4, b[11]) + times(a2, b[9])) +
                               times(a6, b[7]) + times(a4, b[5]) + times(a2, b[3]) + times(one, b[1]));
  const Tensor even = matrices::product(a6, times(a6, b[12]) + times(a4, b[10]) + times(a2, b[8])) +
                      times(a6, b[6]) + times(a4, b[4]) + times(a2, b[2]) + times(one, b[0]);
  Tensor result = make(Op::solve, {even - odd, even + odd});
  for (int i = 0; i < most; ++i) {
    const Tensor again = broadcast_to(constant(real_type, i) < rounds, y.shape());
    result = select(again, matrices::product(result, result), result);
  }
  const Tensor beyond = broadcast_to(rounds > constant(real_type, most), y.shape());
  return as_given(
      select(beyond, full(y.shape(), std::numeric_limits<double>::quiet_NaN(), y.dtype()), result), x);
}

}  // namespace adit
