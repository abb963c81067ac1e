// Integer arithmetic on constants is done while the kernel is written: places in small tensors are known
// then.
#pragma once

#include <optional>

#include <adit/kernel/builder.hpp>

namespace adit::kernel {

// The bits of a constant; nothing where the value is not one.
std::optional<uint64_t> constant_bits_of(Value a);
// What `op` of two integers (or booleans) gives, where that is known: both are constants, or one of them
// leaves the other as it is.
std::optional<Value> folded(Op op, Value a, Value b);

}  // namespace adit::kernel
