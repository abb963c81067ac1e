// Independent pieces of work on the processor's cores.
#pragma once

#include <cstdint>
#include <functional>

namespace adit::diagnostics {

// Calls work(0) ... work(count - 1), on as many threads as there are cores when `large`; the first exception
// is thrown again.
void for_each_piece(int64_t count, bool large, const std::function<void(int64_t)>& work);

}  // namespace adit::diagnostics
