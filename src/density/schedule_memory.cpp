// Where a schedule's tensors lie in the chain's memory, and which passes go together over tiles.
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <unordered_set>

#include <adit/error.hpp>

#include "density/control_plan.hpp"
#include "density/factor.hpp"
#include "density/scheduler.hpp"
#include "lower/memory_plan.hpp"

namespace adit::sampling {

using graph::Op;

namespace {

// Elements of a loop's round from which all of a machine works on it. posteriordb's kronecker_gp has 90,000
// (five products of 30 x 30), its programs with differential equations some hundreds.
constexpr int64_t long_round = 8192;

}  // namespace

// Loops of many totals, and the pass before them whose results they read row by row.
bool Scheduler::is_tiled_with(const Pass& wide, const Pass& first) const {
  if (!on_cpu_ || !by_team_ || wide.totals_a_loop == 0 || wide.count != first.count || first.count <= small)
    return false;
  if (first.totals_a_loop > 0 || is_alone(first.items[0])) return false;
  for (const Item& item : first.items) {
    if (item.kind != ItemKind::totals && item.kind != ItemKind::store) return false;
    const Shape& shape = item.kind == ItemKind::totals ? item.node->operands[0].shape() : item.node->shape;
    if (shape.size() > 1 && element_count(shape) == first.count) return false;  // goes by rows of its own
  }
  const auto is_of_first = [&](size_t other) {
    return std::any_of(first.items.begin(), first.items.end(),
                       [&](const Item& item) { return item.node == items_[other].node; });
  };
  const std::unordered_set<const Node*> apart = read_apart(wide);
  for (const Item& item : wide.items)
    for (const size_t other : needs(item, true))
      if (is_of_first(other) && (items_[other].kind != ItemKind::store || apart.contains(items_[other].node)))
        return false;
  return true;
}

void Scheduler::find_tiles(Schedule& schedule) const {
  for (size_t p = 0; p + 2 < schedule.passes.size(); ++p) {
    Pass& first = schedule.passes[p];
    const Pass &between = schedule.passes[p + 1], &last = schedule.passes[p + 2];
    if (first.items[0].kind != ItemKind::by_rows || last.items[0].kind != ItemKind::by_columns) continue;
    const Node &product = *first.items[0].node, &back = *last.items[0].node;
    const int64_t rows = count_of(product);
    if (rows != between.count || rows != length_of(back) || between.totals_a_loop > 0) continue;
    if (is_alone(between.items[0]) || read_apart(between).contains(&product)) continue;
    const int64_t row_bytes = static_cast<int64_t>(size_of(region_.type)) * length_of(product);
    first.tile =
        lines_together(product) == 2 ? few_rows : std::max<int64_t>(16, tile_bytes / row_bytes / 8 * 8);
    first.tiled = 3;
  }
  for (size_t p = 0; p + 1 < schedule.passes.size(); p += std::max<size_t>(1, schedule.passes[p].tiled)) {
    Pass& first = schedule.passes[p];
    const Pass& wide = schedule.passes[p + 1];
    if (first.tiled > 0 || wide.tiled > 0 || !is_tiled_with(wide, first)) continue;
    int64_t totals = 0;
    for (const Item& item : wide.items) totals += count_of(*item.node);
    const int64_t row_bytes = static_cast<int64_t>(size_of(region_.type)) * totals;
    first.tile = std::max<int64_t>(64, tile_bytes / row_bytes / 16 * 16);
    first.tiled = 2;
  }
}

// What steps of a pass read at other places than their own: what is not here is read at the step alone.
std::unordered_set<const Node*> Scheduler::read_apart(const Pass& pass) const {
  std::unordered_set<const Node*> apart, at_steps;
  std::vector<std::pair<const Node*, bool>> open;  // and whether it is read at the step
  const auto visit = [&](const Tensor& operand, bool at_step) {
    const std::pair next{&graph::node_of(operand), at_step && operand.size() == pass.count};
    if (reaches_.contains(next.first) && (next.second ? at_steps : apart).insert(next.first).second)
      open.push_back(next);
  };
  // A product over all axes counts them in an order of its own.
  const auto in_order = [](const Node& of, size_t which) {
    if (of.op != Op::dot) return true;
    const auto& about = of.as<graph::DotAttributes>();
    const Axes& axes = which == 0 ? about.contract_a : about.contract_b;
    return axes == Axes::counted(axes.size());
  };
  const auto follow = [&](const Node& of, bool at_step) {
    for (size_t i = 0; i < of.operands.size(); ++i) visit(of.operands[i], at_step && in_order(of, i));
  };
  for (const Item& item : pass.items)
    follow(*item.node, item.kind == ItemKind::totals ? count_of(*item.node) == 1 || item.node->op == Op::dot
                                                     : is_elementwise(*item.node));
  while (!open.empty()) {
    const auto [read, at_step] = open.back();
    open.pop_back();
    const auto at = index_.find(read);
    if (at == index_.end() || items_[at->second].is_kept)
      follow(*read, at_step && is_elementwise(*read));
    else if (is_read_with_its_base(items_[at->second]))
      visit(read->operands[0], at_step);
  }
  return apart;
}

// A tensor has its place from the pass that writes it to the last one that reads it.
void Scheduler::place_memory(Schedule& schedule) {
  std::map<std::pair<const Node*, ItemKind>, size_t> pass_of;
  for (size_t p = 0; p < schedule.passes.size(); ++p)
    for (const Item& item : schedule.passes[p].items) pass_of[{item.node, item.kind}] = p;
  std::vector<size_t> pass, last;
  for (const Item& item : items_) pass.push_back(pass_of.at({item.node, item.kind}));
  last = pass;
  for (size_t i = 0; i < items_.size(); ++i)
    for (const size_t other : needs(items_[i], true)) last[other] = std::max(last[other], pass[i]);
  for (const size_t i : read_at_the_end()) last[i] = schedule.passes.size();
  // Passes that go together over tiles are one: all that they touch lives from the first to the last.
  for (size_t p = 0; p < schedule.passes.size(); ++p) {
    if (schedule.passes[p].tile == 0) continue;
    for (size_t i = 0; i < items_.size(); ++i) {
      const size_t end = p + schedule.passes[p].tiled - 1;
      if (pass[i] >= p && pass[i] <= end && last[i] <= end && schedule.passes[p].tiled == 3 &&
          (items_[i].kind == ItemKind::by_rows || items_[i].kind == ItemKind::store) &&
          count_of(*items_[i].node) == schedule.passes[p + 1].count && items_[i].node->type == region_.type)
        schedule.of_a_tile.insert(items_[i].node);
      if (pass[i] > p && pass[i] <= end) pass[i] = p;
      if (last[i] >= p && last[i] < end) last[i] = end;
    }
  }

  std::vector<Want> wants;
  const auto want = [&](int64_t* place, int64_t count, size_t from, size_t until, int64_t touches) {
    if (count > 0) wants.push_back({place, count, from, until, touches});
  };
  std::map<size_t, std::unordered_set<const Node*>> apart;  // of passes, once each
  const auto reads_apart = [&](size_t p, const Node& node) {
    const auto [at, is_new] = apart.try_emplace(p);
    if (is_new) at->second = read_apart(schedule.passes[p]);
    return at->second.contains(&node);
  };
  // A factor lies where the matrix was (not where a team writes it), a solution where its right-hand sides
  // were, and what is made element by element where that was of which it is made.
  const auto over = [&](size_t i) {
    const Item& item = items_[i];
    if (count_of(*item.node) == 0) return;
    if (item.kind == ItemKind::store)
      for (const size_t other : needs(item, true)) {
        const auto at = schedule.stored.find(items_[other].node);
        if (at == schedule.stored.end() || count_of(*items_[other].node) != item.count ||
            items_[other].node->type != item.node->type)
          continue;
        if (pass[other] == pass[i] || reads_apart(pass[i], *items_[other].node)) continue;
        wants.back().over = &at->second;
        return;
      }
    if (item.kind != ItemKind::factor) return;
    const Node* const matrix = &graph::node_of(item.node->operands[0]);
    const Node* const old = item.node->op == Op::cholesky ? matrix : &graph::node_of(item.node->operands[1]);
    // The matrix is read to the end, and so is what it adds its updates to.
    const auto kept = index_.find(matrix);
    const bool has_base = kept != index_.end() && is_read_with_its_base(items_[kept->second]);
    if (item.node->op == Op::cholesky ? by_team_ && shares_out_rows(*item.node) : old == matrix || has_base)
      return;
    if (const auto at = schedule.stored.find(old); at != schedule.stored.end())
      wants.back().over = &at->second;
  };
  for (size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    const bool of_a_tile = schedule.of_a_tile.contains(item.node);
    const int64_t count = of_a_tile ? schedule.passes[pass[i]].tile + most_lines_apart : count_of(*item.node);
    if (item.kind == ItemKind::own_sums)
      want(&schedule.sorted[item.node], count * region_.team.lanes, pass[i], last[i],
           2 + 2 * item.count / (count * region_.team.lanes));
    else if (item.kind == ItemKind::sorted)
      want(&schedule.sorted[item.node], item.count, pass[i], last[i], 2);
    else if (item.kind == ItemKind::control)
      for (const auto& [place, numbers, touches, lasts] :
           memory_of(controlled(schedule, *item.node), *item.node))
        want(place, numbers, pass[i], lasts ? last[i] : pass[i], touches);
    else if (item.kind != ItemKind::totals && item.kind != ItemKind::output)
      want(&schedule.stored[item.node], count * places_of(*item.node, region_.type), pass[i], last[i],
           touches_of(*item.node)),
          over(i);
  }
  place_all(wants, schedule);
  find_results(schedule);
}

// How often a number of a stored tensor is written and read, roughly.
int64_t Scheduler::touches_of(const Node& node) const {
  int64_t touches = is_factor(node) ? factor_work(node) / std::max<int64_t>(1, count_of(node)) : 1;
  const auto users = users_.find(&node);
  if (users == users_.end()) return touches;
  for (const Node* user : users->second) {
    const int64_t work = is_factor(*user) ? factor_work(*user)
                         : reduces(*user) ? count_of(*user) * length_of(*user)
                                          : count_of(*user);
    touches += std::max<int64_t>(1, work / std::max<int64_t>(1, count_of(node)));
  }
  return touches;
}

namespace {

// Numbers by which places are counted: of a CPU's team a cache line's, so that no vector lies across two.
uint64_t arranged(lower::MemoryPlan& plan, const std::vector<const Want*>& wants, int64_t line) {
  for (const Want* want : wants)
    for (const size_t step : {want->from, want->until})
      plan.use(want->place, static_cast<uint64_t>((want->count + line - 1) / line * line), step);
  std::vector<const Want*> in_turn = wants;  // who takes over from whom is known when its turn comes
  std::stable_sort(in_turn.begin(), in_turn.end(),
                   [](const Want* a, const Want* b) { return a->from < b->from; });
  for (const Want* want : in_turn)
    if (want->over) plan.take_over(want->place, want->over, want->from);
  return plan.arrange();
}

void settle_places(const lower::MemoryPlan& plan, const std::vector<const Want*>& wants, int64_t first) {
  for (const Want* want : wants) *want->place = first + static_cast<int64_t>(plan.offsets().at(want->place));
}

}  // namespace

// What is touched most often lies near the lanes of a team, as far as there is room.
void Scheduler::place_all(const std::vector<Want>& wants, Schedule& schedule) const {
  const int64_t line = on_cpu_ && by_team_ ? line_numbers : 1;
  std::vector<const Want*> order, near, far;
  for (const Want& want : wants) order.push_back(&want);
  if (region_.team.near > 0)
    std::stable_sort(order.begin(), order.end(), [](const Want* a, const Want* b) {
      return std::pair(-a->touches, a->count) < std::pair(-b->touches, b->count);
    });
  for (const Want* want : order) {
    bool fits = want->count <= region_.team.near;
    if (fits) {
      near.push_back(want);
      lower::MemoryPlan trial;
      fits = arranged(trial, near, line) <= static_cast<uint64_t>(region_.team.near);
      if (!fits) near.pop_back();
    }
    if (!fits) far.push_back(want);
  }
  lower::MemoryPlan near_plan, far_plan;
  schedule.near = static_cast<int64_t>(arranged(near_plan, near, line));
  schedule.scratch = schedule.near + static_cast<int64_t>(arranged(far_plan, far, line));
  constexpr int64_t most = std::numeric_limits<int32_t>::max();  // places are counted in 32 bits
  if (schedule.scratch > most)
    throw Error(
        ErrorKind::out_of_memory,
        fmt::format("[sample] model: expected a density that keeps at most {} numbers a chain, got one "
                    "with {}; a loop on parameters keeps what it carries for each round that it may have",
                    most, schedule.scratch));
  settle_places(near_plan, near, 0);
  settle_places(far_plan, far, schedule.near);
}

// Items that the short results of the region, which are read after all passes, are made of.
std::vector<size_t> Scheduler::read_at_the_end() const {
  std::vector<size_t> found;
  const auto read = [&](const Node& node) {
    // As an output of the node does.
    for (const size_t item : needs({.kind = ItemKind::output, .node = &node, .count = -1}, true))
      found.push_back(item);
    if (const auto at = index_.find(&node); at != index_.end()) found.push_back(at->second);
  };
  for (const Tensor& result : region_.results)
    if (result.size() <= small && reaches_.contains(&graph::node_of(result))) read(graph::node_of(result));
  for (const Node* update : region_.in_place)
    for (size_t which = 1; which < update->operands.size(); ++which)
      if (const Node& node = graph::node_of(update->operands[which]); reaches_.contains(&node)) read(node);
  return found;
}

Control& Scheduler::controlled(Schedule& schedule, const Node& node) {
  const auto control = plan_control(node, region_);
  schedule.controls[&node] = control;
  const int64_t rounds = node.op == Op::scan ? control_of(node).length : node.op == Op::cond ? 1 : small;
  for (const Schedule& function : control->functions) {
    schedule.work += rounds * function.work;
    schedule.serial += rounds * (node.op == Op::cond ? function.serial : function.work);
    const bool is_short = node.op != Op::cond && function.work < long_round;
    schedule.steps += rounds * (is_short ? function.work : function.steps);
  }
  return *control;
}

// Results of control flow that lie in memory.
void Scheduler::find_results(Schedule& schedule) {
  for (const Node* node : nodes_) {
    if (node->op != Op::item) continue;
    const Node& source = graph::node_of(node->operands[0]);
    Control& control = *schedule.controls.at(&source);
    const auto number = static_cast<size_t>(node->as<graph::Which>().number);
    control.items.emplace_back(node, number);
    const size_t first = source.op == Op::while_vjp ? static_cast<size_t>(control_of(source).carries) : 0;
    int64_t place = control.results[number];
    if (place < 0 && first + number < control.states.size()) place = control.states[first + number];
    if (place >= 0) schedule.stored[node] = place;
  }
}

}  // namespace adit::sampling
