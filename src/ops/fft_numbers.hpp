// Complex numbers of transforms: small ones in registers, and the angles between stages.
#pragma once

#include <vector>

#include <adit/kernel/builder.hpp>

namespace adit::ops {

struct Complex {
  kernel::Value re, im;
};

Complex operator+(Complex a, Complex b);
Complex operator-(Complex a, Complex b);
Complex operator*(Complex a, Complex b);

// To and from memory; `swap`: the parts change places.
Complex opened(kernel::Value pair, bool swap);
Complex closed(Complex x, bool swap, double scale);
kernel::Value packed(Complex x);

// The transform of a few numbers, written out: X_k = sum of x_j exp(-2 pi i j k / n).
std::vector<Complex> small_fft(const std::vector<Complex>& x);

// exp(-2 pi i step / turns), with 0 <= step < turns and step <= most.
Complex turned(kernel::Value step, uint64_t turns, kernel::Type type, uint64_t most);
// Of 0, step, 2 step, ...: `count` of them, all below a full turn.
std::vector<Complex> turned_by_steps(kernel::Value step, uint64_t turns, size_t count, kernel::Type type,
                                     uint64_t most);

}  // namespace adit::ops
