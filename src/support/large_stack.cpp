#include "support/large_stack.hpp"

#include <cstddef>
#include <exception>
#include <pthread.h>

namespace adit {

namespace {

// Only what is touched of it takes memory.
constexpr size_t most_bytes = size_t{256} << 20, fewest_bytes = size_t{8} << 20;

struct Job {
  const std::function<void()>& work;
  std::exception_ptr error{};
};

void* run(void* argument) {
  Job& job = *static_cast<Job*>(argument);
  try {
    job.work();
  } catch (...) {
    job.error = std::current_exception();
  }
  return nullptr;
}

bool begin(pthread_t& thread, size_t bytes, Job& job) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  const bool began = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                     pthread_create(&thread, &attributes, run, &job) == 0;
  pthread_attr_destroy(&attributes);
  return began;
}

}  // namespace

void on_a_large_stack(const std::function<void()>& work) {
  Job job{work};
  pthread_t thread{};
  size_t bytes = most_bytes;
  while (bytes >= fewest_bytes && !begin(thread, bytes, job)) bytes /= 2;
  if (bytes < fewest_bytes) return work();  // no thread is to be had
  pthread_join(thread, nullptr);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace adit
