// Covariance functions of Gaussian processes, of numbers or vectors x (and x2). Differences are taken before
// they are squared, so that nothing cancels between points that lie close.
#include <array>
#include <cmath>
#include <numbers>

#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

// [N, D], and in units of the length scales where those are given for each dimension.
Part points_of(const Part& x) { return x.axes() == 1 ? as_column(x) : x; }
Part kernel_sum(const Part& a, const Part& b, Tensor (*f)(const Tensor&, const Tensor&)) {
  const Part first{expand_dims(a.x, -2), a.in_lanes}, second{expand_dims(b.x, -3), b.in_lanes};
  const Part each = elementwise(first, second, f);
  return {sum(each.x, {-1}), each.in_lanes};
}
Part squared_distances(const Part& a, const Part& b) {
  return kernel_sum(a, b, [](const Tensor& x, const Tensor& y) { return square(x - y); });
}

struct Points {
  Part first, second;
  size_t next;  // argument
};
// One x or two, by how many arguments follow.
Points points(const Arguments& a, size_t others) {
  const bool is_pair = a.size() == others + 2;
  return {points_of(part(a, 0)), points_of(part(a, is_pair ? 1 : 0)), is_pair ? size_t{2} : size_t{1}};
}

// sigma^2 f(r^2) with r in units of the length scale.
Tensor stationary(const Arguments& a, Tensor (*f)(const Tensor& squared)) {
  Points p = points(a, 2);
  const Part sigma = part(a, p.next), length = part(a, p.next + 1);
  const Part inverse{reciprocal(length.x), length.in_lanes};
  const auto multiplied = [](const Tensor& x, const Tensor& y) { return x * y; };
  Part squared;
  if (length.axes() == 1) {  // each dimension has its own
    squared = squared_distances(elementwise(p.first, as_row(inverse), multiplied),
                                elementwise(p.second, as_row(inverse), multiplied));
  } else {
    squared =
        elementwise(squared_distances(p.first, p.second), {square(inverse.x), inverse.in_lanes}, multiplied);
  }
  return finished(
      a, elementwise(squared, sigma, [&](const Tensor& q, const Tensor& s) { return square(s) * f(q); }));
}

Tensor gp_exp_quad(const Arguments& a) {
  return stationary(a, [](const Tensor& q) { return exp(real(-0.5) * q); });
}
Tensor gp_exponential(const Arguments& a) {
  return stationary(a, [](const Tensor& q) { return exp(-root_from_zero(q)); });
}
Tensor gp_matern32(const Arguments& a) {
  return stationary(a, [](const Tensor& q) {
    const Tensor r = real(std::numbers::sqrt3) * root_from_zero(q);
    return (real(1) + r) * exp(-r);
  });
}
Tensor gp_matern52(const Arguments& a) {
  return stationary(a, [](const Tensor& q) {
    const Tensor r = real(std::sqrt(5.0)) * root_from_zero(q);
    return (real(1) + r + real(5.0 / 3) * q) * exp(-r);
  });
}
// sigma^2 + x y
Tensor gp_dot_prod(const Arguments& a) {
  const Points p = points(a, 1);
  const Part products = times(p.first, transposed(p.second));
  return finished(a, elementwise(products, part(a, p.next),
                                 [](const Tensor& x, const Tensor& s) { return x + square(s); }));
}
// sigma^2 exp(-2 sin(pi d / period)^2 / length^2)
Tensor gp_periodic(const Arguments& a) {
  const Points p = points(a, 3);
  const Part squared = squared_distances(p.first, p.second), sigma = part(a, p.next);
  const Part sines = elementwise(squared, part(a, p.next + 2), [](const Tensor& q, const Tensor& period) {
    return sin(real(std::numbers::pi) * root_from_zero(q) / period);
  });
  return finished(a, elementwise(sines, sigma, part(a, p.next + 1),
                                 [](const Tensor& s, const Tensor& size, const Tensor& length) {
                                   return square(size) * exp(real(-2) * square(s / length));
                                 }));
}

constexpr std::array kernel_table{
    GeneralFunction{"cov_exp_quad", gp_exp_quad},    GeneralFunction{"gp_dot_prod_cov", gp_dot_prod},
    GeneralFunction{"gp_exp_quad_cov", gp_exp_quad}, GeneralFunction{"gp_exponential_cov", gp_exponential},
    GeneralFunction{"gp_matern32_cov", gp_matern32}, GeneralFunction{"gp_matern52_cov", gp_matern52},
    GeneralFunction{"gp_periodic_cov", gp_periodic},
};

}  // namespace

std::span<const GeneralFunction> kernel_functions() { return kernel_table; }

}  // namespace adit::stan
