// Places in one arena for tensors that live only while an executable or a density is computed. A tensor is
// known by a key, which may be its node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace adit::lower {

// Every tensor starts at a multiple of this and may be read or written up to the next one: kernels touch
// whole vectors.
inline constexpr uint64_t memory_unit = 256;
inline uint64_t padded(uint64_t bytes) {
  return (std::max<uint64_t>(bytes, 1) + memory_unit - 1) / memory_unit * memory_unit;
}

class MemoryPlan {
 public:
  void use(const void* key, uint64_t bytes, size_t step);
  // After all uses are known: `key`, first used in `step`, takes over the memory of `dying`, last used
  // there, where the sizes agree. The work of that step reads an element before it writes the same one.
  void take_over(const void* key, const void* dying, size_t step);
  // Largest first, each at the lowest offset that is free while it lives; returns the arena's size.
  uint64_t arrange();
  const std::unordered_map<const void*, uint64_t>& offsets() const { return offsets_; }

  struct Life {
    const void* key = nullptr;
    uint64_t bytes = 0;
    size_t first = 0, last = 0;  // steps
    uint64_t offset = 0;
    size_t owner = 0;  // whose memory it uses: its own number, or that of a tensor that died as it began
    size_t until = 0;  // the step that ends the last of those who use this one's memory
  };
  const std::vector<Life>& lives() const { return lives_; }

 private:
  std::vector<Life> lives_;
  std::unordered_map<const void*, size_t> index_;
  std::unordered_map<const void*, uint64_t> offsets_;
};

}  // namespace adit::lower
