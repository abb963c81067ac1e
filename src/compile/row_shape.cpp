// How many lanes, elements of an access and rows a team takes.
#include <algorithm>
#include <bit>

#include "compile/row_writer.hpp"

namespace adit::compile {

uint32_t RowWriter::rows_of_a_subgroup() const {
  constexpr int64_t most_rows = 4, most_elements = 16, many_rows = 1 << 14;
  if (rows_of_a_team() == 1 || plan_.count < many_rows) return 1;
  int64_t tensors = 0;  // that it holds
  for_each_read(group_, shop_.partition,
                [&](const Node& node, Reading) { tensors += node.shape == group_.full; });
  const int64_t steps = plan_.length / width(), accesses = (steps + held_lanes() - 1) / held_lanes();
  const int64_t elements = accesses * width() * std::max<int64_t>(1, tensors);
  return static_cast<uint32_t>(std::clamp<int64_t>(most_elements / elements, 1, most_rows));
}

uint32_t RowWriter::rows_of_a_team() const {
  const Limits& limits = shop_.target.limits;
  const bool may = by_team_ && holds() && limits.fixed_subgroups &&
                   (held_lanes() == limits.subgroup_size || rows_side_by_side() > 1);
  if (!may || plan_.count < 1024) return 1;
  return std::clamp(limits.max_lanes / limits.subgroup_size, 1U, 4U) * rows_side_by_side();
}

// Shorter rows are a lane's. On an H200, us for softmax and its gradient, by lanes and by shared subgroups: a
// million rows of 10 52, 34 and 36, 53; 600,000 of 16 33, 37 and 22, 32; 500,000 of 20 160, 361 and 32, 43.
bool RowWriter::share_subgroups(const RowPlan& plan, const Target& target) {
  const Limits& limits = target.limits;
  constexpr int64_t of_a_lane = 4;  // elements of a row that one lane reads at once
  constexpr int64_t shortest = 14;
  const int64_t steps = plan.length % 2 == 0 ? plan.length / 2 : plan.length;  // at most
  return target.gpu && limits.fixed_subgroups && limits.lanes_by_hand && limits.subgroup_shuffle &&
         plan.consecutive && plan.count >= many_held && plan.length >= shortest &&
         steps <= limits.subgroup_size && 2 * plan.length <= of_a_lane * limits.subgroup_size &&
         !plan.whole_roots.empty() && !plan.levels.empty();
}

uint32_t RowWriter::rows_side_by_side() const {
  const int64_t steps = plan_.length / width();
  const uint32_t lanes = shop_.target.limits.subgroup_size;
  if (!by_team_ || !may_hold_ || !share_subgroups(plan_, shop_.target) || 2 * steps > lanes) return 1;
  return lanes / static_cast<uint32_t>(std::bit_ceil(static_cast<uint64_t>(steps)));
}

uint32_t RowWriter::lanes() const {
  const uint64_t wanted = std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, plan_.length / width())));
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(wanted, 32, std::min(512u, shop_.target.limits.max_lanes)));
}

int RowWriter::width() const {
  if (!may_widen_ || !shop_.target.gpu || !(by_team_ || is_short()) || !plan_.consecutive) return 1;
  uint32_t widest = 1, narrowest = 16;
  bool has_pairs = false;
  const auto look = [&](const Node& node, Reading) {
    widest = std::max(widest, size_of(node.type));
    has_pairs = has_pairs || is_complex(node.type);
  };
  const auto touch = [&](const Node& node) { narrowest = std::min(narrowest, size_of(node.type)); };
  for_each_read(group_, shop_.partition, [&](const Node& node, Reading reading) {
    look(node, reading);
    touch(node);
  });
  for_each_inside(group_, shop_.partition, look);
  for (const Node* root : plan_.whole_roots) touch(*root);
  const int width = widest == 8 ? 2 : 4;
  if (has_pairs) return 1;
  const bool may_halve = plan_.length % 2 == 0 && narrowest >= 4;
  if (plan_.length % width == 0) return may_halve && leaves_half_idle(width) ? width / 2 : width;
  return may_halve ? 2 : 1;
}

bool RowWriter::leaves_half_idle(int width) const {
  constexpr int64_t lanes = 32;
  return by_team_ && 2 * plan_.length / width <= lanes && !share_subgroups(plan_, shop_.target);
}

uint32_t RowWriter::held_lanes() const {
  if (is_short()) return 1;
  if (const uint32_t beside = rows_side_by_side(); beside > 1)
    return shop_.target.limits.subgroup_size / beside;
  const int64_t steps = plan_.length / width(), most = std::min<int64_t>(512, shop_.target.limits.max_lanes);
  // Lanes of half a subgroup would have no number among the team's subgroups.
  const int64_t least = std::max(32U, shop_.target.limits.subgroup_size);
  int64_t lanes = most;
  while (lanes > least && steps % lanes != 0) lanes /= 2;
  // Fewer lanes with more elements each need fewer rounds between lanes.
  while (lanes > std::max<int64_t>(128, least) && steps / lanes * 2 <= 4) lanes /= 2;
  if (steps % lanes == 0 && steps / lanes <= most_held) return static_cast<uint32_t>(lanes);
  // The last access of some lanes has no element. Many rows are best held by a subgroup each.
  const int64_t accesses = plan_.count >= many_held ? most_held : most_held / 2;
  for (lanes = least; lanes < most && steps > lanes * accesses;) lanes *= 2;
  return static_cast<uint32_t>(lanes);
}

bool RowWriter::holds() const {
  const Limits& limits = shop_.target.limits;
  if (plan_.levels.size() + !plan_.whole_roots.empty() < 2) return false;
  if (is_short()) return true;
  if (!may_hold_ || !by_team_ || !shop_.target.gpu || !limits.lanes_by_hand || !limits.subgroup_arithmetic)
    return false;
  const int64_t steps = plan_.length / width();
  return steps <= held_lanes() * most_held;
}

}  // namespace adit::compile
