#include "lower/memory_plan.hpp"

#include <algorithm>
#include <map>

namespace adit::lower {

void MemoryPlan::use(const void* key, uint64_t bytes, size_t step) {
  const auto [it, fresh] = index_.try_emplace(key, lives_.size());
  if (fresh) lives_.push_back({key, bytes, step, step, 0, lives_.size(), step});
  lives_[it->second].last = lives_[it->second].until = step;
}

void MemoryPlan::take_over(const void* key, const void* dying, size_t step) {
  const auto mine = index_.find(key), other = index_.find(dying);
  if (mine == index_.end() || other == index_.end()) return;
  Life& life = lives_[mine->second];
  Life& owner = lives_[lives_[other->second].owner];
  const bool is_free =
      life.owner == mine->second && owner.until == step && lives_[other->second].last == step;
  if (!is_free || life.first != step || life.bytes != owner.bytes || &life == &owner) return;
  life.owner = lives_[other->second].owner;
  owner.until = life.last;
}

namespace {

// A piece of the arena and when it is in use: tensors of one size that follow each other.
class Slot {
 public:
  Slot(uint64_t begin, uint64_t size) : offset(begin), bytes(size) {}
  uint64_t offset, bytes;

  bool is_busy(size_t first, size_t until) {
    if (first <= known_until_ && known_first_ <= until) return true;
    auto next = times_.upper_bound(until);
    if (next == times_.begin()) return false;
    --next;
    if (next->second < first) return false;
    known_first_ = next->first;
    known_until_ = next->second;
    return true;
  }
  void take(size_t first, size_t until) {
    times_[first] = until;
    known_first_ = first;
    known_until_ = until;
  }

 private:
  std::map<size_t, size_t> times_;            // from the first step to the last
  size_t known_first_ = 1, known_until_ = 0;  // one of them, which is looked at before the others
};

}  // namespace

uint64_t MemoryPlan::arrange() {
  std::vector<size_t> order;
  for (size_t i = 0; i < lives_.size(); ++i)
    if (lives_[i].owner == i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lives_[a].bytes > lives_[b].bytes; });
  std::vector<Slot> slots;  // by offset
  uint64_t top = 0;
  for (const size_t i : order) {
    Life& mine = lives_[i];
    uint64_t offset = 0;
    for (Slot& slot : slots) {
      if (offset + mine.bytes <= slot.offset) break;
      if (offset >= slot.offset + slot.bytes || !slot.is_busy(mine.first, mine.until)) continue;
      offset = slot.offset + slot.bytes;
    }
    mine.offset = offset;
    top = std::max(top, offset + mine.bytes);
    auto at = std::lower_bound(slots.begin(), slots.end(), offset,
                               [](const Slot& slot, uint64_t value) { return slot.offset < value; });
    while (at != slots.end() && at->offset == offset && at->bytes != mine.bytes) ++at;
    if (at == slots.end() || at->offset != offset) at = slots.emplace(at, offset, mine.bytes);
    at->take(mine.first, mine.until);
  }
  for (Life& life : lives_) {
    life.offset = lives_[life.owner].offset;
    offsets_[life.key] = life.offset;
  }
  return top;
}

}  // namespace adit::lower
