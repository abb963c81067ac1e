#include "compile/partition.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compile/reduction.hpp"
#include "ops/blas.hpp"

namespace adit::compile {

using graph::Kind;
using graph::Op;
using graph::ReduceAttributes;

namespace {

using Set = std::unordered_set<const Node*>;

constexpr int64_t inline_reduction_limit = 8;
constexpr int64_t inline_dot_limit = int64_t{1} << 18;  // multiplications
constexpr double cheap = 6;                             // cost up to which a value is computed again
constexpr int most_nodes_inside = 400;

bool is_leaf(const Node& node) {
  return graph::row_of(node.op).kind == Kind::leaf && node.op != Op::iota && node.op != Op::alias;
}

double own_cost(const Node& node) {
  const graph::Row& row = graph::row_of(node.op);
  if (row.kind == Kind::reduction) return static_cast<double>(reduced_count(node));
  if (node.op == Op::dot) return 2.0 * static_cast<double>(contracted_count(node));
  if (node.op == Op::gather || node.op == Op::take_along_axis) return 2;
  if (row.kind == Kind::view) return 0.5;
  return row.cost;
}

// How many times an element of `operand` is read for the elements of `user`.
double expansion(const Node& user, const Node& operand) {
  if (user.op == Op::dot) {
    const double a = static_cast<double>(element_count(user.operands[0].shape()));
    return std::max(1.0, static_cast<double>(element_count(user.shape)) *
                             static_cast<double>(contracted_count(user)) / a);
  }
  const Kind kind = graph::row_of(user.op).kind;
  if (kind != Kind::view) return 1;
  const double size = static_cast<double>(std::max<int64_t>(1, element_count(operand.shape)));
  return std::max(1.0, static_cast<double>(element_count(user.shape)) / size);
}

// Decides what goes into memory besides what must.
class Materialiser {
 public:
  Materialiser(const std::vector<const Node*>& nodes, const Set& inputs, const Set& outputs,
               const Target& target)
      : nodes_(nodes), in_memory_(inputs) {
    for (const Node* node : nodes) {
      for (const Tensor& operand : node->operands) users_[&operand.node()].push_back(node);
      if (inputs.contains(node)) continue;
      if (outputs.contains(node) && !inputs.contains(node)) in_memory_.insert(node);
      const Kind kind = graph::row_of(node->op).kind;
      if (has_own_kernel(*node, target)) {
        in_memory_.insert(node);
        for (const Tensor& operand : node->operands) {
          // Updates of zeros start from a fill.
          if (&operand == &node->operands[0] && starts_from_zero(*node)) continue;
          in_memory_.insert(&memory_of(operand.node()));
        }
      }
      if (kind == Kind::reduction && !is_inline_reduction(*node)) in_memory_.insert(node);
    }
  }

  Set run() {
    measure();
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) decide(**it);
    return std::move(in_memory_);
  }

 private:
  void measure() {
    for (const Node* node : nodes_) {
      if (is_leaf(*node) || in_memory_.contains(node)) continue;
      Inside& mine = inside_[node];
      mine = {own_cost(*node), 1};
      const double times = graph::row_of(node->op).kind == Kind::reduction ? mine.cost
                           : node->op == Op::dot                           ? mine.cost / 2
                                                                           : 1;
      for (const Tensor& operand : node->operands)
        if (const auto it = inside_.find(&operand.node()); it != inside_.end()) {
          mine.cost += it->second.cost * times;
          mine.nodes += it->second.nodes;
        }
      // Too long for one kernel: an upper bound, since shared parts count twice.
      if (mine.nodes > most_nodes_inside && graph::row_of(node->op).kind == Kind::elementwise &&
          distinct_nodes(*node) > most_nodes_inside) {
        in_memory_.insert(node);
        inside_.erase(node);
      } else {
        mine.nodes = std::min(mine.nodes, most_nodes_inside * 4);
      }
    }
  }

  int distinct_nodes(const Node& root) const {
    Set seen;
    std::vector<const Node*> open{&root};
    while (!open.empty()) {
      const Node* node = open.back();
      open.pop_back();
      if (is_leaf(*node) || in_memory_.contains(node) || !seen.insert(node).second) continue;
      for (const Tensor& operand : node->operands) open.push_back(&operand.node());
    }
    return static_cast<int>(seen.size());
  }

  void decide(const Node& node) {
    if (is_leaf(node)) return;
    double factor = 1;
    std::set<const Node*> roots;
    for (const Node* user : users_[&node]) {
      const bool stored = in_memory_.contains(user);
      factor = std::max(factor, expansion(*user, node) * (stored ? 1.0 : factor_[user]));
      if (stored)
        roots.insert(user);
      else
        roots.insert(roots_[user].begin(), roots_[user].end());
      if (roots.size() > 16) break;
    }
    factor_[&node] = factor;
    if (in_memory_.contains(&node)) return;
    const double cost = inside_.contains(&node) ? inside_[&node].cost : 0;
    const bool again = (roots.size() > 1 && cost > cheap) || (factor >= 4 && cost > cheap);
    if (again && node.op != Op::iota && graph::row_of(node.op).kind != Kind::leaf)
      in_memory_.insert(&node);
    else
      roots_[&node] = std::move(roots);
  }

  struct Inside {
    double cost = 0;
    int nodes = 0;
  };
  const std::vector<const Node*>& nodes_;
  Set in_memory_;
  std::unordered_map<const Node*, std::vector<const Node*>> users_;
  std::unordered_map<const Node*, Inside> inside_;
  std::unordered_map<const Node*, double> factor_;
  std::unordered_map<const Node*, std::set<const Node*>> roots_;
};

}  // namespace

int64_t Group::row_length() const {
  int64_t length = 1;
  for (const int64_t axis : axes) length *= full[static_cast<int>(axis)];
  return length;
}
int64_t Group::row_count() const {
  const int64_t length = row_length();
  return length == 0 ? 0 : element_count(full) / length;
}

bool is_inline_reduction(const Node& node) { return reduced_count(node) <= inline_reduction_limit; }

bool Target::multiplies(DType type) const {
  if (gpu) return !is_complex(type);
  return ops::has_blas() && (type == DType::f32 || type == DType::f64 || is_complex(type));
}

const Node& memory_of(const Node& node) {
  const Node* base = &node;
  while (base->op == Op::reshape && !base->computed) base = &base->operands[0].node();
  return *base;
}

bool starts_from_zero(const Node& node) {
  if (node.op != Op::indexed_add && node.op != Op::indexed_put) return false;
  const graph::Literal* literal = graph::constant_value(node.operands[0]);
  return literal && literal->real == 0 && literal->imag == 0 && literal->integer == 0 &&
         !std::signbit(literal->real);
}

bool has_own_kernel(const Node& node, const Target& target) {
  const Kind kind = graph::row_of(node.op).kind;
  return kind == Kind::control || (kind == Kind::kernel && !is_inline_dot(node, target));
}

bool is_inline_dot(const Node& node, const Target& target) {
  if (node.op != Op::dot) return false;
  if (!target.multiplies(node.type)) return true;
  return element_count(node.shape) * contracted_count(node) <= inline_dot_limit;
}

bool is_row_broadcast(const Node& node, const Shape& full, const Axes& axes) {
  if (node.op != Op::broadcast || !(node.shape == full)) return false;
  const Shape& from = node.operands[0].shape();
  const Axes& places = node.as<graph::AxisList>().axes;
  int64_t last = -1;
  Axes covered;
  for (int i = 0; i < from.size(); ++i) {
    if (from[i] == 1) continue;
    if (axes.contains(places[i]) || places[i] <= last) return false;
    last = places[i];
    covered.push_back(places[i]);
  }
  for (int axis = 0; axis < full.size(); ++axis)
    if (full[axis] != 1 && !axes.contains(axis) && !covered.contains(axis)) return false;
  return true;
}

namespace {

// Where the operands of a node are read when the node is computed at `place`.
Place operand_place(const Group& group, const Node& node, Place place) {
  const Kind kind = graph::row_of(node.op).kind;
  if (place == Place::elsewhere) return place;
  if (kind == Kind::elementwise || node.op == Op::alias) return place;
  if (node.op == Op::reshape) return place;
  if (node.op == Op::broadcast) {
    if (place == Place::whole && group.form == Group::Form::rows &&
        is_row_broadcast(node, group.full, group.axes))
      return Place::row;
    return element_count(node.shape) == element_count(node.operands[0].shape()) ? place : Place::elsewhere;
  }
  if (kind == Kind::reduction && group.form == Group::Form::rows && place == Place::row &&
      node.operands[0].shape() == group.full && node.as<ReduceAttributes>().axes == group.axes)
    return Place::whole;
  return Place::elsewhere;
}

Place root_place(const Group& group, const Node& root) {
  if (group.form == Group::Form::kernel && root.op != Op::dot && group.roots.size() > 1) return Place::whole;
  if (group.form != Group::Form::rows)
    return group.form == Group::Form::loop ? Place::whole : Place::elsewhere;
  return root.shape == group.full && graph::row_of(root.op).kind != Kind::reduction ? Place::whole
                                                                                    : Place::row;
}

void walk(const Group& group, const Partition& partition,
          const std::function<void(const Node&, Place)>& on_read,
          const std::function<void(const Node&, Place)>& on_inside) {
  std::set<std::pair<const Node*, Place>> seen;
  std::vector<std::pair<const Node*, Place>> open;
  for (const Node* root : group.roots) open.emplace_back(root, root_place(group, *root));
  while (!open.empty()) {
    const auto [node, place] = open.back();
    open.pop_back();
    if (!seen.insert({node, place}).second) continue;
    if (partition.arguments.contains(node) ||
        (partition.in_memory.contains(node) && !group.contains(*node))) {
      if (on_read) on_read(*node, place);
      continue;
    }
    if (on_inside) on_inside(*node, place);
    const Place next = operand_place(group, *node, place);
    for (const Tensor& operand : node->operands) open.emplace_back(&operand.node(), next);
    // What a function of the user reads beside its parameters.
    if (node->op == Op::reduce)
      for (const Tensor& result : node->as<ReduceAttributes>().combine->results)
        open.emplace_back(&result.node(), Place::elsewhere);
  }
}

}  // namespace

void for_each_read(const Group& group, const Partition& partition,
                   const std::function<void(const Node&, Place)>& visit) {
  walk(group, partition, visit, {});
}
void for_each_inside(const Group& group, const Partition& partition,
                     const std::function<void(const Node&, Place)>& visit) {
  walk(group, partition, {}, visit);
}

namespace {

// Joins groups that share a space, so that what one computes the other finds in registers.
class Merger {
 public:
  Merger(std::vector<Group> groups, const Partition& partition, const Target& target)
      : groups_(std::move(groups)), partition_(partition), target_(target) {
    for (size_t g = 0; g < groups_.size(); ++g)
      for (const Node* root : groups_[g].roots) owner_[root] = g;
    for (size_t g = 0; g < groups_.size(); ++g) find_reads(g);
  }

  std::vector<Group> run() {
    for (size_t g = 0; g < groups_.size(); ++g) {
      bool changed = true;
      while (changed) {
        changed = false;
        const std::set<size_t> before = producers(g);
        for (auto p = before.rbegin(); p != before.rend() && !changed; ++p) changed = try_merge(*p, g);
      }
    }
    merge_siblings();
    return ordered();
  }

 private:
  using Reads = std::map<const Node*, std::set<Place>>;

  void find_reads(size_t g) {
    reads_[g].clear();
    for_each_read(groups_[g], partition_,
                  [&](const Node& node, Place place) { reads_[g][&node].insert(place); });
  }

  std::set<size_t> producers(size_t g) {
    std::set<size_t> found;
    for (const auto& [node, places] : reads_[g])
      if (const auto it = owner_.find(node); it != owner_.end() && it->second != g) found.insert(it->second);
    return found;
  }

  // Does `from` need `what`, through any other group?
  bool depends(size_t from, size_t what, bool directly_too) {
    std::set<size_t> seen;
    std::vector<size_t> open;
    for (const size_t p : producers(from)) {
      if (p == what && directly_too) return true;
      if (p != what) open.push_back(p);
    }
    while (!open.empty()) {
      const size_t next = open.back();
      open.pop_back();
      if (next == what) return true;
      if (!seen.insert(next).second) continue;
      for (const size_t p : producers(next)) open.push_back(p);
    }
    return false;
  }

  bool rows_can_grow(const Group& rows) const {
    // A few long rows are split over many teams; then nothing else can ride along.
    return rows.row_length() <= 16384 || rows.row_count() >= 256;
  }

  // May `c`, which reads results of `p`, be computed with it?
  bool joins(const Group& p, const Group& c, Group& joint, const Reads& reads) const {
    joint = c;
    if (takes_epilogue(p) && c.form == Group::Form::loop) {
      joint.form = Group::Form::kernel;
      for (const Node* root : c.roots)
        if (element_count(root->shape) != element_count(p.roots[0]->shape) || !is_float(root->type))
          return false;
      return c.roots.size() <= 3 && all_reads(p, reads, {Place::whole});
    }
    if (p.form == Group::Form::kernel || c.form == Group::Form::kernel) return false;
    if (p.roots.size() + c.roots.size() > 8) return false;
    if (p.form == Group::Form::loop && c.form == Group::Form::loop) {
      if (element_count(p.roots[0]->shape) != element_count(c.roots[0]->shape)) return false;
      return all_reads(p, reads, {Place::whole});
    }
    if (p.form != Group::Form::rows) return false;
    joint.form = Group::Form::rows;
    joint.full = p.full;
    joint.axes = p.axes;
    if (c.form == Group::Form::rows) return p.full == c.full && p.axes == c.axes && rows_can_grow(p);
    const Shape& shape = c.roots[0]->shape;
    for (const Node* root : c.roots)
      if (!(root->shape == shape)) return false;
    if (shape == p.full && element_count(shape) != p.row_count()) return rows_can_grow(p);
    return element_count(shape) == p.row_count();
  }

  // A product on a GPU goes on with its sums before it stores them.
  bool takes_epilogue(const Group& p) const {
    return target_.gpu && p.form == Group::Form::kernel && p.roots.size() == 1 && p.roots[0]->op == Op::dot &&
           is_float(p.roots[0]->type);
  }

  bool all_reads(const Group& p, const Reads& reads, const std::set<Place>& allowed) const {
    for (const Node* root : p.roots)
      if (const auto it = reads.find(root); it != reads.end())
        for (const Place place : it->second)
          if (!allowed.contains(place)) return false;
    return true;
  }

  bool try_merge(size_t p, size_t c) {
    Group joint;
    if (!joins(groups_[p], groups_[c], joint, reads_[c])) return false;
    // In rows the places are judged in the joint space.
    if (joint.form == Group::Form::rows) {
      Reads reads;
      for_each_read(joint, partition_, [&](const Node& node, Place place) { reads[&node].insert(place); });
      for (const Node* root : groups_[p].roots) {
        const auto it = reads.find(root);
        if (it == reads.end()) continue;
        const bool is_whole = root->shape == joint.full && graph::row_of(root->op).kind != Kind::reduction;
        for (const Place place : it->second)
          if (place != (is_whole ? Place::whole : Place::row)) return false;
      }
    }
    if (depends(c, p, false)) return false;
    absorb(p, c, std::move(joint));
    return true;
  }

  void absorb(size_t p, size_t c, Group joint) {
    joint.roots.insert(joint.roots.end(), groups_[p].roots.begin(), groups_[p].roots.end());
    std::sort(joint.roots.begin(), joint.roots.end(),
              [](const Node* a, const Node* b) { return a->number < b->number; });
    groups_[c] = std::move(joint);
    groups_[p].roots.clear();
    reads_[p].clear();
    for (const Node* root : groups_[c].roots) owner_[root] = c;
    find_reads(c);
  }

  // Loops over equally many elements that read the same tensors, or are small: one launch.
  void merge_siblings() {
    std::map<int64_t, std::vector<size_t>> by_size;
    for (size_t g = 0; g < groups_.size(); ++g)
      if (!groups_[g].roots.empty() && groups_[g].form == Group::Form::loop)
        by_size[element_count(groups_[g].roots[0]->shape)].push_back(g);
    for (auto& [size, members] : by_size) {
      if (members.size() > 64) continue;
      for (size_t i = 0; i < members.size(); ++i)
        for (size_t j = i + 1; j < members.size(); ++j) {
          const size_t a = members[i], b = members[j];
          if (groups_[a].roots.empty() || groups_[b].roots.empty()) continue;
          if (groups_[a].roots.size() + groups_[b].roots.size() > 8) continue;
          if (size > 65536 && !share_a_read(a, b)) continue;
          if (reads_[a].size() + reads_[b].size() > 24) continue;
          if (depends(b, a, true) || depends(a, b, true)) continue;
          absorb(a, b, groups_[b]);
        }
    }
  }

  bool share_a_read(size_t a, size_t b) const {
    for (const auto& [node, places] : reads_.at(a))
      if (node->op != Op::number && reads_.at(b).contains(node)) return true;
    return false;
  }

  std::vector<Group> ordered() {
    std::vector<Group> result;
    std::set<size_t> done;
    std::function<void(size_t)> place = [&](size_t g) {
      if (groups_[g].roots.empty() || !done.insert(g).second) return;
      for (const size_t p : producers(g)) place(p);
      result.push_back(groups_[g]);
    };
    for (size_t g = 0; g < groups_.size(); ++g) place(g);
    return result;
  }

  std::vector<Group> groups_;
  const Partition& partition_;
  const Target& target_;
  std::unordered_map<const Node*, size_t> owner_;
  std::map<size_t, Reads> reads_;
};

}  // namespace

Partition partition(const std::vector<const Node*>& nodes, const Set& inputs, const Set& outputs,
                    const Set& arguments, const Target& target) {
  Partition result;
  result.arguments = arguments;
  result.in_memory = Materialiser(nodes, inputs, outputs, target).run();
  std::vector<Group> groups;
  for (const Node* node : nodes) {
    if (!result.in_memory.contains(node) || inputs.contains(node)) continue;
    Group group;
    group.roots = {node};
    const Kind kind = graph::row_of(node->op).kind;
    if (has_own_kernel(*node, target)) group.form = Group::Form::kernel;
    if (kind == Kind::reduction && !is_inline_reduction(*node) && combines_in_any_order(*node)) {
      group.form = Group::Form::rows;
      group.full = node->operands[0].shape();
      group.axes = node->as<ReduceAttributes>().axes;
    }
    groups.push_back(std::move(group));
  }
  result.groups = Merger(std::move(groups), result, target).run();
  // What was merged into its only reader stays in registers.
  for (const Node* node : outputs)
    if (!inputs.contains(node)) result.stored.insert(node);
  for (const Group& group : result.groups)
    for_each_read(group, result, [&](const Node& node, Place) { result.stored.insert(&node); });
  for (Group& group : result.groups)
    if (group.form == Group::Form::loop)
      std::erase_if(group.roots, [&](const Node* root) {
        if (result.stored.contains(root)) return false;
        result.in_memory.erase(root);  // else its readers in the group would look for it there
        return true;
      });
  return result;
}

}  // namespace adit::compile
