// Quantiles of distributions.
#pragma once

namespace adit::diagnostics {

// The z with P(Z <= z) = p for a standard normal Z.
double normal_quantile(double p);
// The x with P(X <= x) = p for X ~ Beta(a, b).
double beta_quantile(double p, double a, double b);

}  // namespace adit::diagnostics
