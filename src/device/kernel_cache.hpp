// The kernels that a device made, by what their programs are.
//
// - An equal program gives the same kernel for as long as anyone has it; of two threads that ask for it at
// the
//   same time the second waits for the first. Different programs are made side by side.
// - Those that were used last are kept though nobody has them, up to a bound in bytes. What is in use
// elsewhere
//   counts as well: who drops it leaves it here.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <adit/device.hpp>

#include "support/code_memory.hpp"
#include "support/recent.hpp"
#include "support/spin_lock.hpp"

namespace adit {

class KernelCache {
 public:
  using Made = std::shared_ptr<const Kernel>;
  explicit KernelCache(uint64_t most_bytes = code_memory()) : kept_(most_bytes) {}

  Made get(const std::string& key, const std::function<Made()>& make);
  struct Held {
    uint64_t kernels = 0, bytes = 0;
  };
  Held held() const;  // all that live, whoever has them

 private:
  class Entry {
   public:
    std::mutex making;
    Made alive() const {
      const std::lock_guard lock(lock_);
      return kernel_.lock();
    }
    void set(const Made& kernel) {
      const std::lock_guard lock(lock_);
      kernel_ = kernel;
    }

   private:
    mutable SpinLock lock_;
    std::weak_ptr<const Kernel> kernel_;
  };
  std::shared_ptr<Entry> entry_of(const std::string& key, Made& known);
  void keep(const std::string& key, const Made& kernel);

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;  // of all that live
  Recent<std::string, Made> kept_;
};

}  // namespace adit
