#include "support/deep_stack.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <exception>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <adit/error.hpp>

namespace adit {

namespace {

thread_local uintptr_t end_of_stack = 0;  // 0: not a stack of ours

uintptr_t place_on_stack() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

struct DeepWork {
  const std::function<void()>& work;
  size_t bytes;
  std::exception_ptr thrown = nullptr;
};

void* run_deep_work(void* given) {
  auto& it = *static_cast<DeepWork*>(given);
  constexpr size_t of_the_thread = 64 << 10;  // what the library keeps at the other end
  end_of_stack = place_on_stack() - it.bytes + std::min(it.bytes, of_the_thread);
  try {
    it.work();
  } catch (...) {
    it.thrown = std::current_exception();
  }
  return nullptr;
}

size_t whole_pages(size_t bytes) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// Where addresses are limited, the work itself needs most of them.
size_t share_of_addresses() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur / 16
                                                                                : SIZE_MAX;
}

// False where there is no such stack, and nothing was done.
bool has_run(size_t bytes, const std::function<void()>& work) {
  const size_t size = whole_pages(std::max<size_t>(bytes, PTHREAD_STACK_MIN));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread;
  DeepWork it{work, size};
  const bool runs = pthread_attr_setstacksize(&attributes, size) == 0 &&
                    pthread_create(&thread, &attributes, run_deep_work, &it) == 0;
  pthread_attr_destroy(&attributes);
  if (!runs) return false;
  pthread_join(thread, nullptr);
  if (it.thrown) std::rethrow_exception(it.thrown);
  return true;
}

}  // namespace

size_t deep_stack_left() {
  return end_of_stack == 0 ? SIZE_MAX : place_on_stack() - std::min(place_on_stack(), end_of_stack);
}

void on_deep_stack(size_t bytes, const std::function<void()>& work, size_t more) {
  if (!has_run(bytes + std::min(more, share_of_addresses()), work) && !has_run(bytes, work))
    throw Error(
        ErrorKind::out_of_memory,
        fmt::format(
            "[stack] expected {:.1f} MB of address space for a stack to read texts on, got none (ulimit -v)",
            static_cast<double>(bytes) / 1e6));
}

void on_large_stack(const std::function<void()>& work) {
  constexpr size_t most_bytes = size_t{256} << 20, fewest_bytes = size_t{8} << 20;
  for (size_t bytes = most_bytes; bytes >= fewest_bytes; bytes /= 2)
    if (has_run(bytes, work)) return;
  work();
}

}  // namespace adit
