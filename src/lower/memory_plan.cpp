#include "lower/memory_plan.hpp"

#include <algorithm>

namespace adit::lower {

void MemoryPlan::use(const graph::Node* node, uint64_t bytes, size_t step) {
  const auto [it, fresh] = index_.try_emplace(node, lives_.size());
  if (fresh) lives_.push_back({node, bytes, step, step, 0, lives_.size(), step});
  lives_[it->second].last = lives_[it->second].until = step;
}

void MemoryPlan::take_over(const graph::Node* node, const graph::Node* dying, size_t step) {
  const auto mine = index_.find(node), other = index_.find(dying);
  if (mine == index_.end() || other == index_.end()) return;
  Life& life = lives_[mine->second];
  Life& owner = lives_[lives_[other->second].owner];
  const bool is_free =
      life.owner == mine->second && owner.until == step && lives_[other->second].last == step;
  if (!is_free || life.first != step || life.bytes != owner.bytes || &life == &owner) return;
  life.owner = lives_[other->second].owner;
  owner.until = life.last;
}

uint64_t MemoryPlan::arrange() {
  std::vector<size_t> order;
  for (size_t i = 0; i < lives_.size(); ++i)
    if (lives_[i].owner == i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lives_[a].bytes > lives_[b].bytes; });
  std::vector<size_t> placed;  // by offset
  uint64_t top = 0;
  for (const size_t i : order) {
    Life& mine = lives_[i];
    uint64_t offset = 0;
    for (const size_t j : placed) {
      const Life& other = lives_[j];
      if (other.until < mine.first || mine.until < other.first) continue;
      if (offset + mine.bytes <= other.offset) break;
      offset = std::max(offset, other.offset + other.bytes);
    }
    mine.offset = offset;
    top = std::max(top, offset + mine.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) { return lives_[a].offset < lives_[b].offset; }),
                  i);
  }
  for (Life& life : lives_) {
    life.offset = lives_[life.owner].offset;
    offsets_[life.node] = life.offset;
  }
  return top;
}

}  // namespace adit::lower
