// Many short rows at once on the CPU: a row a lane, so that one comparison of vectors is one of every row.
#pragma once

#include <cstdint>

namespace adit::ops {

template <class K>
inline constexpr uint64_t columns_together = 64 / sizeof(K);  // a line of the cache

// keys [count][columns_together<K>]: each column comes into order. Which keys are compared does not depend on
// what they are. For uint8_t, uint16_t, uint32_t and uint64_t.
template <class K>
void sort_columns(K* keys, uint64_t count);

}  // namespace adit::ops
