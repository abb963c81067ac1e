// Quantiles of distributions with more than a location and a scale.
#include <array>

#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

// With x = nu / (nu + t^2), P(T < -t) is half the incomplete beta function of x with nu / 2 and 1 / 2: the
// tail's inverse far out, and that of 1 - x near the middle, where x is almost 1.
Tensor student_quantile(const Tensor& p, const Tensor& nu) {
  const Tensor half = real(0.5) * nu, is_low = p < real(0.5);
  const Tensor tail = select(is_low, p, real(1) - p), is_far = tail < real(0.25);
  const Tensor is_near = both(tail >= real(0.25), tail < real(0.5));
  const Tensor x = inverse_incomplete_beta(half, real(0.5), real(2) * guarded(is_far, tail, 0.125));
  const Tensor y = inverse_incomplete_beta(real(0.5), half, real(1) - real(2) * guarded(is_near, tail, 0.25));
  const Tensor square = nu * select(is_far, (real(1) - x) / x, y / (real(1) - y));
  const Tensor size = root_from_zero(select(logical_or(is_far, is_near), square, real(0)));
  const Tensor inside = both(both(p >= real(0), p <= real(1)), is_positive(nu));
  return select(tail == real(0), infinity(), size) * select(is_low, real(-1), real(1)) + domain_term(inside);
}

Tensor student_t_qf(const Arguments& a) {
  const Part z = elementwise(part(a, 0), part(a, 1), student_quantile);
  return finished(
      a, elementwise(z, part(a, 2), part(a, 3), [](const Tensor& t, const Tensor& m, const Tensor& s) {
        return m + s * t + domain_term(is_positive(s));
      }));
}

constexpr std::array quantile_table{GeneralFunction{"student_t_qf", student_t_qf}};

}  // namespace

std::span<const GeneralFunction> quantile_functions() { return quantile_table; }

}  // namespace adit::stan
