// Who walks the operands of nodes that others may evaluate holds this lock alone; who gives a node its memory
// and takes its operands away holds it beside others who do the same, which costs next to nothing: a thread
// writes to a place of its own.
#pragma once

#include <atomic>
#include <mutex>

#include "support/thread_slot.hpp"

namespace adit::graph {

// There is one, since a thread's depth in it is the thread's.
class GraphLock {
 public:
  void lock();  // alone; again by the same thread
  void unlock();
  void lock_shared();  // nothing more where this thread holds it alone
  void unlock_shared();

 private:
  std::recursive_mutex mutex_;
  std::atomic<bool> alone_{false};
  PerThread<std::atomic<int>> beside_;
};

GraphLock& graph_lock();

}  // namespace adit::graph
