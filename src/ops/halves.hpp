// f16 by its bits, for kernels that must also run where a driver has no 16-bit floats at all.
#pragma once

#include <adit/kernel/builder.hpp>

namespace adit::ops {

kernel::Value half_to_float(kernel::Value bits);  // u16 -> f32, exact
kernel::Value float_to_half(kernel::Value x);     // f32 -> u16, to nearest even

}  // namespace adit::ops
