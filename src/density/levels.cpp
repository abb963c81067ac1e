// In which pass an item is computed, and what is worth keeping rather than computing again.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "density/scheduler.hpp"
#include "lower/reduction.hpp"
#include "support/answers.hpp"

namespace adit::sampling {

using graph::Kind;
using graph::Op;

namespace {

constexpr double worth_keeping = 8;  // cost from which a value is kept rather than computed again
constexpr double often = 4;          // reads of an element from which a team keeps what costs half as much

// What a function takes an exponential of, whatever its sign: those of one argument share it.
const Node* exponential_of(const Node& node) {
  if (node.op != Op::sigmoid && node.op != Op::log_sigmoid && node.op != Op::softplus) return nullptr;
  const Node* of = &graph::node_of(node.operands[0]);
  while (of->op == Op::negate) of = &graph::node_of(of->operands[0]);
  return of;
}

}  // namespace

// Whether element i is made of the operands' elements i.
bool Scheduler::is_elementwise(const Node& node) {
  return graph::row_of(node.op).scalar || node.op == Op::reshape;
}

// The items that an item needs, through what is computed where it is read. What is kept and read at the
// item's own step alone is none of them: both may be in one pass.
// `all`: it is, where both are in passes of their own.
std::vector<size_t> Scheduler::needs(const Item& item, bool all) const {
  std::set<size_t> found;
  std::set<std::pair<const Node*, bool>> seen;
  std::vector<std::pair<const Node*, bool>> open;  // and whether it is read at the item's step
  const auto follow = [&](const Node& node, bool at_step) {
    for (const Tensor& operand : node.operands) {
      const std::pair next{&graph::node_of(operand), at_step && operand.size() == item.count};
      if (reaches_.contains(next.first) && seen.insert(next).second) open.push_back(next);
    }
  };
  const auto begin_with = [&](const Node& node) {
    if (reaches_.contains(&node) && seen.insert({&node, false}).second) open.emplace_back(&node, false);
  };
  if (item.kind == ItemKind::output && known_.contains(item.node)) {
    open.emplace_back(item.node, false);
  } else if (item.kind == ItemKind::segments && is_sorted(*item.node)) {
    found.insert(sorted_.at(item.node));  // which has read the updates
    begin_with(graph::node_of(item.node->operands[0]));
  } else {
    follow(*item.node, !item.is_wide && (item.kind == ItemKind::totals || is_elementwise(*item.node)));
  }
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
bool Scheduler::is_read_with_its_base(const Item& item) {
  const bool is_sum = item.kind == ItemKind::scatter || item.kind == ItemKind::totals;
  return is_sum && item.node->op == Op::indexed_add && !lower::starts_from_zero(*item.node);
}

void Scheduler::arrange() {
  std::stable_sort(items_.begin(), items_.end(),
                   [](const Item& a, const Item& b) { return a.node->number < b.node->number; });
  index_.clear();
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].kind != ItemKind::output) index_[items_[i].node] = i;  // sums after what they are made of
    if (is_before_segments(items_[i].kind)) sorted_[items_[i].node] = i;
  }
  for (const Node* node : nodes_)
    if (node->op == Op::item) index_[node] = index_.at(&graph::node_of(node->operands[0]));
  find_reaching();
  std::vector<std::vector<size_t>> needed(items_.size());
  int last = 0;
  for (size_t i = 0; i < items_.size(); ++i) {
    needed[i] = needs(items_[i]);
    items_[i].level = 0;
    for (const size_t other : needed[i]) items_[i].level = std::max(items_[i].level, items_[other].level + 1);
    last = std::max(last, items_[i].level);
  }
  // Each goes into the last pass of its length that is early enough for those who need it.
  std::vector<int> latest(items_.size(), last);
  std::map<PassKey, int> passes;  // and how many items are in each
  for (const Item& item : items_)
    if (!is_alone(item)) ++passes[pass_of(item, item.level, item.count)];
  for (size_t i = items_.size(); i-- > 0;) {
    Item& item = items_[i];
    for (int level = latest[i]; level > item.level && !is_alone(item); --level)
      if (const auto at = passes.find(pass_of(item, level, item.count));
          at != passes.end() && at->second > 0) {
        --passes[pass_of(item, item.level, item.count)];
        ++at->second;
        item.level = level;
      }
    for (const size_t other : needed[i]) latest[other] = std::min(latest[other], items_[i].level - 1);
    if (!on_cpu_) continue;
    // What is kept is computed where it is first read: a pass before would compute it once more. (A GPU does:
    // its memory is scarcer.)
    for (const size_t other : needs(item, true))
      if (items_[other].is_kept) latest[other] = std::min(latest[other], item.level);
  }
}

// Nodes that are items, or need one: the others are not looked through for each item again.
void Scheduler::find_reaching() {
  reaches_.clear();
  for (const Node* node : nodes_) {
    bool reaches = index_.contains(node);
    for (const Tensor& operand : node->operands)
      reaches = reaches || reaches_.contains(&graph::node_of(operand));
    if (reaches) reaches_.insert(node);
  }
}

// Where it does not follow from the operands' costs.
std::optional<double> Scheduler::cost_at_once(const Node& node) const {
  constexpr double of_a_load = 0.5;
  if (!varying_.contains(&node) || known_.contains(&node) || node.operands.empty()) return of_a_load;
  if (count_of(node) <= region_.written && !reduces(node)) return of_a_load;  // in registers before the pass
  return std::nullopt;
}

double Scheduler::cost_of(const Node& node) {
  if (const auto cost = cost_at_once(node)) return *cost;
  answer(
      &node, costs_,
      [&](const Node* of, const auto& want) {
        for (const Tensor& operand : of->operands)
          if (!cost_at_once(graph::node_of(operand))) want(&graph::node_of(operand));
      },
      [&](const Node* of) {
        double cost = graph::row_of(of->op).kind == Kind::view ? 0 : graph::row_of(of->op).cost;
        const double times = reduces(*of) ? static_cast<double>(length_of(*of)) : 1;
        for (const Tensor& operand : of->operands) {
          const auto at_once = cost_at_once(graph::node_of(operand));
          cost += times * (at_once ? *at_once : costs_.at(&graph::node_of(operand)));
        }
        return std::min(cost, 1e9);
      });
  return costs_.at(&node);
}

// Who reads a node that is known now costs less: what was said of them is forgotten.
bool Scheduler::know(const Node& node) {
  if (!known_.insert(&node).second) return false;
  std::vector<const Node*> open{&node};
  while (!open.empty()) {
    const Node* of = open.back();
    open.pop_back();
    if (costs_.erase(of) == 0) continue;
    if (const auto users = users_.find(of); users != users_.end())
      open.insert(open.end(), users->second.begin(), users->second.end());
  }
  return true;
}

void Scheduler::forget(const Node& node) {
  known_.erase(&node);
  costs_.clear();
}

// How often an element of each node is computed in a pass: the evaluations of its users, with those that
// are shared counted once.
void Scheduler::count_reads(const std::vector<const Item*>& items,
                            std::unordered_map<const Node*, double>& total) {
  double loops = 1;
  if (items[0]->is_wide) {
    int64_t totals = 0;
    for (const Item* item : items) totals += count_of(*item->node);
    loops = static_cast<double>(loops_of(totals, few_totals));
  }
  std::map<uint64_t, std::pair<const Node*, double>, std::greater<>> open;
  const auto visit = [&](const Node& node, double reads) {
    if (!varying_.contains(&node) || node.operands.empty()) return;
    if (known_.contains(&node)) return;
    auto& entry = open[node.number];
    entry = {&node, std::max(entry.second, reads)};
  };
  const auto follow = [&](const Node& node, double reads, bool is_total = false) {
    if (is_sorted(node))  // the item of its updates
      return visit(graph::node_of(node.operands[2]), static_cast<double>(node.operands[2].size()));
    const double length = reduces(node) ? static_cast<double>(length_of(node)) : 1;
    for (const Tensor& operand : node.operands) {
      // A reduction inside a step reads all of its operand at every one.
      // So does what chooses between its operands: it computes each at all of its own places.
      const bool scattered = node.op == Op::gather || node.op == Op::take_along_axis || node.op == Op::pad ||
                             node.op == Op::concatenate || (reduces(node) && !is_total);
      const double all = reads * length;
      const double distinct =
          loops * std::max(static_cast<double>(operand.size()), static_cast<double>(items[0]->count));
      visit(graph::node_of(operand), scattered ? all : std::min(all, distinct));
    }
  };
  for (const Item* item : items) {
    if (item->kind == ItemKind::output && known_.contains(item->node)) continue;
    if (item->kind == ItemKind::output)
      visit(*item->node, static_cast<double>(item->count));
    else
      follow(*item->node, static_cast<double>(count_of(*item->node)), item->kind == ItemKind::totals);
  }
  while (!open.empty()) {
    const auto [node, reads] = open.begin()->second;
    open.erase(open.begin());
    total[node] += reads;
    follow(*node, reads);
  }
}

bool Scheduler::keep_costly() {
  std::map<PassKey, std::vector<const Item*>> passes;
  for (const Item& item : items_)
    if (!is_alone(item)) passes[pass_of(item, item.level, item.count)].push_back(&item);
  std::unordered_map<const Node*, double> reads;
  std::unordered_map<const Node*, int> exponentials;  // passes that compute one of it
  for (const auto& [key, items] : passes) {
    std::unordered_map<const Node*, double> here;
    count_reads(items, here);
    std::set<const Node*> found;
    for (const auto& [node, count] : here) {
      reads[node] += count;
      if (const Node* of = exponential_of(*node); of && found.insert(of).second) ++exponentials[of];
    }
  }
  bool changed = false;
  // Oldest first: what stands on a kept value is cheap, and has not been asked for yet.
  for (const Node* node : nodes_) {
    const auto at = reads.find(node);
    const int64_t count = count_of(*node);
    if (at == reads.end() || count <= region_.written) continue;
    if (node->type != region_.type && places_of(*node, region_.type) == 1) continue;
    const double times = at->second / static_cast<double>(count);
    // A sigmoid on the way back: the way there has its exponential, and memory costs a CPU less.
    const bool is_shared = on_cpu_ && node->op == Op::sigmoid && exponentials[exponential_of(*node)] > 1;
    if (times < 1.5 && !is_shared) continue;
    const double worth = by_team_ && times >= often ? worth_keeping / 2 : worth_keeping;
    if (known_.contains(node) || cost_of(*node) < worth) continue;
    keep(*node);
    changed = true;
  }
  return changed;
}

// What was kept and is read in its own pass alone, or before, is computed there, and need not be stored.
bool Scheduler::forget_unread() {
  std::vector<bool> is_read(items_.size(), false);
  for (size_t i = 0; i < items_.size(); ++i)
    for (const size_t other : needs(items_[i], true))
      if (items_[i].level > items_[other].level) is_read[other] = true;
  for (const size_t i : read_at_the_end()) is_read[i] = true;
  std::vector<Item> left;
  for (size_t i = 0; i < items_.size(); ++i)
    if (items_[i].is_kept && !is_read[i])
      forget(*items_[i].node);
    else
      left.push_back(items_[i]);
  const bool changed = left.size() < items_.size();
  items_ = std::move(left);
  return changed;
}

}  // namespace adit::sampling
