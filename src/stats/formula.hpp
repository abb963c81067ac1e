// Numbers and forms of formulas. A number of a formula is part of the structure of a density, unlike the
// numbers that a user gives: write `real(0.5) * x`, not `0.5 * x`.
#pragma once

#include <limits>
#include <optional>

#include <adit/ops.hpp>

#include "graph/node.hpp"

namespace adit::stats {

inline Tensor real(double value) { return graph::constant(DType::f64, value); }
inline Tensor infinity() { return real(std::numeric_limits<double>::infinity()); }
inline Tensor minus_infinity() { return real(-std::numeric_limits<double>::infinity()); }
inline Tensor not_a_number() { return real(std::numeric_limits<double>::quiet_NaN()); }

// The number that x is where a caller wrote one (repeated, perhaps), or nothing.
std::optional<double> literal_of(const Tensor& x);

// The support as a term of a log density: 0 inside, -infinity outside. A term of its own, so that the others
// can still be taken apart, and what is known of data is computed once.
inline Tensor support_term(const Tensor& inside) { return select(inside, real(0), minus_infinity()); }
// x where it lies inside, else a harmless value: what follows is finite, and so is its derivative.
inline Tensor guarded(const Tensor& inside, const Tensor& x, double harmless) {
  return select(inside, x, real(harmless));
}

// |x| with the derivative -1 at 0: where the value is smooth there, the derivative has to be one of a side.
inline Tensor distance(const Tensor& x) { return select(x > real(0), x, -x); }

// log(1 - e^a) for a <= 0; -infinity at 0. Near 0 by expm1, else by log1p.
Tensor log1m_exp(const Tensor& a);
// log(e^a - e^b) for a >= b; b may be -infinity.
Tensor log_difference_exp(const Tensor& a, const Tensor& b);
// log(e^a + e^b); either may be -infinity.
Tensor log_sum_exp(const Tensor& a, const Tensor& b);
// The logarithm of a cdf whose smaller tail, at most 1/2, is `tail`: log(1 - tail) where x is above the
// middle, else log(tail).
Tensor log_of_side(const Tensor& tail, const Tensor& above);

// log of the standard normal density, and of P(Z <= z), sharp in both tails however far out; the derivatives
// too.
Tensor log_normal_density(const Tensor& z);
Tensor log_normal_cdf(const Tensor& z);
// log(normal_cdf(high) - normal_cdf(low)), low < high, sharp in both tails; an end that is not there is at
// infinity, and what stands for it is a finite number that counts for nothing.
struct NormalInterval {
  Tensor low, high, has_low, has_high;
};
Tensor log_normal_between(const NormalInterval& x);
// z with log P(Z <= z) = log_p, for log_p <= log(1/2).
Tensor normal_quantile_of_log(const Tensor& log_p, int steps = 3);

}  // namespace adit::stats
