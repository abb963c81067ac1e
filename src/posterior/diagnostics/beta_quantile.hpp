// Quantiles of the beta distribution, for the uncertainty of quantiles.
#pragma once

namespace adit::diagnostics {

// The x with P(X <= x) = p for X ~ Beta(a, b), a and b at least 1.
double beta_quantile(double p, double a, double b);

}  // namespace adit::diagnostics
