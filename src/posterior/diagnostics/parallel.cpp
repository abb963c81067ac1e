#include "posterior/diagnostics/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace adit::diagnostics {

void for_each_piece(int64_t count, bool large, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (int64_t piece = next++; piece < count; piece = next++) work(piece);
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> threads;
  const auto cores = static_cast<int64_t>(std::thread::hardware_concurrency());
  try {
    for (int64_t i = 1; large && i < std::min(cores, count); ++i) threads.emplace_back(run);
  } catch (const std::system_error&) {
    // The system gives no more threads: those there are do the work.
  }
  run();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace adit::diagnostics
