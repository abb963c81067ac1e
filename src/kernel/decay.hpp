// What the logistic functions are made of.
#pragma once

#include <adit/kernel/builder.hpp>

namespace adit::kernel {

Value decay(Value x);  // exp(-|x|)

}  // namespace adit::kernel
