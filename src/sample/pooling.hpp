// What many chains learn together, summed and handed out on the device: the state of a million chains is more
// than the host can read and write between two windows.
#pragma once

#include <memory>
#include <vector>

#include <adit/device.hpp>

#include "nuts/layout.hpp"

namespace adit::sampling {

class Pooler {
 public:
  // Chains of data sets one after the other; a diagonal metric.
  Pooler(std::shared_ptr<Device> device, const Layout& layout, DType type, int64_t sets,
         int64_t chains_a_set);

  // One metric and one step size for all chains of a set, which then search for a step size anew. False where
  // a metric came out that is none.
  bool pool_adaptation(const Buffer& state, const Buffer& words);
  // The geometric mean of a set's step sizes for all of its chains.
  void pool_steps(const Buffer& state, const Buffer& words);

 private:
  std::vector<double> sums(const Kernel& kernel, const Buffer& state, const Buffer& words, int64_t width);
  Buffer uploaded(const std::vector<double>& numbers) const;
  std::vector<double> downloaded(const Buffer& buffer, uint64_t count) const;
  std::vector<double> metrics_of_first_chains(const Buffer& state) const;
  void hand_out(const Buffer& state, const Buffer& words, const std::vector<double>& steps,
                const std::vector<double>& metric);

  std::shared_ptr<Device> device_;
  int64_t size_ = 0, numbers_a_chain_ = 0, metric_at_ = 0, sets_ = 1, chains_a_set_ = 0, teams_a_set_ = 0;
  DType type_;
  std::shared_ptr<const Kernel> means_, squares_, hand_out_;
  Buffer mean_;  // of each set
};

}  // namespace adit::sampling
