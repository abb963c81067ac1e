#include "graph/graph_lock.hpp"

#include <thread>

namespace adit::graph {

namespace {

thread_local int alone_depth = 0;

}  // namespace

// Either the one who wants to be alone sees that another is inside, or that one sees the wish.
void GraphLock::lock() {
  mutex_.lock();
  if (alone_depth++ > 0) return;
  alone_ = true;
  beside_.each([](const std::atomic<int>& inside) {
    while (inside != 0) std::this_thread::yield();
  });
}

void GraphLock::unlock() {
  if (--alone_depth == 0) alone_ = false;
  mutex_.unlock();
}

void GraphLock::lock_shared() {
  if (alone_depth > 0) return;
  std::atomic<int>& inside = beside_.mine();
  for (;;) {
    ++inside;
    if (!alone_) return;
    --inside;
    const std::lock_guard lock(mutex_);  // until it is free
  }
}

void GraphLock::unlock_shared() {
  if (alone_depth == 0) --beside_.mine();
}

GraphLock& graph_lock() {
  static auto& lock = *new GraphLock;
  return lock;
}

}  // namespace adit::graph
