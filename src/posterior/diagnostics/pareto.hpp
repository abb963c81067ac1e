// Pareto-smoothed importance weights (Vehtari, Simpson, Gelman, Yao, Gabry 2024).
#pragma once

#include <span>
#include <vector>

namespace adit::diagnostics {

struct ParetoFit {
  double shape = 0, scale = 0;
};
// The generalised Pareto distribution of exceedances in ascending order (Zhang and Stephens 2009), its shape
// drawn towards 1/2 with the weight of ten observations. Shape NaN where there is no fit.
ParetoFit fit_pareto(std::span<const double> exceedances);
double pareto_quantile(const ParetoFit& fit, double p);

// Weights in logarithms, in place: the largest become quantiles of a fitted tail, and all sum to one.
// `efficiency`: effective sample size of the ratios, by draw. Returns the tail's shape, infinite where it
// cannot be told (fewer than five draws in the tail, or values that no fit exists for).
double smooth_weights(std::vector<double>& log_weights, double efficiency);

// log sum exp of values.
double log_sum_exp(std::span<const double> values);

}  // namespace adit::diagnostics
