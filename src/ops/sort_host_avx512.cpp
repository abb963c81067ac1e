// The loops over keys by registers of 512 bits.
#include "ops/sort_host_keys.hpp"

#if defined(__x86_64__)

#include <algorithm>
#include <type_traits>

#include "ops/target.hpp"

ADIT_BEGIN_TARGET(ADIT_LONG_VECTORS)
#include "ops/sort_host_loops.hpp"

namespace adit::ops::sorting_on_host {
AllLoops avx512_loops() { return all_loops(); }
}  // namespace adit::ops::sorting_on_host
ADIT_END_TARGET

#endif
