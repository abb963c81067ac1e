// Integer powers by repeated squaring, in two parts so that the error stays near half an ULP for any sensible
// n.
#include <string>

#include <adit/error.hpp>
#include <adit/kernel/math.hpp>

#include "kernel/math/twofold.hpp"

namespace adit::kernel {

namespace {

// Where the high part overflows the low one is no number; it counts as 0.
Value settled(Value low) { return select(is_finite(low), low, 0.0); }

Twofold product(Twofold a, Twofold b) {
  Twofold p = two_product(a.high, b.high);
  p = fast_two_sum(p.high, settled(p.low + fma(a.high, b.low, a.low * b.high)));
  return {p.high, settled(p.low)};
}

// Inverted first, not last: then nothing overflows that should not.
Twofold inverted(Value x) {
  Value inverse = divide(x.like(1), x);
  return {inverse, settled(fma(-inverse, x, 1.0) * inverse)};
}

void check(Value x) {
  if (x.type() == Type::f32 || x.type() == Type::f64) return;
  throw Error(ErrorKind::bad_argument,
              "[pow_integer] x: expected f32 or f64, got " + std::string(name_of(x.type())));
}

}  // namespace

Value pow_integer(Value x, Value n) {
  check(x);
  if (n.type() != Type::i32)
    throw Error(ErrorKind::bad_argument,
                "[pow_integer] n: expected i32, got " + std::string(name_of(n.type())));
  Builder& builder = x.builder();
  const Loose exact(builder, false);
  // The sign is kept apart: a sum of two parts loses that of 0.
  Value negative = n < 0, size = abs(x);
  Twofold inverse = inverted(size);
  Variable base = builder.variable(select(negative, inverse.high, size));
  Variable base_low = builder.variable(select(negative, inverse.low, 0.0));
  Variable result = builder.variable(x.like(1)), result_low = builder.variable(x.like(0));
  Variable left = builder.variable(bitcast(select(negative, -n, n), Type::u32));
  builder.while_([&] { return left.get() != 0u; },
                 [&] {
                   Twofold square{base, base_low};
                   Twofold next = product({result, result_low}, square);
                   Value odd = (left & 1u) != 0u;
                   result = select(odd, next.high, result);
                   result_low = select(odd, next.low, result_low);
                   square = product(square, square);
                   base = square.high;
                   base_low = square.low;
                   left = left >> 1u;
                 });
  Value flipped = (n & 1) != 0 && is_negative(x);
  Value magnitude = result + result_low;
  return select(flipped, -magnitude, magnitude);
}

Value pow_integer(Value x, int n) {
  check(x);
  if (n >= 1 && n <= 3) return n == 1 ? x : n == 2 ? x * x : x * x * x;
  const Loose exact(x.builder(), false);
  if (n == 0) return x.like(1);
  if (n == -1) return divide(x.like(1), x);
  unsigned left = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n);
  Value size = abs(x);
  bool odd = (left & 1u) != 0;
  Twofold base = n < 0 ? inverted(size) : Twofold{size, size.like(0)};
  while ((left & 1u) == 0) {
    base = product(base, base);
    left >>= 1;
  }
  Twofold result = base;
  while ((left >>= 1) != 0) {
    base = product(base, base);
    if ((left & 1u) != 0) result = product(result, base);
  }
  return odd ? flip_sign(sum(result), bits(x)) : sum(result);
}

}  // namespace adit::kernel
