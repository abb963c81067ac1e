// The logistic family in f32 and f64. Each works on exp(-|x|), which cannot overflow.
#include <adit/kernel/math.hpp>

#include "kernel/math/f32.hpp"
#include "kernel/math/f64.hpp"
#include "kernel/math/quotient.hpp"

namespace adit::kernel {
namespace {

Value logistic(Value x) {
  Value e = exp(-abs(x)), below = 1 + e;
  Value above = select(x < 0, e, 1);
  return select(below == 1, above, quotient(above, below));  // far out `above` may be subnormal
}

// log(1 + exp(-|x|))
Value bend(Value x) { return log1p(exp(-abs(x))); }

Value soft_maximum(Value x) { return max(x, 0) + bend(x); }
Value soft_minimum(Value x) { return min(x, -0.0) - bend(x); }

}  // namespace

Value f32::sigmoid(Value x) { return logistic(x); }
Value f64::sigmoid(Value x) { return logistic(x); }
Value f32::softplus(Value x) { return soft_maximum(x); }
Value f64::softplus(Value x) { return soft_maximum(x); }
Value f32::log_sigmoid(Value x) { return soft_minimum(x); }
Value f64::log_sigmoid(Value x) { return soft_minimum(x); }

}  // namespace adit::kernel
