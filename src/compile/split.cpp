// Few long rows: each is cut into parts, the parts are reduced by teams of their own, and a second kernel
// joins them.
#include <algorithm>

#include "compile/rows.hpp"
#include "compile/serial.hpp"
#include "compile/totals.hpp"

namespace adit::compile {

using kernel::Builder;
using kernel::Reduction;
using kernel::Type;

namespace {

DType tensor_type(Type type) {
  switch (type) {
    case Type::f32: return DType::f32;
    case Type::f64: return DType::f64;
    case Type::u32: return DType::u32;
    case Type::i32: return DType::i32;
    case Type::u64: return DType::u64;
    case Type::i64: return DType::i64;
    case Type::u8: return DType::u8;
    case Type::i8: return DType::i8;
    case Type::u16: return DType::u16;
    case Type::i16: return DType::i16;
    default:
      throw Error(ErrorKind::internal, "[compile] partial result: expected a number that is computed with");
  }
}

}  // namespace

Totals::Totals(const RowPlan& plan, Workshop& shop, int64_t count) {
  for (const Node* node : plan.levels[0]) {
    for (const Reduction reduction : reductions_of(*node)) reductions.push_back(reduction);
    for (const Type type : accumulator_types(*node)) types.push_back(type);
  }
  for (const Type type : types) memory.push_back(&shop.make_scratch(tensor_type(type), {count}));
}

namespace {

class Splitter {
 public:
  Splitter(const Group& group, const RowPlan& plan, Workshop& shop, const RowCut& cut)
      : group_(group),
        plan_(plan),
        shop_(shop),
        tiles_(cut.tiles),
        index_type_(index_type_for(group, shop.partition)) {
    by_team_ = plan.length >= 32 && (plan.consecutive || (shop.target.gpu && cut.by_team));
    width_ = by_team_ && shop.target.gpu && run_length() % 4 == 0 ? 4 : 1;
    for (const Node* node : plan.levels[0])
      if (size_of(node->operands[0].dtype()) > 4) width_ = 1;
    const int64_t unit = tiles_.columns > 0 ? tiles_.slices * at_once : width_ * 64;
    const int64_t share = (plan.length + cut.parts - 1) / cut.parts;
    chunk_ = (share + unit - 1) / unit * unit;
    parts_ = (plan.length + chunk_ - 1) / chunk_;
    constexpr int64_t few_for_a_lane = 32;  // which a lane joins
    joins_by_team_ = by_team_ || (tiles_.columns > 0 && parts_ >= few_for_a_lane);
    totals_ = Totals(plan, shop, plan.count * parts_);
  }

  std::vector<Launch> make() {
    std::vector<Launch> launches;
    launches.push_back(tiles_.columns > 0 ? partial_tiles() : partial());
    launches.push_back(joining());
    return launches;
  }

 private:
  // Where part `part` of row `row` lies in the partial results: whoever writes or reads side by side does so
  // in order.
  Value slot(Writer& writer, Value row, Value part) const {
    return joins_by_team_ ? row * writer.number(parts_) + part : part * writer.number(plan_.count) + row;
  }

  // Elements of a row that lie together.
  int64_t run_length() const {
    int64_t length = 1;
    for (int axis = group_.full.size() - 1; axis >= 0 && group_.axes.contains(axis); --axis)
      length *= group_.full[axis];
    return length;
  }

  Launch partial() {
    Builder k(kernel_name(group_, shop_.partition, "parts"),
              by_team_ ? kernel::Team::many(256) : kernel::Team::one(128));
    Arguments arguments(k);
    Writer writer(k, arguments, shop_.partition, group_, index_type_);
    Group reductions_only = group_;
    reductions_only.roots = plan_.levels[0];
    declare_reads(writer, reductions_only);
    for (const Node* memory : totals_.memory) arguments.tensor(*memory, kernel::Access::write);
    const Value team = k.team(index_type_), split = writer.number(by_team_ ? parts_ : plan_.count);
    const Value row_number = by_team_ ? team / split : team % split,
                part = by_team_ ? team % split : team / split;
    const Index row(k, plan_.rows, row_number);
    fix_row_values(writer, reductions_only, shop_.partition, row);
    const Value begin = part * writer.number(chunk_);
    // Parts may reach past the end: they count what is left, or nothing.
    const Value end = min(begin + writer.number(chunk_), writer.number(plan_.length));
    const Value left = select(begin < end, end - begin, writer.number(0));
    const Value steps = width_ == 1 ? left : left / writer.number(width_);
    const auto body = [&](Value step) { return contributions_at(writer, row, row_number, begin, step); };
    const std::vector<Value> totals = by_team_ ? team_totals(k, steps, body) : serial_totals(k, steps, body);
    const auto store = [&] {
      for (size_t i = 0; i < totals.size(); ++i)
        arguments.tensor(*totals_.memory[i], kernel::Access::write)[slot(writer, row_number, part)] =
            totals[i];
    };
    if (by_team_)
      k.once(store);
    else
      store();
    return {k.finish(), static_cast<uint64_t>(plan_.count * parts_), arguments.bindings()};
  }

  // --- Tiles of rows that lie side by side -----------------------------------------------------------------
  static constexpr int64_t at_once = 4;  // elements that a lane waits for at the same time

  Launch partial_tiles() {
    Builder k(kernel_name(group_, shop_.partition, "tiles"),
              kernel::Team::many(static_cast<uint32_t>(tiles_.lanes())));
    Arguments arguments(k);
    Writer writer(k, arguments, shop_.partition, group_, index_type_);
    Group reductions_only = group_;
    reductions_only.roots = plan_.levels[0];
    declare_reads(writer, reductions_only);
    for (const Node* memory : totals_.memory) arguments.tensor(*memory, kernel::Access::write);
    const Value team = k.team(index_type_), lane = convert(k.lane(), index_type_);
    const Value columns = writer.number(tiles_.columns), parts = writer.number(parts_);
    const Value wanted = team / parts * columns + lane % columns, part = team % parts;
    const Value slice = lane / columns, last = writer.number(plan_.count - 1);
    const Index row(k, plan_.rows, min(wanted, last));
    fix_row_values(writer, reductions_only, shop_.partition, row);
    std::vector<Value> totals = slice_totals(writer, row, part * writer.number(chunk_), slice);
    for (size_t i = 0; i < totals.size(); ++i) totals[i] = over_slices(k, i, totals[i]);
    k.if_(wanted <= last && slice == slice.like(0), [&] {
      for (size_t i = 0; i < totals.size(); ++i)
        arguments.tensor(*totals_.memory[i], kernel::Access::write)[slot(writer, wanted, part)] = totals[i];
    });
    const int64_t teams = (plan_.count + tiles_.columns - 1) / tiles_.columns * parts_;
    return {k.finish(), static_cast<uint64_t>(teams), arguments.bindings()};
  }

  std::vector<Value> slice_totals(Writer& writer, const Index& row, Value begin, Value slice) {
    Builder& k = writer.builder();
    const Value end = min(begin + writer.number(chunk_), writer.number(plan_.length));
    const Value stride = writer.number(tiles_.slices), all_slices = writer.number(tiles_.slices * at_once);
    const Value steps = (end - begin + all_slices - writer.number(1)) / all_slices;
    return serial_totals(k, steps, [&](Value step) {
      const Writer::Scope scope(writer);
      std::vector<Value> sums;
      Value r = begin + step * all_slices + slice;
      for (int64_t i = 0; i < at_once; ++i, r = r + stride) {
        // Past the end is the last one again, and counts for nothing.
        const Index at = place_in(group_.full, group_.axes, row, min(r, end - writer.number(1)));
        add_where(writer, at, r < end, sums);
      }
      return sums;
    });
  }

  void add_where(Writer& writer, const Index& at, Value there, std::vector<Value>& sums) {
    size_t j = 0;
    for (const Node* node : plan_.levels[0])
      for (const Value part : contributions(*node, writer.read(graph::node_of(node->operands[0]), at))) {
        const Value own = select(there, part, totals_.none(writer.builder(), j));
        if (sums.size() <= j)
          sums.push_back(own);
        else
          sums[j] = combine(totals_.reductions[j], sums[j], own);
        ++j;
      }
  }

  // The slices' totals joined, in the first slice: some slices add up all, then the first adds up those.
  Value over_slices(Builder& k, size_t which, Value part) {
    constexpr int64_t some = 8;
    int64_t left = tiles_.slices;
    for (const int64_t next : {left > 2 * some ? some : int64_t{1}, int64_t{1}}) {
      if (left == 1) break;
      const kernel::Array cells = k.shared(part.type(), static_cast<uint32_t>(left * tiles_.columns));
      const Value lane = k.lane(), all = lane.like(left * tiles_.columns);
      k.if_(lane < all, [&] { cells[lane] = part; });
      k.barrier();
      const kernel::Variable total = k.variable(totals_.none(k, which));
      k.if_(lane < lane.like(next * tiles_.columns), [&] {
        k.for_(lane, all, lane.like(next * tiles_.columns),
               [&](Value i) { total = combine(totals_.reductions[which], total.get(), cells[i]); });
      });
      part = total.get();
      left = next;
    }
    return part;
  }

  std::vector<Value> contributions_at(Writer& writer, const Index& row, Value row_number, Value begin,
                                      Value step) {
    const Writer::Scope scope(writer);
    std::vector<Index> places;
    std::vector<Value> lanes, sums;
    for (int lane = 0; lane < width_; ++lane) {
      const Value r = width_ == 1 ? begin + step : begin + step * writer.number(width_) + writer.number(lane);
      places.push_back(place_in(group_.full, group_.axes, row, r));
      if (width_ > 1) lanes.push_back(places.back().linear());
    }
    if (width_ > 1) {
      const Value start = begin / writer.number(width_) + step;
      writer.set_vector(plan_.count == 1    ? start
                        : plan_.consecutive ? row_number * writer.number(plan_.length / width_) + start
                                            : lanes[0] / writer.number(width_),
                        lanes);
    }
    for (const Index& at : places) {
      std::vector<Value> parts;
      for (const Node* node : plan_.levels[0])
        for (const Value part : contributions(*node, writer.read(graph::node_of(node->operands[0]), at)))
          parts.push_back(part);
      for (size_t i = 0; i < parts.size(); ++i) {
        if (sums.size() <= i)
          sums.push_back(parts[i]);
        else
          sums[i] = combine(totals_.reductions[i], sums[i], parts[i]);
      }
    }
    writer.clear_vector();
    return sums;
  }

  // Then one team, or one invocation, a row.
  Launch joining() {
    Builder k(kernel_name(group_, shop_.partition, "join"),
              joins_by_team_ ? kernel::Team::many(128) : kernel::Team::one(64));
    Arguments arguments(k);
    Writer writer(k, arguments, shop_.partition, group_, index_type_);
    declare_arguments(writer, group_, shop_.partition);
    for (const Node* memory : totals_.memory) arguments.tensor(*memory, kernel::Access::read);
    const Value row_number = k.team(index_type_);
    const Index row(k, plan_.rows, row_number);
    const auto body = [&](Value part) {
      std::vector<Value> parts;
      for (const Node* memory : totals_.memory)
        parts.push_back(arguments.tensor(
            *memory, kernel::Access::read)[slot(writer, row_number, convert(part, index_type_))]);
      return parts;
    };
    const Value count = k.constant(index_type_, parts_);
    const std::vector<Value> totals =
        joins_by_team_ ? team_totals(k, count, body) : serial_totals(k, count, body);
    fix_totals(writer, plan_.levels[0], totals);
    std::vector<Scalar> values;
    for (const Node* root : plan_.row_roots) values.push_back(writer.read(*root, row.reshaped(root->shape)));
    const auto store = [&] {
      for (size_t i = 0; i < values.size(); ++i)
        writer.store(*plan_.row_roots[i], row.reshaped(plan_.row_roots[i]->shape), values[i]);
    };
    if (joins_by_team_)
      k.once(store);
    else
      store();
    return {k.finish(), static_cast<uint64_t>(plan_.count), arguments.bindings()};
  }

  void declare_reads(Writer& writer, const Group& group) {
    Partition reads_only = shop_.partition;
    reads_only.stored.clear();
    declare_arguments(writer, group, reads_only);
  }

  std::vector<Value> team_totals(Builder& k, Value steps,
                                 const std::function<std::vector<Value>(Value)>& body) {
    return k.reduce(convert(steps, Type::u32), totals_.reductions,
                    [&](Value i) { return body(convert(i, index_type_)); });
  }

  std::vector<Value> serial_totals(Builder& k, Value steps,
                                   const std::function<std::vector<Value>(Value)>& body) {
    return loop_totals(k, steps, totals_.reductions, totals_.types, body);
  }

  const Group& group_;
  const RowPlan& plan_;
  Workshop& shop_;
  const RowTiles tiles_;
  const Type index_type_;
  int64_t parts_ = 1;
  bool by_team_ = false, joins_by_team_ = false;
  int width_ = 1;
  int64_t chunk_ = 0;
  Totals totals_;
};

// Rows that lie beside each other in memory.
int64_t neighbours_of(const Group& group) {
  int64_t beside = 1;
  for (int axis = group.full.size() - 1; axis >= 0 && !group.axes.contains(axis); --axis)
    beside *= group.full[axis];
  return beside;
}

// All of few neighbours, else as many as leave the fewest lanes of the last tile idle.
int64_t columns_of(const Group& group, const RowPlan& plan) {
  constexpr int64_t least = 32, most = 64;
  const int64_t beside = neighbours_of(group);
  if (beside <= most) return beside;
  const auto padded = [&](int64_t columns) { return (plan.count + columns - 1) / columns * columns; };
  int64_t best = least;
  for (int64_t columns = least + 1; columns <= most; ++columns)
    if (padded(columns) < padded(best) * 15 / 16) best = columns;
  return best;
}

}  // namespace

RowTiles tiles_for(const Group& group, const RowPlan& plan, const Target& target) {
  // On an H200: teams of a multiprocessor, and elements of a lane, below which it waits for itself.
  constexpr int64_t teams_each = 8, team_lanes = 256, least_elements = 8;
  const Limits& limits = target.limits;
  if (!target.gpu || !limits.lanes_by_hand || limits.max_lanes < team_lanes) return {};
  uint64_t totals = 0;
  for (const Node* node : plan.levels[0]) totals += reductions_of(*node).size();
  if (2 * team_lanes * sizeof(double) * totals > limits.shared_bytes) return {};
  RowTiles tiles;
  tiles.columns = columns_of(group, plan);
  tiles.slices = team_lanes / tiles.columns;
  const int64_t teams = (plan.count + tiles.columns - 1) / tiles.columns;
  tiles.parts = std::clamp<int64_t>(teams_each * limits.multiprocessors / teams, 1,
                                    std::max<int64_t>(1, plan.length / (tiles.slices * least_elements)));
  return tiles;
}

std::vector<Launch> split_rows(const Group& group, const RowPlan& plan, Workshop& shop, const RowCut& cut) {
  return Splitter(group, plan, shop, cut).make();
}

}  // namespace adit::compile
