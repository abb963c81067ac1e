// Functions of uniform numbers, where no argument is special: what normal numbers are made with.
#pragma once

#include <array>

#include <adit/kernel/builder.hpp>

namespace adit::kernel {

// log x for x in [2^-24, 1].
Value log_of_unit(Value x);
// cos(2 pi u) and sin(2 pi u) for u in [0, 1).
std::array<Value, 2> unit_circle(Value u);

}  // namespace adit::kernel
