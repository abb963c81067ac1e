// Linear Gaussian state-space models by Kalman's filter.
#include <array>
#include <cmath>
#include <numbers>

#include <adit/control.hpp>

#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

Tensor turned(const Tensor& x) { return transposed({x, false}).x; }

// y [r, T] of r numbers at T times; F [n, r], G [n, n], V [r, r] or its diagonal, W [n, n]; the state before
// the first time has mean m0 [n] and covariance C0 [n, n].
Tensor gaussian_dlm_obs(const Arguments& a) {
  const auto lifted = [&](size_t i) { return finished(a, part(a, i)); };
  const Tensor y = lifted(0), f = lifted(1), g = lifted(2), w = lifted(4);
  const bool is_diagonal = a.types[3].is(Base::vector);
  const Tensor v = is_diagonal ? diagonal_matrix(lifted(3)) : lifted(3);
  const auto size = static_cast<double>(y.dim(-2));
  // [T, (lanes,) r, 1]
  const Tensor by_time = expand_dims(a.any_lanes() ? transpose(y, {2, 0, 1}) : transpose(y, {1, 0}), -1);
  const auto step = [&](const Tensors& carry, const Tensors& seen) -> Step {
    const Tensor mean = matmul(g, carry[0]);
    const Tensor spread = matmul(matmul(g, carry[1]), turned(g)) + w;
    const Tensor out = matmul(spread, f), variance = matmul(turned(f), out) + v;
    const Tensor error = seen[0] - matmul(turned(f), mean);
    const Tensor factor = cholesky(real(0.5) * (variance + turned(variance)));
    const Part lower{factor, a.any_lanes()};
    const Tensor scaled = lower_solve(lower, {error, a.any_lanes()}).x;
    const Tensor gain = lower_solve(lower, {turned(out), a.any_lanes()}).x;  // [r, n]
    const Tensor next = spread - matmul(turned(gain), gain);
    const Tensor term = real(-0.5) * sum(square(scaled), {-2, -1}) - sum(log(diagonal_of(factor)), {-1}) -
                        real(0.5 * size * std::log(2 * std::numbers::pi));
    return {{mean + matmul(turned(gain), scaled), real(0.5) * (next + turned(next)), carry[2] + term}, {}};
  };
  const Tensor mean = expand_dims(lifted(5), -1), none = zeros(stats::leading(mean, 2), DType::f64);
  return scan(step, {mean, lifted(6), none}, {by_time}).carry[2];
}

constexpr std::array state_space_table{GeneralFunction{"gaussian_dlm_obs_lpdf", gaussian_dlm_obs}};

}  // namespace

std::span<const GeneralFunction> state_space_functions() { return state_space_table; }

}  // namespace adit::stan
