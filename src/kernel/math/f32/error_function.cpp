#include "kernel/error_function.hpp"

#include "kernel/math/f32.hpp"
#include "kernel/math/twofold.hpp"

namespace adit::kernel::f32 {
namespace {

// u in [0, 1], relative error of erf 2^-29.
Value erf_centre(Value u) {
  return polynomial(u, {0.128379166, -0.37612626, 0.112835854, -0.0268538203, 0.00518834312, -0.000801033166,
                        7.85431548e-05});
}

// a in [1, 3.93], absolute error of erf 2^-27.
Value erf_exponent(Value a) {
  return polynomial(a - 2.5, {7.80681801, 5.35269737, 0.943910301, 0.0107831005, -0.00238176668,
                              0.000196622655, -0.000177414055});
}

// t in [-1, 0.67], relative error 2^-25.2.
Value erfc_core(Value t) {
  return polynomial(t, {1.27697837, -0.0927641094, -0.16603002, 0.16405724, -0.0542174503, -0.0080705164,
                        0.00867100339, 0.00134315784, -0.00126756937, -0.000431460037});
}

// t in [-1, 1], relative error 2^-24.7.
Value erfcx_core(Value t) {
  return polynomial(
      t, {1.26483822, -0.122356802, -0.0990242437, 0.157630995, -0.102970541, 0.0327520519, 0.000946759654,
          -0.00435049227, 0.000463337521, 0.000575734652, -6.39178688e-05, -6.1907529e-05});
}

// With w = -log(1 - x^2) both erf_inv(x) / x and its argument are smooth (Giles, 2010).
// w in [0, 5], relative error 2^-24.5.
Value inverse_centre(Value w) {
  return polynomial(w - 2.5,
                    {1.50140941, 0.24664025, -0.0041775126, -0.00125265319, 0.000218417161, -5.01144359e-06,
                     -3.47818991e-06, 4.75412804e-07, 2.43349962e-08, -9.37962241e-09});
}

// w in [5, 16.7], relative error 2^-25.5. At w = infinity it is infinity.
Value inverse_tail(Value w) {
  return polynomial(f32::sqrt(w) - 3,
                    {2.83297682, 1.00167477, 0.00944430009, -0.00763422437, 0.00569500914, -0.0036112878,
                     0.00146535947, -3.17400882e-05, -0.000294875383, 9.97373136e-05});
}

}  // namespace

Value erf(Value x) { return kernel::erf(x, {erf_centre, erf_exponent, 3.93}); }

Value erfc(Value x) { return kernel::erfc(x, {erfc_core, 2, 10.1}); }

Value erfcx(Value x) { return kernel::erfcx(x, {erfcx_core, 2.5, 1e9, 3.4028234663852886e38}); }

Value erf_inv(Value x) {
  Value w = -f32::log(fma(-x, x, 1));
  Variable ratio = x.builder().variable(inverse_centre(w));
  x.builder().if_(w >= 5, [&] { ratio = inverse_tail(w); });
  return x * ratio;
}

}  // namespace adit::kernel::f32
