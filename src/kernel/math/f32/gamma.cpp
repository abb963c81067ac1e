#include "kernel/math/gamma.hpp"

#include "kernel/math/f32.hpp"
#include "kernel/math/twofold.hpp"

namespace adit::kernel::f32 {
namespace {

// z in [-11/16, 5/16], relative error 2^-24.9.
Value lgamma_centre(Value z) {
  return polynomial(z, {0.422784328, 0.322467059, -0.0673527122, 0.0205782969, -0.00737757143, 0.00294070761,
                        -0.00119589525, 0.000221026537, -0.000628985814});
}

// u in [0, 1/4.3125^2], relative error 2^-24 of a small term.
Value stirling(Value u) { return polynomial(u, {0.0833333284, -0.00277642952, 0.000738829782}); }

// u in [0, 1/4], relative error 2^-26.5.
Value sine(Value u) { return polynomial(u, {1, -1.6449331, 0.811712384, -0.19042635, 0.0246881675}); }

// z in [-1/2, 1/2], relative error 2^-26.4.
Value digamma_centre(Value z) {
  return polynomial(z, {0.951055884, -0.423627496, 0.240541935, -0.148398384, 0.0949928015, -0.062064372,
                        0.0408130698, -0.0257349331, 0.0171541236, -0.0164799765, 0.0109638348});
}

// u in [0, 1/16], relative error 2^-21.5 of a term 2^-8 of the sum.
Value digamma_tail(Value u) { return polynomial(u, {0.083333306, -0.00832534116, 0.00361729856}); }

// u in [0, 1/4], relative error 2^-25.
Value cotangent(Value u) {
  return polynomial(u, {4, 2.84050632, 2.70484877, 2.644557, 3.0033946, 0.86617136, 7.05888748});
}

// z in [-1/2, 1/2], relative error 2^-25.1.
Value trigamma_centre(Value z) {
  return polynomial(z, {0.934802175, -0.828796625, 0.704547763, -0.579042017, 0.46296078, -0.362103164,
                        0.279828221, -0.211302206, 0.143993184, -0.107731596, 0.128092751, -0.0911040679});
}

// u in [0, 1/16], relative error 2^-19.6 of a term 2^-6.6 of the sum.
Value trigamma_tail(Value u) { return polynomial(u, {0.166666463, -0.0332737304, 0.021121271}); }

}  // namespace

Value lgamma(Value x) { return kernel::lgamma(x, {lgamma_centre, stirling, sine}); }

Value digamma(Value x) {
  return kernel::digamma(x, {digamma_centre, digamma_tail, cotangent, 1.46163213, 1.24381501e-08});
}

Value trigamma(Value x) { return kernel::trigamma(x, {trigamma_centre, trigamma_tail, sine}); }

}  // namespace adit::kernel::f32
