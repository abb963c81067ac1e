#include "compile/rows.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include <adit/kernel/math.hpp>

#include "compile/columns.hpp"
#include "compile/kept_row.hpp"
#include "compile/serial.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Kind;
using graph::Op;
using kernel::Builder;
using kernel::Reduction;
using kernel::Type;

namespace {

bool is_reduction(const Node& node) { return graph::row_of(node.op).kind == Kind::reduction; }

// Reductions of the group that computing `node` needs, without going through another one.
int level_of(const Node& node, const Group& group, const std::map<const Node*, int>& levels) {
  int level = 0;
  std::set<const Node*> seen;
  std::vector<const Node*> open;
  for (const Tensor& operand : node.operands) open.push_back(&graph::node_of(operand));
  while (!open.empty()) {
    const Node* next = open.back();
    open.pop_back();
    if (!seen.insert(next).second) continue;
    if (const auto it = levels.find(next); it != levels.end()) {
      level = std::max(level, it->second + 1);
      continue;
    }
    if (!group.contains(*next) && next->operands.empty()) continue;
    for (const Tensor& operand : next->operands) open.push_back(&graph::node_of(operand));
  }
  return level;
}

// Axes of extent 1 do not count.
std::optional<Columns> columns_of(const Shape& full, const Axes& axes) {
  Columns columns;
  for (int axis = 0; axis < full.size(); ++axis) {
    if (full[axis] == 1) continue;
    if (axes.contains(axis)) {
      if (columns.inner > 1) return {};
      columns.lines *= full[axis];
    } else {
      (columns.lines > 1 ? columns.inner : columns.outer) *= full[axis];
    }
  }
  return columns.inner > 1 ? std::optional(columns) : std::nullopt;
}

}  // namespace

RowPlan plan_rows(const Group& group, const Partition& partition) {
  RowPlan plan;
  plan.count = group.row_count();
  plan.length = group.row_length();
  plan.consecutive = last_axes(group.full, group.axes);
  plan.columns = columns_of(group.full, group.axes);
  for (int axis = 0; axis < group.full.size(); ++axis)
    if (!group.axes.contains(axis)) plan.rows.push_back(group.full[axis]);
  std::map<const Node*, int> levels;
  for (const Node* root : group.roots) {
    if (is_reduction(*root) && root->operands[0].shape() == group.full) {
      const int level = level_of(*root, group, levels);
      levels[root] = level;
      plan.levels.resize(std::max(plan.levels.size(), static_cast<size_t>(level) + 1));
      plan.levels[static_cast<size_t>(level)].push_back(root);
    }
    if (!partition.stored.contains(root)) continue;
    (root->shape == group.full && !is_reduction(*root) ? plan.whole_roots : plan.row_roots).push_back(root);
  }
  return plan;
}

void fix_row_values(Writer& writer, const Group& group, const Partition& partition, const Index& row) {
  std::map<uint64_t, const Node*> same;
  std::set<const Node*> anywhere;
  for_each_inside(group, partition, [&](const Node& node, Reading reading) {
    if (reading == Reading::whole && is_row_broadcast(node, group.full, group.axes))
      same[node.number] = &node;
    if (reading == Reading::elsewhere) anywhere.insert(&node);
  });
  for (const auto& [number, node] : same) {
    if (anywhere.contains(node) || writer.is_fixed(*node)) continue;
    const Node& operand = graph::node_of(node->operands[0]);
    // Only where every reduction it needs is done.
    if (!writer.can_read(operand)) continue;
    writer.fix(*node, writer.read(operand, row.reshaped(operand.shape)));
  }
}

namespace {

// Few rows whose elements lie apart: a team takes some that lie side by side, so that what its lanes read
// does too, and each of them is cut into slices, a lane each. No columns: not so.
struct Slices {
  uint32_t columns = 0, lanes = 0;
  int64_t count() const { return columns == 0 ? 0 : lanes / columns; }
};

constexpr float infinite = std::numeric_limits<float>::infinity();

// Writes the work of one row: by a team, by a lane of each slice, or by an invocation that walks it by
// itself.
class RowWriter {
 public:
  RowWriter(const Group& group, const RowPlan& plan, Workshop& shop, bool by_team, bool may_hold, Builder& k,
            Arguments& arguments, bool may_widen = true)
      : group_(group),
        plan_(plan),
        shop_(shop),
        by_team_(by_team),
        may_hold_(may_hold),
        may_widen_(may_widen),
        k_(k),
        writer_(k, arguments, shop.partition, group, index_type_for(group, shop.partition)) {}

  void declare() { declare_arguments(writer_, group_, shop_.partition); }
  Type index_type() const { return writer_.index_type(); }
  Writer& writer() { return writer_; }
  using Keep = std::function<bool(const Node&, const Scalar&)>;
  // A CPU may keep what is dear to compute while it goes through a row again.
  void set_may_keep() { may_keep_ = true; }
  // From now on what it takes is not stored.
  void set_keep(Keep keep) { keep_ = std::move(keep); }

  // The rows of a team that shares columns.
  void write(Value team, const Slices& slices) {
    slices_ = slices;
    const Value lane = convert(k_.lane(), index_type()), columns = writer_.number(slices.columns);
    slice_ = lane / columns;
    write(limited(team * columns + lane % columns));
  }

  // The rows of a team whose subgroups have as many as there are writers: each reads all of its rows before
  // it waits for one of them, so that more is on its way from memory.
  static void write_by_subgroups(std::span<const std::unique_ptr<RowWriter>> rows, Value team) {
    const RowWriter& any = *rows[0];
    const Value first =
        (team * any.number(any.rows_of_a_team()) + convert(any.k_.subgroup_number(), any.index_type())) *
        any.number(static_cast<int64_t>(rows.size()));
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i]->begin_if_there_is(first + any.number(static_cast<int64_t>(i)));
    for (const auto& level : any.plan_.levels) {
      std::vector<std::vector<Value>> sums;
      for (const auto& row : rows) {
        row->prepare(level);
        sums.push_back(row->held_sums(level));
      }
      for (size_t i = 0; i < rows.size(); ++i)
        fix_totals(rows[i]->writer_, level, rows[i]->joined(level, std::move(sums[i])));
    }
    for (const auto& row : rows) row->finish();
  }

  // A column of an outer place, where the lanes of a CPU's team take them side by side.
  void write_column(Value outer, Value inner) {
    outer_ = outer, inner_ = inner;
    write(outer * writer_.number(plan_.columns->inner) + inner);
  }

  void write(Value row_number) {
    begin(row_number);
    if (!shop_.target.gpu && may_keep_) kept_ = KeptRow(group_, plan_, shop_.partition, by_team_, k_);
    const std::optional<Powers> sums = powers();
    if (sums) reduce_powers(*sums);
    for (size_t i = sums ? 2 : 0; i < plan_.levels.size(); ++i) {
      prepare(plan_.levels[i]);
      reduce_level(plan_.levels[i]);
    }
    finish();
  }

  uint32_t team_lanes() const { return holds() ? held_lanes() * rows_of_a_team() : lanes(); }

  // Rows of a subgroup, where it has few elements of each.
  uint32_t rows_of_a_subgroup() const {
    constexpr int64_t most_rows = 4, most_elements = 16, many_rows = 1 << 14;
    if (rows_of_a_team() == 1 || plan_.count < many_rows) return 1;
    int64_t tensors = 0;  // that it holds
    for_each_read(group_, shop_.partition,
                  [&](const Node& node, Reading) { tensors += node.shape == group_.full; });
    const int64_t steps = plan_.length / width(), accesses = (steps + held_lanes() - 1) / held_lanes();
    const int64_t elements = accesses * width() * std::max<int64_t>(1, tensors);
    return static_cast<uint32_t>(std::clamp<int64_t>(most_elements / elements, 1, most_rows));
  }

  // Where a subgroup holds a row, a team of several has a row for each: teams of one leave half of a
  // multiprocessor idle, which has room for so many teams and no more.
  uint32_t rows_of_a_team() const {
    const Limits& limits = shop_.target.limits;
    const bool may = by_team_ && holds() && limits.fixed_subgroups && held_lanes() == limits.subgroup_size;
    return may && plan_.count >= 1024 ? std::clamp(limits.max_lanes / limits.subgroup_size, 1U, 4U) : 1;
  }

 private:
  Value number(int64_t value) const { return k_.constant(index_type(), value); }
  void begin(Value row_number) {
    row_number_ = row_number;
    row_ = Index(k_, plan_.rows, row_number_);
    if (holds()) hold_places();
  }
  void prepare(const std::vector<const Node*>& level) {
    writer_.forbid(later_reductions(level));
    fix_row_values(writer_, group_, shop_.partition, row_);
  }
  void finish() {
    writer_.forbid({});
    fix_row_values(writer_, group_, shop_.partition, row_);
    store_row_roots();
    if (!plan_.whole_roots.empty())
      walk([&](const std::vector<Index>& places) { store_whole_roots(places); });
  }
  // Beyond the last row its work is done again, and not stored.
  Value limited(Value row_number) {
    there_is_ = row_number < number(plan_.count);
    return min(row_number, number(plan_.count - 1));
  }
  void begin_if_there_is(Value row_number) { begin(limited(row_number)); }
  void store_if(const std::optional<Value>& condition, const std::function<void()>& store) {
    if (condition)
      k_.if_(*condition, store);
    else
      store();
  }

  uint32_t lanes() const {
    const uint64_t wanted =
        std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, plan_.length / width())));
    return static_cast<uint32_t>(
        std::clamp<uint64_t>(wanted, 32, std::min(512u, shop_.target.limits.max_lanes)));
  }

  // A short row that a lane of a GPU has for itself, in a kernel of its own.
  bool is_short() const { return shop_.target.gpu && !by_team_ && may_hold_ && plan_.length <= most_short; }

  // Elements of one access: 16 bytes where a row's elements lie together, or half of that.
  int width() const {
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
  // Whether accesses of half the width would keep twice as many lanes of a subgroup busy.
  bool leaves_half_idle(int width) const {
    constexpr int64_t lanes = 32;
    return by_team_ && 2 * plan_.length / width <= lanes;
  }

  // Where a row is gone through more than once, its lanes keep their elements: each is read and computed
  // once.
  static constexpr int64_t most_held = 8;     // accesses of a lane
  static constexpr int64_t most_short = 16;   // elements of a row that one lane has
  static constexpr int64_t many_held = 4096;  // rows
  uint32_t held_lanes() const {
    if (is_short()) return 1;
    const int64_t steps = plan_.length / width(),
                  most = std::min<int64_t>(512, shop_.target.limits.max_lanes);
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
  bool holds() const {
    const Limits& limits = shop_.target.limits;
    if (plan_.levels.size() + !plan_.whole_roots.empty() < 2) return false;
    if (is_short()) return true;
    if (!may_hold_ || !by_team_ || !shop_.target.gpu || !limits.lanes_by_hand || !limits.subgroup_arithmetic)
      return false;
    const int64_t steps = plan_.length / width();
    return steps <= held_lanes() * most_held;
  }

  struct Held {
    std::optional<Value> inside;  // none: all lanes have an element
    std::vector<Index> places;
    Value vector;
    std::vector<Value> lanes;
  };
  void hold_places() {
    const int64_t steps = plan_.length / width();
    lane_ = is_short() ? writer_.number(0)
                       : convert(there_is_ ? k_.subgroup_lane() : k_.lane(), writer_.index_type());
    for (int64_t step = 0; step < steps; step += held_lanes()) {
      Held& held = held_.emplace_back();
      Value own = lane_ + writer_.number(step);
      if (step + held_lanes() > steps) {
        held.inside = own < own.like(steps);
        own = min(own, own.like(steps - 1));
      }
      held.places = places(own);
      held.vector = writer_.vector();
      for (const Index& at : held.places)
        if (at.has_linear()) held.lanes.push_back(at.linear());
    }
  }
  void use(const Held& held) {
    if (held.places.size() > 1) writer_.set_vector(held.vector, held.lanes);
  }

  // The lanes' parts joined: within subgroups, then over the subgroups through shared memory.
  Value over_lanes(Reduction reduction, Value part) {
    const Type type = part.type();
    const Value mine = k_.subgroup_reduce(reduction, part);
    if (there_is_) return mine;
    const kernel::Array cells = k_.shared(type, 128);
    k_.if_(k_.subgroup_lane() == k_.subgroup_lane().like(0), [&] { cells[k_.subgroup_number()] = mine; });
    k_.barrier();
    const kernel::Variable total = k_.variable(k_.constant_bits(type, kernel::identity_of(reduction, type)));
    const Value count = k_.constant(Type::u32, team_lanes()) / convert(k_.subgroup_size(), Type::u32);
    k_.for_(count, [&](Value i) { total = combine(reduction, total.get(), cells[i]); });
    return total.get();
  }

  // The largest x of a row, and the sum of exp(x - shift), whose shift follows from it: both in one pass over
  // a row that is too long to be held. A lane's sum is below its own largest so far, and the row's in the
  // end.
  struct Powers {
    const Node *x = nullptr, *largest = nullptr, *shift = nullptr;
  };
  std::optional<Powers> powers() const {
    const Limits& limits = shop_.target.limits;
    const bool may = may_hold_ && by_team_ && shop_.target.gpu && limits.lanes_by_hand &&
                     limits.subgroup_arithmetic && !there_is_ && held_.empty();
    if (!may || plan_.levels.size() < 2 || plan_.levels[0].size() != 1 || plan_.levels[1].size() != 1)
      return std::nullopt;
    const Node &largest = *plan_.levels[0][0], &total = *plan_.levels[1][0];
    if (largest.op != Op::reduce_max || total.op != Op::sum || largest.type != DType::f32)
      return std::nullopt;
    const Node& power = graph::node_of(total.operands[0]);
    if (power.op != Op::exp) return std::nullopt;
    const Node& below = graph::node_of(power.operands[0]);
    if (below.op != Op::subtract) return std::nullopt;
    const Node &x = graph::node_of(below.operands[0]), &shift = graph::node_of(below.operands[1]);
    if (&x != &graph::node_of(largest.operands[0]) || !is_row_broadcast(shift, group_.full, group_.axes))
      return std::nullopt;
    return Powers{&x, &largest, &graph::node_of(shift.operands[0])};
  }

  // Of infinite ones no distance is taken.
  static Value distance_from(Value top) { return select(abs(top) == top.like(infinite), top.like(0), top); }
  // A sum of powers below `from` as one below `to`; there may be none yet.
  static Value moved(Value sum, Value from, Value to) {
    return select(sum == 0, sum, sum * kernel::exp(from - to));
  }

  void reduce_powers(const Powers& powers) {
    prepare(plan_.levels[0]);
    const std::vector<Reduction> reductions = reductions_of(*powers.largest);
    const std::vector<Type> types = accumulator_types(*powers.largest);
    std::vector<kernel::Variable> tops;  // the largest one, and whether one is no number
    for (size_t i = 0; i < types.size(); ++i)
      tops.push_back(k_.variable(k_.constant_bits(types[i], kernel::identity_of(reductions[i], types[i]))));
    const kernel::Variable sum = k_.variable(Type::f32, 0.0f);
    const auto step = [&](Value first, int64_t accesses) {
      const Writer::Scope scope(writer_);
      const Value before = distance_from(tops[0].get());
      std::vector<Value> x;
      for (int64_t i = 0; i < accesses; ++i) {
        for (const Index& at : places(first + writer_.number(i * team_lanes())))
          x.push_back(writer_.read(*powers.x, at).re);
        writer_.clear_vector();
      }
      for (const Value each : x) {
        const std::vector<Value> parts = contributions(*powers.largest, {each, {}, false});
        for (size_t i = 0; i < tops.size(); ++i) tops[i] = combine(reductions[i], tops[i].get(), parts[i]);
      }
      const Value now = distance_from(tops[0].get());
      Value next = moved(sum.get(), before, now);
      for (const Value each : x) next = next + kernel::exp(each - now);
      sum = next;
    };
    // Several accesses at once, and then those that are left.
    const int64_t at_once = 8 / width(), lanes = team_lanes(), steps = plan_.length / width();
    const int64_t most = steps / (at_once * lanes) * at_once * lanes;
    const Value lane = convert(k_.lane(), index_type());
    k_.for_(lane, writer_.number(most), writer_.number(at_once * lanes),
            [&](Value first) { step(first, at_once); });
    k_.for_(lane + writer_.number(most), writer_.number(steps), writer_.number(lanes),
            [&](Value first) { step(first, 1); });
    std::vector<Value> totals;
    for (size_t i = 0; i < tops.size(); ++i) totals.push_back(over_lanes(reductions[i], tops[i].get()));
    fix_totals(writer_, plan_.levels[0], totals);
    prepare(plan_.levels[1]);
    const Value shift = writer_.read(*powers.shift, row_.reshaped(powers.shift->shape)).re;
    const Value own = moved(sum.get(), distance_from(tops[0].get()), shift);
    fix_totals(writer_, plan_.levels[1], {over_lanes(Reduction::add, own)});
  }

  // The slices' parts joined: each lane of a column adds them up, in the same order.
  Value over_slices(Reduction reduction, Value part) {
    const Type type = part.type();
    const kernel::Array cells = k_.shared(type, slices_.lanes);
    cells[k_.lane()] = part;
    k_.barrier();
    const Value columns = k_.constant(Type::u32, slices_.columns), column = k_.lane() % columns;
    const kernel::Variable total = k_.variable(k_.constant_bits(type, kernel::identity_of(reduction, type)));
    k_.for_(k_.constant(Type::u32, slices_.count()),
            [&](Value i) { total = combine(reduction, total.get(), cells[i * columns + column]); });
    return total.get();
  }

  // Goes through a lane's slice; the last step of some has no element.
  int64_t slice_steps() const { return (plan_.length + slices_.count() - 1) / slices_.count(); }
  std::pair<Index, std::optional<Value>> place_of_slice(Value step) {
    const Value own = slice_ + step * writer_.number(slices_.count()), end = writer_.number(plan_.length);
    if (plan_.length % slices_.count() == 0) return {place_in(group_.full, group_.axes, row_, own), {}};
    return {place_in(group_.full, group_.axes, row_, min(own, end - writer_.number(1))), own < end};
  }

  std::vector<Value> slice_totals(const std::vector<const Node*>& level,
                                  const std::vector<Reduction>& reductions, const std::vector<Type>& types) {
    const auto body = [&](Value step) {
      const Writer::Scope scope(writer_);
      std::vector<Value> sums;
      const auto place = place_of_slice(step);
      add_contributions(level, reductions, place.first, sums, place.second);
      return sums;
    };
    std::vector<Value> sums = loop_totals(k_, writer_.number(slice_steps()), reductions, types, body);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = over_slices(reductions[i], sums[i]);
    return sums;
  }

  static std::vector<Reduction> all_reductions(const std::vector<const Node*>& level) {
    std::vector<Reduction> list;
    for (const Node* node : level)
      for (const Reduction reduction : reductions_of(*node)) list.push_back(reduction);
    return list;
  }
  // What a lane's own elements add up to, and then those of all lanes.
  std::vector<Value> held_sums(const std::vector<const Node*>& level) {
    const std::vector<Reduction> reductions = all_reductions(level);
    std::vector<Value> sums;
    for (const Held& held : held_) {
      use(held);
      for (const Index& at : held.places) add_contributions(level, reductions, at, sums, held.inside);
      writer_.clear_vector();
    }
    return sums;
  }
  std::vector<Value> joined(const std::vector<const Node*>& level, std::vector<Value> sums) {
    const std::vector<Reduction> reductions = all_reductions(level);
    for (size_t i = 0; i < sums.size() && by_team_; ++i) sums[i] = over_lanes(reductions[i], sums[i]);
    return sums;
  }

  void add_contributions(const std::vector<const Node*>& level, const std::vector<Reduction>& reductions,
                         const Index& at, std::vector<Value>& sums,
                         const std::optional<Value>& inside = std::nullopt) {
    size_t next = 0;
    for (const Node* node : level)
      for (Value part : contributions(*node, writer_.read(graph::node_of(node->operands[0]), at))) {
        const uint64_t nothing = kernel::identity_of(reductions[next], part.type());
        if (inside) part = select(*inside, part, k_.constant_bits(part.type(), nothing));
        if (sums.size() <= next)
          sums.push_back(part);
        else
          sums[next] = combine(reductions[next], sums[next], part);
        ++next;
      }
  }

  // The reductions of this level and of later ones are not known yet.
  std::vector<const Node*> later_reductions(const std::vector<const Node*>& level) const {
    std::vector<const Node*> later;
    bool reached = false;
    for (const auto& other : plan_.levels) {
      reached = reached || &other == &level;
      if (reached) later.insert(later.end(), other.begin(), other.end());
    }
    return later;
  }

  Index place(Value r) {
    std::optional<Value> linear;
    if (inner_) {
      const Columns& columns = *plan_.columns;
      linear = (*outer_ * writer_.number(columns.lines) + r) * writer_.number(columns.inner) + *inner_;
    }
    return place_in(group_.full, group_.axes, row_, r, linear);
  }

  std::vector<Index> places(Value step) {
    std::vector<Index> result;
    const int elements = width();
    if (elements == 1) return {place(step)};
    std::vector<Value> lanes;
    for (int lane = 0; lane < elements; ++lane) {
      const Value r = step * writer_.number(elements) + writer_.number(lane);
      result.push_back(place_in(group_.full, group_.axes, row_, r));
      lanes.push_back(result.back().linear());
    }
    const Value vector =
        plan_.count == 1 ? step : row_number_ * writer_.number(plan_.length / elements) + step;
    writer_.set_vector(vector, std::move(lanes));
    return result;
  }

  void reduce_level(const std::vector<const Node*>& level) {
    const std::vector<Reduction> reductions = all_reductions(level);
    std::vector<Type> types;
    for (const Node* node : level)
      for (const Type type : accumulator_types(*node)) types.push_back(type);
    const auto own_pass = static_cast<int>(&level - plan_.levels.data());
    const auto body = [&](Value step) {
      const Writer::Scope scope(writer_);
      std::vector<Value> sums;
      kept_.find(writer_, own_pass, step);
      for (const Index& at : places(step)) {
        add_contributions(level, reductions, at, sums);
        kept_.keep(writer_, own_pass, step, at);
      }
      writer_.clear_vector();
      return sums;
    };
    const int64_t steps = plan_.length / width();
    const std::vector<Value> totals = inner_                ? column_totals(own_pass, reductions, types)
                                      : !held_.empty()      ? joined(level, held_sums(level))
                                      : slices_.columns > 0 ? slice_totals(level, reductions, types)
                                      : by_team_
                                          ? team_reduce(steps, reductions, body)
                                          : loop_totals(k_, writer_.number(steps), reductions, types, body);
    fix_totals(writer_, level, totals);
  }

  // Several elements of a column at once, where little is done with each: else one addition would wait for
  // the one before.
  std::vector<Value> column_totals(int pass, const std::vector<Reduction>& reductions,
                                   const std::vector<Type>& types) {
    const auto& level = plan_.levels[static_cast<size_t>(pass)];
    constexpr int64_t together = 4;
    const int64_t at_once = kept_.is_short(pass) && plan_.length >= together ? together : 1;
    const auto element = [&](Value r) {
      std::vector<Value> sums;
      kept_.find(writer_, pass, r);
      const Index at = place(r);
      add_contributions(level, reductions, at, sums);
      kept_.keep(writer_, pass, r, at);
      return sums;
    };
    const auto join = [&](std::vector<Value> a, const std::vector<Value>& b) {
      for (size_t i = 0; i < a.size(); ++i) a[i] = combine(reductions[i], a[i], b[i]);
      return a;
    };
    const int64_t rounds = plan_.length / at_once;
    std::vector<Value> totals = loop_totals(k_, writer_.number(rounds), reductions, types, [&](Value round) {
      const Writer::Scope scope(writer_);
      const Value r = round * writer_.number(at_once);
      if (at_once == 1) return element(r);
      const auto first = join(element(r), element(r + writer_.number(1)));
      return join(first, join(element(r + writer_.number(2)), element(r + writer_.number(3))));
    });
    for (int64_t r = rounds * at_once; r < plan_.length; ++r)
      totals = join(totals, element(writer_.number(r)));
    return totals;
  }

  std::vector<Value> team_reduce(int64_t steps, const std::vector<Reduction>& reductions,
                                 const std::function<std::vector<Value>(Value)>& body) {
    return k_.reduce(k_.constant(Type::u32, steps), reductions,
                     [&](Value i) { return body(convert(i, writer_.index_type())); });
  }

  void walk(const std::function<void(const std::vector<Index>&)>& body) {
    const auto step = [&](Value i) {
      const Writer::Scope scope(writer_);
      kept_.find(writer_, static_cast<int>(plan_.levels.size()), i);
      body(places(i));
      writer_.clear_vector();
    };
    if (!held_.empty()) {
      for (const Held& held : held_) {
        const auto own = [&] {
          const Writer::Scope scope(writer_);
          use(held);
          body(held.places);
          writer_.clear_vector();
        };
        const bool both = held.inside && there_is_;
        store_if(both ? *held.inside && *there_is_ : held.inside ? held.inside : there_is_, own);
      }
      return;
    }
    if (slices_.columns > 0) {
      k_.for_(writer_.number(slice_steps()), [&](Value i) {
        const Writer::Scope scope(writer_);
        const auto place = place_of_slice(i);
        store_if(place.second ? *place.second && *there_is_ : *there_is_, [&] {
          const Writer::Scope inner(writer_);
          body({place.first});
        });
      });
      return;
    }
    const int64_t steps = plan_.length / width();
    if (by_team_)
      k_.each(k_.constant(Type::u32, steps), [&](Value i) { step(convert(i, writer_.index_type())); });
    else
      k_.for_(writer_.number(steps), step);
  }

  void store_row_roots() {
    std::vector<std::pair<const Node*, Scalar>> values;
    for (const Node* root : plan_.row_roots) {
      const Scalar value = writer_.read(*root, row_.reshaped(root->shape));
      if (!keep_ || !keep_(*root, value)) values.emplace_back(root, value);
    }
    const auto store = [&] {
      for (const auto& [root, value] : values) writer_.store(*root, row_.reshaped(root->shape), value);
    };
    if (values.empty()) return;
    if (slices_.columns > 0)
      k_.if_(*there_is_ && slice_ == slice_.like(0), store);
    else if (there_is_)
      k_.if_(*there_is_ && lane_ == lane_.like(0), store);
    else if (!held_.empty() && by_team_)
      k_.if_(lane_ == lane_.like(0), store);
    else if (by_team_)
      k_.once(store);
    else
      store();
  }

  void store_whole_roots(const std::vector<Index>& places) {
    for (const Node* root : plan_.whole_roots) {
      std::vector<Scalar> values;
      for (const Index& at : places) values.push_back(writer_.read(*root, at));
      if (places.size() == 1)
        writer_.store(*root, places[0], values[0]);
      else
        writer_.store_vector(*root, writer_.vector(), values);
    }
  }

  const Group& group_;
  const RowPlan& plan_;
  Workshop& shop_;
  const bool by_team_, may_hold_, may_widen_;
  Builder& k_;
  Writer writer_;
  Value row_number_;
  Index row_;
  Value lane_;
  std::vector<Held> held_;
  Slices slices_;
  Value slice_;  // this lane's
  std::optional<Value> outer_, inner_;
  bool may_keep_ = false;
  KeptRow kept_;
  std::optional<Value> there_is_;  // a row of this number, where a team has several
  Keep keep_;
};

// The team's size is known only after the writer has looked at the group, which needs a builder of its own.
struct TeamSize {
  uint32_t lanes = 1, rows = 1;  // the latter: of all of its subgroups
  uint32_t together = 1;         // of a subgroup
};
TeamSize team_size_for(const Group& group, const RowPlan& plan, Workshop& shop) {
  Builder unused("lanes", kernel::Team::many(32));
  Arguments arguments(unused);
  const RowWriter rows(group, plan, shop, true, true, unused, arguments);
  return {rows.team_lanes(), rows.rows_of_a_team() * rows.rows_of_a_subgroup(), rows.rows_of_a_subgroup()};
}

Launch row_kernel(const Group& group, const RowPlan& plan, Workshop& shop, bool by_team) {
  const TeamSize size = by_team ? team_size_for(group, plan, shop) : TeamSize{};
  Builder k(kernel_name(group, shop.partition, by_team ? "rows" : "columns"),
            by_team ? kernel::Team::many(size.lanes) : kernel::Team::one(128));
  Arguments arguments(k);
  std::vector<std::unique_ptr<RowWriter>> rows;
  for (uint32_t i = 0; i < size.together; ++i)
    rows.push_back(std::make_unique<RowWriter>(group, plan, shop, by_team, true, k, arguments));
  for (const auto& row : rows) row->declare();
  if (by_team)
    for (const auto& row : rows) row->set_may_keep();
  const Value team = k.team(rows[0]->index_type());
  if (size.rows > 1)
    RowWriter::write_by_subgroups(rows, team);
  else
    rows[0]->write(team);
  return {k.finish(), static_cast<uint64_t>((plan.count + size.rows - 1) / size.rows), arguments.bindings()};
}

Launch sliced_kernel(const Group& group, const RowPlan& plan, Workshop& shop, const Slices& slices) {
  Builder k(kernel_name(group, shop.partition, "slices"), kernel::Team::many(slices.lanes));
  Arguments arguments(k);
  RowWriter rows(group, plan, shop, false, false, k, arguments);
  rows.declare();
  rows.write(k.team(rows.index_type()), slices);
  const int64_t teams = (plan.count + slices.columns - 1) / slices.columns;
  return {k.finish(), static_cast<uint64_t>(teams), arguments.bindings()};
}

Launch column_kernel(const Group& group, const RowPlan& plan, Workshop& shop, int64_t block) {
  Builder k(kernel_name(group, shop.partition, "columns"), kernel::Team::many(64));
  Arguments arguments(k);
  RowWriter rows(group, plan, shop, false, false, k, arguments);
  rows.declare();
  rows.set_may_keep();
  Writer& writer = rows.writer();
  const int64_t blocks = (plan.columns->inner + block - 1) / block;
  const Value team = k.team(rows.index_type()), outer = team / writer.number(blocks);
  const Value first = team % writer.number(blocks) * writer.number(block);
  const Value count = min(writer.number(block), writer.number(plan.columns->inner) - first);
  k.each(convert(count, Type::u32), [&](Value i) {
    const Writer::Scope scope(writer);
    rows.write_column(outer, first + convert(i, rows.index_type()));
  });
  return {k.finish(), static_cast<uint64_t>(plan.columns->outer * blocks), arguments.bindings()};
}

// As many columns as still give each multiprocessor two teams, for whose lanes a column has elements enough;
// none where a lane a column fills the device anyway: 512 lanes a multiprocessor hide what memory takes.
Slices slices_for(const RowPlan& plan, const Target& target) {
  const Limits& limits = target.limits;
  size_t totals = 0;
  for (const auto& level : plan.levels)
    for (const Node* node : level) totals += reductions_of(*node).size();
  const bool is_worthwhile = plan.length >= 64 && plan.count < int64_t{512} * limits.multiprocessors;
  const uint64_t room = std::min(512U, limits.max_lanes) * sizeof(double) * totals;
  if (!target.gpu || !limits.lanes_by_hand || !is_worthwhile || room > limits.shared_bytes) return {};
  const auto wanted = static_cast<uint64_t>(std::max<int64_t>(1, plan.count / (2 * limits.multiprocessors)));
  const auto columns = static_cast<uint32_t>(std::clamp<uint64_t>(std::bit_floor(wanted), 4, 32));
  const auto lanes = std::bit_floor(static_cast<uint64_t>(plan.length * columns / 4));
  return {columns, static_cast<uint32_t>(std::clamp<uint64_t>(lanes, 64, std::min(512U, limits.max_lanes)))};
}

// Parts into which each row is cut, so that the whole device has work.
int64_t parts_for(const RowPlan& plan, const Target& target, bool by_team) {
  if (!plan.whole_roots.empty() || plan.levels.size() != 1) return 1;
  const int64_t n = plan.length;
  if (!target.gpu) {
    // Lines of an outer axis are always walked in parts: as they lie in memory.
    if (n * plan.count < 65536 || (by_team && plan.count >= 64) || (!by_team && n < 128)) return 1;
    if (by_team) return std::clamp<int64_t>(64 / plan.count, 1, n / 4096 + 1);
    return std::clamp<int64_t>(n / 64, 1, 64);
  }
  if (by_team) {
    if (plan.count >= 512 || n < 16384) return 1;
    return std::clamp<int64_t>(4096 / plan.count, 1, (n + 8191) / 8192);
  }
  if (plan.count >= 131072 || n < 64) return 1;
  return std::clamp<int64_t>(262144 / plan.count, 1, n / 16);
}

bool goes_by_team(const Group& group, const RowPlan& plan) {
  return plan.length >= 32 && (group.axes.contains(group.full.size() - 1) || plan.consecutive);
}

}  // namespace

RowsInside::RowsInside(const Group& group, Workshop& shop, Builder& k, Arguments& arguments, bool may_widen)
    : plan_(plan_rows(group, shop.partition)) {
  // Many short rows: a lane each. Few long ones: the team goes through them together.
  // On an H200 a lane adds about 8 elements in the time in which a team adds up its lanes' sums.
  by_team_ = plan_.count == 1 || (goes_by_team(group, plan_) && plan_.count < 64 &&
                                  (!shop.target.gpu || plan_.count * 8 <= plan_.length));
  writer_ = std::make_shared<RowWriter>(group, plan_, shop, by_team_, false, k, arguments, may_widen);
  builder_ = &k;
}
Writer& RowsInside::writer() { return std::static_pointer_cast<RowWriter>(writer_)->writer(); }
void RowsInside::write(const std::function<bool(const Node&, const Scalar&)>& keep) {
  auto& rows = *std::static_pointer_cast<RowWriter>(writer_);
  Builder& k = *builder_;
  if (keep && by_team_ && plan_.count == 1) {
    rows.set_keep(keep);
    rows.write(k.constant(rows.index_type(), 0));
  } else if (by_team_) {
    k.for_(k.constant(rows.index_type(), plan_.count), [&](Value row) { rows.write(row); });
  } else {
    k.each(k.constant(Type::u32, plan_.count),
           [&](Value row) { rows.write(convert(row, rows.index_type())); });
  }
}

std::vector<Launch> rows_launches(const Group& group, Workshop& shop) {
  const RowPlan plan = plan_rows(group, shop.partition);
  if (plan.count == 0) return {};
  const bool by_team = goes_by_team(group, plan);
  if (const auto lines = lines_for(plan, shop.target)) return line_launches(group, plan, shop, *lines);
  if (const int64_t block = columns_of_a_team(plan, shop.target)) {
    std::vector<Launch> launches;
    launches.push_back(column_kernel(group, plan, shop, block));
    return launches;
  }
  RowCut cut{parts_for(plan, shop.target, by_team), by_team, {}};
  if (cut.parts > 1 && !by_team) cut.tiles = tiles_for(group, plan, shop.target);
  if (cut.tiles.columns > 0) cut.parts = cut.tiles.parts;
  if (cut.parts > 1) return split_rows(group, plan, shop, cut);
  const Slices slices = by_team ? Slices{} : slices_for(plan, shop.target);
  std::vector<Launch> launches;
  launches.push_back(slices.columns > 0 ? sliced_kernel(group, plan, shop, slices)
                                        : row_kernel(group, plan, shop, by_team));
  return launches;
}

}  // namespace adit::compile
