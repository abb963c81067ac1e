// What is done on a normal scheduler at once: the hop to a dirty one and back takes longer than most small
// operations.
#pragma once

#include <cstddef>

namespace adit::nif {

// Copying so much takes some ten microseconds.
constexpr size_t most_copied = size_t{64} << 10;

// A fifth of the millisecond that a scheduler may be held: it took at most so long the last time, and may
// take some times as long now, when other threads want the same cores and caches.
constexpr size_t most_quick_microseconds = 200;

}  // namespace adit::nif
