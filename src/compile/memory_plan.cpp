#include "compile/memory_plan.hpp"

#include <algorithm>

namespace adit::compile {

void MemoryPlan::use(const graph::Node* node, uint64_t bytes, size_t step) {
  const auto [it, fresh] = index_.try_emplace(node, lives_.size());
  if (fresh) lives_.push_back({node, bytes, step, step, 0});
  lives_[it->second].last = step;
}

uint64_t MemoryPlan::arrange() {
  std::vector<size_t> order(lives_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return lives_[a].bytes > lives_[b].bytes; });
  std::vector<size_t> placed;  // by offset
  uint64_t top = 0;
  for (const size_t i : order) {
    Life& mine = lives_[i];
    uint64_t offset = 0;
    for (const size_t j : placed) {
      const Life& other = lives_[j];
      if (other.last < mine.first || mine.last < other.first) continue;
      if (offset + mine.bytes <= other.offset) break;
      offset = std::max(offset, other.offset + other.bytes);
    }
    mine.offset = offset;
    top = std::max(top, offset + mine.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) { return lives_[a].offset < lives_[b].offset; }),
                  i);
    offsets_[mine.node] = offset;
  }
  return top;
}

}  // namespace adit::compile
