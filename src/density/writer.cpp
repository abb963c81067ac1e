#include "density/writer.hpp"

#include <algorithm>
#include <fmt/format.h>

#include <adit/error.hpp>

#include "density/factor.hpp"
#include "density/steps.hpp"
#include "graph/op.hpp"
#include "graph/places.hpp"
#include "kernel/fold.hpp"
#include "lower/reduction.hpp"
#include "lower/serial.hpp"
#include "support/answers.hpp"

namespace adit::sampling {

using graph::Kind;
using graph::Op;
using kernel::Access;
using kernel::Reduction;

DensityWriter::DensityWriter(Chain& chain, const Density& density, const Schedule& schedule)
    : chain_(chain), density_(density), schedule_(schedule) {
  for (const auto& variable : density.variables) offsets_[&graph::node_of(variable.node)] = variable.offset;
  for (const auto& leaf : density.leaves) {
    leaves_.insert(&graph::node_of(leaf.node));
    if (leaf.extents.size() > 0) extents_[&graph::node_of(leaf.node)] = leaf.extents;
    // Columns of a triangular factor. Places that hang on no data were computed when they were checked, and
    // have no operands left.
    const Node& source = graph::node_of(leaf.source);
    if (source.operands.empty()) continue;
    for (const SquareSum& sum : density.square_sums) {
      int64_t first = 0;
      for (const ColumnGroup& group : sum.groups) {
        const bool is_this = source.op == Op::alias &&
                             graph::pointer_of(source.operands[0]) == graph::pointer_of(group.factor);
        if (is_this && group.factor.rank() == 2) upper_[&graph::node_of(leaf.node)] = first;
        first += group.width;
      }
    }
  }
  Tensors roots{density.value};
  for (const auto& variable : density.variables) roots.push_back(variable.gradient);
  sharp_ = read_by_steps(roots);
  for (const Tensor& root : roots) ++readers_[&graph::node_of(root)];
  for (const Tensor& x : graph::reachable(roots, true))
    for (const Tensor& operand : graph::node_of(x).operands) ++readers_[&graph::node_of(operand)];
  plain_ = plain_terms(density.value);
}

int64_t most_in_registers(const Density& density, const Schedule& schedule, int64_t most) {
  for (const auto& variable : density.variables)
    if (variable.size > schedule.short_result) return std::min(most, schedule.short_result);
  return most;
}

void DensityWriter::declare(Value set) {
  Builder& k = builder();
  reals_ = k.buffer("reals", chain_.real(), Access::read);
  places_ = k.buffer("places", Type::i32, Access::read);
  // How much a set takes is known only when all is written: the caller says.
  reals_base_ = places_base_ = chain_.index(0);
  if (set.type() == Type::none) return read_ahead();
  reals_base_ = set * k.scalar("set_reals", Type::u32);
  places_base_ = set * k.scalar("set_places", Type::u32);
  read_ahead();
}

// A compiler may not move a load out of the kernel's loop. Few numbers of a chain that is alone are read
// before it; of a team's, whose lanes would wait for them in every round, those that all lanes read.
void DensityWriter::read_ahead() {
  constexpr int64_t most = 32;
  int64_t count = 0, taken = 0;
  for (const auto& leaf : density_.leaves)
    if (is_float(leaf.node.dtype())) count += leaf.node.size();
  const bool all = !chain_.by_team() && count <= most;
  for (const auto& leaf : density_.leaves) {
    const int64_t size = leaf.node.size();
    if (!is_float(leaf.node.dtype()) || (!all && (size != 1 || taken == most / 2))) continue;
    const Node& node = graph::node_of(leaf.node);
    for (int64_t i = 0; i < size; ++i)
      ahead_[&node].push_back(segment(Segment::Kind::values, node, nullptr, size, chain_.index(i)));
    taken += size;
  }
}

void DensityWriter::declare_beside(const DensityWriter& first) {
  segments_ = first.segments_;
  reals_ = first.reals_;
  places_ = first.places_;
  reals_base_ = first.reals_base_;
  places_base_ = first.places_base_;
  ahead_ = first.ahead_;
}

Value DensityWriter::write(const Vector& q, const Vector& g, const Vector& scratch, const Vector& near) {
  Place outside = begin(q, g, scratch, near);
  DensityWriter* self = this;
  write_passes({&self, 1}, schedule_);
  return end(std::move(outside));
}

std::vector<Value> DensityWriter::write_together(const std::vector<DensityWriter*>& writers,
                                                 const std::vector<Point>& points) {
  std::vector<Place> outside;
  for (size_t w = 0; w < writers.size(); ++w)
    outside.push_back(writers[w]->begin(points[w].q, points[w].g, points[w].scratch, {}));
  write_passes(writers, writers[0]->schedule_);
  std::vector<Value> values;
  for (size_t w = 0; w < writers.size(); ++w) values.push_back(writers[w]->end(std::move(outside[w])));
  return values;
}

// The parts of a sum over a line are as many as a CPU has room for: they are the same where all sums of a
// loop are as many, so that a chain alone takes more lines at a time.
Value DensityWriter::write_apart(const Point& point, int64_t together) {
  more_lines_ = together;
  return write(point.q, point.g, point.scratch);
}

DensityWriter::Place DensityWriter::begin(const Vector& q, const Vector& g, const Vector& scratch,
                                          const Vector& near) {
  q_ = q;
  g_ = g;
  scratch_ = scratch;
  near_ = near;
  totals_.clear();
  ready_.clear();
  forget();
  std::vector<Vector> to(1);
  for (const auto& variable : density_.variables)
    to.push_back(variable.size > schedule_.short_result ? g.from(variable.offset) : Vector());
  return open(schedule_, 0, std::move(to));
}

Value DensityWriter::end(Place outside) {
  const Vector& g = g_;
  const Value value = read(graph::node_of(density_.value), place({}, chain_.index(0))).re;
  // All are computed before one is written: they read q, and g may be read as q is.
  std::vector<std::pair<int64_t, Value>> elements;
  for (const auto& variable : density_.variables) {
    if (variable.size > schedule_.short_result) continue;
    for (int64_t i = 0; i < variable.size; ++i)
      elements.emplace_back(
          variable.offset + i,
          read(graph::node_of(variable.gradient), place(variable.gradient.shape(), chain_.index(i))).re);
  }
  const auto set = [&] {
    for (const auto& [i, element] : elements) g.set(chain_.index(i), element);
  };
  constexpr size_t few = 64;
  if (g.in_registers())
    set();
  else if (chain_.by_team() && !schedule_.on_cpu && elements.size() <= few)  // a CPU's lanes never wait
    set_by_lanes(elements);
  else
    chain_.once(set);
  leave(schedule_, std::move(outside));
  return value;
}

DensityWriter::Place DensityWriter::enter(const Schedule& schedule, int64_t base, std::vector<Vector> to) {
  Place outer = open(schedule, base, std::move(to));
  DensityWriter* self = this;
  write_passes({&self, 1}, schedule);
  return outer;
}

DensityWriter::Place DensityWriter::open(const Schedule& schedule, int64_t base, std::vector<Vector> to) {
  Place outer{base_, std::move(to_)};
  plain_tables_.clear();
  base_ = base;
  to_ = std::move(to);
  for (const auto& [node, at] : schedule.stored) stored_[node] = base + at;
  for (const auto& [node, at] : schedule.sorted) sorted_[node] = base + at;
  of_a_tile_.insert(schedule.of_a_tile.begin(), schedule.of_a_tile.end());
  kinds_.insert(schedule.kinds.begin(), schedule.kinds.end());
  in_place_.insert(schedule.in_place.begin(), schedule.in_place.end());
  for (const auto& [node, control] : schedule.controls) controls_[node] = control.get();
  return outer;
}

// Passes with products of data go through them for all chains at once, others for one after the other.
void DensityWriter::write_passes(Writers writers, const Schedule& schedule) {
  const std::optional<RowShare>& share = writers[0]->share_;
  for (size_t p = 0; p < schedule.passes.size(); ++p) {
    const Pass& pass = schedule.passes[p];
    if (share && share->team.type() != Type::none &&
        static_cast<int64_t>(p) > writers[0]->schedule_.spread_pass)
      break;
    const ItemKind kind = pass.items[0].kind;
    if (pass.tiled == 3) {
      write_tiles(writers, pass, schedule.passes[p + 1], schedule.passes[p + 2]);
    } else if (kind == ItemKind::by_rows || kind == ItemKind::by_columns) {
      for (DensityWriter* writer : writers) writer->prepare(pass);
      (kind == ItemKind::by_rows ? write_product_by_rows : write_product_by_columns)(writers,
                                                                                     *pass.items[0].node);
      for (DensityWriter* writer : writers) writer->settle(pass);
    } else {
      for (DensityWriter* writer : writers) writer->write_alone(schedule, p);
    }
    p += std::max<size_t>(1, pass.tiled) - 1;
  }
}

void DensityWriter::write_alone(const Schedule& schedule, size_t p) {
  const Pass& pass = schedule.passes[p];
  if (pass.tiled == 2) return write_tiles(pass, schedule.passes[p + 1]);
  write_pass(pass);
  settle(pass);
}

// What the pass computed may be read.
void DensityWriter::settle(const Pass& pass) {
  for (const Item& item : pass.items) ready_.insert(item.node);
  plain_tables_.clear();
}

void DensityWriter::leave(const Schedule& schedule, Place outer) {
  plain_tables_.clear();
  for (const auto& [node, at] : schedule.stored) {
    stored_.erase(node);
    ready_.erase(node);
  }
  for (const auto& [node, at] : schedule.sorted) sorted_.erase(node);
  for (const Node* node : schedule.of_a_tile) of_a_tile_.erase(node);
  for (const auto& [node, kind] : schedule.kinds) {
    kinds_.erase(node);
    totals_.erase(node);
    ready_.erase(node);
  }
  for (const auto& [node, control] : schedule.controls) {
    controls_.erase(node);
    for (const auto& [item, number] : control->items) totals_.erase(item);
  }
  base_ = outer.base;
  to_ = std::move(outer.to);
}

// Each by the lane that counts it in loops over all variables, so that those need not wait for another one.
void DensityWriter::set_by_lanes(const std::vector<std::pair<int64_t, Value>>& elements) {
  if (elements.empty()) return;
  int64_t end = 0;
  for (const auto& [at, element] : elements) end = std::max(end, at + 1);
  builder().each(chain_.index(end), [&](Value i) {
    Value value = elements[0].second, is_one = i == chain_.index(elements[0].first);
    for (const auto& [at, element] : elements) {
      const Value is_this = i == chain_.index(at);
      value = select(is_this, element, value);
      is_one = is_one || is_this;
    }
    if (end == std::ssize(elements))
      g_.set(i, value);
    else
      builder().if_(is_one, [&] { g_.set(i, value); });
  });
}

// --- Elements ----------------------------------------------------------------------------------------------

// A scalar has one place, however it was come by.
Value DensityWriter::linear_of(const Node& node, const Index& at) {
  return element_count(node.shape) == 1 ? chain_.index(0) : at.linear();
}

std::optional<Scalar> DensityWriter::known(const Node& node, const Index& at) {
  const Value linear = linear_of(node, at);
  if (leaves_.contains(&node)) return load_leaf(node, at);
  if (const auto total = totals_.find(&node); total != totals_.end()) {
    Scalar value = pick(total->second, linear);
    if (node.op == Op::indexed_add && !lower::starts_from_zero(node))
      value.re = value.re + read(graph::node_of(node.operands[0]), at).re;
    return value;
  }
  if (is_stored(node)) {
    Value value = rows_of(node).get(linear);
    const auto kind = kinds_.find(&node);
    if (kind != kinds_.end() && kind->second == ItemKind::scatter && !lower::starts_from_zero(node))
      value = value + read(graph::node_of(node.operands[0]), at).re;
    return Scalar{number_of(node, value), {}, false};
  }
  if (const auto binding = bindings_.find(&node); binding != bindings_.end())
    return parameter(node, binding->second, at, linear);
  if (is_variable(node)) return variable(node, linear);
  // An element of a small tensor that is not known yet while the kernel is written: one of them all.
  const int64_t count = element_count(node.shape);
  if (count > 1 && count <= schedule_.written && !node.operands.empty() &&
      !kernel::constant_bits_of(linear) && node.op != Op::broadcast && node.op != Op::reshape &&
      !is_computed_there(node)) {
    std::vector<Value> elements;
    for (int64_t i = 0; i < count; ++i) elements.push_back(read(node, place(node.shape, chain_.index(i))).re);
    return pick(elements, linear);
  }
  return std::nullopt;
}

// Whether to compute an element of a small tensor where it is read, at a place that is not known yet, rather
// than to pick it out of them all: where they are not known either, or where it takes fewer operations. Sums
// are picked, so that a loop does not have one in every step.
bool DensityWriter::is_computed_there(const Node& table) {
  if (!is_plain(table)) return false;
  const auto count = static_cast<double>(element_count(table.shape));
  double cost = 0;
  std::unordered_set<const Node*> seen{&table};
  std::vector<const Node*> open{&table};
  while (!open.empty() && cost <= count) {
    const Node& node = *open.back();
    open.pop_back();
    const graph::Row& row = graph::row_of(node.op);
    cost += row.scalar ? row.cost : 0;
    for (const Tensor& operand : node.operands) {
      const Node& from = graph::node_of(operand);
      if (!seen.insert(&from).second || element_count(from.shape) == 1) continue;
      if (leaves_.contains(&from) || is_stored(from))
        cost += 1;
      else if (is_in_registers(from))
        cost += static_cast<double>(element_count(from.shape));
      else
        open.push_back(&from);
    }
  }
  return cost <= count || !has_read(table, place(table.shape, chain_.last_of(element_count(table.shape))));
}

bool DensityWriter::is_in_registers(const Node& node) const {
  return totals_.contains(&node) || is_variable(node) || bindings_.contains(&node);
}

// Whether it is made of elementwise work and index maps alone, as far as it is not known.
bool DensityWriter::is_plain(const Node& table) {
  answer(
      &table, plain_tables_,
      [&](const Node* node, const auto& want) {
        for (const Tensor& operand : node->operands)
          if (is_followed(graph::node_of(operand))) want(&graph::node_of(operand));
      },
      [&](const Node* node) {
        const graph::Row& row = graph::row_of(node->op);
        return (row.scalar || row.view) &&
               std::all_of(node->operands.begin(), node->operands.end(), [&](const Tensor& operand) {
                 const Node& from = graph::node_of(operand);
                 return !is_followed(from) || plain_tables_.at(&from);
               });
      });
  return plain_tables_.at(&table);
}
bool DensityWriter::is_followed(const Node& node) const {
  return element_count(node.shape) > 1 && !leaves_.contains(&node) && !is_stored(node) &&
         !is_in_registers(node);
}

Scalar DensityWriter::variable(const Node& node, Value linear) {
  const Value i = chain_.index(offsets_.at(&node)) + linear;
  if (!q_.in_registers() || kernel::constant_bits_of(i)) return {q_.get(i), {}, false};
  std::vector<Value> elements;
  for (int64_t j = 0; j < element_count(node.shape); ++j)
    elements.push_back(q_.get(chain_.index(offsets_.at(&node) + j)));
  return pick(elements, linear);
}

Scalar DensityWriter::pick(const std::vector<Value>& elements, Value linear) {
  if (const auto known = kernel::constant_bits_of(linear)) return {elements.at(*known), {}, false};
  Value value = elements[0];
  for (size_t i = 1; i < elements.size(); ++i)
    value = select(linear == linear.like(static_cast<int64_t>(i)), elements[i], value);
  return {value, {}, false};
}

Scalar DensityWriter::result(const Node& node, std::span<const Scalar> operands) {
  // The device's own division: to mend its last bits, and numbers at the ends of the range, takes a branch
  // and a hundred instructions, and no density needs that.
  // In f64, where a division takes as long as ten products, quotients by one number share its inverse, which
  // may also be computed before a loop. Not those that steps read: x / x would be less than 1 for some x, and
  // a floor or a condition on it another one than the interpreter's.
  if (node.op == Op::divide && is_float(node.type)) {
    const Value x = operands[0].re, y = operands[1].re;
    const bool shares = x.type() == Type::f64 && builder().is_loose() && !sharp_.contains(&node);
    return {shares ? x * (1.0 / y) : x / y, {}, false};
  }
  if (operands.size() == 1 && !bent_.empty())
    if (const auto value = without_logarithm(node, operands[0].re)) return {*value, {}, false};
  return graph::row_of(node.op).scalar(operands, node);
}

Scalar DensityWriter::other(const Node& node, const Index& at) {
  if (reduces(node)) return reduction(node, at);
  if (node.op == Op::indexed_add || node.op == Op::indexed_put)
    return are_few_updates(node)       ? few_updates(node, at)
           : in_place_.contains(&node) ? through_update(node, at)
                                       : updates(node, at);
  throw Error(ErrorKind::unsupported, "[sample] " + std::string(graph::row_of(node.op).name) +
                                          ": expected operations that a sampler's kernel has");
}

// Whether so many elements of a reduction take few operations, as far as they are written where it is read.
bool DensityWriter::is_short(const Node& reduction, int64_t count) const {
  double cost = 0;
  std::unordered_set<const Node*> seen{&reduction};
  std::vector<const Node*> open{&reduction};
  const double most = most_written / static_cast<double>(std::max<int64_t>(1, count));
  while (!open.empty() && cost <= most) {
    const Node& node = *open.back();
    open.pop_back();
    const graph::Row& row = graph::row_of(node.op);
    if (row.kind != graph::Kind::view) cost += row.cost;
    for (const Tensor& operand : node.operands) {
      const Node& from = graph::node_of(operand);
      if (leaves_.contains(&from) || is_stored(from) || totals_.contains(&from) || is_variable(from))
        continue;
      if (element_count(from.shape) > 1 && seen.insert(&from).second) open.push_back(&from);
    }
  }
  return static_cast<double>(count) * cost <= most_written;
}

Scalar DensityWriter::reduction(const Node& node, const Index& at) {
  const int64_t count = length_of(node);
  const bool is_product = schedule_.on_cpu && node.op == Op::dot && is_float(node.type);
  const bool is_loop =
      count > (is_product ? small : schedule_.written) || (!is_product && !is_short(node, count));
  const Node* const results[] = {&node};
  if (is_loop) read_before(results);
  if (is_product) return lower::serial_dot(*this, node, at, small, 4);
  if (is_loop) return {lower::finished_total(node, lower::looped_totals(*this, node, at)), {}, false};
  const auto types = lower::total_types(node);
  const auto reductions = lower::total_reductions(node);
  // Two rows of operations are half as long as one.
  std::vector<Value> totals, others;
  const auto join = [&](std::vector<Value>& to, const std::vector<Value>& parts) {
    if (to.empty())
      to = parts;
    else
      for (size_t t = 0; t < parts.size(); ++t) to[t] = lower::combine(reductions[t], to[t], parts[t]);
  };
  for (int64_t r = 0; r < count; ++r)
    join(count >= 6 && r % 2 ? others : totals, lower::element_contributions(*this, node, at, number(r)));
  if (!others.empty()) join(totals, others);
  if (totals.empty())
    for (size_t t = 0; t < types.size(); ++t)
      totals.push_back(builder().constant_bits(types[t], kernel::identity_of(reductions[t], types[t])));
  return {lower::finished_total(node, totals), {}, false};
}

// --- Leaves ------------------------------------------------------------------------------------------------

// Longer ones begin where a cache line does.
constexpr int64_t long_segment = 64;

Value DensityWriter::segment(Segment::Kind kind, const Node& leaf, const Node* of, int64_t count, Value i) {
  const bool real = kind <= Segment::Kind::columns && is_float(leaf.type);
  auto& list = real ? segments_->reals : segments_->places;
  int64_t& end = real ? segments_->reals_count : segments_->places_count;
  const Segment* found = nullptr;
  for (const Segment& one : list)
    if (one.kind == kind && one.leaf == &leaf && one.updates == of) found = &one;
  if (!found) {
    if (real && count >= long_segment) end = (end + line_numbers - 1) / line_numbers * line_numbers;
    list.push_back({kind, &leaf, of, end, count, real && is_wide(leaf)});
    end += list.back().is_wide ? 2 * count : count;
    found = &list.back();
  }
  const Value at = (real ? reals_base_ : places_base_) + chain_.index(found->offset) + i;
  if (!found->is_wide) return (real ? reals_ : places_)[at];
  return convert(Value(reals_[at]), Type::f64) + convert(Value(reals_[at + at.like(count)]), Type::f64);
}

Scalar DensityWriter::load_leaf(const Node& node, const Index& at) {
  const int64_t count = element_count(node.shape);
  Value place = count == 1 ? chain_.index(0) : at.linear();
  if (const auto known = ahead_.find(&node); known != ahead_.end())
    if (const auto i = kernel::constant_bits_of(place)) return {known->second[*i], {}, false};
  auto kind = Segment::Kind::values;
  // Lanes count the first axis: with that axis last they read side by side.
  if (chain_.by_team() && step_.type() != Type::none && node.shape.size() >= 2 && is_float(node.type) &&
      node.shape[0] == step_count_ && at.coordinate(0).id() == step_.id() && node.shape[0] != count) {
    kind = Segment::Kind::columns;
    place = chain_.index(0);
    for (int axis = 1; axis < node.shape.size(); ++axis)
      place = place * node.shape[axis] + at.coordinate(axis);
    place = place * node.shape[0] + step_;
  }
  Value value = segment(kind, node, nullptr, count, place);
  if (!is_float(node.type)) value = convert(value, compute_type(node.type));
  return {value, {}, false};
}

}  // namespace adit::sampling
