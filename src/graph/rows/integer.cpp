#include "graph/rows/integer.hpp"

namespace adit::graph::integers {

using kernel::bits_of;
using kernel::Builder;
using kernel::Type;
using kernel::Value;
using kernel::Variable;

// The language gives all ones for x / 0 and x for x % 0, on every device.
Value quotient(Value a, Value b) { return select(b == 0, 0, a / b); }
Value remainder(Value a, Value b) { return select(b == 0, 0, a % b); }

Value power(Value a, Value n) {
  Builder& k = a.builder();
  const bool is_signed = kernel::is_signed_integer(n.type());
  const Variable result = k.variable(a.like(1)), base = k.variable(a);
  const Variable left = k.variable(is_signed ? select(n < 0, 0, n) : n);
  k.while_([&] { return left.get() != 0; },
           [&] {
             const Value b = base, rest = left;
             result = select((rest & 1) != 0, result.get() * b, result.get());
             base = b * b;
             left = rest >> 1;
           });
  if (!is_signed) return result;
  const Value inverse = select(a == 1 || (a == -1 && (n & 1) == 0), a.like(1), select(a == -1, a, 0));
  return select(n < 0, inverse, result.get());
}

namespace {

// Negative amounts are large unsigned ones.
Value too_far(Value a, Value amount) {
  return bitcast(amount, kernel::unsigned_like(a.type())) >= bits_of(a.type());
}

}  // namespace

Value shift_left(Value a, Value amount) { return select(too_far(a, amount), 0, a << amount); }

Value shift_right(Value a, Value amount) {
  const Value far = too_far(a, amount);
  if (kernel::is_signed_integer(a.type())) return a >> select(far, bits_of(a.type()) - 1, amount);
  return select(far, 0, a >> amount);
}

Value sign(Value a) {
  const Value positive = select(a != 0, a.like(1), 0);
  return kernel::is_signed_integer(a.type()) ? select(a < 0, -1, positive) : positive;
}

}  // namespace adit::graph::integers
