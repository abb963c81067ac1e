// Arithmetic under a Loose: what takes the place of the plain instruction, where something does.
#pragma once

#include <optional>

#include <adit/kernel/builder.hpp>

namespace adit::kernel {

std::optional<Value> loose_sum(Value a, Value b);
std::optional<Value> loose_difference(Value a, Value b);
std::optional<Value> loose_product(Value a, Value b);
std::optional<Value> loose_negative(Value a);

}  // namespace adit::kernel
