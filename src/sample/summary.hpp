// Where many chains are, in a few numbers: a million chains' own are more than the host can look through
// between two dispatches.
#pragma once

#include <memory>

#include <adit/device.hpp>

namespace adit::sampling {

struct Summary {
  int64_t slowest = 0;                                                               // iteration
  uint64_t transitions = 0, leapfrogs = 0, divergences = 0, warmup_divergences = 0;  // of all chains so far
  int64_t failed = 0, going = 0;  // chains; going: those before the iteration that was asked for
  uint32_t longest_run = 0;       // rounds since the last summary, of the chain that made most
};

class Summariser {
 public:
  Summariser(std::shared_ptr<Device> device, int64_t chains);
  // Of the chains' words, after what was given to the device before.
  Summary summarise(const Buffer& words, int64_t limit);

 private:
  std::shared_ptr<Device> device_;
  int64_t chains_ = 0;
  uint64_t teams_ = 0;
  std::shared_ptr<const Kernel> kernel_;
  Buffer rounds_;  // of each chain at the last summary
  Buffer parts_;
};

}  // namespace adit::sampling
