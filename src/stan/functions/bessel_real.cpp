// Bessel functions of the first and second kind, of whole orders. Up to 400 by Miller's recurrence: J_k from
// a far k down, where it grows, scaled so that J_0 + 2 J_2 + 2 J_4 + ... is 1; Y_0 and Y_1 by Neumann's
// series of the same J_k, and from there up, where it grows. Beyond by Hankel's expansion, for orders up to
// some 100.
#include <array>
#include <cmath>
#include <numbers>

#include <adit/control.hpp>

#include "stan/functions/formulas.hpp"

namespace adit::stan {

namespace {

constexpr double recurrence_end = 400;
constexpr int64_t recurrence_steps = 512, hankel_terms = 40;
constexpr double pi = std::numbers::pi;

Tensor is_odd(const Tensor& n) { return remainder(abs(n), real(2)) == real(1); }

struct Orders {
  Tensor below, at, above;  // n - 1, n, n + 1
};
struct Descent {
  Orders j;
  Tensor j0, j1;
  Tensor series0, series1;  // sums of (-1)^k J_2k / k, and (-1)^k (2k + 1) / (k (k + 1)) J_2k+1, k > 0
};

// n >= 0, 0 < z <= recurrence_end.
Descent descended(const Tensor& n, const Tensor& z) {
  constexpr double large = 0x1p200;
  // Carried: J_k+1, J_k, what is kept of J_n-1, J_n, J_n+1, and the three sums.
  const auto step = [&](const Tensors& c, const Tensors& number) -> Step {
    const Tensor& k = number[0];  // of c[1]; from the last one down to 1
    const Tensor next = real(2) * k / z * c[1] - c[0], of = k - real(1);
    const Tensor half = floor(real(0.5) * of), odd = is_odd(of);
    const Tensor sign = select(is_odd(half), real(-1), real(1));
    const Tensor is_first = half == real(0), by = select(is_first, real(1), half);
    const Tensor mass = select(odd, real(0), select(is_first, next, real(2) * next));
    const Tensor even_part = select(logical_or(odd, is_first), real(0), sign * next / by);
    const Tensor odd_part = select(both(odd, logical_not(is_first)),
                                   sign * (real(2) * half + real(1)) / (by * (by + real(1))) * next, real(0));
    const auto kept = [&](const Tensor& order, const Tensor& before) {
      return select(of == order, next, before);
    };
    const Tensor is_large = abs(next) > real(large), scale = select(is_large, real(1 / large), real(1));
    Tensors made{c[1],
                 next,
                 kept(n - real(1), c[2]),
                 kept(n, c[3]),
                 kept(n + real(1), c[4]),
                 c[5] + mass,
                 c[6] + even_part,
                 c[7] + odd_part};
    for (Tensor& x : made) x = x * scale;
    return {made, {}};
  };
  const Tensor none = zeros_like(z + n), seed = none + real(1e-300);
  const Tensor count = real(recurrence_steps) - iota({recurrence_steps}, DType::f64);
  const Tensors done = scan(step, {none, seed, none, none, none, none, none, none}, {count}).carry;
  const Tensor by = reciprocal(done[5]);
  // J_-1 is -J_1.
  const Tensor below = select(n == real(0), -done[4], done[2]);
  return {{below * by, done[3] * by, done[4] * by}, done[1] * by, done[0] * by, done[6] * by, done[7] * by};
}

// sqrt(2 / (pi z)) (P cos x - Q sin x) and (P sin x + Q cos x), x = z - (n / 2 + 1 / 4) pi.
struct Both {
  Tensor j, y;
};
Both hankel(const Tensor& n, const Tensor& z) {
  const Tensor size = real(4) * square(n);
  Tensor term = ones_like(z + n), p = term, q = zeros_like(term), smallest = term;
  for (int64_t k = 1; k <= hankel_terms; ++k) {
    const auto odd = static_cast<double>(2 * k - 1);
    term = term * (size - real(odd * odd)) / (real(8.0 * static_cast<double>(k)) * z);
    // Terms that grow again past the orders are left out.
    const Tensor grows = both(abs(term) > smallest, real(odd) > real(2) * n);
    term = select(grows, real(0), term);
    smallest = minimum(smallest, abs(term));
    const double sign = (k / 2) % 2 == 0 ? 1 : -1;
    if (k % 2 == 0)
      p = p + real(sign) * term;
    else
      q = q + real(sign) * term;
  }
  const Tensor angle = z - (real(0.5) * n + real(0.25)) * real(pi), front = sqrt(real(2 / pi) / z);
  return {front * (p * cos(angle) - q * sin(angle)), front * (p * sin(angle) + q * cos(angle))};
}

// Y_n-1, Y_n, Y_n+1 from Y_0 and Y_1.
Orders ascended(const Tensor& n, const Tensor& z, const Tensor& y0, const Tensor& y1) {
  const auto step = [&](const Tensors& c, const Tensors& number) -> Step {
    const Tensor goes = number[0] < n;
    const Tensor risen = real(2) * (number[0] + real(1)) / z * c[2] - c[1];
    const Tensor next = select(c[2] == minus_infinity(), minus_infinity(), risen);
    return {{select(goes, c[1], c[0]), select(goes, c[2], c[1]), select(goes, next, c[2])}, {}};
  };
  const Tensor full_shape = zeros_like(n + z);
  const Tensors start{full_shape - y1, full_shape + y0, full_shape + y1};
  const Tensors done = scan(step, start, {iota({recurrence_steps}, DType::f64)}).carry;
  return {done[0], done[1], done[2]};
}

struct Kinds {
  Orders j, y;
};
Kinds bessel_kinds(const Tensor& order, const Tensor& at) {
  const Tensor n = stop_gradient(order), z = stop_gradient(at), is_near = z <= real(recurrence_end);
  const Tensor near_z = guarded(is_near, z, 1), far_z = select(is_near, real(500), z);
  const Descent d = descended(n, near_z);
  const Tensor log_half = log(real(0.5) * near_z) + real(std::numbers::egamma);
  const Tensor y0 = real(2 / pi) * log_half * d.j0 - real(4 / pi) * d.series0;
  const Tensor y1 = real(2 / pi) * ((log_half - real(1)) * d.j1 - d.j0 / near_z - d.series1);
  const Orders y = ascended(n, near_z, y0, y1);
  const Both below = hankel(n - real(1), far_z), same = hankel(n, far_z), above = hankel(n + real(1), far_z);
  const auto either = [&](const Tensor& a, const Tensor& b) { return select(is_near, a, b); };
  return {{either(d.j.below, below.j), either(d.j.at, same.j), either(d.j.above, above.j)},
          {either(y.below, below.y), either(y.at, same.y), either(y.above, above.y)}};
}

Tensor half_difference(const Orders& o) { return real(0.5) * (o.below - o.above); }

}  // namespace

// J_-n is (-1)^n J_n, and so is J_n(-z).
Tensor bessel_j(const Tensor& n, const Tensor& z) {
  const Tensor is_inside = both(is_finite(z), is_finite(n)), order = abs(guarded(is_inside, n, 1));
  const Tensor size = abs(guarded(is_inside, z, 1)), is_zero = size == real(0);
  const Orders j = bessel_kinds(order, guarded(logical_not(is_zero), size, 1)).j;
  const Tensor at_zero = select(order == real(0), real(1), real(0));
  const Tensor slope_at_zero = select(order == real(1), real(0.5), real(0));
  const Tensor value =
      with_slope(select(is_zero, at_zero, j.at), size, select(is_zero, slope_at_zero, half_difference(j)));
  const Tensor turns = is_odd(order),
               swaps = logical_or(both(n < real(0), z >= real(0)), both(n >= real(0), z < real(0)));
  const Tensor end = select(abs(z) == infinity(), real(0), not_a_number());
  return select(is_inside, select(both(turns, swaps), -value, value), end);
}

Tensor bessel_y(const Tensor& n, const Tensor& z) {
  const Tensor is_inside = both(both(is_positive(z), is_finite(z)), is_finite(n));
  const Tensor order = abs(guarded(is_inside, n, 1)), at = guarded(is_inside, z, 1);
  const Orders y = bessel_kinds(order, at).y;
  // Y_0' is -Y_1.
  const Tensor value = with_slope(y.at, at, select(order == real(0), -y.above, half_difference(y)));
  const Tensor turns = both(is_odd(order), n < real(0));
  const Tensor end = select(z == real(0), minus_infinity(), select(z == infinity(), real(0), not_a_number()));
  return select(is_inside, select(turns, -value, value), end);
}

}  // namespace adit::stan
