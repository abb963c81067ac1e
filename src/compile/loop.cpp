// Elementwise work and index maps: every element of the result by itself.
#include <algorithm>
#include <set>

#include "compile/launch.hpp"
#include "compile/team_loops.hpp"
#include "compile/tiles.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Kind;
using graph::Op;
using kernel::Builder;
using kernel::Type;

const Node& Workshop::make_scratch(DType type, const Shape& shape) {
  scratch.push_back(graph::placeholder(type, shape));
  return graph::node_of(scratch.back());
}

std::string kernel_name(const Group& group, const Partition& partition, const char* form) {
  std::map<uint64_t, std::string> words;  // by age, so that the name reads in order
  for_each_inside(group, partition, [&](const Node& node, Reading) {
    if (graph::row_of(node.op).kind != Kind::leaf) words[node.number] = graph::name_of(node.op);
  });
  std::string name = form;
  int shown = 0;
  for (const auto& [number, word] : words)
    if (shown++ < 6) name += "_" + word;
  if (shown > 6) name += "_and_" + std::to_string(shown - 6);
  return name;
}

Type index_type_for(const Group& group, const Partition& partition) {
  int64_t largest = 0;
  const auto look = [&](const Node& node, Reading) {
    largest = std::max(largest, element_count(node.shape) * (is_complex(node.type) ? 2 : 1));
  };
  for_each_inside(group, partition, look);
  for_each_read(group, partition, look);
  return largest >= (int64_t{1} << 31) - 64 ? Type::u64 : Type::u32;
}

void declare_arguments(Writer& writer, const Group& group, const Partition& partition) {
  std::map<uint64_t, const Node*> reads;  // by age: the same graph gives the same kernel
  for_each_read(group, partition, [&](const Node& node, Reading) { reads[node.number] = &node; });
  for (const Node* root : group.roots)
    if (partition.stored.contains(root)) writer.arguments().tensor(*root, kernel::Access::write);
  for (const auto& [number, node] : reads) {
    if (partition.arguments.contains(node))
      writer.arguments().number(*node);
    else
      writer.arguments().tensor(*node, kernel::Access::read);
  }
}

// All values before the first store: a result may lie where an operand lay.
void store_roots(Writer& writer, const Group& group, const Index& at) {
  std::vector<std::pair<Index, Scalar>> values;
  for (const Node* root : group.roots) {
    const Index mine = at.reshaped(root->shape);
    values.emplace_back(mine, writer.read(*root, mine));
  }
  for (size_t i = 0; i < values.size(); ++i) writer.store(*group.roots[i], values[i].first, values[i].second);
}

namespace {

// Elements an invocation computes: as many as 16 bytes of the widest type hold.
int vector_width(const Group& group, const Workshop& shop, int64_t count) {
  if (!shop.target.gpu || count < 4096) return 1;
  uint32_t widest = 1;
  int nodes = 0;
  bool has_pairs = false, scattered = false;
  const auto look = [&](const Node& node, Reading) {
    widest = std::max(widest, size_of(node.type));
    has_pairs = has_pairs || is_complex(node.type);
    scattered = scattered || node.op == Op::gather || node.op == Op::take_along_axis;
  };
  for_each_read(group, shop.partition, look);
  for_each_inside(group, shop.partition, [&](const Node& node, Reading reading) {
    ++nodes;
    look(node, reading);
  });
  // Scattered reads wait for memory: more invocations hide that better than wider ones.
  if (has_pairs || scattered || nodes > 300) return 1;
  return widest == 8 ? 2 : 4;
}

bool walks_out_of_order(const Group& group, const Workshop& shop) {
  bool found = false;
  for_each_inside(group, shop.partition, [&](const Node& node, Reading) {
    const Kind kind = graph::row_of(node.op).kind;
    const bool is_one = node.op == Op::broadcast && element_count(node.operands[0].shape()) == 1;
    found = found || (kind == Kind::view && node.op != Op::reshape && !is_one) || node.op == Op::iota ||
            node.op == Op::dot || kind == Kind::reduction;
  });
  return found;
}

// One invocation an element, or `width` of them.
Launch flat_loop(const Group& group, Workshop& shop, Type index_type) {
  const int64_t count = element_count(group.roots[0]->shape);
  const int width = vector_width(group, shop, count);
  Builder k(kernel_name(group, shop.partition, "loop"), kernel::Team::one(256));
  Arguments arguments(k);
  Writer writer(k, arguments, shop.partition, group, index_type);
  declare_arguments(writer, group, shop.partition);
  const Value team = k.team(index_type);
  const Shape& shape = group.roots[0]->shape;
  if (width == 1) {
    store_roots(writer, group, Index(k, shape, team));
  } else {
    std::vector<Value> lanes;
    for (int lane = 0; lane < width; ++lane)
      lanes.push_back(team * writer.number(width) + writer.number(lane));
    writer.set_vector(team, lanes);
    std::vector<std::vector<Scalar>> values;
    for (const Node* root : group.roots) {
      auto& mine = values.emplace_back();
      for (int lane = 0; lane < width; ++lane)
        mine.push_back(writer.read(*root, writer.lane_index(lane, root->shape)));
    }
    for (size_t i = 0; i < values.size(); ++i) writer.store_vector(*group.roots[i], team, values[i]);
  }
  return {k.finish(), static_cast<uint64_t>((count + width - 1) / width), arguments.bindings()};
}

// A team a row of the last axis: on a CPU the elements of a row stay consecutive, however the rows are found.
Launch row_loop(const Group& group, Workshop& shop, Type index_type) {
  const Shape& shape = group.roots[0]->shape;
  const int64_t length = shape.back();
  Builder k(kernel_name(group, shop.partition, "rows"), kernel::Team::many(64));
  Arguments arguments(k);
  Writer writer(k, arguments, shop.partition, group, index_type);
  declare_arguments(writer, group, shop.partition);
  const Value team = k.team(index_type);
  Shape outer = shape;
  outer.erase(shape.size() - 1);
  const Index row(k, outer, team);
  std::vector<Value> coordinates;
  for (int axis = 0; axis < outer.size(); ++axis) coordinates.push_back(row.coordinate(axis));
  team_each(k, index_type, length, [&](Value place) {
    const Writer::Scope scope(writer);
    std::vector<Value> all = coordinates;
    all.push_back(place);
    store_roots(writer, group, Index(k, shape, team * writer.number(length) + place, std::move(all)));
  });
  return {k.finish(), static_cast<uint64_t>(element_count(outer)), arguments.bindings()};
}

}  // namespace

std::vector<Launch> loop_launches(const Group& group, Workshop& shop) {
  const Shape& shape = group.roots[0]->shape;
  if (element_count(shape) == 0) return {};
  const Type index_type = index_type_for(group, shop.partition);
  bool one_shape = true;
  for (const Node* root : group.roots) one_shape = one_shape && root->shape == shape;
  std::vector<Launch> launches;
  if (shop.target.gpu) {
    auto special = tiled_loop(group, shop);
    if (!special) special = phased_loop(group, shop);
    if (special) {
      launches.push_back(std::move(*special));
      return launches;
    }
  }
  constexpr int64_t shortest_row = 12;  // of more than a vector
  if (!shop.target.gpu && one_shape && shape.size() >= 2 && shape.back() >= shortest_row &&
      walks_out_of_order(group, shop))
    launches.push_back(row_loop(group, shop, index_type));
  else
    launches.push_back(flat_loop(group, shop, index_type));
  return launches;
}

}  // namespace adit::compile
