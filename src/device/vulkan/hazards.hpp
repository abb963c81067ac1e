// Which commands must wait for which: ranges of addresses that were touched since the last barrier.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace adit::vulkan {

struct Touch {
  uint64_t begin = 0, end = 0;  // addresses
  bool write = false;
};

class Hazards {
 public:
  // True when a barrier must stand before a command that touches these; the tracker then starts anew from it.
  bool enter(std::span<const Touch> touches);
  void clear();

 private:
  bool conflicts(const Touch& touch) const;
  void add(const Touch& touch);

  static constexpr size_t most = 64;  // beyond, a barrier is cheaper than looking
  std::vector<Touch> reads_, writes_;
};

}  // namespace adit::vulkan
