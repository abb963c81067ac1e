// Covariances and correlations of variables.
#include <algorithm>

#include <adit/einsum.hpp>

#include "graph/build/arguments.hpp"

namespace adit {

using namespace graph;

namespace covariances {

// x as [..., variables, observations] of floats.
Tensor in_rows(std::string_view op, const Tensor& x, bool variables_in_rows) {
  expect_tensor(op, "x", x);
  if (x.rank() == 0) fail(op, "x", "expected observations along an axis, got a scalar");
  const Tensor floats = as_type(x, float_of(x.dtype()));
  if (x.rank() == 1) return expand_dims(floats, 0);
  if (variables_in_rows) return floats;
  Axes order = Axes::counted(x.rank());
  std::swap(order[x.rank() - 2], order[x.rank() - 1]);
  return transpose(floats, order);
}

Tensor weights_of(std::string_view op, std::string_view name, const Tensor& weights, const Tensor& rows) {
  if (!(weights.shape() == Shape{rows.dim(-1)}))
    fail(op, name,
         fmt::format("expected {} numbers, one an observation, got the shape {}", rows.dim(-1),
                     to_string(weights.shape())));
  if (is_complex(weights.dtype()) || (name == "frequencies" && !is_integer(weights.dtype())))
    fail(op, name,
         fmt::format("expected {}, got {}", name == "weights" ? "real numbers" : "integers",
                     name_of(weights.dtype())));
  return as_type(weights, real_of(rows.dtype()));
}

// The matrices; in f32 of halves.
Tensor matrices(std::string_view op, const Tensor& x, const CovarianceOptions& options) {
  const Tensor given = in_rows(op, x, options.variables_in_rows);
  const DType type = given.dtype();
  const Tensor rows = as_type(given, size_of(type) == 2 ? DType::f32 : type);
  const DType real_type = real_of(rows.dtype());
  Tensor weights, divisor;
  if (options.frequencies) weights = weights_of(op, "frequencies", options.frequencies, rows);
  if (options.weights) {
    const Tensor own = weights_of(op, "weights", options.weights, rows);
    weights = options.frequencies ? weights * own : own;
    const Tensor total = sum(weights);
    divisor = total - sum(weights * own) / total * options.ddof;
  } else if (options.frequencies) {
    divisor = sum(weights) - options.ddof;
  } else {
    divisor = full({}, static_cast<double>(rows.dim(-1) - options.ddof), real_type);
  }
  // Fewer observations than freedom takes away: no number, as NumPy.
  divisor = maximum(divisor, constant(real_type, 0));
  const Tensor middle = weights ? sum(rows * weights, {-1}, true) / sum(weights) : mean(rows, {-1}, true);
  const Tensor centred = rows - middle;
  const Tensor weighted = weights ? centred * weights : centred;
  const Tensor other = is_complex(type) ? conjugate(weighted) : weighted;
  const Axes batch = Axes::counted(rows.rank() - 2);
  return dot(centred, {-1}, batch, other, {-1}, batch) / divisor;
}

Tensor variances(const Tensor& matrices) {
  const int64_t n = matrices.dim(-1);
  Shape flat = matrices.shape();
  flat.erase(flat.size() - 1);
  flat[flat.size() - 1] = n * n;
  Dims strides = Dims::filled(flat.size(), 1);
  strides[flat.size() - 1] = n + 1;
  const Tensor diagonal = slice(reshape(matrices, flat), Dims::filled(flat.size(), 0), flat, strides);
  return is_complex(diagonal.dtype()) ? real(diagonal) : diagonal;
}

}  // namespace covariances

Tensor covariance(const Tensor& x, const CovarianceOptions& options) {
  const Tensor matrices = covariances::matrices("covariance", x, options);
  const Tensor all = as_type(matrices, float_of(x.dtype()));
  return x.rank() == 1 ? reshape(all, {}) : all;
}

Tensor corrcoef(const Tensor& x, bool variables_in_rows) {
  const Tensor all = covariances::matrices(
      "corrcoef", x, {.variables_in_rows = variables_in_rows, .frequencies = {}, .weights = {}});
  const DType type = float_of(x.dtype());
  const Tensor variances = covariances::variances(all);
  if (x.rank() == 1) return as_type(reshape(all, {}) / reshape(variances, {}), type);
  const Tensor deviations = sqrt(variances);
  const Tensor ratio = all / expand_dims(deviations, -1) / expand_dims(deviations, -2);
  if (!is_complex(type)) return as_type(clip(ratio, -1, 1), type);  // roundings reach beyond
  return complex(clip(real(ratio), -1, 1), clip(imag(ratio), -1, 1));
}

}  // namespace adit
