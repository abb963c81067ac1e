// Addresses that others give.
#pragma once

#include <cstddef>
#include <cstdint>

namespace adit::nif {

// Whether this process may read all of it now.
bool is_readable(uint64_t address, size_t size);

}  // namespace adit::nif
