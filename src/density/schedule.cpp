#include "density/schedule.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

#include "density/control_plan.hpp"
#include "density/factor.hpp"
#include "density/split.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"
#include "lower/memory_plan.hpp"
#include "lower/reduction.hpp"

namespace adit::sampling {

using graph::Kind;
using graph::Op;

namespace {

constexpr int64_t few_targets = 16;    // of updates that a team adds by masks
constexpr int64_t masked_targets = 4;  // the same on a CPU, whose other way is cheaper
constexpr double worth_keeping = 8;    // cost from which a value is kept rather than computed again
constexpr double worth_sorting = 1.5;  // cost of an update that is more than a load
constexpr double often = 4;            // reads of an element from which a team keeps what costs half as much

int64_t count_of(const Node& node) { return element_count(node.shape); }

class Scheduler {
 public:
  explicit Scheduler(const Region& region)
      : region_(region), by_team_(region.by_team), on_cpu_(region.on_cpu) {
    varying_ = dependents_of(region.results, region.inputs);
    for (const Tensor& x : graph::reachable(region.results, true)) {
      const Node& node = graph::node_of(x);
      if (!varying_.contains(&node) || node.operands.empty()) continue;
      nodes_.push_back(&node);
      for (const Tensor& operand : node.operands) users_[&graph::node_of(operand)].push_back(&node);
    }
  }

  Schedule make() {
    classify();
    arrange();
    if (keep_costly()) arrange();
    Schedule schedule;
    schedule.by_team = by_team_;
    schedule.on_cpu = on_cpu_;
    std::map<std::tuple<int, bool, int64_t>, Pass> passes;
    for (const Item& item : items_) {
      const int64_t key = is_alone(item) ? -static_cast<int64_t>(item.node->number) : item.count;
      Pass& pass = passes[{item.level, item.is_wide, key}];
      pass.count = item.count;
      if (item.is_wide) pass.totals_a_loop = few_totals;
      pass.items.push_back(item);
      if (item.kind != ItemKind::output) schedule.kinds[item.node] = item.kind;
      if (item.kind == ItemKind::control) continue;
      if (item.kind == ItemKind::factor) schedule.work += factor_work(*item.node);
      if (item.kind == ItemKind::by_rows || item.kind == ItemKind::by_columns)
        schedule.work += count_of(*item.node) * length_of(*item.node);
      if (item.kind == ItemKind::segments) schedule.work += item.node->operands[2].size();
      schedule.work += item.count * (item.kind == ItemKind::totals ? count_of(*item.node) : 1);
    }
    for (auto& [key, pass] : passes) schedule.passes.push_back(std::move(pass));
    find_tiles(schedule);
    schedule.work += static_cast<int64_t>(nodes_.size());
    place_memory(schedule);
    return schedule;
  }

 private:
  // --- What is an item ---
  void classify() {
    for (const Node* node : nodes_) {
      if (region_.in_place.contains(node)) continue;
      if (reduces(*node))
        classify_reduction(*node);
      else if (node->op == Op::indexed_add || node->op == Op::indexed_put)
        classify_updates(*node);
      else if (node->op == Op::cholesky || node->op == Op::triangular_solve)
        classify_factor(*node);
      else if (node->op == Op::item)
        known_.insert(node);
      else if (graph::row_of(node->op).kind == Kind::control)
        classify_control(*node);
      else if (graph::row_of(node->op).kind == Kind::kernel || is_complex(node->type))
        throw Error(
            ErrorKind::unsupported,
            fmt::format("[sample] {}: expected operations on real numbers that a sampler's kernel has, "
                        "got one that it does not have",
                        graph::name_of(node->op)));
    }
    for (size_t i = 0; i < region_.results.size(); ++i)
      if (region_.results[i].size() > small &&
          !region_.in_place.contains(&graph::node_of(region_.results[i])))
        add_output(graph::node_of(region_.results[i]), i);
  }

  void classify_reduction(const Node& node) {
    const int64_t m = count_of(node), n = length_of(node);
    if (m * n <= few_operations) return;  // written out where it is read
    if (const auto kind = product_by_lines(node)) return add_product(node, *kind);
    if (n <= small && m > small) return;  // so is this
    const bool any_order = node.op == Op::dot || lower::combines_in_any_order(node);
    const bool are_totals = m <= small && n > small && any_order, is_wide = on_cpu_ && m > few_totals;
    if (are_totals && is_wide) keep_operands(node);
    if (are_totals)
      add({.kind = ItemKind::totals, .node = &node, .count = n, .is_wide = is_wide});
    else
      add({ItemKind::store, &node, m});
  }

  // A CPU reads a matrix line by line, as it lies: across lines it would wait for memory at every step.
  std::optional<ItemKind> product_by_lines(const Node& node) const {
    if (!by_team_ || !on_cpu_ || node.op != Op::dot || node.type != region_.type) return std::nullopt;
    const auto& about = node.as<graph::DotAttributes>();
    const int64_t m = count_of(node), n = length_of(node);
    for (const int side : {0, 1}) {
      const Tensor& matrix = node.operands[static_cast<size_t>(side)];
      const Axes& contracted = side == 0 ? about.contract_a : about.contract_b;
      const bool lies =
          !varying_.contains(&graph::node_of(matrix)) || known_.contains(&graph::node_of(matrix));
      if (!lies || matrix.rank() != 2 || matrix.size() != m * n || contracted.size() != 1) continue;
      if (node.operands[static_cast<size_t>(1 - side)].size() != n) continue;
      if (contracted[0] == 1 && n >= 2 * shortest_row) return ItemKind::by_rows;
      if (contracted[0] == 0 && m >= 2 * shortest_row) return ItemKind::by_columns;
    }
    return std::nullopt;
  }
  void add_product(const Node& node, ItemKind kind) {
    for (const Tensor& operand : node.operands) {
      const Node& vector = graph::node_of(operand);
      if (!varying_.contains(&vector) || known_.contains(&vector) || operand.size() <= small) continue;
      if (is_variable_like(vector)) continue;
      keep(vector);
      costs_.clear();
    }
    add({kind, &node, 1});
  }
  static bool is_variable_like(const Node& node) { return node.operands.empty(); }

  // What all of the loops of a wide item read is computed before them.
  void keep_operands(const Node& node) {
    for (const Tensor& operand : node.operands)
      if (operand.size() > small && operand.size() < count_of(node) * length_of(node) &&
          operand.dtype() == region_.type && cost_of(graph::node_of(operand)) > 1) {
        keep(graph::node_of(operand));
        costs_.clear();
      }
  }

  void classify_updates(const Node& node) {
    const int64_t updates = node.operands[2].size();
    if (are_few_updates(node)) return;  // written out where they are read
    if (node.op == Op::indexed_put || node.type != region_.type ||
        (by_team_ && varying_.contains(&graph::node_of(node.operands[1]))))
      add({ItemKind::place, &node, 1});
    else if (!by_team_)
      add({ItemKind::scatter, &node, updates});
    else if (on_cpu_)
      classify_segments(node);
    else if (count_of(node) <= few_targets && node.operands[2].rank() == node.operands[1].rank() - 1)
      add({ItemKind::totals, &node, updates});
    else if (is_worth_sorting(node))
      add({ItemKind::sorted, &node, updates});
    else
      add({ItemKind::store, &node, count_of(node)});
  }

  // A CPU gathers well and scatters badly: updates are stored as they come, and read by the lists of their
  // targets, one after the other. (Lanes with a target each, whose lists end apart, took twice as long.)
  void classify_segments(const Node& node) {
    const int64_t updates = node.operands[2].size();
    const bool is_flat = node.operands[2].rank() == node.operands[1].rank() - 1;
    if (count_of(node) <= masked_targets && is_flat) return add({ItemKind::totals, &node, updates});
    const Node& source = graph::node_of(node.operands[2]);
    const bool costs = updates > small && source.type == region_.type && cost_of(source) >= worth_sorting;
    costs_.clear();
    if (costs && !known_.contains(&source)) keep(source);
    add({ItemKind::segments, &node, 1});
  }

  // Updates that cost something are computed once, by lanes that count them; a small result would be summed
  // where it is read, by every lane.
  bool is_worth_sorting(const Node& node) {
    const Node& source = graph::node_of(node.operands[2]);
    const bool is_worth = count_of(node) > small && count_of(source) > 0 && cost_of(source) >= worth_sorting;
    costs_.clear();
    return is_worth;
  }
  bool is_sorted(const Node& node) const { return sorted_.contains(&node); }
  // The sums of sorted updates, where they are read more than once.
  void keep_sums(const Node& node) {
    if (kept_sums_.insert(&node).second) items_.push_back({ItemKind::store, &node, count_of(node)});
  }

  void classify_factor(const Node& node) {
    for (const Tensor& operand : node.operands) {
      if (is_sorted(graph::node_of(operand))) keep_sums(graph::node_of(operand));
      if (varying_.contains(&graph::node_of(operand)) && !known_.contains(&graph::node_of(operand)))
        add({ItemKind::store, &graph::node_of(operand), operand.size()});
    }
    add({ItemKind::factor, &node, 1});
  }

  // What the functions read again and again is computed before. A team's lanes all go through the loop, and
  // would each compute what the loop reads once.
  void classify_control(const Node& node) {
    const auto& about = *node.as<std::shared_ptr<const graph::ControlAttributes>>();
    const auto first = static_cast<size_t>(about.carries + (by_team_ ? 0 : about.sequences));
    for (size_t i = node.op == Op::cond ? 1 : first; i < node.operands.size(); ++i) {
      const Tensor& operand = node.operands[i];
      if (is_sorted(graph::node_of(operand))) keep_sums(graph::node_of(operand));
      if (operand.size() <= small || operand.dtype() != region_.type) continue;
      const bool costs = cost_of(graph::node_of(operand)) > 2;
      costs_.clear();
      if (costs && !known_.contains(&graph::node_of(operand))) keep(graph::node_of(operand));
    }
    add({ItemKind::control, &node, 1});
  }

  void add_output(const Node& node, size_t result) {
    // What is stored for the gradient alone is computed into it.
    const auto it = std::find_if(items_.begin(), items_.end(), [&](const Item& item) {
      return item.node == &node && item.kind == ItemKind::store && users_[&node].empty();
    });
    if (it != items_.end()) {
      known_.erase(&node);
      items_.erase(it);
    }
    items_.push_back({ItemKind::output, &node, count_of(node), result});
  }

  void keep(const Node& node) {
    add({.kind = ItemKind::store, .node = &node, .count = count_of(node), .is_kept = on_cpu_});
  }

  void add(const Item& item) {
    if (!known_.insert(item.node).second) return;
    items_.push_back(item);
    if (item.kind == ItemKind::sorted) sorted_[item.node] = 0;
  }

  // A pass of its own.
  static bool is_alone(const Item& item) {
    return item.kind == ItemKind::factor || item.kind == ItemKind::place || item.kind == ItemKind::control ||
           item.kind == ItemKind::segments || item.kind == ItemKind::by_rows ||
           item.kind == ItemKind::by_columns;
  }

  // --- Levels ---
  // Whether element i is made of the operands' elements i.
  static bool is_elementwise(const Node& node) {
    return graph::row_of(node.op).scalar || node.op == Op::reshape;
  }

  // The items that an item needs, through what is computed where it is read. What is kept and read at the
  // item's own step alone is none of them: both may be in one pass.
  // `all`: it is, where both are in passes of their own.
  std::vector<size_t> needs(const Item& item, bool all = false) const {
    std::set<size_t> found;
    std::set<std::pair<const Node*, bool>> seen;
    std::vector<std::pair<const Node*, bool>> open;  // and whether it is read at the item's step
    const auto follow = [&](const Node& node, bool at_step) {
      for (const Tensor& operand : node.operands) {
        const std::pair next{&graph::node_of(operand), at_step && operand.size() == item.count};
        if (reaches_.contains(next.first) && seen.insert(next).second) open.push_back(next);
      }
    };
    if (item.kind == ItemKind::output && known_.contains(item.node))
      open.emplace_back(item.node, false);
    else
      follow(*item.node, !item.is_wide && (item.kind == ItemKind::totals || is_elementwise(*item.node)));
    if (item.kind == ItemKind::store && is_sorted(*item.node)) found.insert(sorted_.at(item.node));
    while (!open.empty()) {
      const auto [node, at_step] = open.back();
      open.pop_back();
      const auto at = index_.find(node);
      if (at != index_.end() && (all || !(at_step && items_[at->second].is_kept))) {
        found.insert(at->second);
        if (all && is_read_with_its_base(items_[at->second])) {
          const std::pair base{&graph::node_of(node->operands[0]), false};
          if (reaches_.contains(base.first) && seen.insert(base).second) open.push_back(base);
        }
      } else
        follow(*node, at_step && is_elementwise(*node));
    }
    return {found.begin(), found.end()};
  }

  // Updates that whoever reads them adds to what they update.
  static bool is_read_with_its_base(const Item& item) {
    const bool is_sum =
        item.kind == ItemKind::scatter || item.kind == ItemKind::sorted || item.kind == ItemKind::totals;
    return is_sum && item.node->op == Op::indexed_add && !lower::starts_from_zero(*item.node);
  }

  void arrange() {
    std::stable_sort(items_.begin(), items_.end(),
                     [](const Item& a, const Item& b) { return a.node->number < b.node->number; });
    index_.clear();
    for (size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].kind != ItemKind::output) index_[items_[i].node] = i;  // sums after what they are made of
      if (items_[i].kind == ItemKind::sorted) sorted_[items_[i].node] = i;
    }
    for (const Node* node : nodes_)
      if (node->op == Op::item) index_[node] = index_.at(&graph::node_of(node->operands[0]));
    find_reaching();
    std::vector<std::vector<size_t>> needed(items_.size());
    int last = 0;
    for (size_t i = 0; i < items_.size(); ++i) {
      needed[i] = needs(items_[i]);
      items_[i].level = 0;
      for (const size_t other : needed[i])
        items_[i].level = std::max(items_[i].level, items_[other].level + 1);
      last = std::max(last, items_[i].level);
    }
    // Each goes into the last pass of its length that is early enough for those who need it.
    std::vector<int> latest(items_.size(), last);
    std::map<std::tuple<int, bool, int64_t>, int> passes;  // and how many items are in each
    const auto pass_of = [](const Item& item, int level) {
      return std::tuple(level, item.is_wide, item.count);
    };
    for (const Item& item : items_)
      if (!is_alone(item)) ++passes[pass_of(item, item.level)];
    for (size_t i = items_.size(); i-- > 0;) {
      Item& item = items_[i];
      for (int level = latest[i]; level > item.level && !is_alone(item); --level)
        if (const auto at = passes.find(pass_of(item, level)); at != passes.end() && at->second > 0) {
          --passes[pass_of(item, item.level)];
          ++at->second;
          item.level = level;
        }
      for (const size_t other : needed[i]) latest[other] = std::min(latest[other], items_[i].level - 1);
    }
  }

  // Nodes that are items, or need one: the others are not looked through for each item again.
  void find_reaching() {
    reaches_.clear();
    for (const Node* node : nodes_) {
      bool reaches = index_.contains(node);
      for (const Tensor& operand : node->operands)
        reaches = reaches || reaches_.contains(&graph::node_of(operand));
      if (reaches) reaches_.insert(node);
    }
  }

  // --- What is worth keeping ---
  double cost_of(const Node& node) {
    if (!varying_.contains(&node) || known_.contains(&node) || node.operands.empty()) return 0.5;
    if (count_of(node) <= small && !reduces(node)) return 0.5;  // in registers before the pass
    if (const auto at = costs_.find(&node); at != costs_.end()) return at->second;
    const Kind kind = graph::row_of(node.op).kind;
    double cost = kind == Kind::view ? 0 : graph::row_of(node.op).cost;
    const double times = reduces(node) ? static_cast<double>(length_of(node)) : 1;
    for (const Tensor& operand : node.operands) cost += times * cost_of(graph::node_of(operand));
    return costs_[&node] = std::min(cost, 1e9);
  }

  // How often an element of each node is computed in a pass: the evaluations of its users, with those that
  // are shared counted once.
  void count_reads(const std::vector<const Item*>& items, std::unordered_map<const Node*, double>& total) {
    double loops = 1;
    if (items[0]->is_wide) {
      int64_t totals = 0;
      for (const Item* item : items) totals += count_of(*item->node);
      loops = static_cast<double>(loops_of(totals, few_totals));
    }
    std::map<uint64_t, std::pair<const Node*, double>, std::greater<>> open;
    const auto visit = [&](const Node& node, double reads) {
      if (!varying_.contains(&node) || node.operands.empty()) return;
      if (known_.contains(&node) && !is_sorted(node)) return;
      auto& entry = open[node.number];
      entry = {&node, std::max(entry.second, reads)};
    };
    const auto follow = [&](const Node& node, double reads, bool is_total = false) {
      if (is_sorted(node))
        return visit(graph::node_of(node.operands[2]), static_cast<double>(node.operands[2].size()));
      const double length = reduces(node) ? static_cast<double>(length_of(node)) : 1;
      for (const Tensor& operand : node.operands) {
        // A reduction inside a step reads all of its operand at every one.
        const bool scattered = node.op == Op::gather || node.op == Op::take_along_axis ||
                               (on_cpu_ && reduces(node) && !is_total);
        const double all = reads * length;
        const double distinct =
            loops * std::max(static_cast<double>(operand.size()), static_cast<double>(items[0]->count));
        visit(graph::node_of(operand), scattered ? all : std::min(all, distinct));
      }
    };
    for (const Item* item : items) {
      if (item->kind == ItemKind::output && (!known_.contains(item->node) || is_sorted(*item->node)))
        visit(*item->node, static_cast<double>(item->count));
      else
        follow(*item->node, static_cast<double>(count_of(*item->node)), item->kind == ItemKind::totals);
    }
    while (!open.empty()) {
      const auto [node, reads] = open.begin()->second;
      open.erase(open.begin());
      total[node] += reads;
      if (!is_sorted(*node)) follow(*node, reads);
    }
  }

  bool keep_costly() {
    std::map<std::tuple<int, bool, int64_t>, std::vector<const Item*>> passes;
    for (const Item& item : items_)
      if (!is_alone(item)) passes[{item.level, item.is_wide, item.count}].push_back(&item);
    std::unordered_map<const Node*, double> reads;
    for (const auto& [key, items] : passes) count_reads(items, reads);
    bool changed = false, kept_one = false;
    // Oldest first: what stands on a kept value is cheap, and has not been asked for yet.
    for (const Node* node : nodes_) {
      const auto at = reads.find(node);
      const int64_t count = count_of(*node);
      if (at == reads.end() || count <= small || node->type != region_.type) continue;
      const double times = at->second / static_cast<double>(count);
      if (times < 1.5) continue;
      if (is_sorted(*node)) {
        keep_sums(*node);
        changed = true;
        continue;
      }
      const double worth = by_team_ && times >= often ? worth_keeping / 2 : worth_keeping;
      if (known_.contains(node) || cost_of(*node) < worth) continue;
      keep(*node);
      if (kept_one)
        costs_.erase(node);
      else
        costs_.clear();  // from before all items were known
      changed = kept_one = true;
    }
    return changed;
  }

  // --- Tiles ---
  void find_tiles(Schedule& schedule) const {
    for (size_t p = 0; p + 2 < schedule.passes.size(); ++p) {
      Pass& first = schedule.passes[p];
      const Pass &between = schedule.passes[p + 1], &last = schedule.passes[p + 2];
      if (first.items[0].kind != ItemKind::by_rows || last.items[0].kind != ItemKind::by_columns) continue;
      const Node &product = *first.items[0].node, &back = *last.items[0].node;
      const int64_t rows = count_of(product);
      if (rows != between.count || rows != length_of(back) || between.totals_a_loop > 0) continue;
      if (is_alone(between.items[0]) || !is_read_in_step(product, between)) continue;
      const int64_t row_bytes = static_cast<int64_t>(size_of(region_.type)) * length_of(product);
      first.tile = std::max<int64_t>(16, tile_bytes / row_bytes / 8 * 8);
    }
  }

  // Whether every step of a pass reads of `node` the element of that step alone.
  bool is_read_in_step(const Node& node, const Pass& pass) const {
    std::set<std::pair<const Node*, bool>> seen;  // and whether it is read at the step
    std::vector<std::pair<const Node*, bool>> open;
    const auto follow = [&](const Node& of, bool at_step) {
      for (const Tensor& operand : of.operands) {
        const std::pair next{&graph::node_of(operand), at_step && operand.size() == pass.count};
        if (reaches_.contains(next.first) && seen.insert(next).second) open.push_back(next);
      }
    };
    for (const Item& item : pass.items)
      follow(*item.node,
             item.kind == ItemKind::totals ? count_of(*item.node) == 1 : is_elementwise(*item.node));
    while (!open.empty()) {
      const auto [read, at_step] = open.back();
      open.pop_back();
      if (read == &node && !at_step) return false;
      const auto at = index_.find(read);
      if (at == index_.end() || items_[at->second].is_kept) follow(*read, at_step && is_elementwise(*read));
    }
    return true;
  }

  // --- Memory ---
  // A tensor has its place from the pass that writes it to the last one that reads it.
  void place_memory(Schedule& schedule) {
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
        if (pass[i] > p && pass[i] <= p + 2) pass[i] = p;
        if (last[i] >= p && last[i] < p + 2) last[i] = p + 2;
      }
    }

    lower::MemoryPlan plan;
    std::vector<int64_t*> places;
    const auto want = [&](int64_t* place, int64_t count, size_t from, size_t until) {
      if (count == 0) return;
      plan.use(place, static_cast<uint64_t>(count), from);
      plan.use(place, static_cast<uint64_t>(count), until);
      places.push_back(place);
    };
    for (size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (item.kind == ItemKind::sorted)
        want(&schedule.sorted[item.node], item.count, pass[i], last[i]);
      else if (item.kind == ItemKind::control)
        for (const auto& [place, count, lasts] : memory_of(controlled(schedule, *item.node), *item.node))
          want(place, count, pass[i], lasts ? last[i] : pass[i]);
      else if (item.kind != ItemKind::totals && item.kind != ItemKind::output)
        want(&schedule.stored[item.node], count_of(*item.node), pass[i], last[i]);
      if (by_team_ && item.node->op == Op::cholesky && wants_turned(*item.node)) {
        const int64_t n = item.node->shape[item.node->shape.size() - 1];
        want(&schedule.turned[item.node], n * n, pass[i], pass[i]);
      }
    }
    schedule.scratch = static_cast<int64_t>(plan.arrange());
    for (int64_t* const place : places) *place = static_cast<int64_t>(plan.offsets().at(place));
    find_results(schedule);
  }

  // Items that the short results of the region, which are read after all passes, are made of.
  std::vector<size_t> read_at_the_end() const {
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
      for (const size_t which : {1, 2})
        if (const Node& node = graph::node_of(update->operands[which]); reaches_.contains(&node)) read(node);
    return found;
  }

  Control& controlled(Schedule& schedule, const Node& node) {
    const auto control = plan_control(node, region_);
    schedule.controls[&node] = control;
    const int64_t rounds = node.op == Op::scan ? control_of(node).length : node.op == Op::cond ? 1 : small;
    for (const Schedule& function : control->functions) {
      schedule.work += rounds * function.work;
      schedule.serial += rounds * (node.op == Op::cond ? function.serial : function.work);
    }
    return *control;
  }

  // Results of control flow that lie in memory.
  void find_results(Schedule& schedule) {
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

  const Region& region_;
  const bool by_team_, on_cpu_;
  std::unordered_set<const Node*> varying_;
  std::vector<const Node*> nodes_;  // that depend on a variable, operands first
  std::unordered_map<const Node*, std::vector<const Node*>> users_;
  std::vector<Item> items_;
  std::unordered_set<const Node*> known_;  // of items, outputs apart
  std::unordered_map<const Node*, size_t> index_;
  std::unordered_set<const Node*> reaches_;
  std::unordered_map<const Node*, size_t> sorted_;  // the items that sort updates
  std::unordered_set<const Node*> kept_sums_;
  std::unordered_map<const Node*, double> costs_;
};

}  // namespace

Schedule make_schedule(const Region& region) { return Scheduler(region).make(); }

}  // namespace adit::sampling
