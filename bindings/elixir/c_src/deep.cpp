#include "deep.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <vector>

namespace adit::nif {
namespace {

constexpr size_t stack_bytes = size_t{16} << 20;  // of addresses: memory is what is used of it

class Worker {
 public:
  Worker() {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) throw std::bad_alloc();
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    const int failure = pthread_create(&thread, &attributes, &Worker::serve, this);
    pthread_attr_destroy(&attributes);
    if (failure != 0) throw std::bad_alloc();
  }

  void run(Work& work) {
    std::unique_lock lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !work_; });
  }

 private:
  static void* serve(void* self) {
    static_cast<Worker*>(self)->serve();
    return nullptr;
  }
  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return work_ != nullptr; });
      lock.unlock();
      work_->run();
      lock.lock();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Work* work_ = nullptr;
};

// There are never more workers than dirty schedulers; they stay until the process ends, and so does this.
struct Idle {
  std::mutex mutex;
  std::vector<Worker*> workers;
};
Idle& idle() {
  static auto& one = *new Idle;
  return one;
}

Worker* take_worker() {
  {
    const std::scoped_lock lock(idle().mutex);
    if (!idle().workers.empty()) {
      Worker* worker = idle().workers.back();
      idle().workers.pop_back();
      return worker;
    }
  }
  return new Worker;
}

void give_back(Worker* worker) {
  const std::scoped_lock lock(idle().mutex);
  idle().workers.push_back(worker);
}

}  // namespace

void run_deeply(Work& work) {
  Worker* worker = take_worker();
  worker->run(work);
  give_back(worker);
}

}  // namespace adit::nif
