// Independent pieces of work on the processor's cores.
#pragma once

#include <cstdint>
#include <functional>

#include "support/threads.hpp"

namespace adit::diagnostics {

// Calls work(0) ... work(count - 1), on the threads of the process when `large`.
inline void for_each_piece(int64_t count, bool large, const std::function<void(int64_t)>& work) {
  parallel(large ? thread_count() : 1, static_cast<uint64_t>(count), 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t piece = begin; piece < end; ++piece) work(static_cast<int64_t>(piece));
  });
}

}  // namespace adit::diagnostics
