// A run of small groups as one kernel of one team: what one of them writes the next one reads after a
// barrier, and nothing is launched in between.
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "compile/piece.hpp"
#include "compile/serial.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Kind;
using graph::Op;
using kernel::Builder;
using kernel::Type;

namespace {

constexpr int64_t most_elements = 4096;
constexpr double most_work = 1 << 17;  // additions

// A tensor that one group of the kernel writes and another reads is one parameter for both.
void declare_shared(std::span<const Group* const> groups, const Workshop& shop, Arguments& arguments) {
  std::set<const Node*> read;
  for (const Group* group : groups)
    for_each_read(*group, shop.partition, [&](const Node& node, Reading) { read.insert(&node); });
  for (const Group* group : groups)
    for (const Node* root : group->roots)
      if (shop.partition.stored.contains(root))
        arguments.tensor(*root, read.contains(root) ? kernel::Access::read_write : kernel::Access::write);
}

}  // namespace

double work_of_group(const Group& group, const Partition& partition) {
  double work = 0;
  for_each_inside(group, partition, [&](const Node& node, Reading) {
    const double elements = static_cast<double>(element_count(node.shape));
    const graph::Row& row = graph::row_of(node.op);
    if (node.op == Op::dot)
      work += elements * 2 * static_cast<double>(contracted_count(node));
    else if (row.kind == Kind::reduction)
      work += elements * static_cast<double>(reduced_count(node));
    else
      work += elements * row.cost;
  });
  return work;
}

bool is_small(const Group& group, const Workshop& shop) {
  if (group.form == Group::Form::kernel || group.roots.empty()) return false;
  const Shape& space = group.form == Group::Form::rows ? group.full : group.roots[0]->shape;
  const int64_t count = element_count(space);
  return count > 0 && count <= most_elements && work_of_group(group, shop.partition) <= most_work;
}

Launch one_team_launch(std::span<const Group* const> groups, Workshop& shop) {
  int64_t largest = 1;
  for (const Group* group : groups)
    for (const Node* root : group->roots) largest = std::max(largest, element_count(root->shape));
  const auto lanes = static_cast<uint32_t>(
      std::clamp<int64_t>(largest, 64, std::min<int64_t>(512, shop.target.limits.max_lanes)));
  Builder k(kernel_name(*groups.back(), shop.partition, fmt::format("team_of_{}", groups.size()).c_str()),
            kernel::Team::many(lanes / 32 * 32));
  Arguments arguments(k);
  declare_shared(groups, shop, arguments);
  DotRooms rooms(k, lanes / 32 * 32, shop.target);
  std::vector<Piece> pieces;
  for (const Group* group : groups) pieces.emplace_back(*group, shop, k, arguments, rooms).declare();
  for (Piece& piece : pieces) piece.write();
  return {k.finish(), 1, arguments.bindings()};
}

}  // namespace adit::compile
