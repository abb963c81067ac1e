// How much compiled code a cache of the process keeps.
#pragma once

#include <cstdint>

namespace adit {

// Bytes: ADIT_CODE_MEMORY, in MiB, or 512 MiB, but no more than an eighth of the memory.
uint64_t code_memory();

}  // namespace adit
