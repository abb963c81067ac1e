// Loops that read a tensor across its rows: the elements go through a tile in shared memory, so that reads
// and writes are both consecutive.
#pragma once

#include <optional>

#include "compile/launch.hpp"

namespace adit::compile {

// None where the group reads no large transposed tensor, or more than one kind of them.
std::optional<Launch> tiled_loop(const Group& group, Workshop& shop);

}  // namespace adit::compile
