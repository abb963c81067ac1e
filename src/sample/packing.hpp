// Which chains share a vector of a CPU. They wait for each other, so that those with about the same work left
// belong together. Draws do not depend on it: it may change with every dispatch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace adit::sampling {

class Packing {
 public:
  // At first chain i lies at place i; `lanes` places one after the other wait for each other.
  Packing(int64_t chains, uint32_t lanes);

  // By the chains' words before a dispatch and after it.
  void learn(std::span<const uint32_t> before, std::span<const uint32_t> after);
  // What chains did so far says little of what they will do.
  void forget();
  // Anew, for a dispatch that stops at iteration `limit`. Chains that are there already get no place,
  // but for those that fill the last vector.
  void arrange(std::span<const uint32_t> words, int64_t limit);

  const std::vector<uint32_t>& places() const { return places_; }  // chains by place
  // Rounds that the busiest chain will need, as far as is known.
  double longest() const { return longest_; }
  // Rounds of the last dispatch; and of all of them times the chains, those included in which they waited for
  // others.
  uint32_t longest_run() const { return longest_run_; }
  uint64_t executed() const { return executed_; }

 private:
  void count(std::span<const uint32_t> before, std::span<const uint32_t> after);

  const size_t lanes_;
  std::vector<double> leaves_, transitions_;  // of each chain lately
  std::vector<double> work_;                  // rounds left
  double longest_ = 0;
  uint32_t longest_run_ = 0;
  uint64_t executed_ = 0;
  std::vector<uint32_t> places_;
};

}  // namespace adit::sampling
