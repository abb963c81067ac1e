// Cholesky factors L of correlation matrices R = L L^T with p(R) ~ det(R)^(eta - 1) (Lewandowski, Kurowicka
// and Joe 2009), with respect to the numbers below L's diagonal:
//
//   log p(L) = sum_{k=2}^K [(K - k + 2 eta - 2) log L_kk
//                           + log G(eta + (K - 1) / 2) - log G(a_k) - (k - 1) / 2 log pi],  a_k = eta + (K -
//                           k) / 2
//
// The rows are independent: row k without its diagonal is a point v of the ball of k - 1 dimensions, with
// density ~ (1 - |v|^2)^(a_k - 1), whose integral is pi^((k-1)/2) G(a_k) / G(a_k + (k - 1) / 2), and
// L_kk = sqrt(1 - |v|^2). So, with z normal numbers and g_k twice a gamma of shape a_k, v = z / r and
// L_kk = sqrt(g_k) / r where r^2 = |z|^2 + g_k: the onion method, all rows at once.
//
// Mean: 0 below the diagonal, G(a_k + 1/2) G(b) / (G(a_k) G(b + 1/2)) on it with b = eta + (K - 1) / 2.
// Variance: 1 / (2 b) below, a_k / b less the squared mean on the diagonal.
#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "graph/row.hpp"
#include "stats/distribution/multi_normal.hpp"

namespace adit {

using namespace stats;

namespace {

struct Lkj {
  int64_t size;
  NamedParameter shape;
  Tensor eta;  // shape [..., 1]

  double last() const { return static_cast<double>(size - 1); }
  // For k = 1 .. K along the last axis.
  Tensor number() const { return iota({size}, DType::f64); }  // k - 1
  Tensor a() const { return eta + (real(last()) - number()) * real(0.5); }
  Tensor b() const { return eta + real(0.5 * last()); }

  Tensor row_number() const { return iota({size, size}, DType::i32, 0); }
  Tensor column_number() const { return iota({size, size}, DType::i32, 1); }
  // A matrix of a diagonal [..., K] and numbers below it.
  Tensor matrix(const Tensor& diagonal, const Tensor& below) const {
    const Tensor off = select(row_number() > column_number(), below, real(0));
    return select(row_number() == column_number(), expand_dims(diagonal, -1), off);
  }
  Tensor without_first(const Tensor& x) const {
    Dims starts = Dims::filled(x.rank(), 0), lengths = x.shape();
    starts[x.rank() - 1] = 1;
    lengths[x.rank() - 1] = size - 1;
    return slice(x, starts, lengths);
  }

  Tensor log_density(const Tensor& x) const {
    const Tensor diagonal = without_first(diagonal_of(x)), rows = without_first(a());
    const Tensor powers = real(2) * (rows - real(1)) * log(diagonal);
    const double log_pi = 0.25 * static_cast<double>(size) * last() * std::log(std::numbers::pi);
    const Tensor constant = sum(lgamma(b()) - lgamma(rows), {-1}) - real(log_pi);
    return sum(powers, {-1}) + only_where(shape, shape > real(0), constant);
  }
  Tensor draw(const Tensor& key, const Shape& all) const {
    const Tensor keys = random::split(key);
    const Tensor z = select(row_number() > column_number(), draw_normal(random::row(keys, 0), all), real(0));
    const Shape rows(std::span(all.begin(), static_cast<size_t>(all.size() - 1)));
    const Tensor g = real(2) * draw_gamma(random::row(keys, 1), a(), rows);
    const Tensor r2 = sum(square(z), {-1}) + g;
    return matrix(sqrt(g / r2), z * expand_dims(rsqrt(r2), -1));
  }
  Tensor mean_diagonal() const {
    const Tensor half = real(0.5);
    return exp(lgamma(a() + half) - lgamma(a()) + lgamma(b()) - lgamma(b() + half));
  }
  Tensor variance() const {
    const Tensor below = expand_dims(real(0.5) * reciprocal(b()), -1);
    return matrix(maximum(a() / b() - square(mean_diagonal()), real(0)), below);
  }
};

}  // namespace

Distribution lkj_corr_cholesky(int64_t size, Parameter shape) {
  if (size < 1)
    graph::fail("lkj_corr_cholesky", "size", fmt::format("expected a number of at least 1, got {}", size));
  const NamedParameter eta = positive("lkj_corr_cholesky", "shape", shape);
  const Lkj lkj{size, eta, expand_dims(eta, -1)};
  return make_distribution("lkj_corr_cholesky", eta.value.shape(), {size, size}, {eta},
                           constraint::cholesky_factor_corr(),
                           {.log_density = [=](const Tensor& x) { return lkj.log_density(x); },
                            .draw = [=](const Tensor& key, const Shape& all) { return lkj.draw(key, all); },
                            .mean = [=] { return lkj.matrix(lkj.mean_diagonal(), real(0)); },
                            .variance = [=] { return lkj.variance(); }});
}

}  // namespace adit
