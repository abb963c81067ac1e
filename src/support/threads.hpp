// A pool of threads that share ranges of work with the caller.
//
// - parallel() splits [0, count) into chunks; the caller and the workers take them in turn until none is
// left.
// - Any number of callers at once; workers help the oldest job that still has chunks.
// - Idle workers spin briefly, since the next kernel usually comes at once, and then sleep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace adit::cpu {

class Threads {
 public:
  using Work = std::function<void(uint64_t begin, uint64_t end)>;

  explicit Threads(unsigned threads);  // in all, the caller's included
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  unsigned size() const { return static_cast<unsigned>(workers_.size()) + 1; }
  void parallel(uint64_t count, uint64_t chunk, const Work& work);

 private:
  struct Job {
    const Work* work;
    uint64_t count, chunk;
    std::atomic<uint64_t> next{0};
    std::atomic<uint64_t> done{0};  // how much of count is finished
  };

  static void help(Job& job);
  void serve();
  std::shared_ptr<Job> take();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::atomic<uint32_t> posted_{0};  // changes with every job; what idle workers watch
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace adit::cpu
