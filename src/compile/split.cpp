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
    default: throw Error(ErrorKind::internal, "[compile] partial result: expected 32 or 64 bits");
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
  Splitter(const Group& group, const RowPlan& plan, Workshop& shop, int64_t parts)
      : group_(group),
        plan_(plan),
        shop_(shop),
        parts_(parts),
        index_type_(index_type_for(group, shop.partition)),
        totals_(plan, shop, plan.count * parts) {
    by_team_ = plan.consecutive && plan.length >= 32;
    width_ = by_team_ && shop.target.gpu && plan.length % 4 == 0 ? 4 : 1;
    for (const Node* node : plan.levels[0])
      if (size_of(node->operands[0].dtype()) > 4) width_ = 1;
    const int64_t unit = width_ * 64;
    chunk_ = (plan.length + parts - 1) / parts;
    chunk_ = (chunk_ + unit - 1) / unit * unit;
  }

  std::vector<Launch> make() {
    std::vector<Launch> launches;
    launches.push_back(partial());
    launches.push_back(joining());
    return launches;
  }

 private:
  // Where part `part` of row `row` lies in the partial results: whoever writes or reads side by side does so
  // in order.
  Value slot(Writer& writer, Value row, Value part) const {
    return by_team_ ? row * writer.number(parts_) + part : part * writer.number(plan_.count) + row;
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
      writer.set_vector(plan_.count == 1 ? start : row_number * writer.number(plan_.length / width_) + start,
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
              by_team_ ? kernel::Team::many(128) : kernel::Team::one(64));
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
    const std::vector<Value> totals = by_team_ ? team_totals(k, count, body) : serial_totals(k, count, body);
    fix_totals(writer, plan_.levels[0], totals);
    std::vector<Scalar> values;
    for (const Node* root : plan_.row_roots) values.push_back(writer.read(*root, row.reshaped(root->shape)));
    const auto store = [&] {
      for (size_t i = 0; i < values.size(); ++i)
        writer.store(*plan_.row_roots[i], row.reshaped(plan_.row_roots[i]->shape), values[i]);
    };
    if (by_team_)
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
  const int64_t parts_;
  const Type index_type_;
  bool by_team_ = false;
  int width_ = 1;
  int64_t chunk_ = 0;
  Totals totals_;
};

}  // namespace

std::vector<Launch> split_rows(const Group& group, const RowPlan& plan, Workshop& shop, int64_t parts) {
  return Splitter(group, plan, shop, parts).make();
}

}  // namespace adit::compile
