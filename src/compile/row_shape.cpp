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
  const bool may = by_team_ && holds() && limits.fixed_subgroups && held_lanes() == limits.subgroup_size;
  return may && plan_.count >= 1024 ? std::clamp(limits.max_lanes / limits.subgroup_size, 1U, 4U) : 1;
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
  return by_team_ && 2 * plan_.length / width <= lanes;
}

uint32_t RowWriter::held_lanes() const {
  if (is_short()) return 1;
  const int64_t steps = plan_.length / width(), most = std::min<int64_t>(512, shop_.target.limits.max_lanes);
  int64_t lanes = most;
  while (lanes > 32 && steps % lanes != 0) lanes /= 2;
  // Fewer lanes with more elements each need fewer rounds between lanes.
  while (lanes > 128 && steps / lanes * 2 <= 4) lanes /= 2;
  if (steps % lanes == 0 && steps / lanes <= most_held) return static_cast<uint32_t>(lanes);
  // The last access of some lanes has no element. Many rows are best held by a subgroup each.
  const int64_t accesses = plan_.count >= many_held ? most_held : most_held / 2;
  for (lanes = 32; lanes < most && steps > lanes * accesses;) lanes *= 2;
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
