// Counter based random numbers (Salmon, Moraes, Dror, Shaw 2011): bits from a key and a counter, all in u32.
#pragma once

#include <array>

#include <adit/kernel/builder.hpp>

namespace adit::kernel {

// Threefry 2x32 with 20 rounds.
std::array<Value, 2> threefry(std::array<Value, 2> key, std::array<Value, 2> count);
// Philox 4x32 with 10 rounds.
std::array<Value, 4> philox(std::array<Value, 2> key, std::array<Value, 4> count);

}  // namespace adit::kernel
