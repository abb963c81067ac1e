// The f64 functions of kernels that are written under a Loose. Results and arguments below 2^-1021 count as
// 0; else they are within 4 ULP, with the limits of the exact functions.
#pragma once

#include <adit/kernel/builder.hpp>

namespace adit::kernel::f64::loose {

Value exp(Value x);
Value log(Value x);
Value log1p(Value x);
// Of positive numbers, the second of them finite, with one division for both.
struct Logs {
  Value first, second;
};
Logs logs_of_positive(Value u, Value v);
Value exp_of_negative_size(Value x);
Value sigmoid(Value x);
Value softplus(Value x);
Value log_sigmoid(Value x);
// Within 4e-15 (1 + |result|): a density adds them up, and has no use for more of them near their zeros.
Value lgamma(Value x);
Value digamma(Value x);

}  // namespace adit::kernel::f64::loose
