// Integer arithmetic where the result must be defined for every pair of operands.
#pragma once

#include <adit/kernel/builder.hpp>

namespace adit::graph::integers {

kernel::Value quotient(kernel::Value a, kernel::Value b);   // 0 where b is 0; the lowest number / -1 wraps
kernel::Value remainder(kernel::Value a, kernel::Value b);  // the sign of a; 0 where b is 0
// Wraps. A negative power is 1 / a^|n| toward zero: 1 and -1 have one, all others (0 too) give 0.
kernel::Value power(kernel::Value a, kernel::Value n);
// By the width or more, or by a negative amount: all bits leave; a signed number leaves its sign behind.
kernel::Value shift_left(kernel::Value a, kernel::Value amount);
kernel::Value shift_right(kernel::Value a, kernel::Value amount);
kernel::Value sign(kernel::Value a);

}  // namespace adit::graph::integers
