// lgamma and digamma under a Loose: what they have in common is the same work, which a kernel with both, as
// densities and their gradients are, does once. From 4 5/16 on Stirling's series; below, that of y = x + 3,
// or x + 5 below 2, of which with the middle step c
//   gamma(y) = c (c^2 - 1) gamma(x),  or  c (c^2 - 1) (c^2 - 4) gamma(x),  c^2 - 4 = x (x + 4):
// a product, and a derivative of it, of what is not negative.
#include <functional>

#include <adit/kernel/math.hpp>

#include "kernel/math/f64/gamma_series.hpp"
#include "kernel/math/f64/loose.hpp"
#include "kernel/math/twofold.hpp"

namespace adit::kernel::f64::loose {

namespace {

constexpr double half_log_two_pi = 0.91893853320467274178;
constexpr double least = 1e-290;  // of which 1 / (y product) is a number

struct Raised {
  Value y, steps;         // what the steps add to digamma
  Logs logs;              // of y, and of the steps' product
  Value inverse, square;  // 1 / y and 1 / y^2
};

Raised raised(Value x) {
  Value near = x < 4.3125, is_low = x < 2.0;
  Value c = x + select(is_low, x.like(2), x.like(1)), square = c * c, sides = square - 1.0;
  Value ends = select(is_low, x * (x + 4.0), x.like(1)), more = select(is_low, sides * square, x.like(0));
  Value y = select(near, x + select(is_low, x.like(5), x.like(3)), x);
  Value product = select(near, c * sides * ends, x.like(1));
  Value slope = fma(more, 2.0, ends * fma(square, 3.0, -1.0));
  Value quotient = 1.0 / (y * product), inverse = product * quotient;
  Value steps = select(near, slope * (y * quotient), x.like(0));
  return {y, steps, logs_of_positive(y, product), inverse, inverse * inverse};
}

// Also of numbers that are not positive, by those of 1 - x.
Value on_the_right(Value x) { return select(x > least, x, 1.0 - x); }

Value reflected(Value x, Value right, const std::function<Value(Value r)>& left) {
  Variable result = x.builder().variable(right);
  x.builder().if_(!(x > least), [&] { result = left(x - round_even(x)); });
  return result;
}

}  // namespace

// lgamma(x) = -log(|sin(pi x)| / pi) - lgamma(1 - x)
Value lgamma(Value x) {
  Raised at = raised(on_the_right(x));
  Value rest = fma(at.inverse, stirling(at.square), half_log_two_pi - 0.5) - at.logs.second;
  Value right = fma(at.y - 0.5, at.logs.first - 1.0, rest);
  return reflected(x, right, [&](Value r) {
    Value left = -loose::log(abs(r) * sine(r * r)) - right;
    return select(r == 0.0 || is_infinite(x), infinity(x), left);
  });
}

// digamma(x) = digamma(1 - x) - pi cot(pi x)
Value digamma(Value x) {
  Raised at = raised(on_the_right(x));
  Value right = fma(at.square, -digamma_tail(at.square), at.logs.first - 0.5 * at.inverse) - at.steps;
  return reflected(x, right, [&](Value r) {
    Value left = right - fma(-r, r, 0.25) * cotangent(r * r) / r;
    return select(r == 0.0 && x < 0.0, not_a_number(x), left);
  });
}

}  // namespace adit::kernel::f64::loose
