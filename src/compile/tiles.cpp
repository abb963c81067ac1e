#include "compile/tiles.hpp"

#include <algorithm>
#include <map>

#include "graph/op.hpp"

namespace adit::compile {

using graph::Kind;
using graph::Op;
using kernel::Builder;
using kernel::Type;

namespace {

constexpr int64_t sides[] = {64, 32};  // of a tile: the first that fits into shared memory
constexpr int64_t team_lanes = 256;    // each handles side * side / team_lanes elements
constexpr int64_t smallest = 1 << 14;

// What the transposes of a group have in common.
struct Crossing {
  std::vector<const Node*> transposes;  // computed at the place of the loop
  Axes axes;                            // output axis i is input axis axes[i]
  int across = 0;                       // the output axis along which the operand is consecutive
};

std::optional<Crossing> crossing_of(const Group& group, const Workshop& shop) {
  const Shape& shape = group.roots[0]->shape;
  for (const Node* root : group.roots)
    if (!(root->shape == shape)) return std::nullopt;
  if (shape.size() < 2 || element_count(shape) < smallest) return std::nullopt;
  std::map<uint64_t, const Node*> found;
  bool fits = true;
  for_each_inside(group, shop.partition, [&](const Node& node, Reading reading) {
    fits = fits && !is_complex(node.type);
    if (node.op == Op::dot || graph::row_of(node.op).kind == Kind::reduction) fits = false;
    if (node.op != Op::transpose) return;
    if (reading == Reading::whole && node.shape == shape)
      found[node.number] = &node;
    else
      fits = false;
  });
  if (!fits || found.empty() || found.size() > 2) return std::nullopt;
  Crossing crossing;
  for (const auto& [number, node] : found) crossing.transposes.push_back(node);
  crossing.axes = crossing.transposes[0]->as<graph::AxisList>().axes;
  for (const Node* node : crossing.transposes)
    if (!(node->as<graph::AxisList>().axes == crossing.axes)) return std::nullopt;
  const int last = shape.size() - 1;
  for (int axis = 0; axis <= last; ++axis)
    if (crossing.axes[axis] == last) crossing.across = axis;
  // Short axes would leave most of a tile empty.
  if (crossing.across == last || shape[last] < 16 || shape[crossing.across] < 16) return std::nullopt;
  return crossing;
}

// A column more than the side, so that lanes that go down a column meet different banks.
uint64_t elements_of_tile(int64_t side) { return static_cast<uint64_t>(side * (side + 1)); }

uint64_t bytes_of_tiles(const Crossing& crossing, int64_t side) {
  uint64_t bytes = 0;
  for (const Node* node : crossing.transposes)
    bytes += elements_of_tile(side) * size_of(compute_type(node->type));
  return bytes;
}

class TileKernel {
 public:
  TileKernel(const Group& group, const Crossing& crossing, Workshop& shop, int64_t tile_side)
      : group_(group),
        crossing_(crossing),
        side_(tile_side),
        steps_(side_ * side_ / team_lanes),
        shop_(shop),
        shape_(group.roots[0]->shape),
        last_(shape_.size() - 1),
        k_(kernel_name(group, shop.partition, "tiles"), kernel::Team::many(team_lanes)),
        arguments_(k_),
        writer_(k_, arguments_, shop.partition, group, index_type_for(group, shop.partition)) {}

  Launch make() {
    declare_arguments(writer_, group_, shop_.partition);
    std::vector<kernel::Array> tiles;
    for (const Node* node : crossing_.transposes)
      tiles.push_back(k_.shared(compute_type(node->type), static_cast<uint32_t>(elements_of_tile(side_))));
    const uint64_t teams = find_tile();
    const Value lanes = k_.constant(Type::u32, team_lanes);
    k_.each(lanes, [&](Value lane) { fill_tiles(tiles, convert(lane, writer_.index_type())); });
    k_.each(lanes, [&](Value lane) { store_results(tiles, convert(lane, writer_.index_type())); });
    return {k_.finish(), teams, arguments_.bindings()};
  }

 private:
  // The tile of this team: where it starts along the two axes, and the other coordinates.
  uint64_t find_tile() {
    const int64_t columns = (shape_[last_] + side_ - 1) / side_,
                  rows = (shape_[crossing_.across] + side_ - 1) / side_;
    Value rest = k_.team(writer_.index_type());
    column_start_ = rest % writer_.number(columns) * writer_.number(side_);
    rest = rest / writer_.number(columns);
    row_start_ = rest % writer_.number(rows) * writer_.number(side_);
    rest = rest / writer_.number(rows);
    int64_t teams = columns * rows;
    coordinates_.resize(static_cast<size_t>(shape_.size()));
    for (int axis = last_ - 1; axis >= 0; --axis) {
      if (axis == crossing_.across) continue;
      coordinates_[static_cast<size_t>(axis)] = rest % writer_.number(shape_[axis]);
      rest = rest / writer_.number(shape_[axis]);
      teams *= shape_[axis];
    }
    return static_cast<uint64_t>(teams);
  }

  Index place(Value row, Value column) {
    std::vector<Value> coordinates = coordinates_;
    coordinates[static_cast<size_t>(crossing_.across)] = row;
    coordinates[static_cast<size_t>(last_)] = column;
    return Index(k_, shape_, std::move(coordinates), writer_.index_type());
  }

  // Elements past the end are those of the edge; they are never stored.
  Value within(Value at, int axis) { return min(at, writer_.number(shape_[axis] - 1)); }

  // A lane's elements lie lanes / side rows apart; all loads are in flight before the first store.
  void fill_tiles(const std::vector<kernel::Array>& tiles, Value lane) {
    const Writer::Scope scope(writer_);
    const Value row = lane % writer_.number(side_), first = lane / writer_.number(side_);
    for (size_t i = 0; i < tiles.size(); ++i) {
      const Node& node = *crossing_.transposes[i];
      std::vector<Value> values;
      for (int64_t step = 0; step < steps_; ++step) {
        const Value column = first + writer_.number(step * (team_lanes / side_));
        const Index at =
            place(within(row_start_ + row, crossing_.across), within(column_start_ + column, last_));
        values.push_back(graph::row_of(Op::transpose).view(writer_, node, at).re);
      }
      for (int64_t step = 0; step < steps_; ++step) {
        const Value column = first + writer_.number(step * (team_lanes / side_));
        tiles[i][row * writer_.number(side_ + 1) + column] = values[static_cast<size_t>(step)];
      }
    }
  }

  void store_results(const std::vector<kernel::Array>& tiles, Value lane) {
    const Value column = lane % writer_.number(side_), first = lane / writer_.number(side_);
    for (int64_t step = 0; step < steps_; ++step) {
      const Writer::Scope scope(writer_);
      const Value row = first + writer_.number(step * (team_lanes / side_));
      for (size_t i = 0; i < tiles.size(); ++i)
        writer_.fix(*crossing_.transposes[i],
                    {tiles[i][row * writer_.number(side_ + 1) + column], {}, false});
      const Value r = row_start_ + row, c = column_start_ + column;
      k_.if_(r < writer_.number(shape_[crossing_.across]) && c < writer_.number(shape_[last_]), [&] {
        const Writer::Scope inner(writer_);
        store_roots(writer_, group_, place(r, c));
      });
    }
  }

  const Group& group_;
  const Crossing& crossing_;
  const int64_t side_, steps_;  // steps: elements of a lane
  Workshop& shop_;
  const Shape& shape_;
  const int last_;
  Builder k_;
  Arguments arguments_;
  Writer writer_;
  std::vector<Value> coordinates_;
  Value row_start_, column_start_;
};

}  // namespace

std::optional<Launch> tiled_loop(const Group& group, Workshop& shop) {
  const auto crossing = crossing_of(group, shop);
  if (!crossing || shop.target.limits.max_lanes < team_lanes) return std::nullopt;
  for (const int64_t side : sides)
    if (bytes_of_tiles(*crossing, side) <= shop.target.limits.shared_bytes)
      return TileKernel(group, *crossing, shop, side).make();
  return std::nullopt;
}

}  // namespace adit::compile
