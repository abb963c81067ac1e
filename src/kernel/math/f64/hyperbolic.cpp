// With |x| = k ln 2 + r, A = sinh(k ln 2) and B = cosh(k ln 2):
//   sinh |x| = A cosh r + B sinh r,  cosh x = B cosh r + A sinh r.
// A and B are sums of powers of two; they are halved here so that they do not overflow before the result
// does.
#include "kernel/math/f64/parts.hpp"

namespace adit::kernel::f64 {

namespace {

struct Hyperbolic {
  Twofold a, b;     // A / 2 and B / 2
  Value r;          // |r| <= ln 2 / 2
  Value sinh_rest;  // sinh r - r, and what the rounding of r left
  Value cosh_rest;  // cosh r - 1
};

Hyperbolic reduce_hyperbolic(Value magnitude) {
  ExpReduction e = reduce_exp(magnitude);
  Value z = e.r * e.r;
  // Errors relative to r and absolute: 2^-60 and 2^-68.
  Value s = polynomial(z, {0x1.5555555555556p-3, 0x1.11111111106f9p-7, 0x1.a01a01a912fbfp-13,
                           0x1.71de09f74e8ffp-19, 0x1.af3fb14d6c3bcp-26});
  Value c = polynomial(z, {0x1p-1, 0x1.5555555555556p-5, 0x1.6c16c16c15fe4p-10, 0x1.a01a01a827e67p-16,
                           0x1.27e4d7e401be3p-22, 0x1.1f79503f56a03p-29});
  Value grown = power_of_two(e.k - 2);
  Value shrunk = select(magnitude > 40.0, z.like(0), power_of_two(-2 - e.k));
  return {fast_two_sum(grown, -shrunk), fast_two_sum(grown, shrunk), e.r, fma(e.r * z, s, e.tail), z * c};
}

// p + q sinh r + p (cosh r - 1), with p = 0 or above q r.
Twofold combine(const Hyperbolic& h, Twofold p, Twofold q) {
  Twofold product = two_product(q.high, h.r);
  Twofold head = fast_two_sum(p.high, product.high);
  Value rest = fma(p.high, h.cosh_rest, q.high * h.sinh_rest) + fma(q.low, h.r, p.low);
  return fast_two_sum(head.high, head.low + (product.low + rest));
}

}  // namespace

Value sinh(Value x) {
  Value magnitude = abs(x);
  Hyperbolic h = reduce_hyperbolic(min(magnitude, 710.6));
  Value result = with_sign(2.0 * combine(h, h.a, h.b).high, sign_bit(x));
  return select(magnitude < 0x1p-28, x, result);
}

Value cosh(Value x) {
  Hyperbolic h = reduce_hyperbolic(min(abs(x), 710.6));
  return 2.0 * combine(h, h.b, h.a).high;
}

Value tanh(Value x) {
  Value magnitude = abs(x);
  Hyperbolic h = reduce_hyperbolic(min(magnitude, 22.0));  // from there on it is 1
  Value result = with_sign(sum(quotient(combine(h, h.a, h.b), combine(h, h.b, h.a))), sign_bit(x));
  return select(magnitude < 0x1p-28, x, result);
}

}  // namespace adit::kernel::f64
