// Multivariate normal by mean m and the Cholesky factor L of the covariance, lower with a positive diagonal:
//
//   log p(x) = -|z|^2 / 2 - sum_k log L_kk - K/2 log(2 pi),   L z = x - m
//
// Mean m, variances the squared lengths of L's rows; draws are m + L z. Nothing above the diagonal is read.
#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "graph/row.hpp"
#include "stats/distribution/multi_normal.hpp"
#include "stats/whole_number.hpp"

namespace adit {

namespace stats {

namespace {

Tensor rows_number(const Tensor& x) { return iota({x.dim(-1), x.dim(-1)}, DType::i32, 0); }
Tensor columns_number(const Tensor& x) { return iota({x.dim(-1), x.dim(-1)}, DType::i32, 1); }

// |z|^2 for L z = d [..., K].
Tensor squared_length(const Tensor& factor, const Tensor& d) {
  if (factor.rank() > 2) return sum(square(triangular_solve(factor, expand_dims(d, -1))), {-2, -1});
  // One factor for all: the vectors are the columns of one right-hand side.
  const Tensor columns = transpose(reshape(d, {-1, d.dim(-1)}), {1, 0});
  return reshape(sum(square(triangular_solve(factor, columns)), {0}), leading(d, 1));
}

}  // namespace

MeanAndMatrix mean_and_matrix(std::string_view where, const Tensor& mean, std::string_view argument,
                              const Tensor& matrix) {
  const Tensor m = of_classes(where, "mean", mean), c = Parameter(matrix);
  const int64_t size = m.dim(-1);
  if (c.rank() < 2 || c.dim(-1) != c.dim(-2))
    graph::fail(where, argument, fmt::format("expected square matrices, got shape {}", to_string(c.shape())));
  if (c.dim(-1) != size)
    graph::fail(where, argument,
                fmt::format("expected [{0}, {0}] as the mean has {0} numbers, got shape {1}", size,
                            to_string(c.shape())));
  return {m, c};
}

Tensor diagonal_of(const Tensor& matrices) {
  return sum(select(rows_number(matrices) == columns_number(matrices), matrices, real(0)), {-1});
}

Tensor lower_part(const Tensor& matrices) {
  return select(rows_number(matrices) >= columns_number(matrices), matrices, real(0));
}

Distribution normal_of_factor(const std::string& name, const NamedParameter& mean, const Tensor& factor,
                              const NamedParameter& diagonal) {
  const int64_t size = mean.value.dim(-1);
  const Shape batch = batch_of(name, {{"mean", leading(mean, 1)}, {diagonal.name, leading(factor, 2)}});
  const double constant = 0.5 * static_cast<double>(size) * std::log(2 * std::numbers::pi);
  return make_distribution(name, batch, {size}, {mean, diagonal}, constraint::real(),
                           {.log_density =
                                [=](const Tensor& x) {
                                  const Tensor log_scale = sum(log(diagonal), {-1});
                                  return real(-0.5) * squared_length(factor, x - mean) - log_scale -
                                         real(constant);
                                },
                            .draw =
                                [=](const Tensor& key, const Shape& shape) {
                                  const Tensor z = draw_normal(key, shape);
                                  return mean + squeeze(matmul(lower_part(factor), expand_dims(z, -1)), {-1});
                                },
                            .mean = [=] { return mean.value; },
                            .variance = [=] { return sum(square(lower_part(factor)), {-1}); }});
}

}  // namespace stats

Distribution multi_normal_cholesky(const Tensor& mean, const Tensor& factor) {
  constexpr auto name = "multi_normal_cholesky";
  const auto [m, l] = stats::mean_and_matrix(name, mean, "factor", factor);
  static constexpr Domain domain{"a positive diagonal", [](double v) { return v > 0 && std::isfinite(v); }};
  return stats::normal_of_factor(name, stats::finite(name, "mean", m), l,
                                 stats::checked(name, "factor", stats::diagonal_of(l), domain));
}

}  // namespace adit
