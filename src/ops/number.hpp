// Real or complex numbers in kernels of factorisations.
#pragma once

#include <adit/kernel/builder.hpp>

namespace adit::ops {

struct Number {
  kernel::Value re, im;  // im means something only where numbers are complex
};

inline Number load_number(const kernel::Array& from, kernel::Value at, bool complex) {
  if (!complex) {
    const kernel::Value value = from[at];
    return {value, value};
  }
  return {from[at * 2], from[at * 2 + 1]};
}

inline void store_number(const kernel::Array& to, kernel::Value at, Number value, bool complex) {
  to[complex ? at * 2 : at] = value.re;
  if (complex) to[at * 2 + 1] = value.im;
}

inline Number sum_of(Number x, Number y, bool complex) { return {x.re + y.re, complex ? x.im + y.im : x.im}; }
inline Number product_of(Number f, Number g, bool complex) {
  if (!complex) return {f.re * g.re, f.im};
  return {fma(f.re, g.re, -(f.im * g.im)), fma(f.re, g.im, f.im * g.re)};
}
// f g + x
inline Number plus_product(Number f, Number g, Number x, bool complex) {
  if (!complex) return {fma(f.re, g.re, x.re), x.im};
  return {fma(-f.im, g.im, fma(f.re, g.re, x.re)), fma(f.im, g.re, fma(f.re, g.im, x.im))};
}
inline Number chosen(kernel::Value condition, Number x, Number y, bool complex) {
  const kernel::Value re = select(condition, x.re, y.re);
  return {re, complex ? select(condition, x.im, y.im) : re};
}
inline Number opposite(Number x) { return {-x.re, -x.im}; }

inline Number conjugated(Number x, bool complex) { return {x.re, complex ? -x.im : x.im}; }

// A number that products are subtracted from.
class NumberSum {
 public:
  NumberSum(kernel::Builder& k, Number start, bool complex)
      : re_(k.variable(start.re)), im_(complex ? k.variable(start.im) : re_), complex_(complex) {}
  Number get() const { return {re_.get(), im_.get()}; }
  void set(Number x) const {
    re_ = x.re;
    if (complex_) im_ = x.im;
  }
  void subtract(Number f, Number g) const {
    re_ = fma(-f.re, g.re, re_.get());
    if (!complex_) return;
    re_ = fma(f.im, g.im, re_.get());
    im_ = fma(-f.re, g.im, fma(-f.im, g.re, im_.get()));
  }

 private:
  kernel::Variable re_, im_;
  bool complex_;
};

}  // namespace adit::ops
