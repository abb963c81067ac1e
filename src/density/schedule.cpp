#include "density/schedule.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "density/control_plan.hpp"
#include "density/scheduler.hpp"
#include "density/split.hpp"
#include "lower/reduction.hpp"
#include "lower/serial.hpp"

namespace adit::sampling {

using graph::Kind;
using graph::Op;

namespace {

constexpr int64_t few_targets = 16;    // of updates that a team adds by masks
constexpr int64_t masked_targets = 4;  // the same on a CPU, whose other way is cheaper
constexpr double worth_sorting = 1.5;  // cost of an update that is more than a load
// Operations of a short tensor's elements from which they are kept rather than written out again where a
// longer one is made of them. A guess: a pass and its barrier cost about as much.
constexpr double long_table = 256;
constexpr int64_t few_steps = 8;  // that no loop is made for
// Multiplications of small matrices that a CPU has written out: a loop over the elements of a product would
// pick each number of the factors, which lie in registers, by as many comparisons as they have.
constexpr int64_t small_matrix_operations = 256;
constexpr double lanes_sum_cost = 40;  // of a sum over lanes, in operations one after the other
// The same of one of many, which wait for each other's: five exchanges and sums. A guess.
constexpr double one_of_many_sums = 12;

}  // namespace

Scheduler::Scheduler(const Region& region)
    : region_(region),
      by_team_(region.by_team),
      on_cpu_(region.on_cpu),
      by_gpu_team_(region.by_team && !region.on_cpu) {
  varying_ = dependents_of(region.results, region.inputs);
  for (const Tensor& x : graph::reachable(region.results, true)) {
    const Node& node = graph::node_of(x);
    if (!varying_.contains(&node) || node.operands.empty()) continue;
    nodes_.push_back(&node);
    for (const Tensor& operand : node.operands) users_[&graph::node_of(operand)].push_back(&node);
  }
}

Schedule Scheduler::make() {
  find_lower();
  classify();
  arrange();
  if (keep_costly()) arrange();
  if (forget_unread()) arrange();
  Schedule schedule;
  schedule.by_team = by_team_;
  schedule.on_cpu = on_cpu_;
  schedule.team = region_.team;
  schedule.short_result = region_.short_result;
  schedule.written = region_.written;
  schedule.in_place = region_.in_place;
  std::map<PassKey, Pass> passes;
  for (const Item& item : items_) {
    // A product comes last of its level: it may go by tiles together with what follows.
    const int64_t alone = item.kind == ItemKind::by_rows ? INT64_MAX - 1 : 0;
    const int64_t key = is_alone(item) ? alone - static_cast<int64_t>(item.node->number) : item.count;
    Pass& pass = passes[pass_of(item, item.level, key)];
    pass.count = item.count;
    pass.is_lower = item.is_lower;
    if (const auto limit = region_.limits.find(key); limit != region_.limits.end())
      pass.limit = limit->second;
    if (item.is_wide) pass.totals_a_loop = few_totals;
    pass.items.push_back(item);
    if (item.kind != ItemKind::output) schedule.kinds[item.node] = item.kind;
    if (item.kind == ItemKind::own_sums) schedule.own_sums.insert(item.node);
    if (item.kind == ItemKind::control) continue;
    if (item.kind == ItemKind::factor) schedule.work += factor_work(*item.node);
    if (item.kind == ItemKind::by_rows || item.kind == ItemKind::by_columns)
      schedule.work += count_of(*item.node) * length_of(*item.node);
    if (item.kind == ItemKind::segments) schedule.work += item.node->operands[2].size();
    if (item.kind == ItemKind::store && reduces(*item.node))
      schedule.work += item.count * (length_of(*item.node) - 1);
    schedule.work += item.count * (item.kind == ItemKind::totals ? count_of(*item.node) : 1);
  }
  for (auto& [key, pass] : passes) {
    if (!is_alone(pass.items[0])) pass.cost = step_cost(pass);
    schedule.passes.push_back(std::move(pass));
  }
  find_tiles(schedule);
  if (region_.team.spreads) schedule.spread_pass = find_spread_pass(schedule);
  schedule.work += static_cast<int64_t>(nodes_.size());
  place_memory(schedule);
  return schedule;
}

// The pass over many rows, where it is the only one, and all that comes of it are some totals.
int64_t Scheduler::find_spread_pass(const Schedule& schedule) const {
  int64_t found = -1, totals = 0;
  for (size_t p = 0; p < schedule.passes.size(); ++p) {
    const Pass& pass = schedule.passes[p];
    if (pass.limit) continue;
    for (const Item& item : pass.items)
      if (item.kind == ItemKind::control || count_of(*item.node) >= many_rows) return -1;
    if (pass.count < many_rows) continue;
    if (found >= 0 || pass.totals_a_loop > 0) return -1;
    found = static_cast<int64_t>(p);
    for (const Item& item : pass.items) {
      if (item.kind != ItemKind::totals || !is_float(item.node->type)) return -1;
      for (const kernel::Type type : lower::total_types(*item.node))
        if (type != compute_type(item.node->type)) return -1;
      totals += count_of(*item.node);
    }
  }
  return totals <= most_spread_totals ? found : -1;
}

double Scheduler::step_cost(const Pass& pass) {
  double cost = 0;
  for (const Item& item : pass.items) {
    const auto times = static_cast<double>(item.kind == ItemKind::totals ? count_of(*item.node) : 1);
    const size_t first = is_before_segments(item.kind) ? 2 : 0;
    cost += times * graph::row_of(item.node->op).cost;
    for (size_t i = first; i < item.node->operands.size(); ++i)
      cost += times * cost_of(graph::node_of(item.node->operands[i]));
  }
  return cost;
}

void Scheduler::classify() {
  for (const Node* node : nodes_) {
    if (region_.in_place.contains(node)) continue;
    if (reduces(*node))
      classify_reduction(*node);
    else if (node->op == Op::indexed_add || node->op == Op::indexed_put)
      classify_updates(*node);
    else if (is_factor(*node))
      classify_factor(*node);
    else if (node->op == Op::item &&
             graph::row_of(graph::node_of(node->operands[0]).op).kind == Kind::control)
      know(*node);
    else if (node->op == Op::gather || node->op == Op::take_along_axis)
      keep_table(*node, node->operands[0], 0);
    else if (node->op == Op::broadcast || node->op == Op::concatenate || node->op == Op::pad ||
             node->op == Op::windows)
      for (const Tensor& part : node->operands) keep_table(*node, part, long_table);
    else if (graph::row_of(node->op).kind == Kind::control)
      classify_control(*node);
    else if (graph::row_of(node->op).kind == Kind::kernel || is_complex(node->type))
      throw Error(ErrorKind::unsupported,
                  fmt::format("[sample] {}: expected operations on real numbers that a sampler's kernel has, "
                              "got one that it does not have",
                              graph::name_of(node->op)));
  }
  cut_nests();
  for (size_t i = 0; i < region_.results.size(); ++i)
    if (region_.results[i].size() > region_.short_result &&
        !region_.in_place.contains(&graph::node_of(region_.results[i])))
      add_output(graph::node_of(region_.results[i]), i);
}

// What is neither elementwise nor known reads its operands at places of its own, and the writer of elements
// recurses there: where many such lie in each other, some of them are kept.
void Scheduler::cut_nests() {
  constexpr int most_nested = 100;
  std::unordered_map<const Node*, int> nested;
  for (const Node* node : nodes_) {
    if (known_.contains(node)) continue;
    int levels = 0;
    for (const Tensor& operand : node->operands)
      if (const auto at = nested.find(&graph::node_of(operand)); at != nested.end())
        levels = std::max(levels, at->second);
    if (!graph::row_of(node->op).scalar) ++levels;
    const bool can_be_kept = node->type == region_.type || places_of(*node, region_.type) == 2;
    if (levels >= most_nested && can_be_kept && !region_.in_place.contains(node))
      keep(*node);
    else
      nested[node] = levels;
  }
}

void Scheduler::classify_reduction(const Node& node) {
  const int64_t m = count_of(node), n = length_of(node);
  if (is_written_out(node)) return;
  if (const auto kind = product_by_lines(node)) return add_product(node, *kind);
  if (n <= region_.written && m > region_.written) return;  // so is this
  if (region_.team.spreads && m >= many_rows && n <= most_spread_length)
    return;  // by the lane that has the row
  const bool is_wide = on_cpu_ && m > few_totals, are_shared = are_totals(node) && !is_soon_by_results(node);
  if (are_shared && is_wide) keep_operands(node);
  if (are_shared)
    add({.kind = ItemKind::totals, .node = &node, .count = n, .is_wide = is_wide});
  else
    add({ItemKind::store, &node, m});
}

// Whether a reduction is computed where it is read. All lanes of a GPU's team would do that, each all of it:
// a sum over lanes takes about as long as forty operations one after the other.
bool Scheduler::is_written_out(const Node& node) {
  const int64_t m = count_of(node), n = length_of(node);
  const bool is_small_matrix = on_cpu_ && n <= few_steps && m <= region_.written;
  if (m * n > (is_small_matrix ? small_matrix_operations : few_operations) || n > 2 * region_.written)
    return false;
  if (!by_gpu_team_ || n <= few_steps) return true;
  double cost = 0;
  for (const Tensor& operand : node.operands) {
    const Node& source = graph::node_of(operand);
    cost += cost_of(source);
    if (varying_.contains(&source) && !known_.contains(&source) && count_of(source) <= region_.written)
      cost += graph::row_of(source.op).cost;
  }
  return static_cast<double>((n - 1) * m) * cost <= lanes_sum_cost;
}

bool Scheduler::are_totals(const Node& node) const {
  const bool any_order = node.op == Op::dot || lower::combines_in_any_order(node);
  if (region_.team.spreads && length_of(node) >= many_rows)
    return any_order && count_of(node) <= most_spread_totals;
  return any_order && count_of(node) <= small && (by_gpu_team_ || length_of(node) > region_.written);
}

// Whether a GPU's team has the results of a reduction sooner with a lane for each of them than with all lanes
// for one after the other. They are also one loop of the kernel then, and not one for each result.
bool Scheduler::is_soon_by_results(const Node& node) {
  if (!by_gpu_team_ || region_.team.spreads) return false;
  const int64_t lanes = std::max<int64_t>(region_.team.lanes, 32), m = count_of(node), n = length_of(node);
  double cost = graph::row_of(node.op).cost;
  for (const Tensor& operand : node.operands) cost += cost_of(graph::node_of(operand));
  const auto steps = [&](int64_t count) { return static_cast<double>((count + lanes - 1) / lanes); };
  const double together = static_cast<double>(m) * (steps(n) * cost + one_of_many_sums);
  return m > masked_targets && steps(m) * static_cast<double>(n) * cost <= together;
}

// Whether a short tensor that is written out takes so many operations, with all that it is made of.
bool Scheduler::costs_written(const Node& table, double least) const {
  double cost = 0;
  std::unordered_set<const Node*> seen{&table};
  std::vector<const Node*> open{&table};
  while (!open.empty() && cost < least) {
    const Node& node = *open.back();
    open.pop_back();
    const double times = reduces(node) ? static_cast<double>(length_of(node)) : 1;
    if (graph::row_of(node.op).kind != Kind::view)
      cost += times * static_cast<double>(count_of(node)) * graph::row_of(node.op).cost;
    for (const Tensor& operand : node.operands) {
      const Node& from = graph::node_of(operand);
      if (varying_.contains(&from) && !known_.contains(&from) && seen.insert(&from).second)
        open.push_back(&from);
    }
  }
  return cost >= least;
}

// A short tensor that steps of a longer one read at places of their own: from memory rather than by one
// comparison for each of its elements, all of which would be computed by every lane. Not where they are less
// than `least` operations.
void Scheduler::keep_table(const Node& node, const Tensor& operand, double least) {
  const Node* seen = &graph::node_of(operand);
  while (seen->op == Op::reshape) seen = &graph::node_of(seen->operands[0]);
  const Node& table = *seen;
  const int64_t count = count_of(table);
  if (!by_team_ || count > region_.written || table.type != region_.type) return;
  if (!varying_.contains(&table) || known_.contains(&table) || table.operands.empty()) return;
  if (count <= few_steps) least = long_table;  // so few comparisons are cheap, their elements may not be
  if (count_of(node) <= region_.written || (least > 0 && !costs_written(table, least))) return;
  keep(table);
}

// A CPU reads a matrix line by line, as it lies: across lines it would wait for memory at every step.
std::optional<ItemKind> Scheduler::product_by_lines(const Node& node) const {
  if (!by_team_ || !on_cpu_ || node.op != Op::dot || node.type != region_.type) return std::nullopt;
  const auto& about = node.as<graph::DotAttributes>();
  const int64_t m = count_of(node), n = length_of(node);
  for (const int side : {0, 1}) {
    const Tensor& matrix = node.operands[static_cast<size_t>(side)];
    const Axes& contracted = side == 0 ? about.contract_a : about.contract_b;
    const bool lies = !varying_.contains(&graph::node_of(matrix)) || known_.contains(&graph::node_of(matrix));
    if (!lies || matrix.rank() != 2 || matrix.size() != m * n || contracted.size() != 1) continue;
    if (node.operands[static_cast<size_t>(1 - side)].size() != n) continue;
    if (contracted[0] == 1 && n >= 2 * shortest_row) return ItemKind::by_rows;
    if (contracted[0] == 0 && m >= 2 * shortest_row) return ItemKind::by_columns;
  }
  return std::nullopt;
}

void Scheduler::add_product(const Node& node, ItemKind kind) {
  for (const Tensor& operand : node.operands) {
    const Node& vector = graph::node_of(operand);
    if (!varying_.contains(&vector) || known_.contains(&vector) || operand.size() <= region_.written)
      continue;
    if (is_variable_like(vector)) continue;
    keep(vector);
  }
  add({kind, &node, 1});
}

// What all of the loops of a wide item read is computed before them.
void Scheduler::keep_operands(const Node& node) {
  for (const Tensor& operand : node.operands)
    if (operand.size() > region_.written && operand.size() < count_of(node) * length_of(node) &&
        operand.dtype() == region_.type && cost_of(graph::node_of(operand)) > 1)
      keep(graph::node_of(operand));
}

void Scheduler::classify_updates(const Node& node) {
  const int64_t updates = node.operands[2].size(), targets = count_of(node);
  if (are_few_updates(node)) return;  // written out where they are read
  if (node.op == Op::indexed_put || node.type != region_.type ||
      (by_team_ && varying_.contains(&graph::node_of(node.operands[1]))))
    return add({ItemKind::place, &node, 1});
  if (!by_team_) return add({ItemKind::scatter, &node, updates});
  const bool is_flat = node.operands[2].rank() == node.operands[1].rank() - 1;
  if (is_flat && targets <= (on_cpu_ ? masked_targets : few_targets))
    return add({ItemKind::totals, &node, updates});
  prepare_segments(node);
  know(node);
  items_.push_back({ItemKind::segments, &node, 1});
}

// Updates, before those of a target are summed. A CPU gathers well and scatters badly: they are stored as
// they come, and read by the lists of their targets. (Lanes with a target each, whose lists end apart, took
// twice as long.) A GPU's lanes add to sums of their own where there is room for those, or else put them
// where they stand side by side.
void Scheduler::prepare_segments(const Node& node) {
  const int64_t updates = node.operands[2].size();
  // Of what is added here and taken away there one is stored.
  const Node* positive = &graph::node_of(node.operands[2]);
  while (on_cpu_ && positive->op == Op::negate) positive = &graph::node_of(positive->operands[0]);
  const Node& source = *positive;
  const bool costs = cost_of(source) >= worth_sorting;
  if (on_cpu_) {
    if (costs && updates > region_.written && source.type == region_.type && !known_.contains(&source))
      keep(source);
  } else if (region_.team.lanes > 0 && count_of(node) > 0 && count_of(node) * region_.team.lanes <= updates) {
    add({ItemKind::own_sums, &node, updates});
  } else if (costs && updates > 0) {
    add({ItemKind::sorted, &node, updates});
  }
}

void Scheduler::classify_factor(const Node& node) {
  for (const Tensor& operand : node.operands) {
    if (varying_.contains(&graph::node_of(operand)) && !known_.contains(&graph::node_of(operand)))
      add({ItemKind::store, &graph::node_of(operand), operand.size()});
  }
  add({ItemKind::factor, &node, 1});
}

// What the functions read again and again is computed before. A team's lanes all go through the loop, and
// would each compute what the loop reads once. A CPU computes functions of all slices sooner than those of
// one after the other, and the way back reads them again.
void Scheduler::classify_control(const Node& node) {
  const auto& about = *node.as<std::shared_ptr<const graph::ControlAttributes>>();
  const auto first = static_cast<size_t>(about.carries + (by_team_ || on_cpu_ ? 0 : about.sequences));
  for (size_t i = node.op == Op::cond ? 1 : first; i < node.operands.size(); ++i) {
    const Tensor& operand = node.operands[i];
    if (operand.size() <= region_.written || operand.dtype() != region_.type) continue;
    const bool costs = cost_of(graph::node_of(operand)) > 2;
    if (costs && !known_.contains(&graph::node_of(operand))) keep(graph::node_of(operand));
  }
  add({ItemKind::control, &node, 1});
}

void Scheduler::add_output(const Node& node, size_t result) {
  // What is stored for the gradient alone is computed into it.
  const auto it = std::find_if(items_.begin(), items_.end(), [&](const Item& item) {
    return item.node == &node && item.kind == ItemKind::store && users_[&node].empty();
  });
  if (it != items_.end()) {
    forget(node);
    items_.erase(it);
  }
  items_.push_back({ItemKind::output, &node, count_of(node), result});
}

void Scheduler::keep(const Node& node) {
  add({.kind = ItemKind::store, .node = &node, .count = count_of(node), .is_kept = true});
}

void Scheduler::add(const Item& item) {
  if (!know(*item.node)) return;
  items_.push_back(item);
  const bool is_of_elements = item.kind == ItemKind::store || item.kind == ItemKind::totals;
  items_.back().is_lower = is_of_elements && lower_.contains(item.node);
  if (is_before_segments(item.kind)) sorted_[item.node] = 0;
}

// A pass of its own.
bool Scheduler::is_alone(const Item& item) {
  return item.kind == ItemKind::factor || item.kind == ItemKind::place || item.kind == ItemKind::control ||
         item.kind == ItemKind::segments || item.kind == ItemKind::by_rows ||
         item.kind == ItemKind::by_columns;
}

Schedule make_schedule(const Region& region) { return Scheduler(region).make(); }

}  // namespace adit::sampling
