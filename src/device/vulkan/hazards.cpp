#include "device/vulkan/hazards.hpp"

#include <algorithm>

namespace adit::vulkan {
namespace {

bool overlaps_any(const std::vector<Touch>& touched, const Touch& touch) {
  return std::any_of(touched.begin(), touched.end(),
                     [&](const Touch& other) { return touch.begin < other.end && other.begin < touch.end; });
}

}  // namespace

bool Hazards::conflicts(const Touch& touch) const {
  return overlaps_any(writes_, touch) || (touch.write && overlaps_any(reads_, touch));
}

void Hazards::add(const Touch& touch) {
  if (touch.begin == touch.end) return;
  std::vector<Touch>& touched = touch.write ? writes_ : reads_;
  const bool known = std::any_of(touched.begin(), touched.end(), [&](const Touch& other) {
    return other.begin <= touch.begin && touch.end <= other.end;
  });
  if (!known) touched.push_back(touch);
}

bool Hazards::enter(std::span<const Touch> touches) {
  bool barrier =
      reads_.size() + writes_.size() + touches.size() > most && !(reads_.empty() && writes_.empty());
  for (size_t i = 0; i < touches.size() && !barrier; ++i) barrier = conflicts(touches[i]);
  if (barrier) clear();
  for (const Touch& touch : touches) add(touch);
  return barrier;
}

void Hazards::clear() {
  reads_.clear();
  writes_.clear();
}

}  // namespace adit::vulkan
