// What the math functions should yield: MPFR at 128 bits.
#pragma once

#include <mpfr.h>

namespace adit::test {

// One MPFR number.
class Real {
 public:
  Real() { mpfr_init2(number_, 128); }
  explicit Real(double value) : Real() { mpfr_set_d(number_, value, MPFR_RNDN); }
  ~Real() { mpfr_clear(number_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  operator mpfr_ptr() { return number_; }
  operator mpfr_srcptr() const { return number_; }

 private:
  mpfr_t number_;
};

// result = f(x, y); functions of one number leave y alone.
using Exact = void (*)(Real& result, const Real& x, const Real& y);

// Those that MPFR lacks, or where the library's conventions differ from it.
namespace exact {

void rsqrt(Real& result, const Real& x, const Real& y);  // -infinity at -0, as IEEE 754 has it
void erf_inv(Real& result, const Real& x, const Real& y);
void lgamma(Real& result, const Real& x, const Real& y);
void digamma(Real& result, const Real& x, const Real& y);
void trigamma(Real& result, const Real& x, const Real& y);  // infinite at its poles
void sigmoid(Real& result, const Real& x, const Real& y);
void softplus(Real& result, const Real& x, const Real& y);
void log_sigmoid(Real& result, const Real& x, const Real& y);
void floor_mod(Real& result, const Real& x, const Real& y);
void sign(Real& result, const Real& x, const Real& y);

}  // namespace exact
}  // namespace adit::test
