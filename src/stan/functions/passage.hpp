// What the densities and the distribution functions of first passages share.
#pragma once

#include <vector>

#include "stan/functions/formulas.hpp"

namespace adit::stan {

// Places and weights whose sum is 1.
struct PassageRule {
  std::vector<double> places, weights;
};
PassageRule legendre_rule(int count);  // Gauss and Legendre's, of an even distribution between 0 and 1
PassageRule normal_rule(int count, double step);  // of a standard normal distribution

// log P of reaching the upper bound until y: of a process that starts at beta alpha, with p = alpha, tau,
// beta, delta; of seven parameters delta, beta and tau vary as in the density. log_ccdf: that of reaching it
// later. Both together are the chance of reaching it at all.
Tensor wiener_log_cdf(const Tensor& y, const Tensor* p);
Tensor wiener_log_ccdf(const Tensor& y, const Tensor* p);
Tensor wiener_full_log_cdf(const Tensor& y, const Tensor* p);
Tensor wiener_full_log_ccdf(const Tensor& y, const Tensor* p);

}  // namespace adit::stan
