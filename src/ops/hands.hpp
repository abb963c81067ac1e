// Lanes by hand, for factorisations on a GPU whose subgroups have one size: a team's sums and its largest
// element, known to every lane.
#pragma once

#include <algorithm>
#include <vector>

#include <adit/device.hpp>
#include <adit/kernel/builder.hpp>

namespace adit::ops {

inline bool has_hands(const Limits& limits) {
  return limits.lanes_by_hand && limits.fixed_subgroups && limits.subgroup_arithmetic &&
         limits.subgroup_shuffle && limits.subgroup_size >= 4;
}

class Hands {
 public:
  // `most`: values that are summed at a time.
  Hands(kernel::Builder& k, kernel::Type type, uint32_t lanes, uint32_t subgroup, uint32_t most)
      : k_(k), subgroups_(lanes / subgroup), most_(most) {
    partial_ = k.shared(type, subgroups_ * most);
    total_ = k.shared(type, most);
    peaks_ = k.shared(type, subgroups_);
    number_ = k.subgroup_number();
    inside_ = k.subgroup_lane();
    lane_ = number_ * subgroup + inside_;
  }
  kernel::Value lane() const { return lane_; }
  kernel::Value inside() const { return inside_; }
  kernel::Value number() const { return number_; }

  // Two barriers.
  std::vector<kernel::Value> sums(const std::vector<kernel::Value>& mine) {
    const auto count = static_cast<uint32_t>(mine.size());
    std::vector<kernel::Value> here;
    for (const kernel::Value& value : mine) here.push_back(k_.subgroup_reduce(kernel::Reduction::add, value));
    k_.if_(inside_ == 0, [&] {
      for (uint32_t i = 0; i < count; ++i) partial_[number_ * most_ + i] = here[i];
    });
    k_.barrier();
    k_.if_(lane_ < count, [&] {
      kernel::Value sum = partial_[lane_];
      for (uint32_t s = 1; s < subgroups_; ++s) sum = sum + partial_[lane_ + s * most_];
      total_[lane_] = sum;
    });
    k_.barrier();
    std::vector<kernel::Value> all;
    for (uint32_t i = 0; i < count; ++i) all.push_back(total_[k_.constant(kernel::Type::u32, i)].get());
    return all;
  }
  kernel::Value sum(kernel::Value mine) { return sums({mine})[0]; }

  // The largest of all; one barrier, and another must part two calls.
  kernel::Value largest(kernel::Value mine) {
    const kernel::Value here = k_.subgroup_reduce(kernel::Reduction::max, mine);
    k_.if_(inside_ == 0, [&] { peaks_[number_] = here; });
    k_.barrier();
    kernel::Value all = peaks_[k_.constant(kernel::Type::u32, 0)];
    for (uint32_t s = 1; s < subgroups_; ++s) all = max(all, peaks_[k_.constant(kernel::Type::u32, s)].get());
    return all;
  }

 private:
  kernel::Builder& k_;
  uint32_t subgroups_, most_;
  kernel::Array partial_, total_, peaks_;
  kernel::Value number_, inside_, lane_;
};

}  // namespace adit::ops
